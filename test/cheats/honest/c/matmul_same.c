/* task: matmul; copy: yes */
