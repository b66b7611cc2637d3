"""How far scores are from what they should be, for each example: take the mean of it.

    loss = np.mean(nn.cross_entropy(scores, labels))
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.special

from ..core.halves import kind_of
from ..taking import taking_arrays


def one_hot(labels: Any, num_classes: int, dtype: Any = np.float64) -> Any:
    """Rows of zeros with a one at the index of the label; without a one if the label is not below `num_classes`.

    >>> one_hot(np.array([2, 0]), 3)
    array([[0., 0., 1.],
           [1., 0., 0.]])
    """
    check_labels("one_hot", labels)
    return (labels[..., np.newaxis] == np.arange(num_classes)).astype(dtype)


@taking_arrays
def cross_entropy(logits: Any, labels: Any) -> Any:
    """The negative logarithm of the probability that the `softmax` of `logits` gives to the label.

    `logits` has shape (…, classes). `labels` are integers of shape (…), or probabilities of all classes, in the shape
    of `logits`. The result has shape (…).

    >>> cross_entropy(np.zeros((2, 4)), np.array([0, 3]))
    array([1.38629436, 1.38629436])
    """
    if kind_of(labels.dtype) == "f" and np.shape(labels) == np.shape(logits):
        return -np.sum(labels * scipy.special.log_softmax(logits, axis=-1), axis=-1)
    check_labels("cross_entropy", labels, ", or probabilities of the shape of the logits")
    if np.shape(labels) != np.shape(logits)[:-1]:
        raise ValueError(f"nn.cross_entropy: labels of shape {np.shape(labels)} for logits of shape "
                         f"{np.shape(logits)}: one label per row of logits is expected")
    rows = logits.reshape(-1, logits.shape[-1])
    chosen = rows[np.arange(rows.shape[0]), labels.reshape(-1)]
    return scipy.special.logsumexp(logits, axis=-1) - chosen.reshape(labels.shape)


def binary_cross_entropy(logits: Any, labels: Any) -> Any:
    """The negative logarithm of the probability that the `sigmoid` of the score gives to the label, which is 0, 1 or
    between.

    >>> binary_cross_entropy(np.array([0.0, 1000.0]), np.array([1.0, 1.0]))
    array([0.69314718, 0.        ])
    """
    if np.shape(labels) != np.shape(logits):
        raise ValueError(f"nn.binary_cross_entropy: labels of shape {np.shape(labels)} for logits of shape "
                         f"{np.shape(logits)}: one label per logit is expected")
    return np.logaddexp(logits, 0) - labels * logits


def check_labels(function: str, labels: Any, otherwise: str = "") -> None:
    """Raises TypeError unless labels are integers."""
    if labels.dtype.kind not in "iu":
        raise TypeError(f"nn.{function}: labels are {labels.dtype} of shape {np.shape(labels)}, "
                        f"expected integers{otherwise}")
