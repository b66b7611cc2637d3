"""Bytes and their bits."""

from __future__ import annotations

from typing import Any

import numpy as np


def packbits(a, /, axis=None, bitorder="big"):
    a = np.asarray(a)
    if a.dtype.kind not in "biu":
        raise TypeError("Expected an input array of integer or boolean data type")
    bits = a != 0
    bits = np.moveaxis(np.ravel(bits) if axis is None else bits, 0 if axis is None else axis, -1)
    count = (bits.shape[-1] + 7) // 8
    whole = np.zeros((*bits.shape[:-1], count * 8), np.uint8)
    whole[..., : bits.shape[-1]] = bits
    parts = np.reshape(whole, (*bits.shape[:-1], count, 8))
    packed = np.sum(parts << shifts(bitorder), axis=-1, dtype=np.uint8)
    return packed if axis is None else np.moveaxis(packed, -1, axis)


def unpackbits(a, /, axis=None, count=None, bitorder="big"):
    a = np.asarray(a)
    if a.dtype != np.uint8:
        raise TypeError("Expected an input array of unsigned byte data type")
    a = np.moveaxis(np.ravel(a) if axis is None else a, 0 if axis is None else axis, -1)
    bits = np.reshape((a[..., None] >> shifts(bitorder)) & np.uint8(1), (*a.shape[:-1], a.shape[-1] * 8))
    if count is not None:
        if count > bits.shape[-1]:
            bits = np.concatenate((bits, np.zeros((*bits.shape[:-1], count - bits.shape[-1]), np.uint8)), axis=-1)
        else:
            bits = bits[..., :count]
    return bits if axis is None else np.moveaxis(bits, -1, axis)


def shifts(bitorder):
    if bitorder not in ("big", "little"):
        raise ValueError("'order' must be either 'little' or 'big'")
    upwards = np.arange(8).astype(np.uint8)
    return upwards if bitorder == "little" else upwards[::-1]


CALLS: dict[Any, Any] = {np.packbits: packbits, np.unpackbits: unpackbits}
