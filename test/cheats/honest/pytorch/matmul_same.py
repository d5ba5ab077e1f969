# task: matmul; copy: yes
