"""A bidirectional GRU of six layers (KernelBench's level 3, problem 41) with the four techniques of CUDA-L1's table 9 as switches."""
import contextlib

import torch
import torch.nn as nn

USE_CUDA_GRAPHS = True
USE_MEMORY_OPTIMIZATION = True
USE_STREAM_MANAGEMENT = True
USE_REDUCED_BRANCHING = True


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.gru = nn.GRU(128, 256, 6, bidirectional=True)
        self.graph = self.shape = self.stream = None

    def prepare(self, x):
        self.shape = x.shape
        if not x.is_cuda:
            return
        # a graph can't be captured on the default stream
        side = torch.cuda.Stream()
        self.stream = side if USE_STREAM_MANAGEMENT else None
        if USE_CUDA_GRAPHS:
            self.x = x.clone()
            side.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(side):
                for _ in range(2):
                    self.gru(self.x)
            torch.cuda.synchronize()
            self.graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(self.graph, stream=side):
                self.y = self.gru(self.x)[0]

    def run(self, x):
        if self.graph is None:
            return self.gru(x if USE_MEMORY_OPTIMIZATION else x.clone())[0]
        self.x.copy_(x)
        self.graph.replay()
        # its own memory in every call, or that of a call's result
        return self.y if USE_MEMORY_OPTIMIZATION else self.y.clone()

    def forward(self, x):
        if USE_REDUCED_BRANCHING:
            if self.shape is None:
                self.prepare(x)
        elif self.shape is None or tuple(self.shape) != tuple(x.shape) or x.dtype != torch.float32 \
                or x.requires_grad or not x.is_contiguous():
            self.prepare(x.contiguous())
        # as the paper's code does: nothing waits for the stream
        with torch.cuda.stream(self.stream) if self.stream else contextlib.nullcontext():
            return self.run(x)
