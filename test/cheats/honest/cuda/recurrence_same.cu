/* task: gpu_recurrence; copy: yes */
