# task: linear; always: yes; copy: yes
