"""Names that numba tells apart.

numba calls what the instruction at place 220 loads from `x` by the same name as what that at place 20 loads from
`x2`, and may then find no type for either. So it is given variables whose names do not end in a digit:

    def kernel(x, x2):          def kernel(x_, x2_):
        return x * x2               return x_ * x2_

The source stays as it is: it is the compiled code object that has other names.
"""

from __future__ import annotations

from types import FunctionType
from typing import Any


def told_apart(function: Any) -> Any:
    """The same function with such names, but for one whose `with objmode(y=...)` names its variables."""
    code = function.__code__
    if "objmode" in code.co_names or not any(name[-1].isdigit() for name in code.co_varnames):
        return function
    code = code.replace(co_varnames=tuple(f"{name}_" for name in code.co_varnames))
    made = FunctionType(code, function.__globals__, function.__name__, function.__defaults__, function.__closure__)
    made.__module__, made.__qualname__, made.__doc__ = function.__module__, function.__qualname__, function.__doc__
    return made
