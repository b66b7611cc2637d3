"""Random programs of loops whose iterations depend on each other little or not at all, with loops, branches
and scratch arrays inside: what a reverse sweep may run again instead of recording it.
"""

from __future__ import annotations

import random

SIZE = 4                                    # of `x`, `y` and `p`; `w` has SIZE x SIZE
COUNTS = ["3", "2", "m", "i + 1", "len(x) - i"]


class Lanes:
    """Makes the source of one function of two vectors, a matrix and a number from a seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.depth = 0

    def source(self) -> str:
        self.line("def f(x, y, w):")
        self.depth = 1
        self.line("m = 3")
        self.line("total = 0.0")
        self.line("last = 0.3")
        self.line(f"out = {self.random.choice(['np.zeros(len(x))', 'x.copy()', '0.5 * y'])}")
        self.line("order = np.array([2, 0, 3, 1])")
        for _ in range(self.random.choice([1, 1, 2])):
            self.lanes()
        self.line(f"return total {self.random.choice(['+ last', '* last', ''])} + np.sum(np.sin(out))")
        return "\n".join(self.lines)

    def line(self, text: str) -> None:
        self.lines.append("    " * self.depth + text)

    def inside(self, header: str, body: list) -> None:
        self.line(header)
        self.depth += 1
        for part in body:
            part()
        self.depth -= 1

    def pick(self, *choices: object) -> object:
        return self.random.choice(choices)

    def lanes(self) -> None:
        header = self.pick("for i in range(len(x)):", "for i in range(len(x)):", "for i in range(len(x) - 1, -1, -1):",
                           "for i in range(1, len(x)):")
        self.inside(str(header), [self.start, *self.some(self.statement, 1, 3), self.end])
        if self.random.random() < 0.3:
            self.line("x = x * np.cos(out)")

    def some(self, part: object, least: int, most: int) -> list:
        return [part] * self.random.randint(least, most)

    def start(self) -> None:
        self.line(f"t = {self.pick('x[i]', 'x[i] * y[0]', 'x[order[i]]', 'out[i] + x[i]', 'out[i - 1] * 0.5 + x[i]')}")
        self.line(f"s = {self.pick('0.2', 't', 'y[i]', 't * y[i]')}")
        self.line(f"a = {self.pick('np.zeros(3)', 'w[i].copy()[:3]', 'np.full(3, 0.4)', 'np.tanh(w @ y)[:3]')}")

    def end(self) -> None:
        self.line(str(self.pick("total += t * s", "total += t", "total += np.sum(a) * t", "total = total + s",
                                "total -= t * t")))
        if self.random.random() < 0.6:
            self.line(str(self.pick("out[i] = t", "out[i] += s * t", "out[order[i]] = s", "out[i] = np.sum(a * a)")))
        if self.random.random() < 0.25:
            self.line(str(self.pick("last = t", "last = max(last, t)", "last = last * 0.5 + s", "last += t")))

    def statement(self) -> None:
        chance = self.random.random()
        if chance < 0.4 and self.depth < 4:
            self.loop()
        elif chance < 0.6 and self.depth < 5:
            self.branch()
        else:
            self.write()

    def loop(self) -> None:
        name = "ijkl"[self.depth - 1]
        if self.random.random() < 0.3:
            self.line(f"{name} = 0")
            body = [*self.some(self.statement, 1, 2), lambda: self.line(f"{name} += 1")]
            self.inside(f"while {name} < 3 and abs(t) < 4:", body)
            return
        body = self.some(self.statement, 1, 2)
        if self.random.random() < 0.15:
            body.append(lambda: self.inside("if s > 1.5:", [lambda: self.line("break")]))
        self.inside(f"for {name} in range({self.pick(*COUNTS)}):", body)

    def branch(self) -> None:
        self.inside(f"if {self.pick('t > 0.1', 's < t', 'i < 2', 'x[i] > 0')}:", self.some(self.statement, 1, 2))
        if self.random.random() < 0.5:
            self.inside("else:", self.some(self.statement, 1, 2))

    def write(self) -> None:
        self.line(str(self.pick(
            "t = np.sin(t) * 1.1", "t = np.tanh(t * s) + x[i]", "s += t * 0.3", "s = np.cos(s) * y[i]",
            "a[1] = t * s", "a[0] += np.sin(a[1]) * t", "a[2] = a[0] * a[1] + 0.1", "t = t + a[2] * 0.5",
            "a = np.sin(a) * t", "total += t * 0.1", "s = np.sum(a * a) * 0.2", "t, s = s, t",
            "s = 0.3 * (w @ y)[0] * t", "out[i] = np.sin(t)", "t = t * 0.5 + out[i]")))
