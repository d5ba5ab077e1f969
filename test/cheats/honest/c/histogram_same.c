/* task: histogram; copy: yes */
