"""`transformer jit`: a function, or a derivative of it, as explicit loops that numba compiles."""

from __future__ import annotations

import argparse

from .failures import UsageError
from .options import add_output, add_question

NAME = "jit"
SUMMARY = "write a function, or a derivative, as explicit loops or GPU kernels for numba"
DESCRIPTION = """\
Writes FUNC, or a derivative of it, as explicit loops, and a function around them that is called
like the original. The file imports numpy, numba and math, and nothing of transformer. numba
compiles it at the first call.

With --target cuda, writes GPU kernels and a function that launches them. The file imports numpy,
numba and cupy, and takes and returns cupy arrays.
"""
EXAMPLES = r"""A model for any sizes n and d:

  transformer jit model.py:predict -o predict_compiled.py \
      --types "w: f64[d], b: f64, x: f64[n,d]"

The value and the gradient of a loss, with the types of what example() in model.py returns:

  transformer jit model.py:loss --mode value_and_grad --wrt w,b --example example

GPU kernels:

  transformer jit model.py:predict --target cuda -o predict_cuda.py \
      --types "w: f32[d], b: f32, x: f32[n,d]"
"""
TARGETS = ("cpu", "cuda")
MODES = ("grad", "value_and_grad", "jvp", "vjp")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_question(parser)
    parser.add_argument("--mode", choices=MODES, help="a derivative of the function (default: the function itself)")
    parser.add_argument("--target", choices=TARGETS, default="cpu", dest="platform",
                        help="where it runs (default: %(default)s)")
    add_output(parser)


def run(options: argparse.Namespace) -> int:
    from transformer.pipeline import Product

    from .emission import emit
    from .modes import MODES as modes

    if options.wrt and not options.mode:
        raise UsageError("--wrt selects derivatives; choose one with --mode")
    product = Product.KERNELS if options.platform == "cuda" else Product.LOOPS
    return emit(options, modes[options.mode] if options.mode else None, product)
