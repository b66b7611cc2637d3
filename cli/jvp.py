"""`transformer jvp`: the derivative of a function along a direction as a file of its own."""

from __future__ import annotations

import argparse

from .options import add_output, add_question

NAME = "jvp"
SUMMARY = "write the derivative of a function along a direction (forward mode)"
DESCRIPTION = """\
Writes a file with FUNC_jvp. It takes the arguments of FUNC and then a tangent for each argument in
--wrt, and returns (value, tangent). FUNC may return anything. The file imports numpy, and nothing
of transformer.
"""
EXAMPLES = r"""The derivative of a model's predictions along a change of its weights:

  transformer jvp model.py:predict --wrt w -o predict_jvp.py \
      --types "w: f64[d], b: f64, x: f64[n,d]"

The derivative with respect to all floating point arguments, on the terminal:

  transformer jvp model.py:predict --types "w: f64[d], x: f64[n,d]"
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_question(parser)
    add_output(parser)


def run(options: argparse.Namespace) -> int:
    from .emission import emit
    from .modes import pushforward

    return emit(options, pushforward)
