"""A function as one of numba's, which the user's own compiled code can call.

It is the module that a file of its own would have, with the function around the kernel compiled as well:
what there is about classes, dtypes and numbers of axes is in its signature, and messages are constants.
"""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from ..core.errors import BadArgument, NotSupported
from ..core.sizes import Dim, Size
from ..core.types import ArrayType
from ..pipeline import Product
from .compiling.kernels import compile_kernel, install
from .compiling.objects import objects_of
from .files import load_module
from .generating import Emitted, Label, standalone_for_call, standalone_for_types
from .index import Loops
from .loading import text_of


def dispatcher_for(target: Any, given: tuple[Any, ...], names: list[str]) -> Any:
    """The function for arguments like these: examples of them, or numba's types of them."""
    from numba.core import types
    if any(isinstance(each, types.Type) for each in given):
        made = standalone_for_types(target, tuple(map(_abstract, given, names)), {}, Label(product=Product.LOOPS))
    else:
        made = standalone_for_call(target, given, {}, names, Label(product=Product.LOOPS))
    _require_simple(made)
    source = f"{made.module.kernel.source}\n\n{_for_numba(made.module.entry.lines)}\n"      # type: ignore[union-attr]
    signature = tuple(each if isinstance(each, types.Type) else _numba_type(each) for each in given)
    return _compiled(made, source, signature)


def _compiled(made: Any, source: str, signature: tuple[Any, ...]) -> Any:
    kernel, name = made.module.kernel, made.module.entry.name
    if "import numpy as np\n" not in source:
        source = f"import numpy as np\n{source}"
    of_entry = {**kernel.options[kernel.printed.name], "borrows": False}             # it returns arrays
    options = {**kernel.options, name: of_entry}
    loops = Loops(source, name, name, options, {}, {})
    namespace = load_module(source, name, {})
    install(namespace, options, name, objects_of(loops.source + text_of(options)))
    compile_kernel(namespace[name], signature, made.reading.origin)
    namespace[name].disable_compile()
    return namespace[name]


def _abstract(given: Any, name: str) -> Any:
    """numba's type of an argument as ours."""
    from numba.core import types
    from numba.np.numpy_support import as_dtype
    if isinstance(given, types.Array):
        sizes = tuple(Size.of(Dim(f"{name}_{axis}" if given.ndim > 1 else f"n_{name}")) for axis in range(given.ndim))
        return ArrayType(as_dtype(given.dtype), sizes)
    if isinstance(given, (types.Number, types.Boolean)):
        return ArrayType(as_dtype(given))
    if isinstance(given, types.Type):
        raise BadArgument(f"{given} is not the type of an array or a number", argument=name,
                          instead="Pass example arguments instead.")
    return given


def _numba_type(value: Any) -> Any:
    import numba
    return numba.typeof(np.ascontiguousarray(value) if isinstance(value, np.ndarray) and value.ndim else value)


def _require_simple(made: Emitted) -> None:
    interface = made.interface
    if interface.apart:
        raise NotSupported(f"{interface.name} writes to its arguments, which is not supported here",
                           made.reading.origin, why="Code compiled by numba cannot detect whether arrays share memory.",
                           instead="Return the new array.")
    if interface.hidden:
        raise NotSupported(f"{interface.name} uses the outside array {interface.hidden[0].name!r}",
                           made.reading.origin, instead="Pass it as an argument.")


class _Plain(ast.NodeTransformer):
    """Tests of what a signature says go; messages become constants."""

    def visit_If(self, node: ast.If) -> Any:
        text = ast.unparse(node.test)
        if any(asked in text for asked in ("np.ndim(", "isinstance(", ".dtype ")):
            return None
        self.generic_visit(node)
        return node

    def visit_Try(self, node: ast.Try) -> list[ast.stmt]:
        return node.body                 # texts in pieces stay so: numba catches no errors by their classes

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.Constant:
        return ast.Constant(ast.unparse(node)[2:-1])


def _for_numba(lines: list[str]) -> str:
    tree = _Plain().visit(ast.parse("\n".join(lines)))
    return ast.unparse(ast.fix_missing_locations(tree))
