"""Composable function transformations for plain NumPy programs, by source-to-source rewriting.

    grad, value_and_grad   gradients of functions that return a number
    jvp, vjp, linearize    derivatives along a direction, pullbacks, linear approximations
    jacfwd, jacrev, hessian, hvp
                           Jacobians and Hessians, and products of the Hessian with a vector
    vmap                   maps a function of one example over many
    vectorize              broadcasts a function of a few axes over all leading axes
    pmap                   maps a function of one example over devices
    Array, device_put, device_get, block_until_ready
                           arrays on devices
    devices, local_devices, device_count, local_device_count, default_device, default_backend, process_index,
    process_count          the devices and processes that there are
    jit                    compiles a function, or a derivative
    psum, pmean, pmax, pmin, all_gather, axis_index, axis_size, ppermute, pshuffle, all_to_all, psum_scatter
                           collectives over the lanes of a named vmap, or the devices of a pmap
    at                     functional updates: at(x)[i].set(v)
    lax                    control flow as functions, and arithmetic without promotion, as in JAX
    numpy                  NumPy's functions over Arrays
    kernels                functions over grids of blocks, with explicit loads and stores
    nn, optim              layers of neural networks and initial weights; optimisers and schedules
    stop_gradient          makes a value a constant for derivatives
    custom_jvp, custom_vjp, custom_gradient
                           derivative rules of your own
    checkpoint             recomputes a function in the reverse sweep to save memory; `remat` is the same
    checkpoint_loop        the same for blocks of a loop
    independent            promises that the iterations of a loop are independent
    grad_of                lines that run in the reverse sweep
    fixed_point            the solution of an iteration, with implicit derivatives
    define_op, check_op    functions of other libraries, and tests of their rules
    check_grads            compares derivatives with finite differences
    random                 random numbers as functions of a key, with the bits of jax.random
    distributed            several processes that run one program
    eval_shape, ShapeDtypeStruct, linear_transpose
                           shapes and dtypes in place of arrays
    named_scope, named_call, debug_nans, enable_x64
                           names of parts of a program, and settings for a while
    tree                   pytrees: flatten, unflatten, map, leaves, structure, register
    config                 settings of the process
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import distributed, kernels, lax, nn, optim, random, tree
    from . import numpy as numpy
    from .api import check_grads, grad, jvp, linearize, stop_gradient, value_and_grad, vjp
    from .checkpointing import checkpoint, checkpoint_loop, remat
    from .contexts import debug_nans, enable_x64, named_call, named_scope
    from .core.errors import (
        BadArgument,
        NotDifferentiable,
        NotSupported,
        ShapeError,
        SourceError,
        TransformError,
    )
    from .cotangents import grad_of
    from .custom import custom_jvp, custom_vjp
    from .custom_gradients import custom_gradient
    from .define import check_op, define_op
    from .implicit import fixed_point
    from .independence import independent
    from .jacobians import hessian, hvp, jacfwd, jacobian, jacrev
    from .jitting import jit
    from .ops.collectives import all_gather, axis_index, axis_size, pmax, pmean, pmin, psum
    from .ops.exchanges import all_to_all, ppermute, pshuffle, psum_scatter
    from .parallel.array import Array
    from .parallel.device import (
        default_backend,
        default_device,
        device_count,
        devices,
        local_device_count,
        local_devices,
        process_count,
        process_index,
    )
    from .parallel.placing import block_until_ready, device_get, device_put
    from .pmapping import pmap
    from .settings import config
    from .shapes import ShapeDtypeStruct, eval_shape, linear_transpose
    from .updates import at
    from .vectorizing import vectorize
    from .vmapping import vmap

__version__ = "0.1.0"

__all__ = [
    "Array",
    "BadArgument",
    "NotDifferentiable",
    "NotSupported",
    "ShapeDtypeStruct",
    "ShapeError",
    "SourceError",
    "TransformError",
    "all_gather",
    "all_to_all",
    "at",
    "axis_index",
    "axis_size",
    "block_until_ready",
    "check_grads",
    "check_op",
    "checkpoint",
    "checkpoint_loop",
    "config",
    "custom_gradient",
    "custom_jvp",
    "custom_vjp",
    "debug_nans",
    "default_backend",
    "default_device",
    "define_op",
    "device_count",
    "device_get",
    "device_put",
    "devices",
    "distributed",
    "enable_x64",
    "eval_shape",
    "fixed_point",
    "grad",
    "grad_of",
    "hessian",
    "hvp",
    "independent",
    "jacfwd",
    "jacobian",
    "jacrev",
    "jit",
    "jvp",
    "kernels",
    "lax",
    "linear_transpose",
    "linearize",
    "local_device_count",
    "local_devices",
    "named_call",
    "named_scope",
    "nn",
    "optim",
    "pmap",
    "pmax",
    "pmean",
    "pmin",
    "ppermute",
    "process_count",
    "process_index",
    "pshuffle",
    "psum",
    "psum_scatter",
    "random",
    "remat",
    "stop_gradient",
    "tree",
    "value_and_grad",
    "vectorize",
    "vjp",
    "vmap",
]

_ERRORS = frozenset(name for name in __all__ if name[0].isupper()) - {"Array", "ShapeDtypeStruct"}

# Among them `numpy` and `scipy`, which are not in `__all__`: `from transformer import *` must not hide those.
_MODULES = frozenset({"debug", "distributed", "experimental", "flatten_util", "image", "kernels", "lax", "nn", "numpy",
                      "optim", "random", "scipy", "tree", "tree_util"})

_HOMES = {"custom_gradient": ".custom_gradients",
          **dict.fromkeys(("ShapeDtypeStruct", "eval_shape", "linear_transpose"), ".shapes"),
          **dict.fromkeys(("debug_nans", "enable_x64", "named_call", "named_scope"), ".contexts"),
          "config": ".settings", "custom_jvp": ".custom", "custom_vjp": ".custom", "define_op": ".define",
          "check_op": ".define", "checkpoint": ".checkpointing",
          "checkpoint_loop": ".checkpointing", "remat": ".checkpointing", "fixed_point": ".implicit",
          "grad_of": ".cotangents",
          "independent": ".independence", "jit": ".jitting", "vmap": ".vmapping", "at": ".updates",
          "vectorize": ".vectorizing", "pmap": ".pmapping", "Array": ".parallel.array",
          **dict.fromkeys(("block_until_ready", "device_get", "device_put"), ".parallel.placing"),
          **dict.fromkeys(("default_backend", "default_device", "device_count", "devices", "local_device_count",
                           "local_devices", "process_count", "process_index"), ".parallel.device"),
          **dict.fromkeys(("hessian", "hvp", "jacfwd", "jacobian", "jacrev"), ".jacobians"),
          **dict.fromkeys(("all_gather", "axis_index", "axis_size", "pmax", "pmean", "pmin", "psum"),
                          ".ops.collectives"),
          **dict.fromkeys(("all_to_all", "ppermute", "pshuffle", "psum_scatter"), ".ops.exchanges")}


_SHARDED = "pmap splits a function over devices (docs/pmap.md)"
_INSTEAD = {"make_jaxpr": "f.source_for(x) and f.stages(x) show what is made of a function (docs/from_jax.md)",
            "disable_jit": "leave jit out, and the same function runs as NumPy",
            "pure_callback": "declare the function with define_op",
            **dict.fromkeys(("make_mesh", "set_mesh", "shard_map", "sharding", "NamedSharding"), _SHARDED)}


def __getattr__(name: str) -> Any:
    """Imports what is asked for: `import transformer` alone costs next to nothing."""
    if name not in __all__ and name not in _MODULES:
        why = f": {_INSTEAD[name]}" if name in _INSTEAD else ""
        raise AttributeError(f"module 'transformer' has no attribute {name!r}{why}")
    if name in _MODULES:
        return importlib.import_module(f".{name}", __name__)
    home = ".core.errors" if name in _ERRORS else _HOMES.get(name, ".api")
    value = getattr(importlib.import_module(home, __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*__all__, *_MODULES, *(name for name in globals() if name.startswith("__"))})
