# task: gpu_matmul; copy: yes
