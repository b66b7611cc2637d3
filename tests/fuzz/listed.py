"""Programs that write, swap, share, lengthen and shorten lists of numbers in loops, and lists of such lists.

A grammar in templates: a capital word is replaced by one of its alternatives, `L1` by the same one each time.
"""

from __future__ import annotations

import re
import textwrap

import numpy as np
from hypothesis import strategies as st

from .program import Program
from .writer import Draw, Writer

DEEPEST = 4
Alternatives = tuple[tuple[int, str], ...]

WORDS: dict[str, tuple[str, ...]] = {
    "L": ("a", "b", "c", "a", "b", "c", "box['w']", "state.items", "T[I]"),
    "OWN": ("a", "b", "c", "a", "b", "c", "box['w']", "state.items"),
    "T": ("t", "u"),
    "P": ("p", "q"),
    "I": ("0", "1", "2", "-1", "i", "j", "i % 3", "(i + 1) % 3", "k", "j - 1", "-k", "P[I] % 3", "i - 1", "len(L) - 1",
          "P[0]"),
    "N": ("x[I]", "x[i % 6]", "L[I]", "L[I]", "T[I][I]", "0.5", "s", "sum(L)", "max(L)", "len(L)", "L[-1]", "P[I]",
          "D[I][0]", "M", "first(L)", "min(L)", "1", "picked(I)",
          "L1.index(max(L1))"),
    "E": ("N", "N + N", "N * N", "N - 0.3 * N", "0.5 * N", "N if C else N"),
    "M": ("P[I]", "i", "k", "P[I] + 1", "P[I] // 2", "P[I] % 3", "-P[I]", "P[I] * 2", "len(L)", "2", "P[I] // -2",
          "-P[I] % 3", "int(F[I])", "sum(P)", "P[I] - P[I]"),
    "C": ("N > N", "P[I] > M", "F[I]", "not F[I]", "M % 2 == 0", "N < 0.5", "len(L) > M", "M in P", "L == L", "P"),
    "F": ("done",),
    "D": ("pairs",),
    "COUNT": ("n", "2", "i + 1", "len(L)", "P[I] % 4"),
    "FRESH": ("[0.0] * n", "[s] * n", "[1] * n", "[x[0], 1.0, s]", "[v * 0.5 for v in L]", "L[:]", "list(L)",
              "L.copy()", "[0.0 for _ in range(n)]", "[*L]", "L + [N]", "[*P]"),
    "TABLE": ("[[0.0] * n for _ in range(n)]", "[row[:] for row in T]",
              "[[x[v] * w for w in range(n)] for v in range(n)]", "[[1.0] * 3 for _ in range(3)]",
              "[[0] * n for _ in range(n)]", "[list(row) for row in T]", "[OWN, OWN, OWN]",
              "[OWN[:], [s] * 3, OWN]", "[[0.0] * n] * n"),
}

WRITES: Alternatives = (
    (6, "L[I] = E"), (3, "L[I] += N"), (3, "T[I][I] = E"), (2, "T[I][I] *= N"), (3, "P[I] = M"), (2, "P[I] += M"),
    (2, "F[I] = C"), (2, "D[I] = (E, M)"), (1, "P1[I], P1[I] = P1[I], P1[I]"), (2, "L1[I], L1[I] = L1[I], L1[I]"),
    (1, "s = s * 0.5 + N"), (1, "P[I] %= 3"), (1, "P[I] //= 2"), (1, "D[I] = D[I]"), (1, "F[I] = not F[I]"),
    (1, "L[I] = L[I] = E"),
)
BINDINGS: Alternatives = (
    (2, "OWN = L"), (2, "OWN = FRESH"), (1, "a, b = b, a"), (1, "OWN = T[I]"), (2, "T[I] = FRESH"), (1, "T[I] = L"),
    (1, "T1[I], T1[I] = T1[I], T1[I]"), (1, "t, u = u, t"), (1, "t = u"), (1, "T = TABLE"), (1, "P = P[:]"),
    (1, "P = [0] * n"), (1, "p, q = q, p"), (1, "box = {'w': OWN, 'v': P}"), (1, "state = State(OWN)"),
    (1, "pairs = [(E, M) for _ in range(n)]"), (1, "state.items = FRESH"), (1, "p = q"), (1, "L[I:] = [N]"),
    (1, "done = [C for _ in range(n)]"),
)
LENGTHS: Alternatives = (
    (2, "L1.append(N)\nL1.pop()"), (1, "L1.append(N)\nL1.pop(0)"), (1, "L.append(N)"), (1, "L.pop()"),
    (1, "if len(L1) > 3:\n    L1.pop(I)"), (1, "P.append(M)"), (1, "L.insert(0, N)"), (1, "L.reverse()"),
    (1, "P.pop(0)"), (1, "L += [N]"), (1, "L.extend(L)"), (1, "T.append(FRESH)"), (1, "D.append((N, M))"),
    (1, "del L[0]"), (1, "T.append(OWN)"), (1, "s += L.pop()"), (1, "L.sort()"),
    (1, "L.sort(key=lambda v: -v)"), (1, "D.sort(reverse=True)"), (1, "L1.remove(max(L1))"), (1, "OWN = sorted(L)"),
    (1, "P1.sort(key=lambda m: x[m % 6])"), (1, "D = sorted(D, key=lambda pair: pair[1])"),
)
CALLS: Alternatives = (
    (2, "put(L, I, E)"), (2, "add(L, I, N)"), (1, "swap(L, I, I)"), (1, "swap(T, I, I)"), (1, "OWN = halved(L, N)"),
    (1, "halved(L, N)"), (1, "put(P, I, M)"), (1, "relax(I, N)"), (1, "put(T, I, FRESH)"), (1, "state.write(I, N)"),
    (1, "put(T[I], I, E)"), (1, "both(OWN, OWN, I)"),
)
BLOCKS: Alternatives = (
    (2, "for j in range(COUNT):\n    BODY"), (3, "if C:\n    BODY"), (2, "if C:\n    BODY\nelse:\n    BODY"),
    (1, "for row in T:\n    row[I] += N"), (1, "for v in L:\n    s += v * N"),
    (1, "for j, v in zip(range(4), L):\n    BODY"),
    (1, "while steps < 5 and N < 2:\n    BODY\n    steps += 1"), (1, "while len(L1) > 3:\n    L1.pop()"),
    (1, "for row in T:\n    for j in range(len(row)):\n        row[j] = E"),
    (1, "for j in range(3):\n    if C:\n        break\n    BODY"),
    (1, "for j in range(n):\n    if C:\n        continue\n    BODY"),
    (1, "for w, m in D:\n    L[m % 3] += w"), (1, "if C:\n    return s + total(L)"),
    (1, "try:\n    L[I] = N\nexcept IndexError:\n    s += 1.0"),
)
FAMILIES: dict[str, Alternatives] = {"items": WRITES, "bindings": BINDINGS, "lengths": LENGTHS, "calls": CALLS,
                                     "blocks": BLOCKS}
SHARES = {"items": 5, "bindings": 2, "lengths": 1, "calls": 2, "blocks": 3}

MODULE = """
class State:

    def __init__(self, items):
        self.items = items

    def write(self, place, value):
        self.items[place] = value

def put(items, place, value):
    items[place] = value

def add(items, place, value):
    items[place] += value

def swap(items, one, other):
    items[one], items[other] = items[other], items[one]

def halved(items, value):
    for m in range(len(items)):
        items[m] = 0.5 * items[m] + value
    return items

def both(one, other, place):
    one[place] += 1.0
    other[0] = one[place] * 0.5

def first(items):
    return items[0]

def total(items):
    found = 0.0
    for m, item in enumerate(items):
        found += (0.3 + m) * item
    return found
"""
SET_UP = """
i = j = steps = 0
s = 1.0
a = [0.0] * n
b = FRESH_B
c = FRESH_C
t = [[0.0] * n for _ in range(n)]
u = TABLE_U
p = INTS
q = [1] * n
done = [False] * n
pairs = [(0.0, 1)] * n
box = {'w': WHERE, 'v': p}
state = State(WHERE)

def relax(place, value):
    HOLDER[place] += value

def picked(place):
    return HOLDER[place]
"""
START = {"FRESH_B": ("[1.0] * n", "[1] * n", "[x[1]] * n"),
         "FRESH_C": ("[x[0], 0.5, 2.0]", "[v * 2 for v in x[:3]]", "a", "list(b)"),
         "TABLE_U": ("[[x[v] * w for w in range(n)] for v in range(n)]", "[[1.0] * 3 for _ in range(3)]",
                     "[[0] * n for _ in range(n)]", "[a, b, c]"),
         "INTS": ("[0] * n", "list(range(n))", "[2, 0, 1]"), "WHERE": ("[0.5] * n", "a", "b", "c"),
         "HOLDER": ("a", "b", "c")}
AROUND = "for i in range(COUNT):\n    BODY\n    BODY"
RESULT = ("return s + total(a) + 2.0 * total(b) - total(c) + 0.7 * total([total(row) for row in t])"
          " - 0.4 * total([total(row) for row in u]) + 0.1 * total(p) + 0.2 * total(q) + total(box['w']) * 0.3"
          " + total(state.items) * 0.6 + total([v * m for v, m in pairs]) + total([1.0 if v else 0.5 for v in done])")


class Grammar:
    """Draws text; blocks are drawn while there is a budget of statements."""

    def __init__(self, w: Writer, families: tuple[str, ...]) -> None:
        self.w, self.depth = w, 0
        self.options = [(SHARES[name] * weight, f"{name}: {text}", text)
                        for name in families for weight, text in FAMILIES[name]]

    def filled(self, template: str, words: dict[str, tuple[str, ...]] = WORDS, level: int = 0) -> str:
        """The template with its words replaced."""
        known: dict[str, str] = {}

        def word(match: re.Match[str]) -> str:
            name, number = match["word"], match["number"]
            if name == "BODY":
                return self.block()
            if name not in words:
                return match[0]
            if not number:
                return self.filled(self.w.of(self.short(words[name], level)), words, level + 1)
            if match[0] not in known:
                known[match[0]] = self.filled(self.w.of(self.short(words[name], level)), words, level + 1)
            return known[match[0]]

        def line(text: str) -> str:
            indent = text[:len(text) - len(text.lstrip())]
            return textwrap.indent(re.sub(r"\b(?P<word>[A-Z_]+)(?P<number>\d?)\b", word, text.lstrip()), indent)

        return "\n".join(map(line, template.splitlines()))

    def short(self, alternatives: tuple[str, ...], level: int) -> tuple[str, ...]:
        """Those that end the recursion, where it is deep."""
        final = tuple(each for each in alternatives if not re.search(r"\b[A-Z]+\b", each))
        return final if level > 3 and final else alternatives

    def block(self) -> str:
        self.depth += 1
        drawn = self.statements(self.w.between(1, 3)) or ["pass"]
        self.depth -= 1
        return "\n".join(drawn)

    def statements(self, most: int) -> list[str]:
        return [self.statement() for _ in range(most) if self.w.budget > 0]

    def statement(self) -> str:
        self.w.budget -= 1
        options = [option for option in self.options if self.depth < DEEPEST or "BODY" not in option[2]]
        name, template = self.w.weighted(options)
        self.w.tags[name.splitlines()[0]] += 1
        return self.filled(template)


@st.composite
def programs(draw: Draw, families: tuple[str, ...] = tuple(FAMILIES)) -> Program:
    return written(Writer(draw, {}, 0), families)


def written(w: Writer, families: tuple[str, ...]) -> Program:
    w.budget = w.between(4, 12)
    grammar = Grammar(w, families)
    body = [grammar.filled(SET_UP, START), *grammar.statements(w.below(3)), grammar.filled(AROUND),
            *grammar.statements(w.below(3)), RESULT]
    source = f"{MODULE}\ndef program(x, n, k):\n" + textwrap.indent("\n".join(body), "    ")
    x = np.random.default_rng(w.below(1000)).normal(size=6).round(3)
    return Program(source.strip(), {"x": x, "n": 3, "k": 1}, w.tags)
