"""Types of the numbers in nests: every operand is converted as NumPy promotes, here and nowhere else.

After this stage the operands of an op on numbers have exactly the dtypes in which its loop form works,
and every conversion is a `cast`, so that nothing is left to how numba would unify types.
"""

from __future__ import annotations

import operator
from typing import Any, assert_never

import numpy as np

from ...core.builder import Builder
from ...core.errors import NotSupported
from ...core.grammar import UNDEFINED, Call, Const, Effect, If, Let, Loop, Var, type_of
from ...core.types import BOOL, INT, ArrayType
from ...ops.arithmetic import Cast, converted
from ...ops.base import callable_of
from ...ops.comparison import Greater, GreaterEqual, Less, LessEqual, NotEqual
from ...ops.complex_numbers import ComplexOf, OfParts
from ...ops.elementwise import weak_or_dtype
from ...ops.identity import Same
from ...ops.loops import loop_of, missing
from ...ops.matrices import real_dtype
from ...ops.selection import Where
from ...ops.value import Value, apply, is_python, value
from ..nest.access import fitted
from ..nest.nests import Allocate, Block, Fold, Launch, Library, Nest, Product, Stmt, Store, Task, emit
from .choices import pythons_choice

FLOAT64, UNSIGNED, TRUTH = np.dtype(float), np.dtype(np.uint64), np.dtype(bool)
COMPARISONS = np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal


def promoted(block: Block, builder: Builder) -> Block:
    """The block with every op on numbers in the dtypes of its loop form."""
    with builder.nested() as made:
        for stmt in block:
            with builder.at(getattr(stmt, "origin", None)):
                _promote(stmt, builder)
    return made


def _promote(stmt: Stmt, builder: Builder) -> None:
    match stmt:
        case Let():
            if stmt.op.elementwise and not type_of(stmt.target).sizes:   # type: ignore[union-attr]
                _let(stmt, builder)
                return
        case Nest() | Fold():
            stmt.body = promoted(stmt.body, builder)
        case Loop():
            stmt.test = promoted(stmt.test, builder)
            stmt.body = promoted(stmt.body, builder)
            for carry in stmt.carries:
                carry.init = handed(carry.init, carry.entry, builder)
                with builder.nested() as tail:
                    carry.next = handed(carry.next, carry.entry, builder)
                stmt.body += tail
        case If():
            stmt.then, stmt.orelse = promoted(stmt.then, builder), promoted(stmt.orelse, builder)
            for merge in stmt.merges:
                for side, block in (("then", stmt.then), ("orelse", stmt.orelse)):
                    with builder.nested() as tail:
                        setattr(merge, side, handed(getattr(merge, side), merge.target, builder))
                    block += tail
        case Call() | Effect() | Allocate() | Store() | Product() | Library() | Task() | Launch():
            pass
        case _:
            assert_never(stmt)
    emit(stmt)


def handed(atom: Any, target: Var, builder: Builder) -> Any:
    """A number that is handed to a variable, in the dtype of that one."""
    type = target.type
    if atom is UNDEFINED or not isinstance(type, ArrayType) or type.sizes:
        return atom
    return as_dtype(atom, type.dtype, builder)


def _let(stmt: Let, builder: Builder) -> None:
    attrs = {key: item for key, item in stmt.attrs.items() if key != "spelling"}
    if stmt.op is Cast:
        _cast(stmt, builder)
    elif stmt.op.ufunc in COMPARISONS and set(working_dtypes(stmt)) == {INT.dtype, UNSIGNED}:
        _compare_with_unsigned(stmt, builder)
    elif stmt.op.simpler is None or not _simplified(stmt, attrs, builder):
        dtypes = working_dtypes(stmt)
        form = loop_of(stmt.op, dtypes[-1].kind)
        if form is None or any(dtype == np.float16 for dtype in dtypes):
            why = missing(stmt.op) or "It is written for other kinds of numbers"
            raise NotSupported(f"{stmt.op.name} of {dtypes[-1]} cannot be compiled", why=f"{why}.")
        wide = getattr(form, "is_double", False)
        args = tuple(as_dtype(atom, FLOAT64 if wide else dtype, builder)
                     for atom, dtype in zip(stmt.args, dtypes, strict=True))
        op = pythons_choice(stmt, dtypes[-1])
        _applied(Let(stmt.targets, op, args, attrs, stmt.origin), FLOAT64 if wide else None, builder)


def _applied(stmt: Let, dtype: np.dtype | None, builder: Builder) -> None:
    """Emits an op on numbers; where its form gives another dtype than its result has, with a cast."""
    type: Any = stmt.target.type
    if dtype is None or dtype == type.dtype:
        emit(stmt)
        return
    wide = Var(ArrayType(dtype))
    emit(Let((wide,), stmt.op, stmt.args, stmt.attrs, stmt.origin))
    emit(Let(stmt.targets, Same, (as_dtype(wide, type.dtype, builder),), {}, stmt.origin))


def _simplified(stmt: Let, attrs: dict[str, Any], builder: Builder) -> bool:
    """Writes an op in terms of simpler ones, if it says how."""
    with builder.nested() as block:
        result = stmt.op.simpler(*map(Value, stmt.args), **attrs)
        if result is None:
            return False
        final = fitted(value(result), stmt.target.type)                  # type: ignore[arg-type]
    for inner in block:
        _promote(inner, builder)
    emit(Let(stmt.targets, Same, (final.atom,), {}, stmt.origin))
    return True


def _compare_with_unsigned(stmt: Let, builder: Builder) -> None:
    """Compares a number with a sign and one of 64 bits without: numba's floating numbers would round both."""
    (signed, first), (unsigned, _) = sorted(zip(stmt.args, (True, False), strict=True),
                                            key=lambda pair: type_of(pair[0]).dtype == UNSIGNED)   # type: ignore[union-attr]
    number: Any = Value(signed)
    with builder.nested() as block:
        below = number < 0
        compared = (converted(signed, UNSIGNED), Value(unsigned))[::1 if first else -1]
        holds = apply(stmt.op, compared, {})
        is_so = stmt.op is NotEqual or stmt.op in ((Less, LessEqual) if first else (Greater, GreaterEqual))
        result = operator.or_(below, holds) if is_so else operator.and_(operator.invert(below), holds)
    for inner in block:
        _promote(inner, builder)
    emit(Let(stmt.targets, Same, (result.atom,), {}, stmt.origin))


def _cast(stmt: Let, builder: Builder) -> None:
    type: Any = stmt.target.type
    atom = as_dtype(stmt.args[0], type.dtype, builder)
    emit(Let(stmt.targets, Same, (atom,), {}, stmt.origin))


def as_dtype(atom: Any, dtype: np.dtype, builder: Builder) -> Any:
    """An atom as a number of a dtype: constants as such, others by a cast."""
    type: Any = type_of(atom)
    if isinstance(atom, Const):
        return atom if type.dtype == dtype else Const(_converted(atom.value, dtype), ArrayType(dtype), atom.name)
    if type.dtype == dtype:
        return atom
    target = Var(ArrayType(dtype))
    emit(Let((target,), Cast, (atom,), {"dtype": dtype}, builder.origin))
    return target


def _converted(number: Any, dtype: np.dtype) -> Any:
    with np.errstate(all="ignore"):
        return np.asarray(number).astype(dtype)[()]


def working_dtypes(stmt: Let) -> tuple[np.dtype, ...]:
    """The dtypes in which the loop form of an op takes its operands."""
    types: list[Any] = list(map(type_of, stmt.args))
    result: Any = stmt.target.type
    if stmt.op is Cast:
        return (types[0].dtype,)
    if stmt.op is Where:
        return (TRUTH, result.dtype, result.dtype)
    spelling = stmt.attrs.get("spelling")
    if stmt.op is ComplexOf:
        return (real_dtype(result.dtype),) * len(types)
    if stmt.op is OfParts or spelling is not None and spelling.startswith("math."):
        return (FLOAT64,) * len(types)
    if is_python(spelling) and result.dtype != TRUTH and not stmt.op.keeps_truth:
        types = [INT if type == BOOL and result.weak else type for type in types]
    function = stmt.op.ufunc or callable_of(stmt.op.calls[0])
    if function in COMPARISONS and all(type.dtype.kind in "iu" for type in types):
        return _compared(stmt.args, types)
    given = tuple(map(weak_or_dtype, types))
    if isinstance(function, np.ufunc):
        found = function.resolve_dtypes((*given, *[None] * function.nout))[:function.nin]
        if all(dtype.kind != "O" for dtype in found):                    # as for comparisons of Python's integers
            return found
    common = np.result_type(*(item if isinstance(item, np.dtype) else item(1) for item in given))
    if result.dtype.kind in "fc":
        common = np.promote_types(common, result.dtype)
    return (common,) * len(types)


def _compared(atoms: tuple[Any, ...], types: list[ArrayType]) -> tuple[np.dtype, ...]:
    """The dtypes in which integers are compared, by value as NumPy does: 300 is larger than all numbers of 8 bits,
    and -1 smaller than all unsigned ones. Of a number with a sign and 64 bits without one, each stays what it is."""
    strong = [type.dtype for type in types if not type.weak]
    common = np.result_type(*strong or [INT.dtype])
    weak = [atom for atom, type in zip(atoms, types, strict=True) if type.weak]
    if common.kind in "iu" and all(isinstance(atom, Const) and _holds(common, atom.value) for atom in weak):
        return (common,) * len(types)
    return tuple(UNSIGNED if type.dtype == UNSIGNED else INT.dtype for type in types)


def _holds(dtype: np.dtype, integer: int) -> bool:
    return bool(np.iinfo(dtype).min <= integer <= np.iinfo(dtype).max)
