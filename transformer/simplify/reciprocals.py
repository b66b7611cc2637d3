"""Quotients by constants with a name, in derivatives that are compiled: to multiply takes less than to divide.

>>> from .examples import shown
>>> shown(reciprocals, '''
... function f(x: f64[n], dy: f64)
...     effect comment(text='reverse')
...     t: f64[n] = divide(x, 1.7724538509055159 as 'math.sqrt(math.pi)')
...     return t
... ''')
function f(x: f64[n], dy: f64)
    effect comment(text='reverse')
    t: f64[n] = multiply(x, 0.5641895835477563 as '(1 / math.sqrt(math.pi))')
    return t

Such constants stand in rules: of the error function and of the normal distribution. Source keeps the quotients, which
read better.
"""

from __future__ import annotations

from ..core.grammar import Const, Function, Let
from ..core.guards import Assumptions
from ..core.headings import of_derivative
from ..ops.arithmetic import Divide, Multiply


def reciprocals(function: Function, assumptions: Assumptions) -> bool:
    """Rewrites such quotients of a function in place; says whether there were any."""
    found = [stmt for stmt in of_derivative(function) if isinstance(stmt, Let) and stmt.op is Divide
             and isinstance(stmt.args[1], Const) and stmt.args[1].name and type(stmt.args[1].value) is float]
    for stmt in found:
        term, divisor = stmt.args
        assert isinstance(divisor, Const)
        stmt.op, stmt.args = Multiply, (term, Const(1 / divisor.value, name=f"(1 / {divisor.name})"))
    return bool(found)
