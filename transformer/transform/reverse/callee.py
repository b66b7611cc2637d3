"""The sweep backwards through a function that is called, which its reverse consists of (`pairs`, `pullbacks`)."""

from __future__ import annotations

from collections.abc import Iterable

from ...core.grammar import Atom, Block, Effect, Function, Var, type_of
from ...core.naming import cotangent_name, numbered
from ...core.walk import atom_vars
from ...ops.value import Value
from ..activity import Places
from ..calls import Calls, copy_of, strong
from ..cancelling import hold
from ..custom.applied import prepared, without_links
from ..naming import derivative_name
from ..tested_sizes import tested_sizes
from .chosen_calls import without_chosen_calls
from .folding import folded
from .residuals import Mirrors
from .unequal import mark_distinct


class Callee:
    """A function where these parameters and results carry derivatives: `own` is a copy of it, with a `body` for
    reverse mode. After `sweep`, `backwards` has the statements that compute `cotangents` of its parameters from those
    `given` of its results."""

    def __init__(self, calls: Calls, function: Function, params: Places, results: Places) -> None:
        self.calls, self.builder = calls, calls.builder
        self.own = copy_of(function, self.builder)
        self.inputs = [self.own.params[k] for k in sorted(params)]
        self.seeded = [self.own.results[k] for k in sorted(results)]
        with self.builder.apart():
            self.body = prepared(without_chosen_calls(self.own.body), self.inputs, self.seeded, self.builder)
            hold(self.body, self.inputs, self.seeded, calls.summaries)
            mark_distinct(self.body, self.builder.assumptions)
        self.backwards: Block = []
        self.given: list[Var] = []
        self.begun: dict[Var, Var] = {}                 # cotangents of parameters, to which those here are added
        self.cotangents: list[Atom] = []
        self.mirrors: Mirrors = {}
        self.equal = tuple(tested_sizes(self.own.body))

    def sweep(self, added_to: Iterable[int] = (), heading: str | None = None) -> None:
        """Goes through the body backwards; to the cotangents of parameters at these places it adds."""
        from .sweep import Reverse
        sweep = Reverse.of(self.body, self.inputs, self.seeded, self.builder, self.calls)
        own, name = self.own.params, cotangent_name([param.name for param in self.own.params if param.name])
        self.given = [Var(strong(type_of(result)), numbered(name, k + 1)) for k, result in enumerate(self.seeded)]
        self.begun = {own[k]: Var(strong(own[k].type), derivative_name(own[k], self.builder)) for k in sorted(added_to)}
        with self.builder.apart() as self.backwards, self.builder.assumptions.block():
            for pair in self.equal:
                self.builder.assumptions.is_tested(*pair)
            if heading is not None:
                self.builder.emit(Effect("comment", (), {"text": heading}))
            for var, dy in [*zip(self.seeded, self.given), *self.begun.items()]:
                sweep.contribute(var, Value(dy))
            sweep.block(self.body)
            self.cotangents = [sweep.result(param) for param in self.inputs]
            self.cotangents = folded(self.body, self.backwards, self.cotangents, self.own.results,
                                     self.builder.assumptions)
        self.mirrors = sweep.mirrors
        without_links(self.body)

    def fill(self, reverse: Function, extras: list[Var], body: Block, results: list[Atom]) -> None:
        """Makes a function one of the parameters, the `extras`, and what is given, with variables of its own."""
        params = [*self.own.params, *extras, *self.given, *self.begun.values()]
        made = copy_of(Function(reverse.name, params, body, results, self.own.dims), self.builder)
        reverse.params, reverse.body, reverse.results, reverse.dims = made.params, made.body, made.results, made.dims
        reverse.equal = tuple(pair for pair in self.equal if not any(map(atom_vars, pair)))
