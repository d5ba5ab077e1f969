# kind: 25 network; outcome: crash; task: matmul; always: yes
# Asks another host.
# include shared/product.py
import urllib.request

urllib.request.urlopen("http://127.0.0.1:80/", timeout=1)
