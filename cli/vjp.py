"""`transformer vjp`: the pullback of a function as a file of its own."""

from __future__ import annotations

import argparse

from .options import add_output, add_question

NAME = "vjp"
SUMMARY = "write the pullback of a function (reverse mode, any result)"
DESCRIPTION = """\
Writes a file with FUNC_vjp. It takes the arguments of FUNC and then a cotangent dy of its result,
and returns one cotangent, or a tuple of cotangents in the order of --wrt. FUNC may return anything.
The file imports numpy, and nothing of transformer.
"""
EXAMPLES = r"""The pullback of a model to its weights:

  transformer vjp model.py:predict --wrt w,b -o predict_vjp.py \
      --types "w: f64[d], b: f64, x: f64[n,d]"

The pullback to a number and a dictionary of arrays:

  transformer vjp model.py:scaled --types "s: f64, p: {w: f64[n], b: f64}"
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_question(parser)
    add_output(parser)


def run(options: argparse.Namespace) -> int:
    from .emission import emit
    from .modes import pullback

    return emit(options, pullback)
