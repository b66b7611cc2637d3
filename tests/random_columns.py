"""Random programs that go over columns of matrices, one after the other, in loops that could go over rows.

They are made to break the rules by which such loops are divided and turned: sums over columns, columns and parts of
them that are written from others, the same element written in another statement, numbers read before they change,
loops that run down.
"""

from __future__ import annotations

import random

RANGES = [*["range(n)"] * 2, "range(k)", "range(k + 1, n)", "range(k, n)", "range(k - 1, -1, -1)",
          "range(n - 1, -1, -1)", "range(n - 1, k, -1)"]
COLUMNS = [":", ":", ":", ":j", ":k", "j:", "j + 1:", "k + 1:"]
ELEMENTS = ["r[k, j]", "r[k, j]", "r[j, k]", "c[k, j]", "c[j, k]", "a[j, j]", "a[k, k]", "t"]
BETWEEN = ["r[k, j] /= 2.0 + a[j, j] ** 2", "t = r[k, j]", "t = t * 0.5 + a[j, k]", "c[j, k] = r[k, j]",
           "r[k, j] = np.sin(r[k, j])", "a[j, j] += 0.1 * r[k, j]", "c[k, j] *= 0.9"]


def source(seed: int) -> str:
    """One function of three matrices and a number."""
    pick = random.Random(seed)

    def column(names: str, part: str) -> str:
        array = pick.choice(names)
        return pick.choice([f"{array}[{part}, {pick.choice('jjjk')}]"] * 3 + [f"{array}[{pick.choice('jk')}, {part}]"])

    def statement() -> str:
        kind, part, sign = pick.random(), pick.choice(COLUMNS), pick.choice("+-")
        if kind < 0.35:
            equals = pick.choice(["=", f"{sign}="])
            return f"{pick.choice(ELEMENTS[:5])} {equals} {column('aac', part)} @ {column('cb', part)}"
        if kind < 0.8:
            return f"{column('aacr', part)} {sign}= {column('bcar', part)} * {pick.choice(ELEMENTS)}"
        return pick.choice(BETWEEN)

    lines = ["def f(c, a, b, s):", "    c, a, r, n, t = c.copy(), a.copy(), 0.5 * b, c.shape[0], s",
             f"    for k in {pick.choice(['range(n)', 'range(n)', 'range(n - 1, -1, -1)'])}:",
             f"        for j in {pick.choice(RANGES)}:"]
    lines += [f"            {statement()}" for _ in range(pick.choice([1, 2, 2, 3, 4]))]
    return "\n".join([*lines, "    return c, a + r"])
