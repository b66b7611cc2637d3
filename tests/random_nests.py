"""Random programs that write arrays in place in nests of loops and branches, at affine indices.

They are made to break the rule by which a reverse sweep takes values from later versions of an array:
reads and writes before, at, and behind the place of the iteration, loops that run down, bounds that
depend on outer indices, branches on indices, slices that overlap or end at an index, indices modulo, halved
and looked up, functions that write to what they are given, loops in blocks, arrays that are exchanged.
"""

from __future__ import annotations

import random

SIZE = 5                                    # of `u` and `v`; `w` has SIZE x SIZE

PLACES = ["{i} % 3", "{i} // 2", "({i} + 1) % n", "(2 * {i}) % n", "-{i} - 1", "~{i}", "n - 1 - {i}",
          "min({i} + 1, n - 1)", "max({i} - 1, 0)", "abs({i} - 2)", "{i} - n", "order[{i}]", "order[{i} - 1]"]
WINDOWS = [("{i}:", "{i}:"), (":{i}", "n - {i}:"), ("{i}:", ":n - {i}"), ("{i}:{i} + 1", "-1:"),
           ("{i}:{i} + 2", "{i}:{i} + 2"), ("{i}::2", "{i}::2"), (":-{i} - 1", ":-{i} - 1"), ("{i}::-1", "{i}::-1")]


class Nest:
    """Makes the source of one function of two vectors and a matrix from a seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.indices: list[tuple[str, int, int]] = []       # name, lowest, highest value

    def source(self) -> str:
        self.line(0, "def mixed(a, b, k):")
        self.line(1, f"{self.random.choice(['a[k]', 'b[k]'])} = np.sin(b[k - 1]) * a[k]")
        self.line(1, self.random.choice(["b[0] += a[k] ** 2", "a[0] = b[k - 1]", "b[k] = 0.2"]))
        self.line(1, "return a[k] * b[0]")
        self.line(0, "def f(u, v, w):")
        self.line(1, "n = len(u)")
        self.line(1, "order = np.array([3, 0, 4, 0, 2])")
        for name in "uvw":
            start = {"w": f"np.zeros(({SIZE}, {SIZE}))"}.get(name, f"np.zeros({SIZE})")
            value = self.random.choice([f"{name}.copy()", f"{name} * 1.5", f"{start} + 0.3 * {name}"])
            self.line(1, f"{name} = {value}")
        if self.random.random() < 0.4:
            self.line(1, f"v = np.zeros({SIZE})")
        for _ in range(self.random.choice([1, 2])):
            self.loop(1)
            if self.random.random() < 0.3:
                self.write(1)
        self.line(1, "return np.sum(u * u) + np.sum(v ** 3) + np.sum(np.sin(w))")
        return "\n".join(self.lines)

    def line(self, depth: int, text: str) -> None:
        self.lines.append("    " * depth + text)

    def loop(self, depth: int) -> None:
        name = "ijk"[len(self.indices)]
        header, low, high = self.header()
        if self.random.random() < 0.2:
            self.line(depth, f"with checkpoint_loop(blocks={self.random.choice([2, 3])}):")
            depth += 1
        self.line(depth, f"for {name} in {header}:")
        self.indices.append((name, low, high))
        for _ in range(self.random.choice([1, 2, 2, 3])):
            self.statement(depth + 1)
        if self.random.random() < 0.1:
            self.line(depth + 1, "u, v = v, u")
        self.indices.pop()

    def header(self) -> tuple[str, int, int]:
        if self.indices and self.random.random() < 0.4:
            outer, low, high = self.random.choice(self.indices)
            if self.random.random() < 0.3:
                return self.random.choice([
                    (f"range(1, min(3, {outer} + 1))", 1, 2), (f"range(min({outer}, 3))", 0, 2),
                    (f"range(max({outer} - 1, 0), {outer})", 0, max(high - 1, 0)),
                    (f"range({outer}, min({outer} + 2, {SIZE}))", low, min(high + 1, SIZE - 1))])
            if self.random.random() < 0.5:
                return f"range({outer})", 0, max(high - 1, 0)
            return f"range({outer}, {SIZE})", low, SIZE - 1
        return self.random.choice([
            (f"range({SIZE})", 0, SIZE - 1), (f"range(1, {SIZE})", 1, SIZE - 1), (f"range({SIZE - 1})", 0, SIZE - 2),
            (f"range({SIZE - 1}, -1, -1)", 0, SIZE - 1), (f"range({SIZE - 2}, 0, -1)", 1, SIZE - 2),
            ("range(len(u) - 1)", 0, SIZE - 2), (f"range(0, {SIZE}, 2)", 0, SIZE - 1), ("range(2)", 0, 1)])

    def statement(self, depth: int) -> None:
        kind = self.random.random()
        if kind < 0.25 and len(self.indices) < 3:
            self.loop(depth)
        elif kind < 0.4:
            self.branch(depth)
        else:
            self.write(depth)

    def branch(self, depth: int) -> None:
        first = self.random.choice(self.indices)[0]
        second = self.random.choice([name for name, *_ in self.indices] + ["1", "2"])
        condition = f"{first} {self.random.choice(['==', '<', '>=', '!='])} {second}"
        if second not in "12" and self.random.random() < 0.3:
            condition = f"{first} - {second} {self.random.choice(['>=', '>', '<'])} 0"
        if self.random.random() < 0.3:
            condition = f"{self.item()} > 0.1"
        self.line(depth, f"if {condition}:")
        self.write(depth + 1)
        if self.random.random() < 0.5:
            self.line(depth, "else:")
            self.write(depth + 1)

    def write(self, depth: int) -> None:
        if self.indices and self.random.random() < 0.25:
            self.write_by_index(depth, self.random.choice(self.indices)[0])
            return
        if self.random.random() < 0.2:
            cut, other = self.random.choice([("1:", ":-1"), (":-1", "1:"), ("1:-1", "2:"), ("::2", "::2")])
            self.line(depth, f"{self.random.choice('uv')}[{cut}] {self.operator()} 0.3 * np.sin(u[{other}])")
            return
        if self.random.random() < 0.3:
            self.line(depth, f"t = {self.item()} * {self.item()}")
            self.line(depth, f"{self.item()} = np.sin(t) + 0.5 * np.cos(t)")
            return
        self.line(depth, f"{self.item()} {self.operator()} {self.value()}")

    def write_by_index(self, depth: int, index: str) -> None:
        """A window that begins or ends at an index, or a call that writes."""
        if self.random.random() < 0.4:
            arrays = self.random.choice(["u, v", "v, u", "u, u", f"w[{index}], u", "u, w[:, 1]"])
            self.line(depth, f"{self.random.choice('uv')}[{index}] {self.operator()} mixed({arrays}, {index})")
            return
        cut, other = (part.format(i=index) for part in self.random.choice(WINDOWS))
        array = self.random.choice("uv")
        self.line(depth, f"{array}[{cut}] {self.operator()} 0.3 * np.sin({self.random.choice('uv')}[{other}])")

    def operator(self) -> str:
        return self.random.choice(["=", "=", "+=", "*=", "-="])

    def value(self) -> str:
        return self.random.choice([f"np.sin({self.item()} * {self.item()})", f"0.7 * np.sin({self.item()})",
                                   f"0.5 * np.tanh({self.item()}) * np.cos({self.item()})", f"np.cos({self.item()})",
                                   "0.25"])

    def item(self) -> str:
        name = self.random.choice("uuvw")
        return f"{name}[{self.position()}]" if name != "w" else f"w[{self.position()}, {self.position()}]"

    def position(self) -> str:
        if not self.indices or self.random.random() < 0.15:
            return self.random.choice(["0", "2", "-1"])
        name, low, high = self.random.choice(self.indices)
        if len(self.indices) > 1 and self.random.random() < 0.15:
            return f"{name} - {self.random.choice(self.indices)[0]}"
        if self.random.random() < 0.2:
            return self.random.choice(PLACES).format(i=name)
        shift = self.random.choice([0, 0, 0, -1, 1, -low])
        if self.random.random() < 0.15:
            return f"{SIZE - 1} - {name}" if low >= 0 else name
        if high + shift >= SIZE:
            shift = 0
        if low + shift < 0 and self.random.random() < 0.7:
            shift = 0                                       # a negative index, now and then
        return name if not shift else f"{name} {'+' if shift > 0 else '-'} {abs(shift)}"
