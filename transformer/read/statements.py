"""Simple statements."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING, Any

import gast

from ..core.errors import as_raised, suggestion
from .branches.journal import Name
from .expressions import read_name
from .frames import store
from .objects.attributes import delete_attribute
from .objects.containers import delete_item
from .raising.errors import as_user_error
from .values import ABSENT

if TYPE_CHECKING:
    from .reader import Reader


def read_expression(reader: Reader, node: Any) -> None:
    if not isinstance(node.value, gast.Constant):
        reader.evaluate(node.value)


def read_pass(reader: Reader, node: Any) -> None:
    pass


def read_delete(reader: Reader, node: Any) -> None:
    for target in node.targets:
        if isinstance(target, gast.Name):
            read_name(reader, target)
            reader.journal.write(Name(reader.frame.names, target.id), ABSENT)
        elif isinstance(target, gast.Subscript):
            delete_item(reader, reader.evaluate(target.value), reader.evaluate(target.slice))
        else:
            delete_attribute(reader, reader.evaluate(target.value), target.attr)


def read_import(reader: Reader, node: Any) -> None:
    for alias in node.names:
        module = _imported(reader, alias.name)
        top = importlib.import_module(alias.name.partition(".")[0])
        store(reader, reader.frame, alias.asname or alias.name.partition(".")[0], module if alias.asname else top)


def _imported(reader: Reader, name: str, package: str | None = None) -> Any:
    try:
        with as_user_error(reader):
            return importlib.import_module(name, package)
    except ImportError as error:
        raise as_raised(error, reader.builder.origin) from error


def _has_module(package: Any, name: str) -> bool:
    """Imports a module of a package, if there is one of this name."""
    if not hasattr(package, "__path__") or importlib.util.find_spec(f"{package.__name__}.{name}") is None:
        return False
    importlib.import_module(f"{package.__name__}.{name}")
    return True


def read_import_from(reader: Reader, node: Any) -> None:
    package = reader.frame.globals.get("__package__") if node.level else None
    module = _imported(reader, "." * (node.level or 0) + (node.module or ""), package)
    for alias in node.names:
        if not hasattr(module, alias.name) and not _has_module(module, alias.name):
            raised = ImportError(f"cannot import name {alias.name!r} from {module.__name__!r}")
            raise as_raised(raised, reader.builder.origin, suggestion(alias.name, dir(module)))
        store(reader, reader.frame, alias.asname or alias.name, reader.outside.attribute(module, alias.name))


STATEMENTS = {
    gast.Expr: read_expression,
    gast.Pass: read_pass,
    gast.Delete: read_delete,
    gast.Import: read_import,
    gast.ImportFrom: read_import_from,
    gast.Nonlocal: read_pass,
    gast.Global: read_pass,
}
