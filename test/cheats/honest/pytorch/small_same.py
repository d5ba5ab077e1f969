# task: small; copy: yes
