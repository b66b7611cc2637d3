"""Terms that a derivative adds to a total one after the other, where nothing looks at it in between: they are put
together, and added to it once.

>>> from .examples import shown
>>> shown(running_totals, '''
... function f(n: int, a: f64, b: f64)
...     effect comment(text='reverse')
...     loop k: int in n
...         carry d: f64 = f64(0.0)
...         body
...             p: f64 = multiply(d, a)
...             q: f64 = multiply(d, b)
...             s: f64 = subtract(d, p)
...             t_1: f64 = add(s, q)
...         next u: f64 = t_1
...     return u
... ''')
function f(n: int, a: f64, b: f64)
    effect comment(text='reverse')
    loop k: int in n
        carry d: f64 = f64(0.0)
        body
            p: f64 = multiply(d, a)
            q: f64 = multiply(d, b)
            t: f64 = subtract(q, p)
            t_1: f64 = add(d, t)
        next u: f64 = t_1
    return u

So it is printed as ``d += q - p``.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..core.grammar import Atom, Block, Call, Const, Function, Let, Loop, Var
from ..core.guards import Assumptions
from ..core.headings import of_derivative
from ..core.types import ArrayType
from ..core.walk import all_statements, blocks_of, counted_uses
from ..ops.arithmetic import Add, Subtract
from .fold import Fold
from .rewriter import array_type, joined

Terms = list[tuple[type, Atom]]         # the op by which each comes in
LONGEST = 56                            # letters of the terms, for which they fit into a line
UNNAMED = "scaled"


def running_totals(function: Function, assumptions: Assumptions) -> bool:
    """Rewrites such sums of a function in place; says whether there were any."""
    return _RunningTotals(function, assumptions).block(function.body, {})


class _RunningTotals:
    def __init__(self, function: Function, assumptions: Assumptions) -> None:
        self.fold = Fold(function, assumptions)
        self.count = counted_uses(function)
        self.ours = {id(stmt) for stmt in of_derivative(function)}
        self.made = {stmt.target: stmt for stmt in all_statements(function.body) if isinstance(stmt, Let)}

    def block(self, block: Block, totals: dict[Var, Var]) -> bool:
        """`totals` are those that a loop hands on: what each is at the end of an iteration, and at its beginning."""
        changed = False
        for stmt in block:
            own = {carry.next: carry.entry for carry in stmt.carries} if isinstance(stmt, Loop) else totals
            for inner in blocks_of(stmt):
                changed |= self.block(inner, own)                        # type: ignore[arg-type]
        sums = {stmt.target: stmt for stmt in block if isinstance(stmt, Let) and self._is_sum(stmt)}
        for stmt in list(sums.values()):
            changed |= self._added_once(block, list(self._chain(sums, stmt)), totals.get(stmt.target))
        return changed

    def _is_sum(self, stmt: Let) -> bool:
        return stmt.op in (Add, Subtract) and not stmt.attrs and id(stmt) in self.ours

    def _added_once(self, block: Block, sums: list[Let], begun: Var | None) -> bool:
        last = sums[0]
        chain = self._from_total(sums, begun)
        if len(chain) < 2 or not self._may_wait(block, chain) or sum(
                self._length(stmt.args[1]) for stmt in chain) > LONGEST:
            return False
        total, terms = chain[-1].args[0], [(stmt.op, stmt.args[1]) for stmt in reversed(chain)]
        made = _together(terms)
        types = array_type(total), array_type(made[-1].target)
        if not self.fold.same_type(joined(Add, *types), last.target.type):
            return False
        added = any(op is Add for op, _ in terms)
        last.op, last.args = (Add if added else Subtract), (total, made[-1].target)
        for stmt in made:
            stmt.origin = last.origin
        at = block.index(last)
        block[at:at] = made
        block[:] = [stmt for stmt in block if stmt not in chain[1:]]
        return True

    def _chain(self, sums: dict[Var, Let], last: Let) -> Iterator[Let]:
        """The sums of a block that end with one, last first: of each but that the next one is the only user."""
        stmt: Let | None = last
        while stmt is not None:
            yield stmt
            before = stmt.args[0]
            stmt = sums.get(before) if isinstance(before, Var) and self.count[before] == 1 else None

    def _from_total(self, chain: list[Let], begun: Var | None) -> list[Let]:
        """The sums that are added to a total as it was: as a loop hands it on, or under the name of the result."""
        for k in range(len(chain), 1, -1):
            total = chain[k - 1].args[0]
            is_one_name = isinstance(total, Var) and total.name is not None and total.name == chain[0].target.name
            if total is begun or is_one_name and self._has_name(total) and (
                    begun is not None or self._has_name(chain[0].target)):
                return chain[:k]
        return []

    def _length(self, atom: Atom) -> int:
        """About how many letters an expression has."""
        stmt = self.made.get(atom) if isinstance(atom, Var) and self.count[atom] == 1 else None
        if stmt is None:
            return len(repr(atom)) if isinstance(atom, Const) else len(getattr(atom, "name", None) or UNNAMED)
        between = 3 if stmt.op.symbol else len("np.sum()")
        return sum(map(self._length, stmt.args)) + between * max(len(stmt.args) - 1, 1)

    def _has_name(self, var: Atom) -> bool:
        """Whether a variable is more than a part of an expression; of an array, one that may be added to."""
        return self.count[var] > 1 or var not in self.made and not array_type(var).rank       # type: ignore[index]

    def _may_wait(self, block: Block, chain: list[Let]) -> bool:
        """Whether the terms are numbers of one dtype, which nothing writes to before the last is added."""
        between = block[block.index(chain[-1]):block.index(chain[0])]
        plain = all(isinstance(stmt, Call) or isinstance(stmt, Let) and not stmt.op.writes for stmt in between)
        dtype = array_type(chain[0].target).dtype
        types = [stmt.args[1].type for stmt in chain if isinstance(stmt.args[1], Var)]
        return plain and dtype.kind in "fc" and len(types) == len(chain) and all(
            isinstance(type, ArrayType) and type.dtype == dtype for type in types)


def _together(terms: Terms) -> list[Let]:
    """Statements whose last one is the sum of terms, or of what is taken off if all are."""
    head = next((k for k, (op, _) in enumerate(terms) if op is Add), 0)
    sign, total = terms[head]
    made: list[Let] = []
    for op, atom in terms[:head] + terms[head + 1:]:
        target = Var(joined(Add, array_type(total), array_type(atom)))
        made.append(Let((target,), Add if op is sign else Subtract, (total, atom)))
        total = target
    return made
