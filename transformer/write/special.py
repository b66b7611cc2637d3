"""Ops that are not printed as plain calls: indexing, methods, literals, conversions."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.grammar import Atom, Const, Let, type_of
from ..core.halves import BFLOAT16
from ..core.types import ArrayType, type_of_number
from .aliasing import is_array
from .conjunctions import chosen, conjunction
from .demand import printed_attrs
from .numbers import number, number_class, of_numpy

Form = Callable[[Any, Let], "ast.expr | None"]  # of `Expressions` and a statement; None: a plain call


def get(e: Any, stmt: Let) -> ast.expr:
    return _part(e, stmt.args[0], stmt.attrs["index"], stmt.args[1:])


def _part(e: Any, array: Atom, index: Any, slots: tuple[Atom, ...]) -> ast.expr:
    """`x[index]`; `-x[index]` of the opposite; `x[i, None]` for ``x[i][None]``."""
    inner = None if slots else _part_in(e, array)
    if inner is not None and all(entry is None or entry == slice(None) for entry in index):
        return _part(e, inner.args[0], _with_new_axes(inner.attrs["index"], index), inner.args[1:])
    tree = e.atom(array)
    if isinstance(tree, ast.UnaryOp) and isinstance(tree.op, ast.USub):
        return ast.UnaryOp(tree.op, e.subscript(tree.operand, index, slots))
    return e.subscript(tree, index, slots)


def _part_in(e: Any, atom: Atom) -> Let | None:
    """The statement that takes a part by numbers and slices, if it is printed where an operand stands."""
    stmt = e.needed.homes[atom].stmt if atom in e.nesting.values and atom not in e.aliases.views else None
    is_part = isinstance(stmt, Let) and stmt.op.name == "get" and all(map(_is_number, stmt.args[1:]))
    return stmt if is_part else None


def _with_new_axes(inner: tuple[Any, ...], index: tuple[Any, ...]) -> tuple[Any, ...]:
    """An index that does what `inner` does and adds the new axes of `index` to it."""
    left, made = list(inner), list[Any]()
    for entry in index:
        while left and not (left[0] is None or isinstance(left[0], slice)):
            made.append(left.pop(0))
        made.append(None if entry is None else left.pop(0))
    return *made, *left


def same(e: Any, stmt: Let) -> ast.expr:
    return e.atom(stmt.args[0])


def of_parts(e: Any, stmt: Let) -> ast.expr:
    return ast.Call(ast.Name("complex"), [e.atom(atom) for atom in stmt.args], [])


def zeros_like(e: Any, stmt: Let) -> ast.expr:
    return ast.Call(of_numpy("zeros_like"), [e.atom(stmt.args[0])], [])


def transpose(e: Any, stmt: Let) -> ast.expr:
    """`x.T`, or `x.transpose(0, 2, 1)`."""
    x = e.atom(stmt.args[0])
    axes = stmt.attrs.get("axes")
    if axes is None:
        return ast.Attribute(x, "T")
    return _method(x, "transpose", *map(number, axes))


def reshape(e: Any, stmt: Let) -> ast.expr | None:
    """`x.reshape(n, m)`; a call of `np.reshape` for what is not an array or not short."""
    only = only_element(e, stmt)
    if only is not None:
        return only
    x = e.atom(stmt.args[0])
    shape = e.sizes.shape(stmt.attrs["shape"], e.var)
    if not _has_methods(stmt, x):
        return ast.Call(of_numpy("reshape"), [x, _single(shape)], [])
    sizes = shape.elts if isinstance(shape, ast.Tuple) and shape.elts else [shape]
    return _method(x, "reshape", *sizes)


def only_element(e: Any, stmt: Let) -> ast.expr | None:
    """`x[0, 0]` for a number in place of an array: a view without axes would change with the array."""
    type = type_of(stmt.args[0])
    if getattr(stmt.target.type, "sizes", ()) or not isinstance(type, ArrayType) or not type.rank:
        return None
    zeros: list[ast.expr] = [number(0)] * type.rank
    return ast.Subscript(e.atom(stmt.args[0]), zeros[0] if type.rank == 1 else ast.Tuple(zeros))


def method_or_call(e: Any, stmt: Let) -> ast.expr | None:
    """`x.ravel()` for arrays."""
    x = e.atom(stmt.args[0])
    if not _has_methods(stmt, x):
        return None if stmt.op.calls else _method(ast.Call(of_numpy("asarray"), [x], []), stmt.op.name)
    return _method(x, stmt.op.name)


def _has_methods(stmt: Let, x: ast.expr) -> bool:
    type = type_of(stmt.args[0])
    is_array = isinstance(type, ArrayType) and type.rank > 0
    return is_array and isinstance(x, (ast.Name, ast.Attribute, ast.Subscript, ast.Call))


def cast(e: Any, stmt: Let) -> ast.expr:
    """`float(x)`, `np.float32(x)` for numbers, `x.astype(np.float32)` for arrays."""
    from .expressions import dtype_tree

    x, type = e.atom(stmt.args[0]), type_of(stmt.args[0])
    dtype = stmt.attrs.get("dtype", float)
    if isinstance(type, ArrayType) and type.rank:
        return _method(x, "astype", dtype_tree(dtype))
    if not isinstance(dtype, np.dtype) and dtype in (float, int, bool, complex):
        return ast.Call(ast.Name(dtype.__name__), [x], [])
    if "spelling" not in stmt.attrs and e.constants.only_wide and type == type_of_number(dtype.type(0).item()):
        return x  # what it meets is as wide, and nobody asked for a number of NumPy's
    return ast.Call(number_class(np.dtype(dtype)), [x], [])


def filled(e: Any, stmt: Let) -> ast.expr:
    """`np.zeros((n, m))`, `np.zeros_like(x)` for a parameter of that shape and dtype, `np.full(n, v)`."""
    from .expressions import dtype_tree

    shape, type = stmt.attrs["shape"], stmt.target.type
    values = [e.atom(atom) for atom in stmt.args]
    twin = e.sizes.whole(shape)
    own = type_of(stmt.args[0]).dtype if stmt.args else np.dtype(float)  # type: ignore[union-attr]
    like = stmt.attrs.get("spelling", "").endswith("_like")
    is_told = not like and stmt.target.name is not None and stmt.target.primal is None and e.sizes.are_named(shape)
    if twin is not None and e.sizes.same_type(twin.type, type) and not is_told:
        return ast.Call(of_numpy(f"{stmt.op.name}_like"), [e.var(twin), *values], [])
    dtype = [dtype_tree(type.dtype)] if type.dtype != own else []  # type: ignore[union-attr]
    return ast.Call(of_numpy(stmt.op.name), [_single(e.sizes.shape(shape, e.var)), *values, *dtype], [])


def array(e: Any, stmt: Let) -> ast.expr:
    """`np.array([[a, b], [c, d]])`."""
    from .expressions import dtype_tree

    items = [e.atom(atom) for atom in stmt.args]
    for size in (stmt.attrs.get("shape") or (len(items),))[:0:-1]:
        items = [ast.List(items[k : k + size]) for k in range(0, len(items), size)]
    dtype = stmt.attrs.get("dtype")
    keywords = [ast.keyword("dtype", dtype_tree(dtype))] if dtype is not None else []
    return ast.Call(of_numpy("array"), [ast.List(items)], keywords)


def concatenate(e: Any, stmt: Let) -> ast.expr | None:
    """`np.append(x, v)` for a vector and one number behind it."""
    if len(stmt.args) != 2 or len(stmt.target.type.sizes) != 1:          # type: ignore[union-attr]
        return None
    items, item = map(e.atom, stmt.args)
    last = _only_item(item)
    return None if last is None or _only_item(items) is not None else ast.Call(of_numpy("append"), [items, last], [])


def _only_item(tree: ast.expr) -> ast.expr | None:
    """What is in `np.array([v])` or `np.reshape(v, 1)`."""
    match tree:
        case ast.Call(ast.Attribute(ast.Name("np"), "array"), [ast.List([item])], []):
            return item
        case ast.Call(ast.Attribute(ast.Name("np"), "reshape"), [item, ast.Constant(1)], []):
            return item
    return None


def einsum(e: Any, stmt: Let) -> ast.expr:
    operands = [e.atom(atom) for atom in stmt.args]
    faster = [ast.keyword("optimize", ast.Constant(True))] if stmt.attrs.get("optimize") else []
    return ast.Call(of_numpy("einsum"), [ast.Constant(stmt.attrs["subscripts"]), *operands], faster)


def where(e: Any, stmt: Let) -> ast.expr | None:
    """Without a spelling, a conditional expression of numbers."""
    if stmt.attrs.get("spelling") == "np.select":
        return selection(e, stmt) or ast.Call(of_numpy("where"), [e.atom(atom, stmt.args) for atom in stmt.args], [])
    if "spelling" in stmt.attrs or not all(_is_number(atom) for atom in stmt.args):
        return None
    then, orelse = (_option(e, atom, stmt.target.type) for atom in stmt.args[1:])
    return chosen(e.atom(stmt.args[0]), then, orelse, stmt.target)


def selection(e: Any, stmt: Let) -> ast.expr | None:
    """`np.select([t > 0, t == 0], [d, 0.5 * d])` for ``np.where(t > 0, d, np.where(t == 0, 0.5 * d, 0))``."""
    parts = [stmt.args]
    while (inner := _choice_in(e, parts[-1][2])) is not None:
        parts.append(inner.args)
    conditions, choices, default = [part[0] for part in parts], [part[1] for part in parts], parts[-1][2]
    if len(choices) < 2 or not _selects_the_same(conditions, [*choices, default], stmt.target):
        return None
    together = (*choices, default)
    lists: list[ast.expr] = [ast.List([e.atom(atom) for atom in conditions]),
                             ast.List([e.atom(atom, together) for atom in choices])]
    is_zero = isinstance(default, Const) and repr(default.value) in ("0", "0.0")           # which it is unless said
    return ast.Call(of_numpy("select"), lists if is_zero else [*lists, e.atom(default, together)], [])


def _choice_in(e: Any, atom: Any) -> Let | None:
    """The choice that is printed in place of an operand."""
    stmt = e.needed.homes[atom].stmt if atom in e.nesting.values else None
    return stmt if isinstance(stmt, Let) and stmt.op.name == "where" and "spelling" in stmt.attrs else None


def _selects_the_same(conditions: list[Atom], choices: list[Atom], target: Any) -> bool:
    """Whether NumPy selects by truth values, and in the dtype of the target: Python's numbers alone have their own."""
    types: list[Any] = [type_of(atom) for atom in choices]
    strong = {type.dtype for type in types if not type.weak} or {np.dtype(float)}
    tests: list[Any] = [type_of(atom) for atom in conditions]
    return strong == {target.type.dtype} and all(type.dtype.kind == "b" for type in tests)


def _option(e: Any, atom: Any, type: Any) -> ast.expr:
    """A number as one of this type: a conditional expression gives what is chosen as it is."""
    own: Any = type_of(atom)
    tree: ast.expr = e.atom(atom)
    if own.dtype == type.dtype and (not own.weak or type.weak or e.constants.only_wide):
        return tree
    if isinstance(atom, Const) and atom.name is None:
        value = type.dtype.type(atom.value)
        literal: ast.expr = e.constants.literal(Const(value.item() if type.weak else value))
        return literal
    return ast.Call(number_class(type.dtype), [tree], [])


def logical_not(e: Any, stmt: Let) -> ast.expr | None:
    """`not x` for truth values, `~x` for arrays of them."""
    type = type_of(stmt.args[0])
    if "spelling" in stmt.attrs or not isinstance(type, ArrayType):
        return None
    if not type.rank:
        return ast.UnaryOp(ast.Not(), e.atom(stmt.args[0]))
    return ast.UnaryOp(ast.Invert(), e.atom(stmt.args[0])) if type.dtype.kind == "b" else None


def logical(e: Any, stmt: Let) -> ast.expr | None:
    """`a and b` of truth values, where the user wrote that."""
    word = stmt.attrs.get("spelling", "")
    if word not in ("and", "or"):
        return None
    one, other = map(e.atom, stmt.args)
    return conjunction(one, other) if word == "and" else ast.BoolOp(ast.Or(), [one, other])


def expand_dims(e: Any, stmt: Let) -> ast.expr | None:
    """`x[:, None]`."""
    type, axis = type_of(stmt.args[0]), stmt.attrs["axis"]
    if not isinstance(type, ArrayType) or not type.rank:
        return None
    axes = (axis,) if isinstance(axis, int) else axis
    index = tuple(None if k in axes else slice(None) for k in range(type.rank + len(axes)))
    return _part(e, stmt.args[0], index, ())


def arange(e: Any, stmt: Let) -> ast.expr:
    from .expressions import dtype_tree

    attrs = stmt.attrs
    bounds = [attrs.get("start", 0)] if "start" in attrs or "step" in attrs else []
    bounds += [attrs["stop"], *([attrs["step"]] if "step" in attrs else [])]
    keywords = [ast.keyword("dtype", dtype_tree(attrs["dtype"]))] if "dtype" in attrs else []
    return ast.Call(of_numpy("arange"), [e.attribute(bound) for bound in bounds], keywords)


def nonzero(e: Any, stmt: Let) -> ast.expr | None:
    """`np.nonzero(x)[0]` for a vector; for others the call gives as many arrays as there are targets."""
    if len(stmt.targets) > 1:
        return None
    return ast.Subscript(ast.Call(of_numpy("nonzero"), [e.atom(stmt.args[0])], []), number(0))


def average(e: Any, stmt: Let) -> ast.expr:
    """`np.average(x, axis=0, weights=w)`."""
    x, weights = map(e.atom, stmt.args)
    options = {key: e.attribute(item) for key, item in printed_attrs(stmt).items()}
    keywords = [ast.keyword(key, item) for key, item in {**options, "weights": weights}.items()]
    return ast.Call(of_numpy("average"), [x], keywords)


def slice_length(e: Any, stmt: Let) -> ast.expr:
    """`len(range(n)[a:b])`."""
    axis = ast.Call(ast.Name("range"), [e.atom(stmt.args[0])], [])
    part = e.subscript(axis, (stmt.attrs["cut"],), stmt.args[1:])
    return ast.Call(ast.Name("len"), [part], [])


def _is_number(atom: Any) -> bool:
    type = type_of(atom)
    return isinstance(type, ArrayType) and not type.sizes


def _single(shape: ast.expr) -> ast.expr:
    """The shape of a vector is its length."""
    return shape.elts[0] if isinstance(shape, ast.Tuple) and len(shape.elts) == 1 else shape


def _method(x: ast.expr, name: str, *args: ast.expr) -> ast.expr:
    return ast.Call(ast.Attribute(x, name), list(args), [])


def pack(e: Any, stmt: Let) -> ast.expr:
    """`r, inner`: copies of arrays that may change before they are looked at."""
    fields = [_kept(e, atom) for atom in stmt.args]
    return fields[0] if len(fields) == 1 else ast.Tuple(fields)


def _kept(e: Any, atom: Any) -> ast.expr:
    from .expressions import copied

    tree = e.atom(atom)
    if not is_array(atom) or not e.aliases.may_change(atom):
        return tree
    is_merged = e.needed.homes[atom].kind == "merge"  # and may be a zero in place of nothing
    return ast.Call(of_numpy("copy"), [tree], []) if is_merged else copied(tree)


def of_saved(e: Any, stmt: Let) -> ast.expr:
    """A function that the module contains, by the name of the op."""
    return ast.Call(ast.Name(stmt.op.name), [e.atom(atom) for atom in stmt.args], [])


def rounded(e: Any, stmt: Let) -> ast.expr:
    """`x.astype(np.float16).astype(np.float32)`, `np.float32(np.float16(x))`."""
    x, own = e.atom(stmt.args[0]), stmt.target.type
    classes = number_class(np.dtype(np.float16) if stmt.op.name == "to_float16" else BFLOAT16), number_class(own.dtype)  # type: ignore[union-attr]
    for each in classes:
        x = _method(x, "astype", each) if own.sizes else ast.Call(each, [x], [])         # type: ignore[union-attr]
    return x


def erf_inv(e: Any, stmt: Let) -> ast.expr:
    """The function for the precision."""
    name = "erf_inv_f32" if stmt.target.type.dtype == np.float32 else "erf_inv_f64"     # type: ignore[union-attr]
    return ast.Call(ast.Name(name), [e.atom(stmt.args[0])], [])


def logaddexp_reduce(e: Any, stmt: Let) -> ast.expr:
    """`np.logaddexp.reduce(x, axis=1, keepdims=True)`, which goes along the first axis unless said."""
    axis = stmt.attrs.get("axis")
    is_said = axis != 0 and (axis is not None or type_of(stmt.args[0]).rank != 1)           # type: ignore[union-attr]
    said = ({"axis": axis} if is_said else {}) | ({"keepdims": True} if stmt.attrs.get("keepdims") else {})
    keywords = [ast.keyword(name, ast.parse(repr(item), mode="eval").body) for name, item in said.items()]
    return ast.Call(of_numpy("logaddexp.reduce"), [e.atom(stmt.args[0])], keywords)


def indices(e: Any, stmt: Let) -> ast.expr:
    return ast.Call(of_numpy("indices"), [e.sizes.shape(stmt.attrs["dimensions"], e.var)], [])


FORMS: dict[str, Form] = {
    "indices": indices,
    "logaddexp_reduce": logaddexp_reduce,
    "erf_inv": erf_inv,
    "to_float16": rounded,
    "to_bfloat16": rounded,
    "pack": pack,
    "unpack": same,
    "add_saved": of_saved,
    "zeros_like_saved": of_saved,
    "get": get,
    "same": same,
    "stop_gradient": same,
    "transpose": transpose,
    "reshape": reshape,
    "squeeze": only_element,
    "ravel": method_or_call,
    "flatten": method_or_call,
    "copy": method_or_call,
    "cast": cast,
    "zeros": filled,
    "ones": filled,
    "empty": filled,
    "full": filled,
    "array": array,
    "concatenate": concatenate,
    "einsum": einsum,
    "where": where,
    "logical_not": logical_not,
    "logical_and": logical,
    "logical_or": logical,
    "expand_dims": expand_dims,
    "arange": arange,
    "slice_length": slice_length,
    "nonzero": nonzero,
    "average": average,
    # A record is kept in an array with a row for every position: that array is what it is stacked to.
    "of_parts": of_parts,
    "stacked": same,
    "unstacked": same,
    "zeros_like_sequence": zeros_like,
}
