"""Names that mean something in every module for GPUs: no variable of a kernel or of the driver, and no function, has
one of them."""

from __future__ import annotations

from . import grids
from .places import PLACE

MODULES = {"cp", "cuda", "cmath", "ir", "types", "intrinsic"}
INTRINSICS = {"place_of_four", "four_of", "set_four"}
WHEN_LOADED = {"item_of", "matmul"}      # what stands in a module that is run here for what its text says
NAMES = frozenset({*MODULES, *INTRINSICS, *WHEN_LOADED, PLACE, *grids.NAMES})
