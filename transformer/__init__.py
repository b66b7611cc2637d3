"""Composable function transformations for plain NumPy programs, by source-to-source rewriting.

    grad, value_and_grad   gradients of functions that return a number
    jvp, vjp, linearize    derivatives along a direction, pullbacks, linear approximations
    stop_gradient          a value as a constant
    check_grads            derivatives against differences
    tree                   pytrees: flatten, unflatten, map, leaves, structure, register
    config                 settings of the process
"""

from . import tree
from .api import check_grads, grad, jvp, linearize, stop_gradient, value_and_grad, vjp
from .config import config
from .core.errors import (BadArgument, NotDifferentiable, NotSupported, ShapeError, SourceError,
                          TransformError)

__version__ = "0.1.0"

__all__ = [
    "BadArgument", "NotDifferentiable", "NotSupported", "ShapeError", "SourceError", "TransformError",
    "check_grads", "config", "grad", "jvp", "linearize", "stop_gradient", "tree", "value_and_grad", "vjp",
]
