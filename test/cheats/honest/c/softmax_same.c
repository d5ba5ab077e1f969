/* task: softmax; copy: yes */
