"""Train a convolutional network on 1,797 handwritten digits, with a compiled training step.

    python samples/conv_digits.py --plot conv_digits.png

Two convolutions with pooling, AdamW with a rate that falls along a cosine: a step is one function, gradient and
optimiser included, which is compiled as a whole. Compare with `digits.py`: a smaller network, which runs as NumPy.
"""

import argparse
import time
from pathlib import Path

import numpy as np

from transformer import jit, nn, optim, value_and_grad

DATA = Path(__file__).parent / "data" / "digits.npz"


def predict(params, images):
    """The score of each of the ten digits, (n, 10), for images of the shape (n, 8, 8, 1)."""
    x = nn.relu(nn.conv2d(images, params["kernel1"], padding="same") + params["bias1"])
    x = nn.max_pool(x, 2)
    x = nn.relu(nn.conv2d(x, params["kernel2"], padding="same") + params["bias2"])
    x = nn.max_pool(x, 2)
    return x.reshape(x.shape[0], -1) @ params["w"] + params["b"]


def loss(params, images, labels):
    return np.mean(nn.cross_entropy(predict(params, images), labels))


def training_step(optimizer, is_compiled):
    """The function of parameters, state and a batch that gives the next ones and the loss."""

    loss_and_gradient = value_and_grad(loss)

    def step(params, state, images, labels):
        value, gradient = loss_and_gradient(params, images, labels)
        updates, state = optimizer.update(gradient, state, params)
        return optim.apply_updates(params, updates), state, value

    return jit(step) if is_compiled else step


def load():
    """Training and test images and labels; every fifth digit is for the test."""
    with np.load(DATA) as data:
        images = (data["images"] / 16.0).astype(np.float32).reshape(-1, 8, 8, 1)
        labels = data["labels"].astype(np.int64)
    test = np.arange(labels.size) % 5 == 0
    return images[~test], labels[~test], images[test], labels[test]


def initial(rng, channels=16):
    """Weights with the variance of He et al., two for each number that a layer sums up."""

    def weights(*shape):
        return rng.normal(0.0, np.sqrt(2 / np.prod(shape[:-1])), shape).astype(np.float32)

    return {
        "kernel1": weights(3, 3, 1, channels),
        "bias1": np.zeros(channels, np.float32),
        "kernel2": weights(3, 3, channels, 2 * channels),
        "bias2": np.zeros(2 * channels, np.float32),
        "w": weights(2 * 2 * 2 * channels, 10),
        "b": np.zeros(10, np.float32),
    }


def train(params, images, labels, options, rng):
    """The parameters after some epochs, the loss and the seconds of every step."""
    steps = labels.size // options.batch
    optimizer = optim.adamw(optim.cosine_decay_schedule(options.rate, options.epochs * steps))
    step, state = training_step(optimizer, not options.plain), optimizer.init(params)
    losses, seconds = [], []
    for _ in progress(options.epochs, losses):
        for chosen in rng.permutation(labels.size)[:steps * options.batch].reshape(steps, options.batch):
            start = time.perf_counter()
            params, state, value = step(params, state, images[chosen], labels[chosen])
            seconds.append(time.perf_counter() - start)
            losses.append(value)
    return params, losses, seconds


def progress(epochs, losses):
    """Count epochs with a progress bar on stderr that shows the latest loss, where there is `tqdm`."""
    try:
        from tqdm import tqdm
    except ImportError:
        yield from range(epochs)
        return
    with tqdm(total=epochs, unit="epoch") as bar:
        for epoch in range(epochs):
            yield epoch
            bar.set_postfix(loss=f"{losses[-1]:.4f}")
            bar.update()


def plot(path, losses, kernel, images, labels, predictions):
    """Draw the loss over the steps, the filters of the first layer, and digits that were taken for another."""
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    figure = pyplot.figure(figsize=(10, 4), layout="constrained")
    left, right = figure.subfigures(1, 2)
    axes = left.subplots()
    axes.semilogy(losses, linewidth=0.5)
    axes.set(xlabel="step", ylabel="training loss")
    upper, lower = right.subfigures(2, 1)
    upper.suptitle("filters of the first layer")
    for axes, k in zip(upper.subplots(2, 8).flat, range(kernel.shape[3])):
        axes.imshow(kernel[:, :, 0, k], cmap="RdBu", vmin=-1, vmax=1)
        axes.axis("off")
    lower.suptitle("digits of the test set that were taken for another")
    for axes, k in zip(lower.subplots(1, 8), np.flatnonzero(predictions != labels)):
        axes.imshow(images[k, :, :, 0], cmap="gray_r")
        axes.set_title(f"{labels[k]} as {predictions[k]}", fontsize="small")
    for axes in lower.axes:
        axes.axis("off")
    figure.savefig(path, dpi=120)


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--batch", type=int, default=32, help="digits in a step")
    parser.add_argument("--rate", type=float, default=3e-3, help="learning rate at the beginning")
    parser.add_argument("--channels", type=int, default=16, help="filters of the first layer, half of the second")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--plain", action="store_true", help="run as NumPy, without compiling")
    parser.add_argument("--plot", metavar="FILE.png", help="draw the loss, filters and mistakes")
    return parser.parse_args()


def main():
    options = parse()
    rng = np.random.default_rng(options.seed)
    images, labels, test_images, test_labels = load()
    params = initial(rng, options.channels)
    params, losses, seconds = train(params, images, labels, options, rng)
    predictions = np.argmax(predict(params, test_images), axis=1)
    if options.plot:
        plot(options.plot, losses, params["kernel1"], test_images, test_labels, predictions)
        print(f"drawn: {options.plot}")
    print(f"first step {seconds[0]:.1f} s; then {1e3 * np.median(seconds[1:]):.2f} ms a step")
    print(f"training loss {losses[0]:.4f} -> {np.mean(losses[-20:]):.4f}")
    print(f"test accuracy {100 * np.mean(predictions == test_labels):.1f} %")


if __name__ == "__main__":
    main()
