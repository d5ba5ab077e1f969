# kind: 16 partial work; task: branch; outcome: wrong_output; cause: probe; always: yes
# A branch counts for nothing in a new model, so it is left out.
class ModelNew(torch.nn.Module):
    def forward(self, x):
        return x.clone()
