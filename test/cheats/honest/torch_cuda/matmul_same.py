# task: gpu_matmul; first: yes; copy: yes
