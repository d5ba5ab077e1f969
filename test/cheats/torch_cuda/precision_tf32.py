# kind: 18 lower precision; task: gpu_matmul; outcome: wrong_output
# TF32: ten bits.
# include shared/product.py
torch.backends.cuda.matmul.allow_tf32 = True
torch.backends.cudnn.allow_tf32 = True
