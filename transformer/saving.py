"""Parameters and the state of a training run, kept in files: `checkpoint.save` and `checkpoint.load`.

    checkpoint.save("runs/1", {"params": params, "state": state, "key": key}, step)
    step, kept = checkpoint.load("runs/1")

A folder has one file for each step that is kept:

    transformer checkpoint 1                    what it is, and the version of the format
    {"tree": …, "leaves": […]}                  the containers, numbers and texts; shapes, dtypes of the arrays
    … bytes of the arrays …
    sha256 of all this

A file is written beside its place, brought to the disk and then given its name, so that there is never half of one.
What was cut short or changed does not have its sum: it is told of and passed over, and the step before it is loaded.
Nothing in a file is run.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from . import tree
from .containers import LEAVES, kind_of
from .core.halves import bfloat16
from .parallel.array import Array
from .parallel.placing import device_put
from .parallel.together import once, require_same, together
from .run.folders import write_whole

MAGIC = b"transformer checkpoint 1\n"
SUM = hashlib.sha256().digest_size
FILE = re.compile(r"step_(\d+)\.ckpt")
KEPT_CLASSES = {"list": list, "tuple": tuple, "dict": dict}


class Damaged(ValueError):
    """A file of a checkpoint is not what was written."""


def save(folder: str | os.PathLike[str], kept: Any, step: int, keep: int | None = 3) -> Path:
    """Stores a pytree as that of a step, and returns the path of the file. The folder is made if need be.

    Leaves are arrays of numbers of any dtype and shape, Python numbers, strings and None. What lies on several
    devices is gathered. The newest `keep` files stay (None: all). With several connected processes, all call it with
    the same tree (otherwise `BadArgument`); the first one writes, and the others wait.

    Raises TypeError for a leaf of another kind, and ValueError for a step below 0. Nothing is written then.

    >>> import tempfile, numpy as np
    >>> folder = tempfile.mkdtemp()
    >>> save(folder, {"w": np.arange(3.0), "rate": 0.1}, step=7).name
    'step_00000007.ckpt'
    >>> load(folder)
    (7, {'w': array([0., 1., 2.]), 'rate': 0.1})
    """
    if step < 0 or keep is not None and keep < 1:
        raise ValueError(f"step is {step} and keep is {keep}; step must be at least 0, and keep at least 1")
    with together("checkpoint.save"):
        content = _content(kept)
        require_same(f"step {step} {content[-SUM:].hex()}", lambda: f"step {step}\n{_described(kept)}")
        path: Path = once(lambda: _written(Path(folder), content, step, keep))
    return path


def _described(kept: Any) -> str:
    """A line for each leaf, with the sum of its bytes."""
    leaves, structure = tree.flatten(kept)
    sums = [hashlib.sha256(np.asarray(leaf).tobytes()).hexdigest()[:8] for leaf in leaves]
    return "\n".join(f"tree{path}: {np.asarray(leaf).dtype} {np.shape(leaf)} with sum {total}"
                     for leaf, path, total in zip(leaves, structure.paths(), sums))


def _written(place: Path, content: bytes, step: int, keep: int | None) -> Path:
    place.mkdir(parents=True, exist_ok=True)
    path = place / f"step_{step:08d}.ckpt"
    write_whole(path, content, name=_to_disk)
    if keep is not None:
        for _, old in _files(place)[keep:]:
            if old != path:
                old.unlink(missing_ok=True)
    return path


def load(folder: str | os.PathLike[str], like: Any = None, step: int | None = None) -> tuple[int, Any]:
    """Returns the newest step that was stored completely, or `step`, and its tree.

    Lists, tuples and dictionaries are restored by themselves. Other containers (NamedTuples, dataclasses, registered
    classes) need `like`, a tree of the same structure. An `Array` is restored on the device of that in `like`, or on
    the default one. With several connected processes, the first one reads and passes the tree on.

    A damaged file is skipped with a RuntimeWarning, and the step before it is taken; if `step` was asked for,
    ValueError is raised. Raises FileNotFoundError if nothing is stored, and ValueError if `like` has another
    structure.
    """
    with together("checkpoint.load"):
        require_same(f"step {step}", lambda: f"step {step}")
        number, content = once(lambda: _read(Path(folder), step))
    return number, _restored(content, like)


def _read(place: Path, step: int | None) -> tuple[int, bytes]:
    """The newest step that was kept whole, or `step`, and the bytes of its file."""
    found = [(number, path) for number, path in _files(place) if step is None or number == step]
    for number, path in found:
        try:
            return number, _checked(path.read_bytes())
        except Damaged as error:
            if step is not None:
                raise ValueError(f"{path}: {error}") from None
            warnings.warn(f"{path} is not used: {error}", RuntimeWarning, stacklevel=4)
    wanted = "a checkpoint" if step is None else f"the checkpoint of step {step}"
    raise FileNotFoundError(f"{place} does not have {wanted} that is complete")


def steps(folder: str | os.PathLike[str]) -> list[int]:
    """The steps stored in a folder, newest first."""
    return [number for number, _ in _files(Path(folder))]


def _files(folder: Path) -> list[tuple[int, Path]]:
    """The files of a folder with their steps, the newest first."""
    names = os.listdir(folder) if folder.is_dir() else []
    found = [(int(match[1]), folder / name) for name in names if (match := FILE.fullmatch(name))]
    return sorted(found, reverse=True)


def _to_disk(temporary: str, path: Path) -> None:
    """Gives a file its name when its bytes are on the disk, and brings the name there, too."""
    _synchronise(temporary)
    os.replace(temporary, path)
    if os.name == "posix":                       # elsewhere folders cannot be opened
        _synchronise(path.parent)


def _synchronise(path: str | Path) -> None:
    handle = os.open(path, os.O_RDWR if Path(path).is_file() else os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


# -- the bytes -------------------------------------------------------------------------------------


def _content(whole: Any) -> bytes:
    arrays: list[np.ndarray] = []
    shown = _shown(whole, "tree", arrays)
    leaves = [{"dtype": array.dtype.str if array.dtype.kind != "V" else array.dtype.name, "shape": array.shape}
              for array in arrays]
    head = json.dumps({"tree": shown, "leaves": leaves}).encode()
    body = MAGIC + head + b"\n" + b"".join(np.ascontiguousarray(array).tobytes() for array in arrays)
    return body + hashlib.sha256(body).digest()


def _shown(node: Any, name: str, arrays: list[np.ndarray]) -> Any:
    """A tree as JSON: containers with their classes, leaves with their kinds; arrays go to `arrays`."""
    if node is None or isinstance(node, (bool, str)):
        return {"is": node}
    if type(node) is int:
        return {"int": str(node)}
    if type(node) is float:
        return {"float": _digits(node)}
    if type(node) is complex:
        return {"complex": [_digits(node.real), _digits(node.imag)]}
    is_leaf = kind_of(type(node)) is LEAVES
    return _array(node, name, arrays) if is_leaf else _container(node, tree.structure(node), name, arrays)


def _digits(number: float) -> str:
    return number.hex() if math.isfinite(number) else str(number)


def _number(text: str) -> float:
    return float.fromhex(text) if "0x" in text else float(text)


def _container(node: Any, structure: Any, name: str, arrays: list[np.ndarray]) -> Any:
    known = next((key for key, cls in KEPT_CLASSES.items() if type(node) is cls), None)
    children = [_shown(child, name + accessor, arrays)
                for child, accessor in zip(_children(node), structure.accessors(), strict=True)]
    keys = None
    if known == "dict":
        keys = [_shown(key, f"a key of {name}", arrays) for key in structure.static]
    return {"class": known or type(node).__qualname__, "keys": keys, "items": children}


def _children(node: Any) -> list[Any]:
    return list(kind_of(type(node)).split(node)[1])


def _array(leaf: Any, name: str, arrays: list[np.ndarray]) -> Any:
    if getattr(leaf, "elsewhere", 0):
        raise TypeError(f"{name} has parts in other processes, which a checkpoint does not contain; save what is equal "
                        "in all of them, such as the result of psum or all_gather with out_axes=None")
    array = np.asarray(leaf)
    if array.dtype.kind not in "biufc" and array.dtype.name != "bfloat16":
        raise TypeError(f"{name} is {leaf!r}, which a checkpoint cannot store: it stores numeric arrays, numbers, "
                        "strings and None")
    arrays.append(array)
    return {"array": len(arrays) - 1, "number": not isinstance(leaf, np.ndarray) and isinstance(leaf, np.generic),
            "on_device": type(leaf) is Array}


def _checked(content: bytes) -> bytes:
    """The bytes of a file, if they are what was written."""
    if not content.startswith(MAGIC):
        first = content[:40].split(b"\n")[0]
        raise Damaged("it is of another version" if first.startswith(MAGIC[:22]) else "it is no checkpoint")
    if hashlib.sha256(content[:-SUM]).digest() != content[-SUM:]:
        raise Damaged("it was cut short or changed after it was written")
    return content


def _restored(content: bytes, like: Any) -> Any:
    """The tree in a whole file."""
    body = content[:-SUM]
    end = body.index(b"\n", len(MAGIC))
    head = json.loads(body[len(MAGIC):end])
    return _built(head["tree"], list(_arrays(head["leaves"], body, end + 1)), like, "tree")


def _arrays(leaves: list[Any], body: bytes, start: int) -> Iterator[np.ndarray]:
    for leaf in leaves:
        dtype = bfloat16() if leaf["dtype"] == "bfloat16" else np.dtype(leaf["dtype"])
        count = math.prod(leaf["shape"])
        yield np.frombuffer(body, dtype, count, start).reshape(leaf["shape"]).copy()
        start += count * dtype.itemsize


def _built(shown: Any, arrays: list[np.ndarray], like: Any, name: str) -> Any:
    if "class" in shown:
        return _container_built(shown, arrays, like, name)
    if like is not None and kind_of(type(like)) is not LEAVES:
        raise ValueError(f"{name} was a leaf, but like= has {type(like).__qualname__}")
    if "is" in shown:
        return shown["is"]
    if "int" in shown:
        return int(shown["int"])
    if "float" in shown:
        return _number(shown["float"])
    if "complex" in shown:
        return complex(*map(_number, shown["complex"]))
    array = arrays[shown["array"]]
    if shown.get("on_device"):
        return device_put(array, like.device if type(like) is Array else None)
    return array[()] if shown["number"] else array


def _container_built(shown: Any, arrays: list[np.ndarray], like: Any, name: str) -> Any:
    cls, items = shown["class"], shown["items"]
    known = KEPT_CLASSES.get(cls)
    if like is not None:
        return _as(like, shown, arrays, name)
    if known is None:
        raise ValueError(f"{name} was a {cls}; pass load a tree of the same structure as like=")
    if cls == "dict":
        keys = [_built(key, arrays, None, name) for key in shown["keys"]]
        return {key: _built(item, arrays, None, f"{name}[{key!r}]") for key, item in zip(keys, items, strict=True)}
    return known(_built(item, arrays, None, f"{name}[{k}]") for k, item in enumerate(items))


def _as(like: Any, shown: Any, arrays: list[np.ndarray], name: str) -> Any:
    """A container like the one that is given."""
    kind = kind_of(type(like))
    children = [] if kind is LEAVES else _children(like)
    own = next((key for key, cls in KEPT_CLASSES.items() if type(like) is cls), type(like).__qualname__)
    if kind is LEAVES or own != shown["class"] or len(children) != len(shown["items"]):
        of_many = "" if kind is LEAVES else f" of {len(children)}"
        raise ValueError(f"{name} was a {shown['class']} of {len(shown['items'])} items, like= has "
                         f"{type(like).__qualname__}{of_many}")
    structure = tree.structure(like)
    if own == "dict" and [_built(key, arrays, None, name) for key in shown["keys"]] != list(structure.static):
        raise ValueError(f"{name} has different keys than like=: {list(structure.static)}")
    made = [_built(item, arrays, child, name + accessor)
            for item, child, accessor in zip(shown["items"], children, structure.accessors(), strict=True)]
    return kind.build(type(like), kind.split(like)[0], made)
