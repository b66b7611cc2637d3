"""What was compiled for a call: its parts, what they cost, and what the machine code of each is."""

from __future__ import annotations

import ast
import os
import shutil
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..core.errors import Origin
from ..core.sizes import Unknown
from .compiling.assembly import Arithmetic, arithmetic
from .costs import Cost
from .rows import Row, Rows

HEADS = "lines", "loop", "reads", "writes", "ops", "vector", "packed", "single", "threads"
GAP, WIDEST, NARROWEST = "  ", 120, 6
BOLD, FAINT, GREEN, YELLOW, PLAIN = "\033[1m", "\033[2m", "\033[32m", "\033[33m", "\033[0m"


@dataclass(repr=False)
class Report:
    """What was compiled for a call. `rows` are the parts of the kernel in their order, `elsewhere` is the arithmetic
    of its machine code that belongs to none of them, or all of it where that cannot be told apart (`told_apart`).
    `file` is the user's. `in_place` are donated arguments that results are written to, `not_used` the other ones.
    `refusal` is why not all was compiled, `parts` are lines with what has become of them."""

    name: str
    rows: list[Row] = field(default_factory=list)
    elsewhere: Arithmetic = field(default_factory=Arithmetic)
    told_apart: bool = True
    file: str = ""
    in_place: tuple[str, ...] = ()
    not_used: tuple[str, ...] = ()
    refusal: str | None = None
    parts: list[tuple[tuple[int, int], str]] = field(default_factory=list)

    @property
    def cost(self) -> Cost:
        """Of the whole call, estimated: bytes that its nests read and write, and operations."""
        return sum((row.cost for row in self.rows), Cost())

    @property
    def arithmetic(self) -> Arithmetic:
        """Of the whole machine code."""
        total = Arithmetic()
        for each in (self.elsewhere, *(row.arithmetic for row in self.rows if row.arithmetic)):
            total.packed += each.packed
            total.single, total.loops = total.single + each.single, total.loops + each.loops
            total.vectorised += each.vectorised
        return total

    def __str__(self) -> str:
        return self.text()

    __repr__ = __str__

    def show(self, file: Any = None) -> None:
        """Prints the report, with colours if that goes to a terminal."""
        file = file or sys.stdout
        colour = bool(getattr(file, "isatty", lambda: False)()) and not os.environ.get("NO_COLOR")
        print(self.text(colour), file=file)

    def text(self, colour: bool = False, width: int | None = None) -> str:
        """The report in lines of at most `width` characters: by default those of the terminal."""
        if self.parts:
            lines = [("-".join(map(str, sorted(set(span)))), text) for span, text in self.parts]
            wide = max(len(span) for span, _ in lines)
            return "\n".join([f"{self.name} runs in parts: {self.refusal}",
                              *(f"{GAP}{span.ljust(wide)}{GAP}{text}" for span, text in lines)])
        if self.refusal is not None:
            return f"{self.name} runs as NumPy: {self.refusal}"
        width = width or min(WIDEST, shutil.get_terminal_size((100, 24)).columns)
        return "\n".join([*self._summary(colour), *self._table(colour, width), *self._notes()])

    def _summary(self, colour: bool) -> list[str]:
        found, cost = self.arithmetic, self.cost
        nests = counted(sum(row.is_nest for row in self.rows), "nest")
        loops = f"{found.vectorised} of {counted(found.loops, 'inner loop')} vectorised"
        return [f"{BOLD * colour}{self.name}{PLAIN * colour}: {nests}, {loops}",
                f"reads {size_text(cost.read)}, writes {size_text(cost.written)}, "
                f"{number_text(cost.operations)} operations{' at least' * (not cost.known)}"]

    def _table(self, colour: bool, width: int) -> list[str]:
        cells = [HEADS, *map(self._cells, self.rows)] if self.rows else []
        shown = [k for k in range(len(HEADS)) if any(row[k] for row in cells[1:])]
        widths = {k: max(len(row[k]) for row in cells) for k in shown}
        room = width - sum(widths[k] for k in shown if HEADS[k] != "loop") - len(GAP) * len(shown)
        widths = {k: min(wide, max(room, NARROWEST)) if HEADS[k] == "loop" else wide for k, wide in widths.items()}
        return [_line(row, shown, widths, _style(self.rows[k - 1] if k else None) if colour else {})
                for k, row in enumerate(cells)]

    def _cells(self, row: Row) -> tuple[str, ...]:
        text, cost, found = "  " * row.depth + row.text, row.cost, row.arithmetic
        sizes = [size_text(cost.read), size_text(cost.written)] if cost.read or cost.written else ["", ""]
        operations = f"{number_text(cost.operations)}{'+' * (not cost.known)}" if cost.operations else ""
        machine = [f"{found.vectorised}/{found.loops}" if found.loops else "", packed_text(found),
                   str(found.single or "")] if found else ["", "", ""]
        return self._lines(row.origins), text, *sizes, operations, *machine, row.threads

    def _lines(self, origins: Iterable[Origin]) -> str:
        """The lines of the user's file; those of others by their file."""
        own = sorted({origin.line for origin in origins if origin.file == self.file})
        others = sorted({os.path.basename(origin.file) for origin in origins if origin.file != self.file})
        return ", ".join([*ranges(own), *others])

    def _notes(self) -> list[str]:
        notes = [f"{name} is written in place, as it is donated" for name in self.in_place]
        notes += [f"{name} is donated, but no result can be written in its place" for name in self.not_used]
        if not self.told_apart:
            notes.append("it cannot be told to which nest an instruction belongs")
        if self.elsewhere.total:
            packed = f"{packed_text(self.elsewhere)} packed, " if self.elsewhere.packed else ""
            where = "in the machine code" if not self.told_apart else "outside of these"
            notes.append(f"{where}: {packed}{self.elsewhere.single} single")
        return notes


def _line(cells: tuple[str, ...], shown: list[int], widths: dict[int, int], style: dict[str, str]) -> str:
    """The cells of a row below each other: text to the left, numbers to the right."""
    parts = []
    for k in shown:
        text = cells[k] if len(cells[k]) <= widths[k] else cells[k][:widths[k] - 1] + "…"
        text = text.ljust(widths[k]) if HEADS[k] in ("lines", "loop", "threads") else text.rjust(widths[k])
        start = style.get(HEADS[k], "")
        parts.append(f"{start}{text}{PLAIN}" if start else text)
    return (GAP + GAP.join(parts)).rstrip()


def _style(row: Row | None) -> dict[str, str]:
    """The colours of cells: of arithmetic that is packed, and of loops that have none."""
    if row is None:
        return dict.fromkeys(HEADS, FAINT)
    found = row.arithmetic
    scalar = found is not None and found.loops and not found.vectorised
    return {"lines": FAINT, "packed": GREEN, "vector": YELLOW if scalar else GREEN}


def ranges(numbers: list[int]) -> list[str]:
    """Ordered numbers, with those that follow each other in one.

    >>> ranges([3, 5, 6, 7, 9])
    ['3', '5-7', '9']
    """
    groups: list[list[int]] = []
    for number in numbers:
        if groups and groups[-1][-1] == number - 1:
            groups[-1].append(number)
        else:
            groups.append([number])
    return [str(group[0]) if len(group) == 1 else f"{group[0]}-{group[-1]}" for group in groups]


def counted(number: int, noun: str) -> str:
    """
    >>> counted(1, "nest"), counted(2, "nest")
    ('1 nest', '2 nests')
    """
    return f"{number} {noun}{'s' * (number != 1)}"


def packed_text(found: Arithmetic) -> str:
    """How many packed instructions there are of the largest width in bits, and how many others.

    >>> from collections import Counter
    >>> packed_text(Arithmetic(Counter({128: 2, 256: 1, 512: 24})))
    '24x512 +3'
    """
    if not found.packed:
        return ""
    widest = max(found.packed)
    others = found.packed.total() - found.packed[widest]
    return f"{found.packed[widest]}x{widest}{f' +{others}' if others else ''}"


def number_text(number: int) -> str:
    """
    >>> number_text(12345), number_text(2_500_000)
    ('12,345', '2.5e+06')
    """
    return f"{number:,}" if number < 100_000 else f"{number:.3g}"


def size_text(size: float) -> str:
    """
    >>> size_text(12), size_text(2.5e6)
    ('12 B', '2.5 MB')
    """
    for unit in ("B", "kB", "MB"):
        if size < 1000:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:.3g} GB"


# -- making it ------------------------------------------------------------------------------------


def report_on(looped: Any, hints: Mapping[Any, int], function: Any, donated: Iterable[str]) -> Report:
    """The report on a module of loops for a call; `hints` are the sizes of the call, `function` is compiled, `donated`
    are the names of arguments."""
    module, reading = looped.module, looped.reading
    name = module.kernel.printed.name
    values = {**hints, **{Unknown(var): hints[path] for var, path in reading.paths.items() if path in hints}}
    rows = Rows(module.kernel, values, _line_of(looped.source, name)).all()
    origin = reading.origin
    used = module.donated
    unused = tuple(argument for argument in sorted(donated)
                   if not any(path == argument or path.startswith((f"{argument}[", f"{argument}.")) for path in used))
    made = Report(looped.interface.name, rows, file=origin.file if origin else "", in_place=used, not_used=unused)
    _read_machine_code(made, function.__globals__[name])
    return made


def _line_of(source: str, name: str) -> int:
    """Where a function is defined."""
    return next(node.lineno for node in ast.parse(source).body
                if isinstance(node, ast.FunctionDef) and node.name == name)


def _read_machine_code(report: Report, kernel: Any) -> None:
    """Compiles the kernel anew, since what was loaded from disk has no text: as it is, and with the lines that its
    instructions come from. Where these differ otherwise, nothing is said of the nests."""
    from .compiling.kernels import compiled_again
    file = os.path.basename(kernel.py_func.__code__.co_filename)
    by_task = {f"task_{row.task}": k for k, row in enumerate(report.rows) if row.task}

    def of_line(line: int) -> int | None:
        return next((k for k, row in enumerate(report.rows) if row.first <= line <= row.last and row.first), None)

    def of_function(symbol: str) -> int | None:
        return by_task.get(symbol.partition(".")[0])

    whole, apart = Arithmetic(), {}
    for text in compiled_again(kernel).inspect_asm().values():
        whole = arithmetic(text, "", lambda line: None, lambda symbol: None).get(None, whole)
    for text in compiled_again(kernel, with_lines=True).inspect_asm().values():
        apart = arithmetic(text, file, of_line, of_function)
    report.told_apart = sum(found.total for found in apart.values()) == whole.total
    report.elsewhere = apart.pop(None, Arithmetic()) if report.told_apart else whole
    for k, found in apart.items() if report.told_apart else ():
        report.rows[k].arithmetic = found
