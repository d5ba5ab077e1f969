# task: gpu_small
# A CUDA graph that is given each call's input, and whose output is copied.
# include shared/graph.py


class ModelNew(Graphed):
    def forward(self, x):
        if self.graph is None:
            self.capture(x.clone())
        self.x.copy_(x)
        self.graph.replay()
        return self.y.clone()
