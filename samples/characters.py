"""Train a small transformer to write like Shakespeare's sonnets, one character after the other.

    python samples/characters.py --plot characters.png

A step is one compiled function: the gradient through two layers of attention, clipping, AdamW, and a rate that rises
and falls. The layers are rows of the parameters, and a loop runs over them, so that code is made for one of them only.
It takes a minute to compile, once, and is kept in the cache. Two sonnets of twenty-six are kept for a test, which is
where one sees that 15 kB of text are little.
"""

import argparse
import time
from pathlib import Path

import numpy as np

from transformer import device_put, jit, nn, optim, tree, value_and_grad

DATA = Path(__file__).parent / "data" / "sonnets.txt"
HEADS = 4


def scores(params, text):
    """The score of each character to be the next one, (n, length, characters), for texts as numbers, (n, length)."""
    x = nn.embedding(params["characters"], text) + params["places"][:text.shape[1]]
    layers = params["layers"]
    for k in range(layers["query"].shape[0]):
        x = layer(tree.map(lambda leaf, k=k: leaf[k], layers), x)
    return nn.layer_norm(x) @ params["head"]


def layer(params, x):
    """Attention to what is before, then a network of each place by itself; both are added to what was there."""
    h = nn.layer_norm(x, params["scale1"], params["offset1"])
    query, key, value = h @ params["query"], h @ params["key"], h @ params["value"]
    x = x + nn.multi_head_attention(query, key, value, HEADS, causal=True) @ params["out"]
    h = nn.layer_norm(x, params["scale2"], params["offset2"])
    return x + nn.gelu(h @ params["up"]) @ params["down"]


def loss(params, text):
    """Mean cross-entropy of each character, given those before it."""
    return np.mean(nn.cross_entropy(scores(params, text[:, :-1]), text[:, 1:]))


def training_step(optimizer, is_compiled, device):
    """The function of parameters, state and texts that gives the next ones and the loss, compiled for a device."""

    loss_and_gradient = value_and_grad(loss)

    def step(params, state, text):
        value, gradient = loss_and_gradient(params, text)
        updates, state = optimizer.update(gradient, state, params)
        return optim.apply_updates(params, updates), state, value

    return jit(step, device=device) if is_compiled else step


def initial(rng, characters, length, layers, width):
    def weights(*shape):
        return rng.normal(0.0, shape[-2] ** -0.5, shape).astype(np.float32)

    def filled(value):
        return np.full((layers, width), value, np.float32)

    return {
        "characters": 0.1 * rng.normal(size=(characters, width)).astype(np.float32),
        "places": 0.1 * rng.normal(size=(length, width)).astype(np.float32),
        "layers": {
            "scale1": filled(1), "offset1": filled(0), "scale2": filled(1), "offset2": filled(0),
            "query": weights(layers, width, width), "key": weights(layers, width, width),
            "value": weights(layers, width, width), "out": weights(layers, width, width) / 2,
            "up": weights(layers, width, 4 * width), "down": weights(layers, 4 * width, width) / 2,
        },
        "head": weights(width, characters),
    }


def load():
    """The text as numbers, without and with the last two sonnets, and the characters that these stand for."""
    text = DATA.read_text()
    alphabet = sorted(set(text))
    numbers = np.array([alphabet.index(character) for character in text])
    test = len(text) - len("".join(text.split("\n\n")[-2:]))
    return numbers[:test], numbers[test:], alphabet


def windows(text, length, count, rng):
    """As many pieces of the text, (count, length), from anywhere."""
    return text[rng.integers(0, text.size - length + 1, count)[:, np.newaxis] + np.arange(length)]


def written(params, alphabet, beginning, count, rng, temperature=0.7):
    """What the model writes after a beginning; a low temperature prefers likely characters."""
    text = [alphabet.index(character) for character in beginning]
    for _ in range(count):
        seen = np.array([text[-params["places"].shape[0]:]])
        shares = nn.softmax(scores(params, seen)[0, -1].astype(np.float64) / temperature)
        text.append(rng.choice(len(alphabet), p=shares))
    return "".join([alphabet[number] for number in text])


def train(options, text, test, alphabet, rng):
    """Parameters, the loss of each step, that of the test now and then with its step, and the seconds of each step."""
    rate = optim.warmup_cosine_decay_schedule(0.0, options.rate, min(50, options.steps // 2), options.steps)
    optimizer = optim.chain(optim.clip_by_global_norm(1.0), optim.adamw(rate, b2=0.99, weight_decay=0.1))
    params = initial(rng, len(alphabet), options.length, options.layers, options.width)
    step, state = training_step(optimizer, not options.plain, options.device), optimizer.init(params)
    if options.device is not None:
        params, state = device_put((params, state), options.device)     # where the next ones stay, too
    kept = windows(test, options.length + 1, 32, np.random.default_rng(0))
    losses, tests, seconds = [], [], []
    for k in progress(options.steps, losses):
        batch = windows(text, options.length + 1, options.batch, rng)
        start = time.perf_counter()
        params, state, value = step(params, state, batch)
        losses.append(float(value))                                     # waits for the device
        seconds.append(time.perf_counter() - start)
        if (k + 1) % options.every == 0 or k + 1 == options.steps:
            fetched = tree.map(np.asarray, params)
            tests.append((k + 1, loss(fetched, kept)))
            sample = written(fetched, alphabet, "Shall ", options.written, rng)
            print(f"\n-- step {k + 1}, test {tests[-1][1]:.3f}\n{sample}", flush=True)
    return params, losses, tests, seconds


def progress(steps, losses):
    """Count steps with a progress bar on stderr that shows the latest loss, where there is `tqdm`."""
    try:
        from tqdm import tqdm
    except ImportError:
        yield from range(steps)
        return
    with tqdm(total=steps, unit="step") as bar:
        for step in range(steps):
            yield step
            bar.set_postfix(loss=f"{losses[-1]:.3f}", refresh=False)
            bar.update()


def plot(path, losses, tests):
    """Draw the loss over the steps, in training and of the test."""
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 4), layout="constrained")
    axes.plot(range(1, len(losses) + 1), losses, linewidth=0.5, label="training")
    axes.plot(*zip(*tests), "o-", label="two sonnets that it never saw")
    axes.set(xlabel="step", ylabel="cross-entropy of a character")
    axes.legend()
    figure.savefig(path, dpi=120)


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--every", type=int, default=200, help="steps between two samples of what it writes")
    parser.add_argument("--batch", type=int, default=16, help="pieces of text in a step")
    parser.add_argument("--length", type=int, default=64, help="characters of a piece")
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--width", type=int, default=64, help="numbers for each character")
    parser.add_argument("--rate", type=float, default=3e-3, help="greatest learning rate")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--written", type=int, default=150, help="characters of a sample")
    parser.add_argument("--device", help="compile for this device, such as cuda")
    parser.add_argument("--plain", action="store_true", help="run as NumPy, without compiling")
    parser.add_argument("--plot", metavar="FILE.png", help="draw the loss")
    return parser.parse_args()


def main():
    options = parse()
    rng = np.random.default_rng(options.seed)
    text, test, alphabet = load()
    params, losses, tests, seconds = train(options, text, test, alphabet, rng)
    if options.plot:
        plot(options.plot, losses, tests)
        print(f"drawn: {options.plot}")
    count = sum([leaf.size for leaf in tree.leaves(params)])
    print(f"\n{count} parameters, {text.size} characters to learn from, {test.size} for the test")
    print(f"first step {seconds[0]:.1f} s; then {1e3 * np.median(seconds[1:]):.1f} ms a step")
    print(f"training loss {losses[0]:.3f} -> {np.mean(losses[-20:]):.3f}, test {tests[-1][1]:.3f}")


if __name__ == "__main__":
    main()
