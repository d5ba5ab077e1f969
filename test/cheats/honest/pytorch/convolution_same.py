# task: convolution; always: yes; copy: yes
