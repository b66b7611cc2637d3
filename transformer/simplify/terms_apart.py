"""Terms that a derivative adds up for an element, where names in them stand for something else before they are
together: each is added to the element by itself.

>>> from .examples import shown
>>> shown(terms_apart, '''
... function f(n: int, dk: f64[3], a: f64)
...     effect comment(text='reverse')
...     dr: f64 = multiply(a, 2.0)
...     t_1: f64 = multiply(dr, a)
...     dr_1: f64 = exp(dr)
...     t_2: f64 = multiply(dr_1, a)
...     t_3: f64 = add(t_1, t_2)
...     dk_1: f64[3] = addat(dk, t_3, index=(1,))
...     return dk_1
... ''')
function f(n: int, dk: f64[3], a: f64)
    effect comment(text='reverse')
    dr: f64 = multiply(a, 2.0)
    t: f64 = multiply(dr, a)
    t_1: f64[3] = addat(dk, t, index=(1,))
    dr_1: f64 = exp(dr)
    t_2: f64 = multiply(dr_1, a)
    dk_1: f64[3] = addat(t_1, t_2, index=(1,))
    t_3: f64 = add(t, t_2)
    return dk_1

So it is printed as ``dk[1] += dr * a`` in two places, as the rule of a function is that is called twice. The sums are
dead then.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..core.grammar import Atom, Block, Function, Let, Var
from ..core.guards import Assumptions
from ..core.headings import of_derivative
from ..core.walk import all_statements, blocks_of, counted_uses, targets_of
from ..ops.arithmetic import Add
from ..ops.indexing import AddAt
from .rewriter import array_type


def terms_apart(function: Function, assumptions: Assumptions) -> bool:
    """Rewrites such sums of a function in place; says whether there were any."""
    del assumptions
    return _TermsApart(function).block(function.body)


class _TermsApart:
    def __init__(self, function: Function) -> None:
        self.count = counted_uses(function)
        self.ours = {id(stmt) for stmt in of_derivative(function)}
        self.made = {target: stmt for stmt in all_statements(function.body) if isinstance(stmt, Let)
                     for target in stmt.targets}

    def block(self, block: Block) -> bool:
        changed = any([self.block(inner) for stmt in block for inner in blocks_of(stmt)])
        for chain in list(self._chains(block)):
            changed |= self._spread(block, chain)
        return changed

    def _chains(self, block: Block) -> Iterator[list[Let]]:
        """Additions to elements of one array, each of what the one before has made and nothing else looks at."""
        chains: dict[Atom, list[Let]] = {}
        for stmt in block:
            if isinstance(stmt, Let) and self._is_of_element(stmt):
                chain = chains.pop(stmt.args[0], []) if self.count[stmt.args[0]] == 1 else []  # type: ignore[index]
                chains[stmt.target] = [*chain, stmt]
        yield from chains.values()

    def _is_of_element(self, stmt: Let) -> bool:
        return (stmt.op is AddAt and len(stmt.args) == 2 and id(stmt) in self.ours
                and all(type(entry) is int for entry in stmt.attrs["index"]) and self._is_number_in(stmt, stmt.args[1]))

    def _is_number_in(self, stmt: Let, atom: Atom) -> bool:
        whole, term = array_type(stmt.target), array_type(atom)
        return not term.sizes and term.dtype == whole.dtype and len(stmt.attrs["index"]) == len(whole.sizes)

    def _spread(self, block: Block, chain: list[Let]) -> bool:
        """Adds each term where it is made, if some would need a name else."""
        places = {target: k for k, stmt in enumerate(block) for target in targets_of(stmt)}
        begin = places.get(chain[0].args[0], -1)                         # type: ignore[arg-type]
        if self.count[chain[0].args[0]] != 1:                            # type: ignore[index]
            return False
        added: list[tuple[int, Let]] = []
        is_spread = False
        for stmt in chain:
            terms, at = list(self._terms(stmt, stmt.args[1], places)), places[stmt.target]
            if len(terms) > 1 and any(self._is_hidden(term, block, places, at) for term in terms):
                is_spread = True
                added += [(max(places[term], begin), _added(stmt, term)) for term in terms]
            else:
                added.append((at, stmt))
        if is_spread:
            self._put(block, chain, sorted(added, key=lambda pair: pair[0]))
        return is_spread

    def _terms(self, stmt: Let, atom: Atom, places: dict[Var, int]) -> Iterator[Var]:
        """The terms of a sum that are made in this block; one that is not stands for the whole."""
        made = self.made.get(atom) if isinstance(atom, Var) and self.count[atom] == 1 else None
        sides = made.args if made is not None and made.op is Add and not made.attrs and id(made) in self.ours else ()
        if sides and atom.name is None and all(                          # type: ignore[union-attr]
                side in places and self._is_number_in(stmt, side) for side in sides):
            for side in sides:
                yield from self._terms(stmt, side, places)
        elif isinstance(atom, Var):
            yield atom

    def _is_hidden(self, term: Var, block: Block, places: dict[Var, int], at: int) -> bool:
        """Whether a name in a term is given to another value before the end."""
        later = {target.name for stmt in block[places[term]:at] if isinstance(stmt, Let) for target in stmt.targets}
        return any(var.name in later for var in self._named(term))

    def _named(self, var: Var) -> Iterator[Var]:
        """The variables with names in an expression."""
        made = self.made.get(var)
        if var.name is not None:
            yield var
        elif made is not None and made.op.elementwise and not array_type(var).sizes:
            for atom in made.args:
                if isinstance(atom, Var):
                    yield from self._named(atom)

    def _put(self, block: Block, chain: list[Let], added: list[tuple[int, Let]]) -> None:
        """Adds in this order, in place of the chain; what is last has its name."""
        array, last, at = chain[0].args[0], chain[-1].target, {id(stmt) for stmt in chain}
        for k, (_, stmt) in enumerate(added):
            target = last if k == len(added) - 1 else Var(last.type)
            stmt.args, stmt.targets = (array, stmt.args[1]), (target,)
            array = target
        body: Block = [stmt for place, stmt in added if place < 0]
        for k, other in enumerate(block):
            body += [other] if id(other) not in at else []
            body += [each for place, each in added if place == k]
        block[:] = body


def _added(stmt: Let, term: Var) -> Let:
    return Let(stmt.targets, stmt.op, (stmt.args[0], term), dict(stmt.attrs), stmt.origin)
