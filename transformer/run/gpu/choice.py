"""On which GPU a call runs: that of its arguments, or the one that was asked for.

    f = jit(function, device="cuda")            f(x) runs on the GPU of x; with arrays of NumPy on the current one
    g = jit(function, device="cuda:1")          g(x) runs on GPU 1, and an Array x is brought there
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...core.errors import BadArgument
from ...core.on_devices import is_on_device
from .devices import where
from .library import is_gpu_array, taken

if TYPE_CHECKING:
    from ...parallel.device import Device


def device_for(leaves: Sequence[Any], compiled: Any) -> Device:
    """The GPU of a call with these arguments. Raises ValueError where two are on different GPUs, and `BadArgument`
    where an array of another library is not on the GPU that the function is compiled for."""
    from ...parallel.device import current_gpu
    found = [(leaf, device) for leaf in leaves if (device := _gpu_of(leaf)) is not None]
    if compiled.is_bound:
        for leaf, device in found:
            if device is not compiled.device and not is_on_device(leaf):
                raise BadArgument(f"an array of shape {leaf.shape} is on {device}, but the function is compiled for "
                                  f"{compiled.device}", instead="Move it there, or pass device='cuda' to run where "
                                                                "the arguments are.")
        bound: Device = compiled.device
        return bound
    if not found:
        return current_gpu()
    for leaf, device in found[1:]:
        if device is not found[0][1]:
            raise ValueError(f"Received incompatible devices for {compiled.__name__}: one argument, of shape "
                             f"{found[0][0].shape}, is on {found[0][1]}, another, of shape {leaf.shape}, on {device}. "
                             f"Move them to one device with device_put(x, {str(found[0][1])!r})")
    return found[0][1]


def _gpu_of(leaf: Any) -> Device | None:
    """The GPU that an argument lies on, if it is on one."""
    from ...parallel.device import Gpu, devices
    if is_on_device(leaf):
        device = leaf.device if hasattr(type(leaf), "device") else None          # else it lies on several
        return device if isinstance(device, Gpu) else None
    return devices("cuda")[where(taken(leaf))] if is_gpu_array(leaf) else None
