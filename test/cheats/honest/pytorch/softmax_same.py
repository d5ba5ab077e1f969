# task: softmax; copy: yes
