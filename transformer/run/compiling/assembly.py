"""The machine code of a kernel: which arithmetic instructions stand in which of its loops.

What is read is the text that a compiler writes, with the lines of the source that the instructions come from:

    .loc  1 17 1                                      # file 1, line 17
    .LBB0_4:                                          # a loop: a jump back to here follows
            vmovupd (%rsi,%rax,8), %zmm0
            vaddpd  %zmm0, %zmm0, %zmm1               # packed, 512 bits
            jne     .LBB0_4

Instructions of x86 and of ARM are known. Whole numbers and moves are not counted: addresses are computed by the same
instructions.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

X86 = re.compile(r"v?(?:add|sub|mul|div|sqrt|max|min|fn?m(?:add|sub)\d+)(p|s)[sd]$")
ARM = re.compile(r"f(?:add|sub|mul|div|sqrt|max|min|maxnm|minnm|mla|mls|madd|msub|nmadd|nmsub)$")
WIDTHS = {"xmm": 128, "ymm": 256, "zmm": 512}
LABEL = re.compile(r"([\w.$]+):")
JUMP = re.compile(r"(?:j|b|cb|tb)[\w.]*\s+(?:.*,\s*)?(\.?L\w+)\s*(?:[#;/].*)?$")
PLACE = re.compile(r"\.loc\s+(\d+)\s+(\d+)")
FILE = re.compile(r'\.file\s+(\d+)\s.*"([^"]*)"')


@dataclass
class Arithmetic:
    """How many instructions compute with several floating point numbers, by their width in bits, and how many with a
    single one; how many loops without others inside have such instructions, and how many of them more packed ones."""

    packed: Counter[int] = field(default_factory=Counter)
    single: int = 0
    loops: int = 0
    vectorised: int = 0

    def add(self, width: int) -> None:
        if width:
            self.packed[width] += 1
        else:
            self.single += 1

    @property
    def total(self) -> int:
        return self.packed.total() + self.single


@dataclass
class _Function:
    """Instructions of arithmetic as (position, width, line), places of labels, and jumps as (from, to)."""

    name: str
    found: list[tuple[int, int, int]] = field(default_factory=list)
    labels: dict[str, int] = field(default_factory=dict)
    jumps: list[tuple[int, str]] = field(default_factory=list)

    def loops(self) -> list[tuple[int, int]]:
        """The first and last instruction of every loop that has no other one inside."""
        spans = {(self.labels[label], place) for place, label in self.jumps
                 if self.labels.get(label, place + 1) <= place}
        return [span for span in spans
                if not any(other != span and span[0] <= other[0] and other[1] <= span[1] for other in spans)]


def functions_in(text: str, file: str) -> list[_Function]:
    """The functions of an assembly text; lines are those of the source file of this name."""
    functions: list[_Function] = []
    files: set[str] = set()
    position = line = 0
    for row in text.splitlines():
        stripped = row.strip()
        label = LABEL.match(row)
        if label is not None:
            if not label[1].startswith((".L", "L")):
                functions.append(_Function(label[1]))
                line = 0
            elif functions:
                functions[-1].labels[label[1]] = position
        elif stripped.startswith(".file"):
            named = FILE.match(stripped)
            files |= {named[1]} if named is not None and named[2].endswith(file) else set()
        elif stripped.startswith(".loc"):
            place = PLACE.match(stripped)
            line = int(place[2]) if place is not None and place[1] in files else 0
        elif functions and row[:1].isspace() and stripped[:1] not in (".", "#"):
            position += 1
            _note(functions[-1], stripped, position, line)
    return functions


def _note(function: _Function, instruction: str, position: int, line: int) -> None:
    width = width_of(instruction)
    if width is not None:
        function.found.append((position, width, line))
    jump = JUMP.match(instruction)
    if jump is not None:
        function.jumps.append((position, jump[1]))


def width_of(instruction: str) -> int | None:
    """The bits that an instruction of floating point arithmetic computes with, 0 for a single number; None for other
    instructions.

    >>> width_of("vaddpd (%rax), %ymm1, %ymm2"), width_of("addsd %xmm0, %xmm1"), width_of("movq %rax, %rbx")
    (256, 0, None)
    >>> width_of("fmla v0.2d, v1.2d, v2.2d"), width_of("fadd d0, d1, d2")
    (128, 0)
    """
    word, _, operands = instruction.replace("\t", " ").partition(" ")
    known = X86.match(word)
    if known is not None:
        widths = [width for name, width in WIDTHS.items() if name in operands]
        return max(widths, default=128) if known[1] == "p" else 0
    if ARM.match(word):
        return 128 if re.match(r"\s*v\d+\.\d", operands) else 0
    return None


def arithmetic(text: str, file: str, of_line: Callable[[int], Hashable], of_function: Callable[[str], Hashable]
               ) -> dict[Any, Arithmetic]:
    """The arithmetic of an assembly text by what it belongs to: a function as a whole, if `of_function` says so of
    its name, else what `of_line` says of the line that an instruction comes from, or most of the loop around it.
    What is known of neither belongs to None."""
    found: dict[Any, Arithmetic] = {}
    for function in functions_in(text, file):
        whole = of_function(function.name)
        inside: list[Any] = [(start, end, _owner(function, start, end, of_line) if whole is None else whole)
                             for start, end in function.loops()]
        for position, width, line in function.found:
            around = next((owner for start, end, owner in inside if start < position <= end), None)
            own = of_line(line) if line and whole is None else whole
            owner = around if own is None else own
            found.setdefault(owner, Arithmetic()).add(width)
        for start, end, owner in inside:
            widths = [width for position, width, _ in function.found if start < position <= end]
            if widths:
                made = found.setdefault(owner, Arithmetic())
                made.loops += 1
                made.vectorised += is_vectorised(widths)
    return found


def is_vectorised(widths: Sequence[int]) -> bool:
    """Whether most instructions of a loop compute with several numbers. (A few pairs are found in most loops.)"""
    return 2 * sum(map(bool, widths)) > len(widths)


def _owner(function: _Function, start: int, end: int, of_line: Callable[[int], Hashable]) -> Hashable:
    """What most instructions of a loop belong to, of those of which it is known."""
    owners = Counter(owner for position, _, line in function.found if start < position <= end and line
                     if (owner := of_line(line)) is not None)
    return owners.most_common(1)[0][0] if owners else None
