"""Simple statements."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

import gast

from ..core.errors import NotSupported
from .containers import delete_item
from .errors import as_user_error
from .expressions import read_name
from .frames import store
from .journal import Name
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
            raise NotSupported("`del` of an attribute", reader.builder.origin)


def read_import(reader: Reader, node: Any) -> None:
    for alias in node.names:
        with as_user_error(reader):
            module = importlib.import_module(alias.name)
        top = importlib.import_module(alias.name.partition(".")[0])
        store(reader, reader.frame, alias.asname or alias.name.partition(".")[0], module if alias.asname else top)


def read_import_from(reader: Reader, node: Any) -> None:
    package = reader.frame.globals.get("__package__") if node.level else None
    with as_user_error(reader):
        try:
            module = importlib.import_module("." * (node.level or 0) + (node.module or ""), package)
        except ImportError as error:
            raise NotSupported(str(error), reader.builder.origin) from error
    for alias in node.names:
        if not hasattr(module, alias.name):
            importlib.import_module(f"{module.__name__}.{alias.name}")
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
