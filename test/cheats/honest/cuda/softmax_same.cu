/* task: gpu_softmax; copy: yes */
