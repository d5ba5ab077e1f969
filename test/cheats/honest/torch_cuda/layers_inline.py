# task: gpu_layers
# Eight layers in one launch of a single block.
# include shared/layers.py
ModelNew.built = load_inline(name="layers", cpp_sources=DECLARED, cuda_sources=KERNEL, functions=["layers"])
