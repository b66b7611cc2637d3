"""The names of variables: the user's where there is one, else what the value is.

Two variables have the same name only if they are never alive at once; otherwise the later one gets a
plain number: `p`, `p2`.
"""

from __future__ import annotations

import builtins
import keyword
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from itertools import count
from typing import Any

from ..core.grammar import UNDEFINED, Call, Const, Let, Merge, Var
from ..core.naming import PART, PATTERNS, derived, numbered
from ..core.types import ArrayType
from ..core.walk import all_statements
from ..ops.regions import Slot
from ..ops.registry import registry
from .aliasing import is_array
from .flow import Flow
from .natural import NATURAL, OF_SEVERAL, bounds_of_parts
from .subjects import Spoken, Subjects
from .variables import Variable, Variables, given_name

# Functions that a module contains when it calls them; see `prelude`.
HELPERS = frozenset({"grow", "add_saved", "zeros_like_saved", "threefry2x32", "erf_inv_f32", "erf_inv_f64",
                     "is_positive_definite", "complex_eig", "complex_eigvals", "complex_of"})
# Those that compiled code calls by way of Python.
HOSTED_HELPERS = HELPERS - {"grow", "complex_eig", "complex_eigvals", "complex_of"}
HELPER_NUMBERS = frozenset({"ERF_INV_NEAR", "ERF_INV_FAR", "ERF_INV_FARTHEST", "ERF_INV_NEAR_F32", "ERF_INV_FAR_F32",
                            "LOG_ABOVE", "LOG_BELOW"})

# Names that the generated source may use for what they are; a user's variable must not hide them.
PRINTED = frozenset(
    {
        "np",
        "cmath",
        "dataclasses",
        "math",
        "ml_dtypes",
        "scipy",
        "warnings",
        "logging",
        "statistics",
        "in_threads",
        "transformer",
        "places",
        "range",
        "len",
        "min",
        "max",
        "abs",
        "float",
        "int",
        "bool",
        "complex",
        "round",
        "pow",
        "divmod",
        "print",
        "zip",
        "enumerate",
        "any",
        "isinstance",
        "type",
        "TypeError",
        "ValueError",
    }
) | HELPERS | HELPER_NUMBERS
OF_THREADS = frozenset({"in_threads", "places"})   # which only loops that threads share call
STANDING = PRINTED - HELPERS - HELPER_NUMBERS - OF_THREADS    # what is there without being defined in the module
BUILTINS = frozenset(dir(builtins))
POSITIONS = ("k", "j", "i", "m", "p", "q")
COUNTERS = ("n", "count", "steps")

SHORT = 5                    # letters of a name that another is made of
TESTS = ("less", "less_equal", "greater", "greater_equal", "equal", "not_equal")
BESIDE = {("add", 1): "after", ("subtract", -1): "after", ("subtract", 1): "before", ("add", -1): "before"}


class Names:
    """The name of every variable that is printed, of sizes, and of what else the function mentions."""

    def __init__(self, flow: Flow, variables: Variables, taken: Iterable[str]) -> None:
        self.flow = flow
        self.variables = variables
        self.taken = {*keyword.kwlist, *(PRINTED - OF_THREADS), *registry.names(), *taken}
        self.chosen: dict[Variable, str] = {}
        self.holders: dict[str, list[Variable]] = {}
        self.numbers: dict[Any, int] = {}  # the last number of a name in a loop
        self.firsts: dict[Variable, list[Var]] = {}  # of what gets a name that is made up: the values printed
        self.spoken: dict[Var, str] = {}
        self.bounds = dict(bounds_of_parts(flow))
        self.passed = dict(_passed(flow))

    def of(self, var: Var) -> str:
        return self.chosen[self.variables[var]]

    def reserve(self, wish: str, others: Iterable[str] = ()) -> str:
        """A name that nothing else in the function gets, and none of `others`."""
        used = {*self.taken, *self.holders, *BUILTINS, *others}
        name = next(name for name in (numbered(wish, k) for k in count(1)) if name not in used)
        self.taken.add(name)
        return name

    def fix(self, var: Var, name: str) -> None:
        """Gives a parameter its name."""
        self._give(self.variables[var], name)

    def choose(self, printed: Iterable[Var]) -> None:
        """Names the variables of the values that are printed, in order of their first definition; the
        user's names are given before others are made up."""
        shown = dict.fromkeys(printed)
        order = sorted(dict.fromkeys(self.variables[var] for var in shown), key=lambda variable: variable.pieces[0][0])
        for variable in order:
            part = self._is_part(variable)
            given = [name for var in variable.values if var in shown and not part and (name := given_name(var))]
            given = given or sorted(() if part else variable.names)
            if given and variable not in self.chosen:
                usual = Counter(given).most_common(1)[0][0]
                self._give(variable, self._free(variable, [identifier(usual)]))
        rest = [variable for variable in order if variable not in self.chosen]
        self.firsts = {variable: [var for var in variable.values if var in shown] for variable in rest}
        self.spoken = self._told_apart(values[0] for values in self.firsts.values())
        for variable in sorted(rest, key=self._is_storage):
            self._make_up(variable)

    def _is_part(self, variable: Variable) -> bool:
        """Whether a variable is only part of a derivative, has the name of the whole, and goes into something else,
        too."""
        var = variable.values[0]
        if var.pattern != PART or len(variable.values) > 1 or self.flow.count.get(var, 0) < 2:
            return False
        return any(each.name == var.name and each.pattern != PART for each in self.flow.needed.homes)

    def _make_up(self, variable: Variable | None) -> None:
        """Gives a variable a name that is made up, unless it has one."""
        if variable in self.firsts and variable not in self.chosen:
            self._give(variable, self._free(variable, self._wishes(variable, self.firsts[variable])))

    def _told_apart(self, values: Iterable[Var]) -> dict[Var, str]:
        """`e_f` and `e_g` for what would be `e` and `e2`: values of one kind, each of another subject."""
        subjects, alike = Subjects(self.flow), defaultdict(list)
        for var in values:
            if (home := self.flow.needed.homes[var]).kind == "let":
                alike[self._of_let(home.stmt, var)[0]].append(Spoken(var, subjects.of(var), home.loops))
        return {each.var: f"{name}_{each.subject}" for name, group in alike.items() for each in group
                if each.subject and each.stands_out(group)}

    def _is_storage(self, variable: Variable) -> bool:
        """Storage is named after what it holds: before what is read from it, or else in the end."""
        return self._kind(variable) == "record"

    def _kind(self, variable: Variable) -> str:
        return self.flow.needed.homes[variable.values[0]].kind

    def _give(self, variable: Variable, name: str) -> None:
        variable.stretch()
        self.chosen[variable] = name
        self.holders.setdefault(name, []).append(variable)

    def _free(self, variable: Variable, wishes: list[str]) -> str:
        """The first wish that is free, or the first with a number."""
        variable.stretch()
        for wish in wishes:
            if self._is_free(variable, wish):
                return wish
        place = wishes[0], self._loop(variable)
        numbers = count(self.numbers.get(place, 2))
        number, name = next(
            (k, name) for k in numbers for name in [numbered(wishes[0], k)] if self._is_free(variable, name)
        )
        self.numbers[place] = number
        return name

    def _is_free(self, variable: Variable, name: str) -> bool:
        """A user's name may be bound anew when its value is not needed any more, as the user does it;
        a name that is made up is used again only in another loop."""
        users = (
            name in variable.names
            or name in POSITIONS
            and all(map(self._is_position, (variable, *self.holders.get(name, ()))))
        )
        if name in self.taken or name in BUILTINS and not users:
            return False
        return all(
            (users or not holder.is_param and not holder.names and self._loop(variable) is not self._loop(holder))
            and variable.is_apart_from(holder)
            for holder in self.holders.get(name, ())
        )

    def _is_position(self, variable: Variable) -> bool:
        return self._kind(variable) == "position"

    def _loop(self, variable: Variable) -> Any:
        """The innermost loop in which a variable is first bound."""
        loops = self.flow.needed.homes[variable.values[0]].loops
        return loops[-1] if loops else None

    # -- names made up ----------------------------------------------------------------------

    def _wishes(self, variable: Variable, values: list[Var]) -> list[str]:
        """Names to be tried: a cotangent is called after its primal where it has no place of its own."""
        var = next((each for each in values if each.primal is not None), values[0])
        if var.primal is not None and not self._is_element(values[0]):
            if name := self._of_derivative(variable, var.primal, var.pattern):
                return [name]
        return self._made_up(values[0])

    def _is_element(self, var: Var) -> bool:
        stmt = self.flow.needed.homes[var].stmt
        return isinstance(stmt, Let) and stmt.op.name == "get" and not is_array(var)

    def _of_derivative(self, variable: Variable, primal: Var, pattern: str) -> str | None:
        """`dtotal` for the derivative of a value that is called `total`, or would be if it had a name that
        nothing else has."""
        if primal not in self.flow.needed.homes:
            return None
        if (own := self.variables.get(primal)) in self.chosen:
            name = derived(self.chosen[own], pattern)
            return name if self._is_free(variable, name) else None
        name = self._made_up(primal)[0]
        others = [holder for holder in self.holders.get(name, ()) if self._kind(holder) != "read"]
        return None if others else derived(name, pattern)

    def _made_up(self, var: Var) -> list[str]:
        kind, stmt, item, _ = self.flow.needed.homes[var]
        if kind == "position" or kind == "count":
            return list(COUNTERS if self.flow.counters.get(stmt) is var else POSITIONS)
        if kind == "record":
            return [f"{self._stored_name(var)}_k"]
        if kind == "read":
            return [self._element_name(item.source)]
        if kind == "let":
            known = self.passed.get(var) if stmt.op.name != "get" else None
            known = known or self.spoken.get(var)
            return [known] if known else self._of_let(stmt, var)
        if kind == "merge" and (known := self._of_sides(item)):
            return [known]
        return [_given_back(stmt, var) or _by_type(var)]

    def _of_sides(self, merge: Merge) -> str | None:
        """What a choice is called like all that it may be, if one side makes it, or both the same."""
        sides = [side for side in (merge.then, merge.orelse) if side is not UNDEFINED]
        if len(sides) == 2 and isinstance(type := merge.target.type, ArrayType) and type.dtype.kind == "b":
            return None                                   # not one of several conditions
        names = {self._of_side(side, alone=len(sides) == 1) for side in sides}
        return names.pop() if len(names) == 1 else None

    def _of_side(self, side: Any, alone: bool) -> str | None:
        """What a value of a choice would be called; the choice has the name of a user's value if that stands alone."""
        if not isinstance(side, Var):
            return None
        if name := given_name(side):
            return identifier(name) if alone else None
        return self._made_up(side)[0]

    def _stored_name(self, record: Var) -> str:
        """What the values of a record are called, or would be if they had a variable."""
        atom = next(iter(self.flow.stored.values.get(record, ())), None)
        if atom in self.flow.stored.of:
            return self._stored_name(atom)  # type: ignore[arg-type]
        name = self._root_of(atom)
        if name == "step" and isinstance(atom, Var) and self.flow.needed.homes[atom].kind == "let":
            return self._made_up(atom)[0]
        return name

    def _root_of(self, atom: Any) -> str:
        variable = self.variables.get(atom) if isinstance(atom, Var) else None
        if variable in self.chosen:
            return self.chosen[variable]
        return identifier(atom.name) if isinstance(atom, Var) and atom.name else "step"

    def _element_name(self, source: Any) -> str:
        """What one element of a sequence is called: `x` of `x_k`, `row` of an array."""
        home = self.flow.needed.homes[source]
        while home.kind == "read":
            source, home = home.item.source, self.flow.needed.homes[home.item.source]
        store = self.flow.stored.row(source)
        while store is not None and store.outer is not None:
            source, store = store.outer.record.target, store.outer
        self._make_up(self.variables.get(source))
        name = self._root_of(source)
        plain = re.sub(r"(_k)+\d*$", "", name)
        return plain if plain != name else f"{name}_k" if isinstance(source.type, ArrayType) else "row"

    def _of_let(self, stmt: Let, var: Var) -> list[str]:
        name = stmt.op.name
        if name == "unpack":
            maker = stmt.attrs["layout"].makers[stmt.targets.index(var)]
            return ["test" if maker in TESTS else NATURAL.get(maker, maker) or _by_type(var)]
        if name == "get" and (not is_array(var) or self._is_element_of_named(stmt)):
            return [self._of_element(stmt)]
        if name in TESTS and not is_array(var):
            return ["test"]
        if var in self.bounds:
            return [self.bounds[var]]
        if (beside := self._beside(var)) and 0 < len(known := self._root_of(stmt.args[0])) <= SHORT and known != "step":
            return [f"{known}_{beside}"]
        if name in NATURAL or name in OF_SEVERAL:
            return [OF_SEVERAL[name][stmt.targets.index(var)] if name in OF_SEVERAL else NATURAL[name]]
        operand = stmt.args[0] if len(stmt.args) == 1 else None
        known = self._root_of(operand) if isinstance(operand, Var) else "step"
        return [f"{name}_{known}" if known != "step" and len(known) <= SHORT else identifier(name)]

    def _is_element_of_named(self, stmt: Let) -> bool:
        """Whether a part of an array is one row of it, or the elements at places, and both have short names."""
        named = [self._root_of(atom) for atom in stmt.args if isinstance(atom, Var)]
        index = stmt.attrs["index"]
        return len(named) > 1 and all(name != "step" and len(name) <= SHORT for name in named) and (
            isinstance(index[0], Slot) and all(entry == slice(None) for entry in index[1:]))

    def _of_element(self, stmt: Let) -> str:
        """`x_i` for `x[i]`, `x_0` for `x[0]`, `x_ij` for `x[i, j]`, `x_lane_i` for `x[lane, i]`."""
        base = self._root_of(stmt.args[0])
        entries = [stmt.args[1 + e.k] if isinstance(e, Slot) else e for e in stmt.attrs["index"] if e != slice(None)]
        if not base[-1].isdigit():
            entries = [e.value if isinstance(e, Const) else e for e in entries]
        if len(entries) == 1 and base != "step" and (beside := self._beside(entries[0])):
            return identifier(f"{base}_{beside}")
        parts = [
            str(e) if isinstance(e, int) and e >= 0 else self._root_of(e) if isinstance(e, Var) else "" for e in entries
        ]
        if not all(parts) or "step" in parts or base == "step":
            return "item" if base == "step" else f"{base}_item"
        return identifier(f"{base}_{('' if max(map(len, parts)) == 1 else '_').join(parts)}")

    def _beside(self, atom: Any) -> str | None:
        """`before` for the index `i - 1`, `after` for `i + 1`, where it has no name of its own."""
        stmt = self.flow.needed.homes[atom].stmt if isinstance(atom, Var) and not given_name(atom) else None
        if not isinstance(stmt, Let) or len(stmt.args) != 2 or not isinstance(stmt.args[1], Const):
            return None
        if not isinstance(stmt.args[0], Var) or stmt.target.type.dtype.kind != "i":    # type: ignore[union-attr]
            return None
        return BESIDE.get((stmt.op.name, stmt.args[1].value))            # types without a sign have no opposites


def _passed(flow: Flow) -> Iterator[tuple[Var, str]]:
    """What is passed to functions that stay functions, and what they call it."""
    for stmt in all_statements(flow.function.body):
        if isinstance(stmt, Call) and stmt.function.role:
            for atom, param in zip(stmt.args, stmt.function.params):
                if isinstance(atom, Var) and param.name:
                    yield atom, identifier(param.name)


def _given_back(stmt: Any, var: Var) -> str | None:
    """What a derivative is called in the function that gives it."""
    if not isinstance(stmt, Call):
        return None
    result = stmt.function.results[stmt.targets.index(var)]
    own = {derived(param.name, pattern) for param in stmt.function.params if param.name for pattern in PATTERNS}
    return identifier(result.name) if isinstance(result, Var) and result.name in own else None


def _by_type(var: Var) -> str:
    type = var.type
    if isinstance(type, ArrayType) and not type.sizes:
        return {"b": "flag", "i": "count"}.get(type.dtype.kind, "value")
    return "result"


def fresh(name: str, used: set[str]) -> str:
    """A name that is not used yet; it is from now on."""
    free = next(wish for wish in (numbered(name, k) for k in count(1)) if wish not in used)
    used.add(free)
    return free


def identifier(name: str) -> str:
    """A name made into a Python identifier: the last word of `params['w']`, say."""
    if name.isidentifier():
        return f"{name}_" if keyword.iskeyword(name) else name
    words = re.findall(r"[^\W\d]\w*", name)
    return identifier(words[-1]) if words else "value"
