/* task: gpu_histogram; copy: yes */
