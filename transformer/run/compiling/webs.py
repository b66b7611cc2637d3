"""A name for each web of a variable (its definitions that reach common uses), as a variable of numba's has one type.

    for k in range(n):                      for k in range(n):
        t = x[k]                                t = x[k]
        y[k] = t * t                            y[k] = t * t
    for k in range(m):                →     for k.1 in range(m):
        t = z[k]                                t.1 = z[k.1]
        w[k] = t + 1                            w[k.1] = t.1 + 1

Assignments and uses that have to do with each other (a web) keep one name. numba itself gives each assignment a name,
for which it goes through all of the code twice for each old one, and adds a variable wherever two assignments meet.

This module imports numba, and is imported when something is compiled.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from numba.core import ir
from numba.core.analysis import compute_cfg_from_blocks
from numba.core.ir_utils import replace_vars_inner, replace_vars_stmt

KNOWN = (ir.Assign, ir.SetItem, ir.StaticSetItem, ir.Branch, ir.Jump, ir.Return, ir.Raise, ir.StaticRaise,
         ir.DynamicRaise)
Web = tuple[Any, ...]                  # the place of an assignment, or a name where a block begins


def are_known(blocks: dict[int, Any]) -> bool:
    """Whether all instructions are of those whose variables are found and renamed here."""
    return all(isinstance(each, KNOWN) for block in blocks.values() for each in block.body)


class Webs:
    """The webs of every variable that is assigned more than once."""

    def __init__(self, blocks: dict[int, Any]) -> None:
        self.blocks = dict(sorted(blocks.items()))
        times = Counter(each.target.name for block in blocks.values() for each in block.find_insts(ir.Assign))
        self.names = {name for name, count in times.items() if count > 1}
        graph = compute_cfg_from_blocks(blocks)
        self.next = {label: [following for following, _ in graph.successors(label)] for label in self.blocks}
        self.alive = self._alive()
        self.above: dict[Web, Web] = {}
        for label in self.blocks:
            self._unite(label)
        self.variables: dict[Web, Any] = {}
        self.given: set[str] = set()

    def rename(self) -> None:
        """Gives each web a name, the first one of a variable that of the variable, in place."""
        for label in self.blocks:
            for each, webs, made in self._steps(label):
                found = ((name, self._variable(webs[name])) for name in _used(each) & webs.keys())
                renamed = {name: var for name, var in found if var.name != name}
                if isinstance(each, ir.Assign):
                    each.value = replace_vars_inner(each.value, renamed)
                    each.target = self._variable(made) if made else each.target
                else:
                    replace_vars_stmt(each, renamed)

    def _steps(self, label: int) -> Iterator[tuple[Any, dict[str, Web], Web | None]]:
        """The instructions of a block, with the web that each name belongs to before, and the one that is assigned."""
        webs: dict[str, Web] = {name: (name, label) for name in self.alive[label]}
        for place, each in enumerate(self.blocks[label].body):
            name = each.target.name if isinstance(each, ir.Assign) else ""
            made = (name, label, place) if name in self.names else None
            yield each, webs, made
            if made:
                webs[name] = made

    def _unite(self, label: int) -> None:
        """What a block hands on is what those behind it begin with."""
        *_, (_, webs, _) = self._steps(label)
        for following in self.next[label]:
            for name in self.alive[following] & webs.keys():
                one, other = self._first(webs[name]), self._first((name, following))
                if one != other:
                    self.above[one] = other

    def _first(self, web: Web) -> Web:
        """What stands for all webs that are united with one. The way to it is shortened for those who ask again."""
        above = self.above
        while web in above:
            if above[web] in above:
                above[web] = above[above[web]]
            web = above[web]
        return web

    def _variable(self, web: Web) -> Any:
        web, name = self._first(web), web[0]
        if web not in self.variables:
            block: Any = next(iter(self.blocks.values()))
            self.variables[web] = (block.scope.redefine(name, block.loc) if name in self.given
                                   else block.scope.get_exact(name))
            self.given.add(name)
        return self.variables[web]

    def _alive(self) -> dict[int, set[str]]:
        """For each block the names whose value from before it is used in it, or behind it."""
        alive: dict[int, set[str]] = {}
        assigned: dict[int, set[str]] = {}
        for label, block in self.blocks.items():
            alive[label], assigned[label] = set(), set()
            for each in block.body:
                alive[label] |= _used(each) & self.names - assigned[label]
                if isinstance(each, ir.Assign):
                    assigned[label].add(each.target.name)
        while any([self._goes_on(label, alive, assigned[label]) for label in reversed(self.blocks)]):
            pass
        return alive

    def _goes_on(self, label: int, alive: dict[int, set[str]], assigned: set[str]) -> bool:
        """Adds what blocks behind one ask for; whether there was any."""
        before = len(alive[label])
        alive[label].update(*(alive[following] - assigned for following in self.next[label]))
        return len(alive[label]) > before


def _used(each: Any) -> set[str]:
    """The names of which an instruction uses the value."""
    part = each.value if isinstance(each, ir.Assign) else each
    variables = [part] if isinstance(part, ir.Var) else part.list_vars() if hasattr(part, "list_vars") else []
    return {var.name for var in variables}
