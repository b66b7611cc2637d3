"""`in_threads` in code that numba compiles: a call of TBB with a function over a range.

TBB calls that function with the first of its iterations, as an address, how many they are, and a record of
everything else. Where it does not pay, it is called once, with all of them. If it fails for some, that is noted in
the record, and then the first failure is found again by one thread.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from ..threads import COUNT, OWN, SHARE, prepare

PIECES = 4                             # for each thread, as some are busy with other things
MOST = 2**44 - 1                       # iterations, which take hours: a compiler sees that places do not overflow
GRAIN = 1 << 15                        # additions that a thread does at least: some 10 µs
RECORDED = 4                           # of a record comes first: a code, an exception, the iterations, the pieces
OUT_OF_MEMORY = 1 << 40                # a code that numba has not


@cache
def compiled_forms() -> dict[str, Any]:
    """What stands in compiled code for the functions of `threads`."""
    from numba.core import types
    from numba.extending import intrinsic as of_numba

    from .dispatchers import part_of_callers

    prepare()

    @part_of_callers
    def places(first: int, count: int) -> range:
        start = first & MOST
        return range(start, start + (count & MOST))

    places.py_func.gives_places = True                   # a loop over them is one over a range (`ranges`)

    @of_numba
    def in_threads(context: Any, task: Any, size: Any, cost: Any, *args: Any) -> Any:
        alone: Any = args[0] if len(args) == 1 and isinstance(args[0], types.BaseTuple) else args
        given = tuple(alone)
        call = context.resolve_function_type(task, (types.intp, types.intp, *given), {})
        return types.void(task, types.intp, types.intp, types.Tuple(given)), _Generator(task, call)

    return {"in_threads": in_threads, "places": places}


class _Generator:
    """Writes the code of one call. `call` is the signature of the task."""

    def __init__(self, task: Any, call: Any) -> None:
        self.task, self.call, self.kinds = task, call, call.args[2:]

    def __call__(self, context: Any, builder: Any, signature: Any, args: Any) -> Any:
        from llvmlite import ir
        from numba.core import cgutils

        from .packing import packed

        _, size, cost, _ = args
        self.context, self.word, self.address = context, ir.IntType(64), ir.IntType(8).as_pointer()
        values = packed(context, builder, self.kinds, cgutils.unpack_tuple(builder, args[3]))
        record = ir.LiteralStructType([self.word, self.address, self.word, self.word, *(v.type for v in values)])
        made = cgutils.alloca_once(builder, record)
        for k, value in enumerate(values, RECORDED):
            builder.store(value, cgutils.gep_inbounds(builder, made, 0, k))
        builder.call(self._sharing(builder.module, record), [made, size, cost])
        with cgutils.if_unlikely(builder, self._failed(builder, made)):
            self._raise(builder, made)
        return context.get_dummy_value()

    def _failed(self, builder: Any, made: Any) -> Any:
        from numba.core import cgutils
        return builder.icmp_unsigned("!=", builder.load(cgutils.gep_inbounds(builder, made, 0, 0)), self.word(0))

    def _raise(self, builder: Any, made: Any) -> None:
        """Raises what is noted in the record."""
        from llvmlite import ir
        from numba.core import cgutils
        from numba.core.callconv import excinfo_ptr_t
        convention = self.context.call_conv
        code, error = (builder.load(cgutils.gep_inbounds(builder, made, 0, k)) for k in range(2))
        with builder.if_then(builder.icmp_unsigned("==", code, self.word(OUT_OF_MEMORY))):
            convention.return_user_exc(builder, MemoryError, ("Allocation failed in a thread.",))
        status = convention._get_return_status(builder, builder.trunc(code, ir.IntType(32)),
                                               builder.bitcast(error, excinfo_ptr_t))
        convention.return_status_propagate(builder, status)

    def _sharing(self, module: Any, record: Any) -> Any:
        """A function that shares out the iterations of the task; all its calls have one, as those of the layers of a
        network."""
        from llvmlite import ir
        from numba.core import cgutils
        name = f"share_{self._made.fndesc.mangled_name}"
        if name in module.globals:
            return module.globals[name]
        shape = ir.FunctionType(ir.VoidType(), [record.as_pointer(), self.word, self.word])
        function = ir.Function(module, shape, name)
        function.linkage = "internal"
        function.attributes.add("noinline")
        builder = ir.IRBuilder(function.append_basic_block())
        made, size, cost = function.args
        size = builder.select(builder.icmp_signed("<", size, self.word(0)), self.word(0), size)
        pieces = self._pieces(builder, size, cost)
        for k, value in enumerate((self.word(0), self.address(None), size, pieces)):
            builder.store(value, cgutils.gep_inbounds(builder, made, 0, k))
        task, data = self._function(module, record), builder.bitcast(made, self.address)
        self._call(builder, task, pieces, data)
        with cgutils.if_unlikely(builder, self._failed(builder, made)):
            self._find_first(builder, task, pieces, made, data)
        builder.ret_void()
        return function

    def _find_first(self, builder: Any, task: Any, pieces: Any, made: Any, data: Any) -> None:
        """Notes what the first iteration raises that fails; if there is none now, memory was short."""
        from numba.core import cgutils
        code = cgutils.gep_inbounds(builder, made, 0, 0)
        builder.store(self.word(0), code)
        self._call_once(builder, task, pieces, data)
        with builder.if_then(builder.not_(self._failed(builder, made))):
            builder.store(self.word(OUT_OF_MEMORY), code)

    @property
    def _made(self) -> Any:
        """The task, compiled for the types of this call."""
        return self.task.dispatcher.overloads[tuple(self.call.args)]

    def _pieces(self, builder: Any, size: Any, cost: Any) -> Any:
        """In how many pieces the iterations are done: in one, where it does not pay to share them."""
        threads = self._threads(builder)
        grain, one, many = (self.word(number) for number in (GRAIN, 1, PIECES))
        paying = builder.udiv(builder.mul(size, cost), grain)
        pays = builder.icmp_unsigned(">", paying, one)
        shared = builder.and_(pays, builder.icmp_signed(">", threads, one))
        wanted = builder.mul(builder.select(builder.icmp_unsigned("<", paying, threads), paying, threads), many)
        pieces = builder.select(builder.icmp_unsigned("<", wanted, size), wanted, size)
        return builder.select(shared, pieces, one)

    def _threads(self, builder: Any) -> Any:
        from llvmlite import ir
        cell = builder.module.globals.get(COUNT)
        return builder.load(ir.GlobalVariable(builder.module, self.word, COUNT) if cell is None else cell)

    def _function(self, module: Any, record: Any) -> Any:
        """What TBB calls: the task for the iterations of some pieces."""
        from llvmlite import ir
        from numba.core import cgutils

        from .packing import unpacked
        made = self._made
        words, addresses = self.word.as_pointer(), self.address.as_pointer()
        shape = ir.FunctionType(ir.VoidType(), [addresses, words, words, self.address])
        function = ir.Function(module, shape, f"task_{made.fndesc.mangled_name}")
        function.linkage = "internal"
        builder = ir.IRBuilder(function.append_basic_block())
        data = builder.bitcast(function.args[3], record.as_pointer())
        _, _, size, pieces, *given = (builder.load(cgutils.gep_inbounds(builder, data, 0, k))
                                      for k in range(len(record.elements)))
        first = builder.ptrtoint(builder.load(function.args[0]), self.word)
        last = builder.add(first, builder.load(function.args[1]))
        begin, end = (builder.udiv(builder.mul(size, piece), pieces) for piece in (first, last))
        values = unpacked(self.context, builder, self.kinds, given)
        self.context.active_code_library.add_linking_library(made.library)
        callee = self.context.declare_function(module, made.fndesc)
        status, _ = self.context.call_conv.call_function(builder, callee, self.call.return_type, self.call.args,
                                                         [begin, builder.sub(end, begin), *values])
        with cgutils.if_unlikely(builder, status.is_error):
            builder.store(builder.zext(status.code, self.word), cgutils.gep_inbounds(builder, data, 0, 0))
            builder.store(builder.bitcast(status.excinfoptr, self.address), cgutils.gep_inbounds(builder, data, 0, 1))
        builder.ret_void()
        return function

    def _call(self, builder: Any, function: Any, pieces: Any, data: Any) -> None:
        """The function itself for one piece, or TBB for more, with no more threads than the calling one may use."""
        from llvmlite import ir
        from numba.core import cgutils
        share_type = ir.FunctionType(ir.VoidType(), [self.address, *(arg.type for arg in function.args), self.word,
                                                     self.word, ir.IntType(32)])
        with builder.if_else(builder.icmp_unsigned(">", pieces, self.word(1))) as (several, one):
            with several:
                own_type = ir.FunctionType(ir.IntType(32), [])
                own = builder.call(cgutils.get_or_insert_function(builder.module, own_type, OWN), [])
                threads = builder.trunc(self._threads(builder), ir.IntType(32))
                threads = builder.select(builder.icmp_signed("<", own, threads), own, threads)
                share = cgutils.get_or_insert_function(builder.module, share_type, SHARE)
                builder.call(share, [builder.bitcast(function, self.address), *self._range(builder, pieces), data,
                                     self.word(0), self.word(1), threads])
            with one:
                self._call_once(builder, function, pieces, data)

    def _call_once(self, builder: Any, function: Any, pieces: Any, data: Any) -> None:
        builder.call(function, [*self._range(builder, pieces), data])

    def _range(self, builder: Any, pieces: Any) -> list[Any]:
        """All pieces, as TBB tells: where they begin, how many there are, and one after the other."""
        from numba.core import cgutils
        return [cgutils.alloca_once_value(builder, value) for value in (self.address(None), pieces, self.word(1))]
