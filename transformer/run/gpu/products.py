"""Products of matrices by cuBLAS, which drivers call in place of ``cp.matmul(x, w, out=y)``.

CuPy copies matrices that are turned and refuses what a graph notes; and it takes longer to ask than a small product
takes. cuBLAS has columns side by side: what it is asked for is ``y.T = w.T @ x.T``, where a matrix in C order is
already turned.
"""

from __future__ import annotations

import ctypes
import threading
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import import_module
from itertools import product as each_of
from math import prod
from typing import Any

from .library import is_simulated, library
from .narrow import is_narrow, product
from .streams import identity

WORKSPACE = 32 << 20                    # bytes for products in parts, as NVIDIA recommends for Hopper
MOST = 2**31 - 1                        # of what cuBLAS counts in 32 bits
MOST_CALLS = 16                         # for stacks of stacks that lie apart
FEW_CALLS = 2                           # which take no longer than copies
COPIED = 6 << 20                        # bytes that are copied in about the time that one more small product takes
MOST_HANDLES = 32
REMEMBERED = 4096
KEEP, TURN = 0, 1                       # CUBLAS_OP_N, CUBLAS_OP_T
TYPES = {"float16": (2, 68, "f"), "bfloat16": (14, 68, "f"), "float32": (0, 68, "f"), "float64": (1, 70, "d"),
         "complex64": (4, 68, "ff"), "complex128": (5, 70, "dd")}       # cudaDataType, cublasComputeType_t, numbers
SCALARS = {"f": ctypes.c_float, "d": ctypes.c_double}
POINTER: Any = ctypes.c_void_p
INT, LONG = ctypes.c_int, ctypes.c_longlong


@dataclass(frozen=True)
class Stack:
    """Matrices in memory as cuBLAS takes them: how one is read, how far its columns are apart, and the next one."""

    operation: int
    leading: int
    step: int


@dataclass(frozen=True)
class Plan:
    """A product of stacks: sizes of a matrix of columns, the three stacks, and where in memory they begin, for each
    call; what numbers are to cuBLAS, in which it adds them up, and where 1 and 0 lie; whether it is a narrow one, for a
    kernel of ours."""

    rows: int
    columns: int
    inner: int
    count: int
    stacks: tuple[Stack, Stack, Stack]
    begins: tuple[tuple[int, ...], ...]
    kind: int
    compute: int
    one: int
    zero: int
    is_narrow: bool


def matmul(x: Any, w: Any, out: Any = None) -> Any:
    """`cp.matmul`."""
    if out is None:
        return library().matmul(x, w)
    plan = None
    if x.dtype == w.dtype == out.dtype:
        plan = planned(x.dtype, x.shape, x.strides, w.shape, w.strides, out.shape, out.strides)
        if out.ndim > 2 and (plan is None or len(plan.begins) > FEW_CALLS) and cublas() is not None:
            is_copied, plan = in_one(x, w, out, plan)
            x, w = (library().ascontiguousarray(each) if copied else each for each, copied in zip((x, w), is_copied))
    if plan is None or cublas() is None:
        return library().matmul(x, w, out=out)
    if plan.is_narrow:
        product(x, w, out, is_turned=plan.stacks[1].operation == TURN)
    else:
        _handle().run(plan, w.data.ptr, x.data.ptr, out.data.ptr)
    return out


def in_one(x: Any, w: Any, out: Any, plan: Plan | None) -> tuple[tuple[bool, bool], Plan | None]:
    """Which operands are copied, so that their stacks lie side by side and cuBLAS is asked once, and the plan then;
    none where that takes longer than to ask for each part of the stacks."""
    calls = MOST_CALLS if plan is None else len(plan.begins)
    for is_copied in ((True, False), (False, True), (True, True)):
        shapes = [(each.shape, _in_order(each) if copied else each.strides) for each, copied in zip((x, w), is_copied)]
        if sum(each.nbytes for each, copied in zip((x, w), is_copied) if copied) <= COPIED * (calls - 1):
            found = planned(x.dtype, *shapes[0], *shapes[1], out.shape, out.strides)
            if found is not None and len(found.begins) == 1:
                return is_copied, found
    return (False, False), plan


def _in_order(array: Any) -> tuple[int, ...]:
    """The strides of a copy in C order."""
    return tuple(array.itemsize * prod(array.shape[axis + 1:]) for axis in range(array.ndim))


@lru_cache(REMEMBERED)
def planned(dtype: Any, x: Any, x_strides: Any, w: Any, w_strides: Any, y: Any, y_strides: Any) -> Plan | None:
    """How cuBLAS computes a product of arrays of these shapes and strides; None for what is CuPy's."""
    if dtype.name not in TYPES or any(step % dtype.itemsize for step in (*x_strides, *w_strides, *y_strides)):
        return None
    shapes, strides = _with_two_axes(x, w, y, *(tuple(step // dtype.itemsize for step in steps)
                                                for steps in (x_strides, w_strides, y_strides)))
    (m, k), (_, n) = shapes[0][-2:], shapes[1][-2:]
    layouts = [_layout(*shape[-2:], *steps[-2:]) for shape, steps in zip(shapes, strides)]
    outer = _merged(shapes[2][:-2], [_spread(shape[:-2], steps[:-2], shapes[2][:-2])
                                     for shape, steps in zip(shapes, strides)])
    known = [layout for layout in layouts if layout is not None and layout[1] <= MOST]
    if outer is None or len(known) < len(layouts) or known[2][0] != KEEP or 0 in (m, n, k) or max(m, n, k) > MOST:
        return None
    *apart, (count, steps) = outer or [(1, (0, 0, 0))]
    if prod(times for times, _ in apart) > MOST_CALLS:
        return None
    begins = tuple(tuple(dtype.itemsize * sum(place * far[which] for place, (_, far) in zip(at, apart))
                         for which in (1, 0, 2)) for at in each_of(*(range(times) for times, _ in apart)))
    left, right, target = (Stack(*layout, step) for layout, step in zip(known, steps))
    narrow = len(x) == len(w) == 2 and is_narrow(dtype, m, k, n)
    return Plan(n, m, k, count, (right, left, target), begins, *TYPES[dtype.name][:2], *_scalars(dtype.name), narrow)


def _with_two_axes(x: Any, w: Any, y: Any, *strides: Any) -> tuple[list[Any], list[Any]]:
    """Shapes and strides with a row in place of a vector on the left, and a column in place of one on the right."""
    x_strides, w_strides, y_strides = strides
    if len(w) == 1:
        w, w_strides, y, y_strides = (*w, 1), (*w_strides, 1), (*y, 1), (*y_strides, 1)
    if len(x) == 1:
        x, x_strides = (1, *x), (0, *x_strides)
        y, y_strides = (*y[:-1], 1, y[-1]), (*y_strides[:-1], 0, y_strides[-1])
    return [x, w, y], [x_strides, w_strides, y_strides]


def _layout(rows: int, columns: int, along: int, across: int) -> tuple[int, int] | None:
    """How cuBLAS reads a matrix with such steps from row to row and from column to column, which for it is turned."""
    if (across == 1 or columns == 1) and (along >= columns or rows == 1):
        return KEEP, along if rows > 1 else columns
    if (along == 1 or rows == 1) and (across >= rows or columns == 1):
        return TURN, across if columns > 1 else rows
    return None


def _spread(shape: Any, strides: Any, whole: Any) -> list[int]:
    """The steps of a stack in a larger one; none from matrix to matrix where there is one for all."""
    steps = [0 if size == 1 else step for size, step in zip(shape, strides)]
    return [0] * (len(whole) - len(shape)) + steps


def _merged(sizes: Any, steps: list[list[int]]) -> list[tuple[int, tuple[int, ...]]] | None:
    """Axes of stacks, joined where one goes on where the other ends; the longest last. None where results overlap."""
    axes: list[tuple[int, tuple[int, ...]]] = []
    for size, each in zip(sizes, zip(*steps)):
        if size == 1:
            continue
        if axes and axes[-1][1] == tuple(step * size for step in each):
            axes[-1] = axes[-1][0] * size, each
        else:
            axes.append((size, each))
    if any(size == 0 or each[2] == 0 for size, each in axes):
        return None
    return sorted(axes, key=lambda axis: axis[0])


@cache
def cublas() -> Any:
    """The library that CuPy has loaded, with the types of what we call; None where it is not found."""
    if is_simulated():
        return None
    try:
        import_module("cupy_backends.cuda.libs.cublas")
        with open("/proc/self/maps") as file:
            path = next(line.split()[-1] for line in file if "libcublas.so" in line)
        found: Any = ctypes.CDLL(path)
        matrix: list[Any] = [POINTER, INT, INT]
        found.cublasGemmEx.argtypes = [POINTER, *[INT] * 5, POINTER, *matrix, *matrix, POINTER, *matrix, INT, INT]
        stack = [*matrix, LONG]
        found.cublasGemmStridedBatchedEx.argtypes = [POINTER, *[INT] * 5, POINTER, *stack, *stack, POINTER, *stack,
                                                     INT, INT, INT]
        found.cublasCreate_v2.argtypes = [POINTER]
        found.cublasDestroy_v2.argtypes = [POINTER]
        found.cublasSetStream_v2.argtypes = [POINTER, POINTER]
        found.cublasSetWorkspace_v2.argtypes = [POINTER, POINTER, ctypes.c_size_t]
    except (ImportError, OSError, StopIteration, AttributeError):
        return None
    return found


class Handle:
    """cuBLAS for one stream, with memory in which no other stream works. The stream does not end before it: another one
    could have its handle then."""

    def __init__(self, stream: Any) -> None:
        self.stream, self.pointer, self.lock = stream, POINTER(), threading.Lock()
        self.workspace = library().cuda.alloc(WORKSPACE)
        _done(cublas().cublasCreate_v2(ctypes.addressof(self.pointer)))
        _done(cublas().cublasSetStream_v2(self.pointer, stream.ptr))
        _done(cublas().cublasSetWorkspace_v2(self.pointer, self.workspace.ptr, WORKSPACE))

    def run(self, plan: Plan, w: int, x: int, y: int) -> None:
        kind, zero, compute = plan.kind, plan.zero, plan.compute
        right, left, target = plan.stacks
        head = self.pointer, right.operation, left.operation, plan.rows, plan.columns, plan.inner, plan.one
        with self.lock:
            for begin_w, begin_x, begin_y in plan.begins:
                if plan.count == 1:
                    _done(cublas().cublasGemmEx(
                        *head, w + begin_w, kind, right.leading, x + begin_x, kind, left.leading, zero,
                        y + begin_y, kind, target.leading, compute, -1))
                else:
                    _done(cublas().cublasGemmStridedBatchedEx(
                        *head, w + begin_w, kind, right.leading, right.step, x + begin_x, kind, left.leading,
                        left.step, zero, y + begin_y, kind, target.leading, target.step, plan.count, compute, -1))

    def __del__(self) -> None:
        if getattr(self, "pointer", None) and (found := cublas()) is not None:
            found.cublasDestroy_v2(self.pointer)


_handles: dict[tuple[int, ...], Handle] = {}
_making = threading.Lock()


def _handle() -> Handle:
    cuda = library().cuda
    stream = cuda.get_current_stream()
    key = cuda.get_device_id(), *identity(stream)
    found = _handles.get(key)
    if found is None:
        with _making:
            found = _handles.get(key) or _handles.setdefault(key, Handle(stream))
            if len(_handles) > MOST_HANDLES:     # of streams that are gone, as a rule
                _handles.pop(next(iter(_handles)), None)
    return found


def forget(device: int, stream: int) -> Handle | None:
    """Gives up what is there for a stream that ends, or of which nobody else is to use it."""
    return _handles.pop((device, stream), None)


@cache
def _scalars(dtype: str) -> tuple[Any, Any]:
    """Where 1 and 0 lie in memory."""
    numbers = TYPES[dtype][2]
    kind = SCALARS[numbers[0]] * len(numbers)
    found = kind(1), kind(0)
    _kept.extend(found)
    return tuple(map(ctypes.addressof, found))                           # type: ignore[return-value]


_kept: list[Any] = []


def _done(status: int) -> None:
    if status:
        raise RuntimeError(f"cuBLAS failed with status {status}")
