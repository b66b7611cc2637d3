"""What kernels call that the compiler writes out itself: accesses to four elements at once. The text is part of the
modules that use it."""

from __future__ import annotations

IMPORTS = ["from llvmlite import ir", "from numba import cuda, types", "from numba.cuda.extending import intrinsic"]
OF_FOURS = '''
def place_of_four(context, builder, array, args):
    """The k-th four elements of an array, as LLVM has them, and the bytes to which they are aligned."""
    lanes = ir.VectorType(context.get_data_type(array.dtype), 4)
    data = context.make_array(array)(context, builder, args[0]).data
    k = args[1] if args[1].type.width == 64 else builder.zext(args[1], ir.IntType(64))
    place = builder.gep(builder.bitcast(data, lanes.as_pointer()), [k])
    return place, min(16, context.get_abi_sizeof(lanes))


@intrinsic
def four_of(context, array, k):
    """Elements 4 * k to 4 * k + 3 of an array in which they lie side by side."""
    def read(context, builder, signature, args):
        place, alignment = place_of_four(context, builder, array, args)
        four = builder.load(place, align=alignment)
        model = context.data_model_manager[array.dtype]
        items = [builder.extract_element(four, ir.IntType(32)(lane)) for lane in range(4)]
        items = [model.from_data(builder, item) for item in items]
        return context.make_tuple(builder, signature.return_type, items)
    return types.UniTuple(array.dtype, 4)(array, k), read


@intrinsic
def set_four(context, array, k, items):
    """Writes elements 4 * k to 4 * k + 3."""
    def write(context, builder, signature, args):
        place, alignment = place_of_four(context, builder, array, args)
        model = context.data_model_manager[array.dtype]
        four = ir.Constant(place.type.pointee, ir.Undefined)
        for lane in range(4):
            item = context.cast(builder, builder.extract_value(args[2], lane), items[lane], array.dtype)
            four = builder.insert_element(four, model.as_data(builder, item), ir.IntType(32)(lane))
        builder.store(four, place, align=alignment)
        return context.get_dummy_value()
    return types.none(array, k, items), write
'''
