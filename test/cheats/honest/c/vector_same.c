/* task: vector; copy: yes */
