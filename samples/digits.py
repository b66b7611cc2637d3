"""Train a small neural network on 1,797 handwritten digits, with a generated gradient.

    python samples/digits.py --plot digits.png
"""

import argparse
import sys
from pathlib import Path

import numpy as np

from transformer import device_put, jit, value_and_grad

DATA = Path(__file__).parent / "data" / "digits.npz"
BATCH = 32
RATE = 0.05
MOMENTUM = 0.9


def predict(params, images):
    """The score of each of the ten digits, (n, 10)."""
    hidden = np.tanh(images @ params["w1"] + params["b1"])
    return hidden @ params["w2"] + params["b2"]


def loss(params, images, labels):
    """Mean cross-entropy between the softmax of the scores and the labels."""
    scores = predict(params, images)
    scores = scores - np.max(scores, axis=1, keepdims=True)  # exp must not overflow
    total = np.sum(np.exp(scores), axis=1)
    return np.mean(np.log(total) - scores[np.arange(labels.size), labels])


def load():
    """Training and test images and labels; every fifth digit is for the test."""
    with np.load(DATA) as data:
        images, labels = data["images"] / 16.0, data["labels"].astype(np.int64)
    test = np.arange(labels.size) % 5 == 0
    return images[~test], labels[~test], images[test], labels[test]


def initial(rng, hidden=64):
    return {
        "w1": rng.normal(0.0, 1 / np.sqrt(64), (64, hidden)),
        "b1": np.zeros(hidden),
        "w2": rng.normal(0.0, 1 / np.sqrt(hidden), (hidden, 10)),
        "b2": np.zeros(10),
    }


def example():
    """Arguments of `loss`, for `transformer grad samples/digits.py:loss --example example`."""
    images, labels, _, _ = load()
    return initial(np.random.default_rng(0)), images[:BATCH], labels[:BATCH]


def accuracy(params, images, labels):
    return np.mean(np.argmax(predict(params, images), axis=1) == labels)


def train(loss_and_gradient, params, images, labels, epochs, rng):
    """Stochastic gradient descent with momentum; returns the mean loss of every epoch."""
    velocity = {name: np.zeros_like(value) for name, value in params.items()}
    history = []
    for _ in progress(epochs, history):
        batches = np.array_split(rng.permutation(labels.size), labels.size // BATCH)
        values = []
        for batch in batches:
            value, gradient = loss_and_gradient(params, images[batch], labels[batch])
            values.append(value)
            for name in params:
                velocity[name] = MOMENTUM * velocity[name] - RATE * gradient[name]
                params[name] = params[name] + velocity[name]
        history.append(np.mean(values))
    return history


def progress(epochs, history):
    """Count epochs with a progress bar on stderr that shows the latest loss."""
    try:
        from tqdm import tqdm
    except ImportError:
        yield from plain_progress(epochs, history)
        return
    with tqdm(total=epochs, unit="epoch") as bar:
        for epoch in range(epochs):
            yield epoch
            bar.set_postfix(loss=f"{history[-1]:.4f}")
            bar.update()


def plain_progress(epochs, history, width=40):
    for epoch in range(epochs):
        yield epoch
        done = (epoch + 1) * width // epochs
        bar = "#" * done + "." * (width - done)
        print(f"\r[{bar}] {epoch + 1}/{epochs} loss {history[-1]:.4f}", end="", file=sys.stderr)
    print(file=sys.stderr)


def plot(path, history, images, labels, predictions, shown=24):
    """Draw the loss over the epochs, and digits of the test set with their predictions.

    Digits that were taken for another come first, in red.
    """
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    figure = pyplot.figure(figsize=(10, 4), layout="constrained")
    left, right = figure.subfigures(1, 2)
    axes = left.subplots()
    axes.semilogy(range(1, len(history) + 1), history)
    axes.set(xlabel="epoch", ylabel="training loss")
    first = np.argsort(predictions == labels, kind="stable")[:shown]
    for axes, k in zip(right.subplots(4, 6).flat, first, strict=True):
        axes.imshow(images[k].reshape(8, 8), cmap="gray_r")
        axes.set_title(predictions[k], color="black" if predictions[k] == labels[k] else "red")
        axes.axis("off")
    figure.savefig(path, dpi=120)


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=30)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--device", help="compile for this device, such as cuda")
    parser.add_argument("--plot", metavar="FILE.png", help="draw the loss and some digits")
    return parser.parse_args()


def main():
    options = parse()
    rng = np.random.default_rng(options.seed)
    images, labels, test_images, test_labels = load()
    params = initial(rng)
    loss_and_gradient = value_and_grad(loss)
    if options.device is not None:
        loss_and_gradient = jit(loss_and_gradient, device=options.device)
        params = device_put(params, options.device)  # where gradients and new parameters stay, too
    loss_and_gradient(params, images[:BATCH], labels[:BATCH])
    print(loss_and_gradient.source)
    history = train(loss_and_gradient, params, images, labels, options.epochs, rng)
    if options.plot:
        predictions = np.argmax(predict(params, test_images), axis=1)
        plot(options.plot, history, test_images, test_labels, predictions)
        print(f"drawn: {options.plot}")
    print(f"training loss {history[0]:.4f} -> {history[-1]:.4f}")
    print(f"test accuracy {100 * accuracy(params, test_images, test_labels):.1f} %")


if __name__ == "__main__":
    main()
