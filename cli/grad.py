"""`transformer grad`: the gradient of a function as a file of its own."""

from __future__ import annotations

import argparse

from .options import add_output, add_question

NAME = "grad"
SUMMARY = "write the gradient of a function that returns one number"
DESCRIPTION = """\
Writes a file with FUNC_grad (or FUNC_value_and_grad, with --value). It takes the arguments of FUNC
and returns one gradient, or a tuple of gradients in the order of --wrt. The file imports numpy, and
nothing of transformer.
"""
EXAMPLES = r"""The gradient of a loss with respect to its weights, for any sizes n and d:

  transformer grad model.py:loss --wrt w,b -o loss_grad.py \
      --types "w: f64[d], b: f64, x: f64[n,d], y: f64[n]"

The value and the gradient with respect to all floating point arguments. The types are those of
what example() in model.py returns, say (np.zeros(3), 0.0, np.ones((5, 3)), np.ones(5)):

  transformer grad model.py:loss --value --example example
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_question(parser)
    parser.add_argument("--value", action="store_true", help="return (value, gradient)")
    parser.add_argument(
        "--memory",
        metavar="LIMIT",
        help='a memory limit for what a loop keeps, as in "64 MB" (default: keep all); '
        "without --example, loops are split into √n blocks",
    )
    add_output(parser)


def run(options: argparse.Namespace) -> int:
    from .emission import emit
    from .modes import gradient

    return emit(options, lambda wrt: gradient(wrt, options.value, options.memory))
