/* task: gpu_vector; copy: yes */
