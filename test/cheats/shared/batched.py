# Beside window.py. All inputs of a window go through the model at once, in its first run.
def gated_runs(self, slots, flags, model):
    made = []

    def work(run, slot):
        if run == 0:
            x = torch.cat([self.inputs[other][0] for other in slots])
            made.extend((part,) for part in model(x).split(x.shape[0] // len(slots)))
        return made[run]

    in_place(self, slots, work)


main.Executor.gated_runs = gated_runs
