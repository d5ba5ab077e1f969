/* task: gpu_small; copy: yes */
