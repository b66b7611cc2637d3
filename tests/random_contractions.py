"""Random programs that add products in nests of loops: triangles, results that are read elsewhere in the nest,
statements before and behind, sums that go into later iterations.

They are made to break the rules by which such loops are done in blocks, in another order, or earlier.
"""

from __future__ import annotations

import random

RANGES = [*["range(n)"] * 4, "range(i)", "range(i + 1)", "range(i + 1, n)", "range(i, n)", "range(n - i)"]
OTHERS = ["c[i, :i + 1] *= 0.5", "c[i] += 0.1", "a[i] *= 0.9", "c[:, i] *= 0.7", "c[0, i] += c[i, 0] * 0.1",
          "a[i, i] += c[i, i] * 0.1", "c[i, i] = np.sin(c[i, i])", "a[n - 1 - i] *= 1.1"]
SUMS = ["c[i, :j] @ a[:j, j]", "c[i, :j] @ c[:j, j]", "c[i, :j] @ a[j, :j]", "c[:j, i] @ a[:j, j]",
        "a[i, :j] @ b[:j, j]", "a[i, :i] @ c[:i, j]", "a[i + 1:, i] @ c[i + 1:, j]", "a[j, :i] @ c[i, :i]"]
BEHIND = ["c[i, j] /= 2.0 + b[j, j] ** 2", "c[i, j] /= 2.0 + c[j, j] ** 2", "a[j, i] *= 0.9", "c[j, j] *= 0.5",
          "c[i, 0] *= 0.9", "c[j, i] += c[i, j] * 0.1"]


def source(seed: int) -> str:
    """One function of three matrices and a number."""
    pick = random.Random(seed)

    def sometimes(share: float, lines: list[str], indent: int) -> list[str]:
        return [" " * indent + pick.choice(lines)] if pick.random() < share else []

    def element(array: str, pair: tuple[str, str]) -> str:
        x, y = pick.sample(pair, 2)
        return f"{array}[{x}, {y}]"

    def product() -> str:
        pairs = pick.sample([("i", "j"), ("j", "k"), ("i", "k")], 3)
        target = element(pick.choice("ccccccca"), pairs[0])
        first, second = (element(pick.choice("aabbbbbc"), pair) for pair in pairs[1:])
        return f"{target} {pick.choice(['+=', '-='])} {pick.choice(['', '', 's * '])}{first} * {second}"

    lines = ["def f(c, a, b, s):", "    c, a, n = c.copy(), a.copy(), c.shape[0]",
             f"    for i in {pick.choice(['range(n)', 'range(n)', 'range(n - 1, -1, -1)', 'range(1, n)'])}:",
             *sometimes(0.2, OTHERS, 8), f"        for j in {pick.choice(RANGES)}:"]
    if pick.random() < 0.3:
        lines += [f"            c[i, j] {pick.choice(['+=', '-='])} {pick.choice(SUMS)}", *sometimes(0.6, BEHIND, 12)]
    else:
        lines.append(f"            for k in {pick.choice(RANGES)}:")
        lines += [f"                {product()}" for _ in range(pick.choice([1, 1, 2]))]
    return "\n".join([*lines, *sometimes(0.3, OTHERS, 8), "    return c, a"])
