# task: dropout; copy: yes
