"""A kernel called as it is: its blocks one after the other, in Python, with what they do tested."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .. import tree
from .outputs import Blocks, Output

if TYPE_CHECKING:
    from .kernel import Kernel


def run(kernel: Kernel, args: tuple[Any, ...]) -> Any:
    """The outputs of a kernel for arrays of NumPy."""
    result = kernel.out(*args)
    arrays = kernel.filled(result, lambda each: isinstance(each, np.ndarray))
    grid = kernel.counted(kernel.grid(*args) if callable(kernel.grid) else kernel.grid)
    arguments = tree.map(_as_argument, args)
    blocks = Blocks(kernel)
    outputs = [Output.over(array, name, blocks) for array, name in zip(arrays, kernel.outputs, strict=True)]
    for block in np.ndindex(*grid):
        blocks.begin(block)
        kernel.returned(kernel.body(block, *arguments, *outputs))
    for output in outputs:
        output.check_full()
    return result


def _as_argument(leaf: Any) -> Any:
    """An array as a view that NumPy does not let be written."""
    if not isinstance(leaf, np.ndarray):
        return leaf
    view = leaf.view()
    view.flags.writeable = False
    return view
