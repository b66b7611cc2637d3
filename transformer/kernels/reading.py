"""What a kernel is where it is read: outputs, and a loop over its blocks around the body."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..core.errors import BadArgument
from ..core.sizes import Size
from ..ops.value import Value
from ..read.calls.ruled import check_no_writes
from ..read.frames import stamp
from ..read.library.calls import call_library
from ..read.values import is_array
from .blocks import OVER

if TYPE_CHECKING:
    from ..read.reader import Reader
    from .kernel import Kernel


def read(reader: Reader, kernel: Kernel, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Reads a call of a kernel; gives the outputs."""
    origin = reader.builder.origin
    try:
        args = kernel.bound(args, kwargs)
        mark, made = reader.journal.mark(), stamp()
        result = reader.usable(reader.call(kernel.out, args, {}))
        outputs = kernel.filled(result, is_array)
        grid = kernel.counted(reader.call(kernel.grid, args, {}) if callable(kernel.grid) else kernel.grid, _is_int)
        call_library(reader, OVER[len(grid)], (kernel, grid, args, outputs), {})
    except BadArgument as error:
        raise error.located(origin) from None
    check_no_writes(reader, mark, made, f"the kernel {kernel.__name__}")
    return result


def _is_int(size: Any) -> bool:
    if isinstance(size, Value):
        return not size.ndim and size.type.dtype.kind in "iu"
    return isinstance(size, (int, Size)) and not isinstance(size, bool)
