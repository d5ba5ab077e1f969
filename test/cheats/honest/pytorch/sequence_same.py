# task: sequence; copy: yes
