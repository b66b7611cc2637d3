"""Names that are not bound on every path.

Python is content with a name that one branch leaves unbound, as long as nothing reads it then. But
handing such a value over, to storage or to another name, would read it. Where that happens, the path
without a value binds the name to a zero that is never looked at.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..core.grammar import UNDEFINED, Atom, Call, Let, Var
from ..core.running import certainly_runs
from .aliasing import Aliases, Edge
from .fitting import Nesting
from .flow import Flow
from .variables import Variables

# What looks at its operands even if nobody looks at its result.
HANDS_ON = ("pack", "add_saved", "zeros_like_saved", "zeros_like_sequence")


def filled_edges(flow: Flow, aliases: Aliases, variables: Variables, nesting: Nesting) -> set[Edge]:
    """The undefined values of merges and carries that must be something."""
    found: set[Edge] = set()
    seen: set[Var] = set()
    pending = list(_handed_over(flow, variables, nesting))
    while pending:
        var = pending.pop()
        if var in seen:
            continue
        seen.add(var)
        for edge, value in _edges_into(var, aliases):
            if value is UNDEFINED:
                found.add(edge)
            elif isinstance(value, Var):
                pending.append(value)
    return found


def _edges_into(var: Var, aliases: Aliases) -> list[tuple[Edge, Atom]]:
    """Where a value comes from: after a loop that certainly runs, from its last iteration."""
    home, edges = aliases.homes[var], aliases.edges_into(var)
    if home.kind == "out" and certainly_runs(home.stmt, lambda trips: isinstance(trips, int) and trips > 0):
        return edges[1:]
    return edges


def _handed_over(flow: Flow, variables: Variables, nesting: Nesting) -> Iterator[Var]:
    """The values that are stored, passed on, returned to generated code, or get another name. What the function itself
    returns is looked at: there Python raises, as in the program."""
    if flow.function.role:
        yield from (atom for atom in flow.function.results if isinstance(atom, Var))
    for stmt in flow.spans:
        if isinstance(stmt, Call) or isinstance(stmt, Let) and stmt.op.name in HANDS_ON:
            yield from (atom for atom in stmt.args if isinstance(atom, Var))
    for place in (flow.stored.after, flow.stored.on_entry, flow.stored.at_end):
        for stores in place.values():
            for store, value in stores:
                if (id(store), id(value)) in flow.stores_at and isinstance(value, Var):
                    yield value
    for moves in flow.moves.values():
        for target, value, _ in moves:
            if isinstance(value, Var) and value not in nesting.values:
                own = variables.get(value)
                if own is not None and variables[target] is not own:
                    yield value
