"""Machine code of kernels: little of it for what they mostly consist of: numbers in variables, elements of arrays, and
loops over ranges (`ranges`).

For each element that is read or written, numba's own lowering copies the array's record, takes all from it that might
be needed, and computes what is the same for every element. LLVM removes nearly all of that, for more time than it
takes for the rest. Here, an array's address, sizes and steps are values from where its variable is assigned, and an
element is an address and a load or store. What is computed is the same, for places that are inside: kernels have no
others, and none that is counted from the end.

This module imports numba, and is imported when something is compiled.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import reduce
from itertools import zip_longest
from typing import Any

from llvmlite import ir as llvm
from llvmlite.ir.values import MDValue
from numba.core import cgutils, ir, types
from numba.core.analysis import compute_cfg_from_blocks
from numba.core.compiler_machinery import register_pass
from numba.core.lowering import Lower
from numba.core.typed_passes import NativeLowering
from numba.np.arrayobj import load_item, store_item

from .borrowed import NUMBERS, Borrowed, parts_of
from .direct import DirectCalls, each_of
from .ranges import RangeLoops
from .raveled import RaveledArrays
from .selections import SelectedNumbers
from .unused import leave_out_unused

base: Any = Lower
node: Any = MDValue
lowering: Any = NativeLowering
marked: Any = register_pass


class Variables(base):
    """Variables of numbers: nothing has to be freed where one is assigned or goes out of scope. Nor has an array
    argument, which the caller holds for the whole call; otherwise code that frees all of them would precede each
    error."""

    def init(self) -> None:
        super().init()
        self.counted: dict[Any, bool] = {}
        self.given: dict[str, Any] = {}
        self.assigned = assigned_once(self.func_ir.blocks)
        self.borrowed = {name for name, value in self.assigned.items()
                         if isinstance(value, ir.Arg) and isinstance(self.typeof(name), types.Array)}
        self.is_borrowing = False

    def setup_function(self, fndesc: Any) -> None:
        super().setup_function(fndesc)
        if getattr(self.func_ir.func_id.func, "is_brief", False):
            self.function.attributes.add("optsize")

    def is_counted(self, kind: Any) -> bool:
        """Whether references to memory are counted in values of this type."""
        if kind not in self.counted:
            self.counted[kind] = self.context.data_model_manager[kind].contains_nrt_meminfo()
        return self.counted[kind]

    def lower_assign(self, ty: Any, inst: Any) -> Any:
        self.is_borrowing = inst.target.name in self.borrowed
        try:
            return super().lower_assign(ty, inst)
        finally:
            self.is_borrowing = False

    def incref(self, typ: Any, val: Any) -> None:
        if self.is_counted(typ) and not self.is_borrowing:
            super().incref(typ, val)

    def decref(self, typ: Any, val: Any) -> None:
        if isinstance(typ, types.Array) and self.is_counted(typ):
            self._free(typ, self.builder.extract_value(val, self._place_of_memory(typ)))
        elif self.is_counted(typ):
            super().decref(typ, val)

    def _free(self, kind: Any, memory: Any) -> None:
        """numba takes all parts of an array, and theirs, to find the one whose references are counted. Each error is
        preceded by the end of all arrays, which makes most of the instructions of a long function."""
        super().decref(types.MemInfoPointer(kind.dtype), memory)

    def _place_of_memory(self, kind: Any) -> int:
        place: int = self.context.data_model_manager[kind].get_field_position("meminfo")
        return place

    def loadvar(self, name: str) -> Any:
        return self.given[name] if name in self.given else super().loadvar(name)

    def storevar(self, value: Any, name: str, argidx: int | None = None) -> None:
        if name in self.borrowed and isinstance(self.typeof(name), Borrowed):
            self.given[name] = value                   # for good: a function begins with its arguments
        elif argidx is not None or self.is_counted(self.typeof(name)) or name in self._singly_assigned_vars:
            super().storevar(value, name, argidx)
        else:
            self.builder.store(value, self.getvar(name))

    def delvar(self, name: str) -> None:
        if name in self.given:
            return
        is_counted = self.is_counted(self.typeof(name)) and name not in self.borrowed
        if is_counted and isinstance(self.typeof(name), types.Array) and name not in self._blk_local_varmap:
            self._end(name)
        elif is_counted or self._disable_sroa_like_opt:
            super().delvar(name)
        elif name not in self._blk_local_varmap:
            self._singly_assigned_vars.discard(name)

    def _end(self, name: str) -> None:
        """The end of an array whose variable is in memory: none that comes to its end again has anything to free."""
        builder, kind = self.builder, self.typeof(name)
        self._singly_assigned_vars.discard(name)
        self._alloca_var(name, kind)
        memory = cgutils.gep_inbounds(builder, self.getvar(name), 0, self._place_of_memory(kind))
        self._free(kind, builder.load(memory))
        builder.store(llvm.Constant(memory.type.pointee, None), memory)


@dataclass
class Layout:
    """Where the elements of an array are. Steps are in elements, and None where that is 1; in bytes, where the layout
    may be any."""

    data: Any
    sizes: list[Any]
    steps: list[Any]


class Elements(Variables):
    """Elements of arrays of numbers, each at an address that is computed from the array's layout.

    Lowering counts every place from the beginning of its axis, and tests it where it has to (`lower/expand/checks.py`).
    So nothing is chosen here for negative places. LLVM often cannot see that such a choice is idle: what was chosen is
    at no certain distance from the place before, and the loop computes one number at a time."""

    def init(self) -> None:
        super().init()
        self.layouts: dict[str, Layout] = {}

    def storevar(self, value: Any, name: str, argidx: int | None = None) -> None:
        super().storevar(value, name, argidx)
        if name in self.assigned and has_elements(self.typeof(name)):
            self.layouts[name] = self._layout(self.typeof(name), value, self._known_sizes(name))

    def lower_getitem(self, resty: Any, expr: Any, value: Any, index: Any, signature: Any) -> Any:
        if not self._is_element(value, index):
            return super().lower_getitem(resty, expr, value, index, signature)
        array = self.typeof(value.name)
        item = load_item(self.context, self.builder, array, self._address(value, index))
        return self.context.cast(self.builder, item, array.dtype, resty)

    def lower_setitem(self, target_var: Any, index_var: Any, value_var: Any, signature: Any) -> Any:
        if not self._is_element(target_var, index_var):
            return super().lower_setitem(target_var, index_var, value_var, signature)
        array, kind = self.typeof(target_var.name), signature.args[2]
        value = self.context.cast(self.builder, self._cast_var(value_var, kind), kind, array.dtype)
        return store_item(self.context, self.builder, array, value, self._address(target_var, index_var))

    def _is_element(self, array: Any, index: Any) -> bool:
        if not has_elements(self.typeof(array.name)) or self.context.enable_boundscheck:
            return False
        places = each_of(self.typeof(index.name))
        return len(places) == self.typeof(array.name).ndim and all(isinstance(each, types.Integer) for each in places)

    def _layout_of(self, name: str) -> Layout:
        """That of the array in a variable: of what it holds now, where arrays take turns in it."""
        return self.layouts.get(name) or self._layout(self.typeof(name), self.loadvar(name))

    def _known_sizes(self, name: str) -> tuple[int | None, ...]:
        """The sizes of an array that are numbers, if it is an argument; None for others."""
        made = self.assigned[name]
        known = getattr(self.func_ir.func_id.func, "known_sizes", {})
        return known.get(made.index, ()) if isinstance(made, ir.Arg) else ()

    def _layout(self, kind: Any, value: Any, known: tuple[int | None, ...] = ()) -> Layout:
        data, sizes, steps = parts_of(self.context, self.builder, kind, value)
        sizes = [size if number is None else llvm.Constant(size.type, number)
                 for size, number in zip_longest(sizes, known)]
        if kind.layout == "A":
            return Layout(data, sizes, steps)
        inner = [sizes[axis + 1:] if kind.layout == "C" else sizes[:axis] for axis in range(kind.ndim)]
        return Layout(data, sizes, [self._step(each, kind) if each else None for each in inner])

    def _step(self, sizes: list[Any], kind: Any) -> Any:
        """How far neighbours along an axis are apart. In a matrix it is at least 1: for a step that may be any number,
        LLVM makes vectors of a column in case that the matrix has no other, and for all others none."""
        step = reduce(self.builder.mul, sizes)
        if kind.ndim > 2:
            return step
        one = llvm.Constant(step.type, 1)
        return self.builder.select(self.builder.icmp_signed("<", step, one), one, step)

    def _address(self, array: Any, index: Any) -> Any:
        builder, layout = self.builder, self._layout_of(array.name)
        kind, places = self.typeof(index.name), self.loadvar(index.name)
        given = cgutils.unpack_tuple(builder, places, len(kind)) if isinstance(kind, types.BaseTuple) else [places]
        inside = (self.context.cast(builder, place, each, types.intp)
                  for each, place in zip(each_of(kind), given, strict=True))
        offset = reduce(builder.add, (place if step is None else builder.mul(place, step)
                                      for place, step in zip(inside, layout.steps, strict=True)))
        if self.typeof(array.name).layout == "A":
            return cgutils.pointer_add(builder, layout.data, offset)
        return builder.gep(layout.data, [offset])


class Copies(Elements):
    """`a[:] = b` of arrays of one layout: a copy of memory. numba's own form has tests of shapes, whose messages alone
    take seconds to compile."""

    def lower_setitem(self, target_var: Any, index_var: Any, value_var: Any, signature: Any) -> Any:
        target, value = self.layouts.get(target_var.name), self.layouts.get(value_var.name)
        kinds = self.typeof(target_var.name), self.typeof(value_var.name)
        if target is None or value is None or not (self._is_whole(index_var) and _are_alike(*kinds)):
            return super().lower_setitem(target_var, index_var, value_var, signature)
        builder = self.builder
        differ = reduce(builder.or_, (builder.icmp_signed("!=", *sizes)
                                      for sizes in zip(target.sizes, value.sizes, strict=True)))
        with cgutils.if_unlikely(builder, differ):
            self.return_exception(ValueError, ("could not broadcast input array",), loc=self.loc)
        bytes_each = self.context.get_abi_sizeof(self.context.get_data_type(kinds[0].dtype))
        cgutils.raw_memmove(builder, target.data, value.data, reduce(builder.mul, target.sizes), bytes_each)
        return None

    def _is_whole(self, index: Any) -> bool:
        made = self.assigned.get(index.name)
        if not isinstance(made, ir.Expr) or made.op != "call" or self.typeof(index.name) != types.slice2_type:
            return False
        return all(self.typeof(arg.name) == types.none for arg in made.args)


class Jumps(Copies):
    """Loops around others, which stay loops: if they were unrolled, their bodies would be compiled several times, for
    nothing. Where all loops are short, the inner ones are unrolled."""

    def init(self) -> None:
        super().init()
        loops = list(compute_cfg_from_blocks(self.blocks).loops().values())
        kept = [loop for loop in loops if any(
            inner.body < loop.body and not self._is_short(inner.header) for inner in loops)]
        ends = [(self.blocks[label].terminator, loop) for loop in kept for label in loop.body]
        self.back = {end for end, loop in ends if isinstance(end, ir.Jump) and end.target == loop.header}

    def lower_inst(self, inst: Any) -> None:
        super().lower_inst(inst)
        if isinstance(inst, ir.Jump) and inst in self.back:
            self.builder.block.terminator.set_metadata("llvm.loop", _OfOneLoop(self.module))

    def _is_short(self, header: Any) -> bool:
        """Whether a loop is one over a range whose bounds are in the program."""
        steps = list(self.blocks[header].find_exprs("iternext"))
        made = self._made(steps[0].value) if steps else None
        made = self._made(made.value) if isinstance(made, ir.Expr) and made.op == "getiter" else None
        if not isinstance(made, ir.Expr) or made.op != "call":
            return False
        return all(isinstance(self._made(arg), (ir.Const, ir.Global, ir.FreeVar)) for arg in made.args)

    def _made(self, var: Any) -> Any:
        """What a variable is assigned, also by way of others."""
        while isinstance(var, ir.Var):
            var = self.assigned.get(var.name)
        return var


class _OfOneLoop(node):
    """Tells LLVM not to unroll a loop. Each loop needs metadata of its own, so it begins with a reference to itself and
    equals no other."""

    def __init__(self, module: Any) -> None:
        disable = module.add_metadata([llvm.MetaDataString(module, "llvm.loop.unroll.disable")])
        super().__init__(module, (), str(len(module.metadata)))
        self.operands = self, disable

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)


def _are_alike(kind: Any, other: Any) -> bool:
    return (kind.dtype, kind.ndim, kind.layout) == (other.dtype, other.ndim, other.layout) and kind.layout != "A"


def has_elements(kind: Any) -> bool:
    """Whether a type is that of arrays of numbers, with axes."""
    return isinstance(kind, types.Array) and kind.ndim > 0 and isinstance(kind.dtype, NUMBERS)


def assigned_once(blocks: dict[int, Any]) -> dict[str, Any]:
    """What variables are assigned that are assigned once."""
    assigned = [(each.target.name, each.value) for block in blocks.values() for each in block.find_insts(ir.Assign)]
    times = Counter(name for name, _ in assigned)
    return {name: value for name, value in assigned if times[name] == 1}


class KernelLower(SelectedNumbers, RangeLoops, DirectCalls, RaveledArrays, Jumps):
    """Lowers a kernel, or a function that it calls, to machine code."""

    def lower_normal_function(self, fndesc: Any) -> None:
        super().lower_normal_function(fndesc)
        leave_out_unused(self.function)


@marked(mutates_CFG=True, analysis_only=False)
class KernelLowering(lowering):
    """The pass of numba's that runs it."""

    _name = "kernel_lowering"

    @property
    def lowering_class(self) -> Any:
        return KernelLower
