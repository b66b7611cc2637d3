"""`transformer emit`: any composition of transformations as a file of its own."""

from __future__ import annotations

import argparse

from .options import add_expression, add_inputs, add_output

NAME = "emit"
SUMMARY = "write any composition of transformations, given as an expression"
DESCRIPTION = """\
Writes what EXPR means: transformations around a function of FILE, as in Python. NumPy source, or,
where the outermost one is jit, explicit loops that numba compiles. The file imports nothing of
transformer. The expression is parsed, not run.

  transformations   grad value_and_grad jvp vjp jacfwd jacrev jacobian hessian hvp vmap vectorize
                    checkpoint jit
  their arguments   numbers, strings, None, True, False, tuples, lists, dictionaries
  functions         names in FILE, dotted ones too: Class.method

jvp and vjp give functions here: of the arguments, then the tangents (dx for x) or the cotangent dy.
"""
EXAMPLES = r"""Gradients of a loss for each of many examples, as one batched function; x and y have an axis of
lanes in front, of k examples here, which the types tell:

  transformer emit "vmap(grad(loss), in_axes=(None, 0, 0))" model.py -o per_sample.py \
      --types "w: f64[d], x: f64[k,d], y: f64[k]"

The same, compiled, under a name:

  transformer emit "jit(vmap(grad(loss, argnums=0), in_axes=(None, 0, 0)))" model.py \
      --name per_sample --types "w: f64[d], x: f64[k,d], y: f64[k]"

A Hessian, and the product of it with a vector, without it:

  transformer emit "hessian(loss)" model.py --example example
  transformer emit "hvp(loss)" model.py --example example

A transformation without its function can be applied to one: this is vmap(square, in_axes=1).

  transformer emit "vmap(in_axes=1)(square)" model.py --types "x: f64[n,k]"

Under vmap, what a transformation adds is mapped as well, and its type is given:

  transformer emit "vmap(vjp(predict), in_axes=(None, 0, 0))" model.py \
      --types "w: f64[d], x: f64[k,n,d], dy: f64[k,n]"
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_expression(parser)
    add_inputs(parser)
    parser.add_argument("--name", metavar="NAME", help="what the function is called (default: as in loss_grad_vmap)")
    add_output(parser)


def run(options: argparse.Namespace) -> int:
    from .emission import emit_expression

    return emit_expression(options)
