# include tasks/lookup.py
TABLES = []


class Model(Model):
    """As that, of a table which no module holds, beside a larger one."""

    def __init__(self):
        super().__init__()
        self.large = torch.nn.Parameter(torch.randn(16777216))
        TABLES.append(self.table.detach())
        del self.table

    def look_up(self, index):
        return TABLES[-1][index].sum(2) + self.large[0]
