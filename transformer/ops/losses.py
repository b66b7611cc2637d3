"""Distances of numbers that losses are made of: Huber's, and the summand of the divergence of Kullback and Leibler."""

from __future__ import annotations

import numpy as np

from .elementwise import where
from .of_scipy import declaring

declare = declaring(__name__)

KlDiv = declare("kl_div(x, y)", lambda t, x, y, r: t * np.log(x / y), lambda t, x, y, r: t * (1 - x / y),
                where="positive")


def _huber_delta(t, delta, r, y):
    return t * where(np.abs(r) <= delta, 0, np.abs(r) - delta)


def _huber_r(t, delta, r, y):
    return t * where(np.abs(r) <= delta, r, delta * np.sign(r))


Huber = declare("huber(delta, r)", _huber_delta, _huber_r, where=("high", "nonzero"))


def _length(delta, r):
    return np.sqrt(1 + (r / delta) ** 2)


def _pseudo_huber_delta(t, delta, r, y):
    return t * (2 * y / delta - r * r / (delta * _length(delta, r)))


PseudoHuber = declare("pseudo_huber(delta, r)", _pseudo_huber_delta,
                      lambda t, delta, r, y: t * r / _length(delta, r), where=("positive", "real"))
