/* task: gpu_rowsum; copy: yes */
