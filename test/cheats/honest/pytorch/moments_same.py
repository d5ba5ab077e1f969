# task: moments; copy: yes
