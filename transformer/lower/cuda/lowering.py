"""A Core function for GPUs: its nests, its kernels, and their source."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ...core.errors import NotSupported
from ...core.grammar import Call, Function
from ...core.guards import Assumptions
from ...core.walk import all_statements
from ..nest.nest_walk import statements
from ..nest.nests import Keep, Lowered
from ..printing.source import Printed
from .module import print_module
from .stages import expand_for_gpu


@dataclass
class GpuKernels:
    """A lowered function with the source of its kernels and of the driver that launches them. The driver takes the
    values of the parameters of the Core function, arrays on the device, and gives those of its results; a number that
    only the device knows is an array without axes."""

    lowered: Lowered
    printed: Printed

    @property
    def source(self) -> str:
        return self.printed.source


def lower_for_gpu(function: Function, assumptions: Assumptions, name: str | None = None,
                  taken: Iterable[str] = ()) -> GpuKernels:
    """The kernels of a Core function; nothing is compiled. `taken` are names of the module that they become part of.
    Raises a located `NotSupported`."""
    _refuse_recursion(function)
    lowered = expand_for_gpu(function, assumptions)
    _refuse_unknown(lowered)
    return GpuKernels(lowered, print_module(lowered, name or function.name, taken))


def _refuse_recursion(function: Function) -> None:
    for stmt in all_statements(function.body):
        if isinstance(stmt, Call):
            raise NotSupported("recursion is not supported on GPUs", stmt.origin, instead="Write it as a loop.")


def _refuse_unknown(lowered: Lowered) -> None:
    """Raises where kernels have no form of a function."""
    for stmt in statements(lowered.body):
        if isinstance(stmt, Keep):
            raise NotSupported("recording arrays of a size that differs between the iterations of a loop is not "
                               "supported on GPUs if the largest size is not known in advance", stmt.origin)
