"""Reading the exact text of Core (see `text`) back into Core."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .equations import single_atom
from .grammar import (
    Block,
    Call,
    Carry,
    Effect,
    Function,
    If,
    Let,
    Loop,
    Merge,
    Read,
    Record,
    Stmt,
    Var,
)
from .guards import Guard
from .lines import Line
from .literals import Literals


def parse(text: str, ops: Mapping[str, Any], classes: Mapping[str, Any] | None = None) -> Function:
    """The first function of a text. `ops` gives ops by name, `classes` dataclasses of attributes.

    Raises `ValueError`, with the number of the line, where the text is not Core.
    """
    return Reader(text, ops, classes or {}).functions()


class Reader(Literals):
    """Reads functions; `vars` are the variables of the function being read."""

    def __init__(self, text: str, ops: Mapping[str, Any], classes: Mapping[str, Any]) -> None:
        numbered = enumerate(text.splitlines(), 1)
        self.lines = [Line(number, line) for number, line in numbered if line.strip()]
        super().__init__(classes)
        self.ops = ops
        self.at = 0
        self.known: dict[str, Function] = {}

    @property
    def line(self) -> Line:                                         # type: ignore[override]
        return self.lines[self.at]

    def functions(self) -> Function:
        heads = [line for line in self.lines if line.depth == 0]
        for head in heads:
            head.expect("function")
            name = head.name()
            self.known[name] = Function(name, [], [], [])
        if not heads:
            raise ValueError("there is no function in this text")
        for function in self.known.values():
            self.function(function)
        return next(iter(self.known.values()))

    def function(self, function: Function) -> None:
        self.vars = {}
        self.line.expect("(")
        function.params = self.line.listed(self.typed, ")")
        for param in function.params:
            param.is_parameter = True
        self.finish()
        while self.is_at(1, "dim", "guard"):
            if self.line.next() == "dim":
                self.dim(function)
            else:
                function.guards.append(self.guard())
            self.finish()
        function.body = self.block(1)
        self.line.expect("return")
        function.results = self.line.listed(self.atom)
        self.finish()
        unknown = [name for name, var in self.vars.items() if var.type is None]
        if unknown:
            raise ValueError(f"function {function.name} does not define {', '.join(unknown)}")

    def dim(self, function: Function) -> None:
        atom = single_atom(self.size())
        self.line.expect("=")
        var = self.var()
        self.line.expect(",")
        function.dims[atom] = var, int(self.line.next())

    def guard(self) -> Guard:
        left = self.size()
        kind = {"==": "equal", ">=": "at least"}.get(self.line.next())
        if kind is None:
            raise self.line.error("== or >=")
        right = self.size()
        return Guard("chosen" if self.line.accept("chosen") else kind, left, right)

    # -- lines -------------------------------------------------------------------------------

    def is_at(self, depth: int, *words: str) -> bool:
        """Whether the current line is at this depth and begins with one of these words."""
        if self.at == len(self.lines) or self.line.depth != depth:
            return False
        return self.line.peek(*words) and not self.line.peek(":", ahead=1)

    def finish(self) -> None:
        self.line.end()
        self.at += 1

    def section(self, depth: int, word: str) -> bool:
        """Passes a line that consists of `word`."""
        found = self.is_at(depth, word)
        if found:
            self.line.expect(word)
            self.finish()
        return found

    def block(self, depth: int) -> Block:
        block: Block = []
        while self.at < len(self.lines) and self.line.depth == depth:
            if self.is_at(depth, "return"):
                break
            block.append(self.statement(depth))
        return block

    def statement(self, depth: int) -> Stmt:
        for word, read in (("if", self.branch), ("loop", self.loop)):
            if self.is_at(depth, word):
                self.line.expect(word)
                return read(depth + 1)
        if self.is_at(depth, "call"):
            stmt: Stmt = self.call(())
        else:
            stmt = self.effect() if self.is_at(depth, "effect") else self.equation()
        self.finish()
        return stmt

    def effect(self) -> Effect:
        self.line.expect("effect")
        kind = self.line.name()
        return Effect(kind, *self.arguments())

    def equation(self) -> Let | Call:
        targets = [self.typed()]
        while self.line.accept(","):
            targets.append(self.typed())
        self.line.expect("=")
        if self.line.peek("call") and self.line.kind(1) == "name":
            return self.call(tuple(targets))
        name = self.line.name()
        if name not in self.ops:
            raise ValueError(f"line {self.line.number}: there is no op {name!r}")
        return Let(tuple(targets), self.ops[name], *self.arguments())

    def call(self, targets: tuple[Var, ...]) -> Call:
        self.line.expect("call")
        function = self.known.get(self.line.name())
        if function is None:
            raise self.line.error("a function of this text before")
        self.line.expect("(")
        return Call(targets, function, tuple(self.line.listed(self.atom, ")")))

    def branch(self, depth: int) -> If:
        cond = self.atom()
        self.finish()
        then = self.block(depth + 1) if self.section(depth, "then") else []
        orelse = self.block(depth + 1) if self.section(depth, "else") else []
        merges = []
        while self.is_at(depth, "merge"):
            target = self.defined("merge")
            first = self.atom()
            self.line.expect(",")
            merges.append(Merge(target, first, self.atom(), saved=self.line.accept("saved")))
            self.finish()
        return If(cond, then, orelse, merges)

    def defined(self, word: str) -> Var:
        self.line.expect(word)
        target = self.typed()
        self.line.expect("=")
        return target

    def pairs(self, depth: int, word: str) -> list[tuple[Var, Any]]:
        """The lines ``word target = atom`` that follow."""
        found = []
        while self.is_at(depth, word):
            found.append((self.defined(word), self.atom()))
            self.finish()
        return found

    def loop(self, depth: int) -> Loop:
        position = self.typed()
        self.line.expect("in")
        trips = None if self.line.accept("none") else self.atom()
        down = self.line.accept("down")
        blocks: tuple[int, ...] = ()
        while self.line.accept("blocks"):
            blocks += (int(self.line.next()),)
        again, independent = self.line.accept("again"), self.line.accept("independent")
        self.finish()
        entries = self.pairs(depth, "carry")
        reads = [Read(*pair) for pair in self.pairs(depth, "read")]
        test, cond = self.test(depth)
        self.line.expect("body")
        self.finish()
        body = self.block(depth + 1)
        ends = self.pairs(depth, "next")
        carries = [Carry(entry, init, end, out)
                   for (entry, init), (out, end) in zip(entries, ends, strict=True)]
        records = self.records(depth)
        count = self.count(depth)
        return Loop(position, trips, carries, body, reads, records, down, test, cond, count, None, blocks, again,
                    independent)

    def records(self, depth: int) -> list[Record]:
        found = []
        while self.is_at(depth, "record"):
            found.append(Record(self.defined("record"), self.atom(), saved=self.line.accept("saved")))
            self.finish()
        return found

    def test(self, depth: int) -> tuple[Block, Any]:
        if not self.section(depth, "test"):
            return [], None
        test = self.block(depth + 1)
        self.line.expect("while")
        cond = self.atom()
        self.finish()
        return test, cond

    def count(self, depth: int) -> Var | None:
        if not self.is_at(depth, "count"):
            return None
        self.line.expect("count")
        count = self.typed()
        self.finish()
        return count
