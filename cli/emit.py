"""`transformer emit`: any composition of transformations as a file of its own."""

from __future__ import annotations

import argparse

from .options import add_expression, add_inputs, add_output

NAME = "emit"
SUMMARY = "write any composition of transformations, given as an expression"
DESCRIPTION = """\
Writes EXPR, transformations around a function of FILE as you would write them in Python. The
result is NumPy source, or explicit loops for numba if the outermost transformation is jit. The file
imports nothing of transformer. The expression is parsed, never run. It consists of

  transformations  grad value_and_grad jvp vjp jacfwd jacrev jacobian hessian hvp vmap vectorize
                   checkpoint jit, around each other; vmap(in_axes=1)(f) is vmap(f, in_axes=1)
  their arguments  numbers, strings, None, True, False, tuples, lists and dictionaries
  functions        names in FILE, also dotted: Class.method

--types describes the arguments of the whole: mapped arguments have their lane axis. jvp and vjp
return functions of the arguments and then the tangents (dx for x) or the cotangent dy. These, and
the vector of hvp, need types only if vmap maps them.
"""
EXAMPLES = r"""The gradient of a loss for each of k data sets, at the same weights:

  transformer emit "vmap(grad(loss), in_axes=(None, None, 0, 0))" model.py -o per_set.py \
      --types "w: f64[d], b: f64, x: f64[k,n,d], y: f64[k,n]"

The value and the gradient with respect to the weights, compiled, with a chosen name:

  transformer emit "jit(value_and_grad(loss, argnums=(0, 1)))" model.py --example example \
      --name step -o step.py
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_expression(parser)
    add_inputs(parser)
    parser.add_argument("--name", metavar="NAME", help="the name of the function (default: as in loss_grad_vmap)")
    add_output(parser)


def run(options: argparse.Namespace) -> int:
    from .emission import emit_expression

    return emit_expression(options)
