"""A sample call of functions whose operands cannot be drawn from the domain of their op."""

from __future__ import annotations

import math
from typing import Any

import doc_library_samples
import numpy as np
import scipy.fft
import scipy.linalg

X = np.array([[1.1, -0.4, 0.7], [0.2, 1.9, -0.8]])

# Functions of X, in which the names are those of the tables.
SAMPLES: dict[str, Any] = {
    "np.select": lambda x: np.select([x > 1, x < 0], [x * x, -x], 0.5),
    "np.broadcast_arrays": lambda x: np.broadcast_arrays(x, x[0])[1] * x,
    "np.atleast_1d": lambda x: np.atleast_1d(x[0, 0]),
    "np.atleast_2d": lambda x: np.atleast_2d(x[0]),
    "np.atleast_3d": lambda x: np.atleast_3d(x),
    "np.matrix_transpose": lambda x: np.matrix_transpose(x) @ x,
    "np.linalg.matrix_transpose": lambda x: np.linalg.matrix_transpose(x) @ x,
    "np.rollaxis": lambda x: np.rollaxis(x, 1) * 2,
    "np.append": lambda x: np.append(x, x[:1], axis=0),
    "np.split": lambda x: np.split(x, 3, axis=1)[1],
    "np.array_split": lambda x: np.array_split(x, 2, axis=1)[0],
    "np.vsplit": lambda x: np.vsplit(x, 2)[1],
    "np.hsplit": lambda x: np.hsplit(x, 3)[2],
    "np.dsplit": lambda x: np.dsplit(x[None], 3)[0],
    "np.asarray": lambda x: np.asarray([x[0], x[1] * 2]),
    "np.asanyarray": lambda x: np.asanyarray(x),
    "np.ascontiguousarray": lambda x: np.ascontiguousarray(x.T),
    "np.asfortranarray": lambda x: np.asfortranarray(x),
    "np.fliplr": lambda x: np.fliplr(x),
    "np.flipud": lambda x: np.flipud(x),
    "np.rot90": lambda x: np.rot90(x),
    "np.take": lambda x: np.take(x, np.array([1, 1]), axis=1),
    "np.meshgrid": lambda x: np.meshgrid(x[0], x[1])[0],
    "np.diagflat": lambda x: np.diagflat(x[0]),
    "np.full_like": lambda x: np.full_like(x, x[0, 0]),
    "np.logspace": lambda x: np.logspace(x[0, 0], x[0, 2], 4),
    "np.geomspace": lambda x: np.geomspace(x[0, 0], x[0, 2], 4),
    "np.vecdot": lambda x: np.vecdot(x, x[0]),
    "np.linalg.vecdot": lambda x: np.linalg.vecdot(x, x[0]),
    "np.take_along_axis": lambda x: np.take_along_axis(x, np.argmax(x, axis=1)[:, None], 1),
    "np.ix_": lambda x: x[np.ix_([1, 0], [2, 2])],
    "np.linalg.matrix_power": lambda x: np.linalg.matrix_power(x[:, :2], 3),
    "np.linalg.multi_dot": lambda x: np.linalg.multi_dot([x, x.T, x]),
    "np.trapezoid": lambda x: np.trapezoid(x, dx=0.5),
    "np.astype": lambda x: np.astype(x, np.float64) ** 2,
    "np.array": lambda x: np.array([[x[0, 0], 1.0], [x[0, 1], x[1, 1]]]),
    "np.full": lambda x: np.full((2, 3), x[0]),
    "np.linalg.outer": lambda x: np.linalg.outer(x[0], x[1]),
    "np.einsum": lambda x: np.einsum("ij,kj->ik", x, x),
    "np.linalg.lstsq": lambda x: np.linalg.lstsq(x @ x.T + np.eye(len(x)), x[:, 0], rcond=None)[0],
    "np.linalg.cond": lambda x: np.linalg.cond(x),
    "np.linalg.cross": lambda x: np.linalg.cross(np.array([x[0, 0], x[0, 1], 1.0]), np.array([x[1, 0], x[1, 1], 2.0])),
    "np.linalg.diagonal": lambda x: np.linalg.diagonal(x) ** 2,
    "np.linalg.trace": lambda x: np.linalg.trace(x) ** 2,
    "np.linalg.matrix_norm": lambda x: np.linalg.matrix_norm(x),
    "np.linalg.vector_norm": lambda x: np.linalg.vector_norm(x),
    "np.linalg.matrix_rank": lambda x: x * np.linalg.matrix_rank(x),
    "np.linalg.tensorinv": lambda x: np.linalg.tensorinv((x @ x.T + np.eye(len(x)))[:, None], ind=2),
    "np.linalg.tensorsolve": lambda x: np.linalg.tensorsolve(x @ x.T + np.eye(len(x)), x[:, 0]),
    "scipy.linalg.cho_factor": lambda x: np.triu(scipy.linalg.cho_factor(x @ x.T + np.eye(len(x)))[0]),
    "scipy.linalg.cho_solve": lambda x: scipy.linalg.cho_solve((x @ x.T + np.eye(len(x)), True), x[:, 0]),
    "scipy.fft.fft2": lambda x: scipy.fft.fft2(x).real,
    "scipy.fft.ifft2": lambda x: scipy.fft.ifft2(x).real,
    "scipy.fft.rfft2": lambda x: scipy.fft.rfft2(x).real,
    "scipy.fft.irfft2": lambda x: scipy.fft.irfft2(x + 0j),
    "scipy.fft.rfftn": lambda x: scipy.fft.rfftn(x).real,
    "scipy.fft.irfftn": lambda x: scipy.fft.irfftn(x + 0j),
    "scipy.fft.hfft": lambda x: scipy.fft.hfft(x + 0j),
    "scipy.fft.ihfft": lambda x: scipy.fft.ihfft(x).real,
    "scipy.fft.fftshift": lambda x: scipy.fft.fftshift(x) * x,
    "scipy.fft.ifftshift": lambda x: scipy.fft.ifftshift(x) * x,
    "np.linalg.cholesky": lambda x: np.linalg.cholesky(x @ x.T),
    "np.linalg.eigh": lambda x: np.linalg.eigh(x @ x.T)[0],
    "np.linalg.eigvalsh": lambda x: np.linalg.eigvalsh(x @ x.T),
    "np.average": lambda x: np.average(x, axis=1, weights=np.exp(x)),
    "np.copyto": lambda x: _copied(x),
    "np.add.at": lambda x: _added(x),
    "math.prod": lambda x: math.prod([x[0, 0], x[1, 1]]),
    "math.pow": lambda x: math.pow(x[0, 0], 2.0),
    "scipy.special.spherical_jn": lambda x: _spherical(x),
}

# The same for functions that have a value and no derivative.
CONSTANT_SAMPLES: dict[str, Any] = {
    "np.broadcast": lambda x: np.zeros(np.broadcast(x, np.ones((4, 1, 1))).shape),
    "np.broadcast_shapes": lambda x: np.zeros(np.broadcast_shapes(x.shape, (4, 1, 1))),
    "np.shape": lambda x: np.shape(x),
    "np.size": lambda x: np.size(x),
    "np.ndim": lambda x: np.ndim(x),
    "np.isscalar": lambda x: np.isscalar(x),
    "np.result_type": lambda x: x.astype(np.result_type(x, np.float32)),
    "np.empty": lambda x: np.empty((2, 3)) * 0 == 0,
    "np.zeros_like": lambda x: np.zeros_like(x),
    "np.ones_like": lambda x: np.ones_like(x),
    "np.empty_like": lambda x: np.empty_like(x) * 0 == 0,
    "np.identity": lambda x: np.identity(x.shape[0]),
    "np.diag_indices": lambda x: np.diag_indices(x.shape[0]),
    "np.nonzero": lambda x: np.nonzero(x > 0),
    "np.argwhere": lambda x: np.argwhere(x > 0),
    "np.flatnonzero": lambda x: np.flatnonzero(x > 0),
    "math.comb": lambda x: math.comb(np.argmax(x), 2),
    "math.factorial": lambda x: math.factorial(np.argmax(x)),
    "math.gcd": lambda x: math.gcd(np.argmax(x), 6),
    "math.isqrt": lambda x: math.isqrt(np.argmax(x)),
    "math.lcm": lambda x: math.lcm(np.argmax(x), 6),
    "math.perm": lambda x: math.perm(np.argmax(x), 2),
}

# Arguments of the methods that need some.
METHOD_ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "astype": (np.float64,),
    "clip": (-0.5, 1.5),
    "dot": (np.array([1.0, 2.0, 3.0]),),
    "fill": (2.0,),
    "item": (1, 2),
    "repeat": (2,),
    "reshape": ((3, 2),),
    "searchsorted": (0.5,),
    "swapaxes": (0, 1),
    "take": (np.array([1, 4]),),
}


def _copied(x: Any) -> Any:
    y = np.empty((2, 3))
    np.copyto(y, x)
    return y * x


def _added(x: Any) -> Any:
    y = np.zeros((2, 3))
    np.add.at(y, np.array([1, 1]), x)
    return y * x


def _spherical(x: Any) -> Any:
    from scipy.special import spherical_jn

    return spherical_jn(1, x)

SAMPLES |= doc_library_samples.SAMPLES
CONSTANT_SAMPLES |= doc_library_samples.CONSTANT_SAMPLES
METHOD_ARGUMENTS |= doc_library_samples.METHOD_ARGUMENTS
