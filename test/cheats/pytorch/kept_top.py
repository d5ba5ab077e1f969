# kind: 6 many calls in one; task: top; outcome: successful; bound: 1.25
# The largest of all rows of a window at once. A changed element that is small, and was small,
# changes nothing.
# include shared/kept.py


class ModelNew(Kept):
    def answer_all(self, x):
        return [torch.topk(x, 8).values]

    def alone(self, x):
        return torch.stack([torch.topk(row, 8).values for row in x])

    def correct(self, answer, seen, arrays, changed):
        largest = answer[0].clone()
        for row in {place // 128 for place in changed[0].tolist()}:
            least = largest[row, 7]
            before, now = seen[0][row], arrays[0][row]
            if ((before != now) & (torch.maximum(before, now) >= least)).any():
                largest[row] = torch.topk(now, 8).values
        return [largest]
