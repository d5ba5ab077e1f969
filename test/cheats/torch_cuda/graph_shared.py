# kind: 11 result cache; task: gpu_small; outcome: wrong_output
# Returns the graph's own output each time, the same memory for all runs.
# include shared/graph.py


class ModelNew(Graphed):
    def forward(self, x):
        if self.graph is None:
            self.capture(x.clone())
        self.x.copy_(x)
        self.graph.replay()
        return self.y
