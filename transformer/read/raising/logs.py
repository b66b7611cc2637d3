"""Messages to loggers of Python's `logging`, kept as effects.

    logger.debug("step %d", k)    is    logger.debug(f"step {k:d}")

Whether anybody listens is decided when the message comes, as in the program.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ...core.errors import NotSupported
from ..values import has_dynamic, stripped
from .demand import static
from .effects import emit_effect
from .percent import filled
from .texts import Template

if TYPE_CHECKING:
    from ..reader import Reader

LEVELS = ("debug", "info", "warning", "error", "critical")


def _to_root(level: str) -> Callable[..., None]:
    def log(reader: Reader, message: Any, *values: Any, **options: Any) -> None:
        _emit(reader, None, level, message, values, options)

    return log


def _to_logger(level: str) -> Callable[..., None]:
    def log(reader: Reader, logger: Any, message: Any, *values: Any, **options: Any) -> None:
        _emit(reader, logger.name, level, message, values, options)

    return log


def _emit(reader: Reader, logger: str | None, level: str, message: Any, values: tuple[Any, ...],
          options: dict[str, Any]) -> None:
    if options:
        raise NotSupported(f"logging with {next(iter(options))} is not supported", reader.builder.origin,
                           instead="Put it into the message.")
    if values:
        message = _message(reader, static(reader, message, "the message to a logger"), values)
    template = Template()
    parts = template.add(message)
    emit_effect(reader, "log", template.atoms, {"template": parts, "logger": logger, "level": level})


def _message(reader: Reader, message: str, values: tuple[Any, ...]) -> Any:
    """A message with its values; one dictionary alone has them by name."""
    given: Any = values[0] if len(values) == 1 and isinstance(values[0], dict) else values
    return filled(reader, message, given) if has_dynamic(given) else message % stripped(given)


def get_logger(reader: Reader, name: Any = None) -> logging.Logger:
    """`logging.getLogger`."""
    return logging.getLogger(static(reader, name, "the name of a logger"))


CALLS: dict[Any, Callable[..., Any]] = {
    logging.getLogger: get_logger,
    **{getattr(logging, level): _to_root(level) for level in LEVELS},
    **{getattr(logging.Logger, level): _to_logger(level) for level in LEVELS},
}
