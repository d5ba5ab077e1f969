/* task: rowsum; copy: yes */
