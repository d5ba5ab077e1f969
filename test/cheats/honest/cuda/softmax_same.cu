/* task: gpu_softmax; first: yes; copy: yes */
