"""Train the network of `digits.py` on several devices, each with a part of every batch.

    python samples/parallel_digits.py --devices 2 --plot parallel.png
    mpiexec -n 2 python samples/parallel_digits.py --devices 1

The second line has as many devices in two processes, which may be on two machines. It ends where training on one device
ends, to rounding, which is compared at the end.
"""

import argparse
import time

import numpy as np
from digits import MOMENTUM, RATE, accuracy, initial, load, loss, progress

from transformer import config, devices, distributed, local_devices, pmap, pmean, process_index, value_and_grad

BATCH = 48                              # a multiple of 2, 3, 4, 6 and 8 devices


def step(params, velocity, images, labels):
    """One step of gradient descent with momentum, for a part of a batch."""
    value, gradient = value_and_grad(loss)(params, images, labels)
    gradient = pmean(gradient, "devices")
    velocity = {name: MOMENTUM * velocity[name] - RATE * gradient[name] for name in params}
    params = {name: params[name] + velocity[name] for name in params}
    return params, velocity, pmean(value, "devices")


def train(chosen, images, labels, epochs, seed):
    """Parameters, the mean loss of every epoch, and the seconds for a step, on the chosen devices."""
    parallel_step = pmap(step, "devices", in_axes=(None, None, 0, 0), out_axes=None, devices=chosen)
    own = [k for k, device in enumerate(chosen) if device.process_index == process_index()]
    rng = np.random.default_rng(seed)
    params, history, seconds = initial(rng), [], []
    velocity = {name: np.zeros_like(value) for name, value in params.items()}
    for _ in progress(epochs, history) if process_index() == 0 else range(epochs):
        values = []
        shape = -1, len(chosen), BATCH // len(chosen)
        for batch in rng.permutation(labels.size)[:labels.size // BATCH * BATCH].reshape(shape)[:, own]:
            start = time.perf_counter()
            params, velocity, value = parallel_step(params, velocity, images[batch], labels[batch])
            seconds.append(time.perf_counter() - start)
            values.append(value)
        history.append(np.mean(values))
    return params, history, np.median(seconds), parallel_step.source


def plot(path, histories):
    """Draw the loss over the epochs for each number of devices: the curves lie on each other."""
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(6, 4), layout="constrained")
    for k, (count, history) in enumerate(histories.items()):
        axes.semilogy(range(1, len(history) + 1), history, "-o"[k], label=f"{count} devices")
    axes.set(xlabel="epoch", ylabel="training loss")
    axes.legend()
    figure.savefig(path, dpi=120)


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--devices", type=int, default=2, help="of each process; all of them a divisor of 48")
    parser.add_argument("--epochs", type=int, default=30)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--plot", metavar="FILE.png", help="draw the loss with one device and with several")
    options = parser.parse_args()
    config.cpu_devices = options.devices
    distributed.initialize()
    if BATCH % len(devices()):
        parser.error(f"there are {len(devices())} devices; let it be a divisor of {BATCH}")
    return options


def main():
    options = parse()
    images, labels, test_images, test_labels = load()
    params, history, seconds, source = train(devices(), images, labels, options.epochs, options.seed)
    if process_index() > 0:                     # the first process tells of it
        return
    print(source)
    alone, history_alone, seconds_alone, _ = train(local_devices()[:1], images, labels, options.epochs, options.seed)
    if options.plot:
        plot(options.plot, {1: history_alone, len(devices()): history})
        print(f"drawn: {options.plot}")
    print(f"training loss {history[0]:.4f} -> {history[-1]:.4f}")
    print(f"test accuracy {100 * accuracy(params, test_images, test_labels):.1f} %")
    print(f"{1e6 * seconds:.0f} µs a step on {len(devices())} devices, {1e6 * seconds_alone:.0f} µs on one")
    apart = max(np.max(np.abs(params[name] - alone[name])) for name in params)
    print(f"largest difference from one device: {apart:.1e}")


if __name__ == "__main__":
    main()
