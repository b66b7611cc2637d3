"""Layers of neural networks, as plain functions of arrays.

    scores = nn.relu(nn.conv2d(images, params["kernel"], padding="same"))
    loss = np.mean(nn.cross_entropy(scores, labels))

What is learned is an argument like any other: a pytree of arrays that you make, with `initializers` or without. Called
in a function that is differentiated, batched or compiled, all of these are read as what they are: a few lines of NumPy.

    relu relu6 leaky_relu elu celu selu gelu silu mish softplus squareplus sigmoid
    log_sigmoid hard_sigmoid hard_silu hard_tanh soft_sign glu swish hard_swish
    softmax log_softmax logsumexp                                                         activations.py
    one_hot cross_entropy binary_cross_entropy                                            losses.py
    layer_norm rms_norm batch_norm batch_moments                                          normalization.py
    conv2d                                                                                convolution.py
    max_pool avg_pool                                                                     pooling.py
    attention multi_head_attention split_heads merge_heads embedding                      heads.py
    dropout                                                                               dropping.py
    initializers                                                                          initializers.py
"""

import importlib
from typing import TYPE_CHECKING, Any

from .activations import (
    celu,
    elu,
    gelu,
    glu,
    hard_sigmoid,
    hard_silu,
    hard_swish,
    hard_tanh,
    leaky_relu,
    log_sigmoid,
    log_softmax,
    logsumexp,
    mish,
    relu,
    relu6,
    selu,
    sigmoid,
    silu,
    soft_sign,
    softmax,
    softplus,
    squareplus,
    swish,
)
from .convolution import conv2d
from .dropping import dropout
from .heads import attention, embedding, merge_heads, multi_head_attention, split_heads
from .losses import binary_cross_entropy, cross_entropy, one_hot
from .normalization import batch_moments, batch_norm, layer_norm, rms_norm
from .pooling import avg_pool, max_pool

if TYPE_CHECKING:
    from . import initializers

__all__ = [
    "attention",
    "avg_pool",
    "batch_moments",
    "batch_norm",
    "binary_cross_entropy",
    "celu",
    "conv2d",
    "cross_entropy",
    "dropout",
    "elu",
    "embedding",
    "gelu",
    "glu",
    "hard_sigmoid",
    "hard_silu",
    "hard_swish",
    "hard_tanh",
    "initializers",
    "layer_norm",
    "leaky_relu",
    "log_sigmoid",
    "log_softmax",
    "logsumexp",
    "max_pool",
    "merge_heads",
    "mish",
    "multi_head_attention",
    "one_hot",
    "relu",
    "relu6",
    "rms_norm",
    "selu",
    "sigmoid",
    "silu",
    "soft_sign",
    "softmax",
    "softplus",
    "split_heads",
    "squareplus",
    "swish",
]


def __getattr__(name: str) -> Any:
    """`initializers` are imported when they are first used, as random numbers are."""
    if name == "initializers":
        return importlib.import_module(".initializers", __name__)
    raise AttributeError(f"module 'transformer.nn' has no attribute {name!r}")
