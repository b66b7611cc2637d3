"""Programs of JAX, which run with `import transformer as jax` as they are, and what JAX gives for them.

    python -m tests.jax_programs          writes jax_values.json anew, by the JAX that is installed
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

if __name__ == "__main__":
    import jax
    import jax.image
    import jax.numpy as jnp
    import jax.scipy as jsp
    import jax.scipy.interpolate
    import jax.scipy.ndimage
    import jax.scipy.optimize
    import jax.scipy.sparse.linalg
    from jax import grad, hessian, jacfwd, jacrev, jit, jvp, lax, nn, random, value_and_grad, vjp, vmap
    from jax.experimental.ode import odeint
    from jax.flatten_util import ravel_pytree
    from jax.tree_util import register_pytree_node_class
    jax.config.update("jax_enable_x64", True)
else:
    import transformer as jax
    import transformer.numpy as jnp
    import transformer.scipy as jsp
    from transformer import grad, hessian, jacfwd, jacrev, jit, jvp, lax, nn, random, value_and_grad, vjp, vmap
    from transformer.experimental.ode import odeint
    from transformer.flatten_util import ravel_pytree
    from transformer.tree_util import register_pytree_node_class

FILE = Path(__file__).parent / "jax_values.json"
PROGRAMS: dict[str, Callable[[], Any]] = {}


def program(function: Callable[[], Any]) -> Callable[[], Any]:
    PROGRAMS[function.__name__] = function
    return function


@program
def network_from_scratch() -> Any:
    def layer(m, n, key, scale=1e-1):
        w_key, b_key = random.split(key)
        return scale * random.normal(w_key, (n, m)), scale * random.normal(b_key, (n,))

    def predict(params, image):
        activations = image
        for w, b in params[:-1]:
            activations = nn.relu(jnp.dot(w, activations) + b)
        w, b = params[-1]
        logits = jnp.dot(w, activations) + b
        return logits - nn.logsumexp(logits)

    def loss(params, images, targets):
        return -jnp.mean(vmap(predict, in_axes=(None, 0))(params, images) * targets)

    @jit
    def update(params, x, y):
        grads = grad(loss)(params, x, y)
        return [(w - 0.1 * dw, b - 0.1 * db) for (w, b), (dw, db) in zip(params, grads)]

    sizes = [6, 5, 4]
    keys = random.split(random.key(0), len(sizes))
    params = [layer(m, n, k) for m, n, k in zip(sizes[:-1], sizes[1:], keys)]
    x, y = random.normal(random.key(1), (7, 6)), nn.one_hot(jnp.arange(7) % 4, 4)
    for _ in range(3):
        params = update(params, x, y)
    return params


@program
def recurrent_scan() -> Any:
    class State(NamedTuple):
        h: Any
        c: Any

    def cell(p, s, x):
        i, f, g, o = jnp.split(jnp.concatenate([x, s.h]) @ p["w"] + p["b"], 4)
        c = nn.sigmoid(f) * s.c + nn.sigmoid(i) * jnp.tanh(g)
        h = nn.sigmoid(o) * jnp.tanh(c)
        return State(h, c), {"h": h, "size": jnp.linalg.norm(h)}

    def loss(p, xs):
        last, rows = lax.scan(partial(cell, p), State(jnp.zeros(2), jnp.zeros(2)), xs)
        return jnp.mean(rows["h"] ** 2) + last.c.sum() + rows["size"][-1]

    p = {"b": jnp.zeros(8), "w": random.normal(random.key(0), (5, 8))}
    return value_and_grad(loss)(p, random.normal(random.key(1), (4, 3)))


@program
def steps_of_collatz() -> Any:
    def steps(n):
        def body(state):
            n, k = state
            return jnp.where(n % 2 == 0, n // 2, 3 * n + 1), k + 1
        return lax.while_loop(lambda state: state[0] != 1, body, (n, 0))[1]
    return vmap(steps)(jnp.arange(1, 20))


@program
def rules_of_ones_own() -> Any:
    @jax.custom_vjp
    def product(x, y):
        return jnp.sin(x) * y

    product.defvjp(lambda x, y: (product(x, y), (jnp.cos(x), jnp.sin(x), y)),
                   lambda kept, g: (kept[0] * g * kept[2], kept[1] * g))

    @jax.custom_jvp
    def log1pexp(x):
        return jnp.log(1.0 + jnp.exp(x))

    @log1pexp.defjvp
    def _(primals, tangents):
        (x,), (t,) = primals, tangents
        return log1pexp(x), (1 - 1 / (1 + jnp.exp(x))) * t

    return grad(product, (0, 1))(1.0, 2.0), grad(log1pexp)(100.0), vmap(grad(log1pexp))(jnp.arange(3.0))


@program
def learning_to_learn() -> Any:
    def net(p, x):
        return jnp.tanh(x * p["b"] + p["a"]).sum() * p["c"]

    def loss(p, x, y):
        return jnp.mean((vmap(partial(net, p))(x) - y) ** 2)

    def inner(p, x, y):
        return jax.tree.map(lambda p, g: p - 0.1 * g, p, grad(loss)(p, x, y))

    def of_task(p, x1, y1, x2, y2):
        return loss(inner(p, x1, y1), x2, y2)

    p = {"a": jnp.array([0.0, 0.3]), "b": jnp.array([0.1, 0.5]), "c": jnp.array(0.7)}
    tasks = random.normal(random.key(3), (4, 3, 5))
    return value_and_grad(lambda p: jnp.mean(vmap(partial(of_task, p))(*tasks)))(p)


@program
def branches_as_functions() -> Any:
    def f(x, i):
        y = lax.cond(x > 0, lambda t: t * 2, lambda t: -t * 3, x)
        z = lax.switch(i, [jnp.sin, jnp.cos, lambda t: t ** 2], y)
        return z + lax.fori_loop(0, 4, lambda k, a: a * 0.5 + k * x, 1.0)

    return [grad(f)(x, i) for x in (1.3, -0.7) for i in range(3)], vmap(f)(jnp.array([1.0, -2.0]), jnp.array([0, 2]))


@program
def parts_replaced() -> Any:
    def f(x, places):
        y = jnp.zeros(6).at[places].add(x)
        y = y.at[1:3].multiply(2.0).at[-1].set(7.0)
        return jnp.sum(y ** 2) + jnp.full(3, -jnp.inf).at[places % 3].max(x).sum() + jnp.sum(x.at[x > 2].set(1.0) * x)

    x, places = jnp.array([1.0, 2.0, 3.0, 4.0]), jnp.array([0, 1, 2, 2])
    return value_and_grad(f)(x, places), grad(lambda x: (jax.ops.segment_sum(x, places, num_segments=4) ** 2).sum())(x)


@program
def pullbacks_and_lines() -> Any:
    def f(x, y):
        return jnp.sin(x) @ y, {"a": x * 2}

    x = jnp.arange(3.0)
    out, pull = vjp(f, x, jnp.ones((3, 2)))
    y, line = jax.linearize(lambda x: jnp.cumsum(x ** 2), x)
    rows = vmap(vjp(jnp.sin, x)[1])(jnp.eye(3))[0]
    return out, pull((jnp.ones(2), {"a": jnp.ones(3)})), y, line(jnp.ones(3)), rows


@program
def attention_of_heads() -> Any:
    ks = random.split(random.key(0), 5)
    p = {n: random.normal(k, (4, 2, 3)) for n, k in zip("kqv", ks)}
    out, x = random.normal(ks[3], (6, 4)), random.normal(ks[4], (5, 4))
    mask = jnp.tril(jnp.ones((5, 5), bool))

    def heads(p):
        k, q, v = (jnp.einsum("td,dhk->htk", x, p[n]) for n in "kqv")
        scores = jnp.where(mask, jnp.einsum("htk,hsk->hts", q, k) / jnp.sqrt(q.shape[-1]), -1e9)
        o = jnp.einsum("hts,hsk->thk", nn.softmax(scores, axis=-1), v).reshape(5, -1)
        return nn.gelu(o @ out).var()

    return value_and_grad(heads)(p)


@program
def layers_that_keep_nothing() -> Any:
    def norm(x, g):
        m = x.mean(-1, keepdims=True)
        return (x - m) * lax.rsqrt(((x - m) ** 2).mean(-1, keepdims=True) + 1e-5) * g

    @jax.checkpoint
    def block(x, p):
        return x + nn.gelu(norm(x, p["g"]) @ p["into"]) @ p["out"]

    ks = random.split(random.key(1), 3)
    ps = {"g": jnp.ones((2, 3)), "into": random.normal(ks[0], (2, 3, 5)), "out": random.normal(ks[1], (2, 5, 3))}
    x = random.normal(ks[2], (4, 3))
    return value_and_grad(lambda ps: jnp.sum(lax.scan(lambda x, p: (block(x, p), None), x, ps)[0] ** 2))(ps)


@program
def hidden_markov() -> Any:
    start, seen = jnp.log(jnp.array([0.5, 0.5])), jnp.array([0, 1, 1, 0, 1])

    def likelihood(a, b):
        a, b = nn.log_softmax(a), nn.log_softmax(b)

        def step(alpha, o):
            return jsp.special.logsumexp(alpha[:, None] + a, axis=0) + b[:, o], None

        return jsp.special.logsumexp(lax.scan(step, start + b[:, seen[0]], seen[1:])[0])

    a, b = jnp.array([[0.9, 0.1], [0.2, 0.8]]), jnp.array([[0.7, 0.3], [0.1, 0.9]])
    return value_and_grad(likelihood, (0, 1))(jnp.log(a), jnp.log(b))


@program
def fixed_point_with_its_rule() -> Any:
    def iterated(f, a, x):
        return lax.while_loop(lambda c: jnp.abs(c[0] - c[1]) > 1e-12, lambda c: (c[1], f(a, c[1])), (x, f(a, x)))[1]

    @partial(jax.custom_vjp, nondiff_argnums=(0,))
    def solved(f, a, x):
        return iterated(f, a, x)

    def forward(f, a, x):
        found = solved(f, a, x)
        return found, (a, found)

    def backward(f, kept, g):
        a, x = kept
        pull_a, pull_x = vjp(lambda a: f(a, x), a)[1], vjp(lambda x: f(a, x), x)[1]
        w = iterated(lambda _, w: g + pull_x(w)[0], a, g)
        return pull_a(w)[0], jnp.zeros_like(x)

    solved.defvjp(forward, backward)
    return grad(lambda a: solved(lambda a, x: 0.5 * (x + a / x), a, 1.0))(2.0)


@register_pytree_node_class
class Linear:
    def __init__(self, w, b):
        self.w, self.b = w, b

    def __call__(self, x):
        return x @ self.w + self.b

    def tree_flatten(self):
        return (self.w, self.b), None

    @classmethod
    def tree_unflatten(cls, static, parts):
        return cls(*parts)


@program
def class_of_parameters() -> Any:
    slopes = grad(lambda m, x: (m(x) ** 2).sum())(Linear(jnp.ones((2, 3)), jnp.zeros(3)), jnp.ones((4, 2)))
    return slopes.w, slopes.b


@program
def walk_of_metropolis() -> Any:
    def density(x):
        return -0.5 * jnp.sum(x ** 2)

    def step(state, key):
        x, old = state
        k1, k2 = random.split(key)
        y = x + 0.5 * random.normal(k1, x.shape)
        taken = jnp.log(random.uniform(k2)) < density(y) - old
        x = jnp.where(taken, y, x)
        return (x, jnp.where(taken, density(y), old)), x

    return lax.scan(step, (jnp.zeros(2), density(jnp.zeros(2))), random.split(random.key(0), 10))[1]


@program
def local_energy() -> Any:
    def log_psi(theta, r):
        return -theta * jnp.sum(r ** 2) + jnp.log1p(jnp.sum(r) ** 2)

    def energy(theta, r):
        slope = grad(log_psi, 1)
        curvature = jnp.trace(jacfwd(lambda r: slope(theta, r))(r))
        return -0.5 * (curvature + jnp.sum(slope(theta, r) ** 2)) + 0.5 * jnp.sum(r ** 2)

    rs = random.normal(random.key(2), (5, 3))
    return vmap(partial(energy, 0.4))(rs), grad(lambda t: jnp.mean(vmap(partial(energy, t))(rs)))(0.4)


@program
def transport() -> Any:
    def cost(c, eps):
        def body(_, fg):
            f, g = fg
            f = -eps * jsp.special.logsumexp((g[None] - c) / eps, axis=1)
            return f, -eps * jsp.special.logsumexp((f[:, None] - c) / eps, axis=0)
        f, g = lax.fori_loop(0, 5, body, (jnp.zeros(3), jnp.zeros(4)))
        return jnp.sum(jnp.exp((f[:, None] + g[None] - c) / eps) * c)
    return value_and_grad(cost)(random.uniform(random.key(3), (3, 4)), 0.3)


@program
def whole_derivatives() -> Any:
    def rosen(x):
        return jnp.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)

    def of_trees(p):
        return {"y": jnp.array([p["a"] * p["b"][0], p["a"] ** 2]), "z": p["b"].sum()}

    x, p = jnp.array([0.5, 0.2, 0.8]), {"a": 2.0, "b": jnp.array([1.0, 3.0])}
    return (hessian(rosen)(x), jvp(grad(rosen), (x,), (jnp.ones(3),))[1], jacrev(of_trees)(p), jacfwd(of_trees)(p))


@program
def temporal_differences() -> Any:
    def td(theta, s0, r, s1):
        target = r + jnp.dot(theta, s1)
        return -0.5 * (lax.stop_gradient(target) - jnp.dot(theta, s0)) ** 2

    theta, s = jnp.array([0.1, -0.1, 0.0]), jnp.array([[1.0, 2.0, -1.0], [2.0, 1.0, 0.0]])
    return vmap(grad(td), in_axes=(None, 0, 0, 0))(theta, s, jnp.ones(2), s[::-1])


@program
def neural_differential_equation() -> Any:
    def slope(state, t, params):
        return jnp.tanh(state @ params["w"] + params["b"]) * jnp.cos(t)

    def loss(params, start, t, target):
        return jnp.mean((odeint(slope, start, t, params, rtol=1e-9, atol=1e-9) - target) ** 2)

    keys = random.split(random.key(5), 3)
    params = {"b": 0.1 * jnp.ones(2), "w": random.normal(keys[0], (2, 2))}
    found, slopes = value_and_grad(loss)(params, random.normal(keys[1], (2,)), jnp.linspace(0.0, 1.0, 4),
                                         random.normal(keys[2], (4, 2)))
    return jax.tree.map(lambda x: jnp.round(x, 6), (found, slopes))


@program
def gaussian_process() -> Any:
    def covariance(p, x, y):
        distances = (x[:, None] - y[None, :]) / jnp.exp(p["length"])
        return jnp.exp(p["size"]) * jnp.exp(-0.5 * distances ** 2)

    def likelihood(flat, unravel, x, y):
        p = unravel(flat)
        lower = jnp.linalg.cholesky(covariance(p, x, x) + (1e-6 + jnp.exp(p["noise"])) * jnp.eye(len(x)))
        white = jsp.linalg.solve_triangular(lower, y, lower=True)
        return 0.5 * white @ white + jnp.sum(jnp.log(jnp.diag(lower)))

    flat, unravel = ravel_pytree({"length": 0.0, "noise": -2.0, "size": 0.5})
    x = jnp.linspace(0.0, 4.0, 8)
    y = jnp.sin(x) + 0.1 * random.normal(random.key(7), (8,))
    step = jit(value_and_grad(lambda flat: likelihood(flat, unravel, x, y)))
    for _ in range(5):
        value, slopes = step(flat)
        flat = flat - 0.05 * slopes
    best = jsp.optimize.minimize(lambda flat: likelihood(flat, unravel, x, y), flat, method="BFGS", tol=1e-4)
    return value, unravel(flat), jnp.round(best.fun, 5)


@program
def implicit_layer() -> Any:
    def newton(f, x):
        def body(x):
            return x - f(x) / grad(f)(x)
        return lax.while_loop(lambda x: jnp.abs(f(x)) > 1e-10, body, x)

    def layer(a):
        return lax.custom_root(lambda x: x ** 3 + x - a, 1.0, newton, lambda g, y: y / g(1.0))

    def of_matrix(a, b):
        return jnp.sum(jsp.sparse.linalg.cg(lambda x: a @ x, b, tol=1e-13)[0] ** 2)

    m = random.normal(random.key(8), (3, 3))
    return layer(2.0), grad(layer)(2.0), grad(of_matrix, (0, 1))(m @ m.T + jnp.eye(3), jnp.arange(3.0))


@program
def hamiltonian_walk() -> Any:
    def potential(q):
        return 0.5 * q[0] ** 2 + 0.5 * (q[1] - q[0] ** 2) ** 2

    def leap(state, _):
        q, p = state
        p = p - 0.05 * grad(potential)(q)
        q = q + 0.1 * p
        return (q, p - 0.05 * grad(potential)(q)), None

    def step(q, key):
        first, second = random.split(key)
        p = random.normal(first, q.shape)
        (new, last), _ = lax.scan(leap, (q, p), None, length=5)
        energy = potential(q) - potential(new) + 0.5 * (p @ p - last @ last)
        q = jnp.where(jnp.log(random.uniform(second)) < energy, new, q)
        return q, q

    return jit(lambda key: lax.scan(step, jnp.ones(2), random.split(key, 6))[1])(random.key(9))


@program
def normalizing_flow() -> Any:
    def coupled(p, x, turned):
        a, b = jnp.split(x, 2)
        a, b = (b, a) if turned else (a, b)
        scale, shift = jnp.split(jnp.tanh(a @ p["in"] + p["b"]) @ p["out"], 2)
        b = b * jnp.exp(scale) + shift
        return jnp.concatenate((b, a) if turned else (a, b)), jnp.sum(scale)

    def density(params, x):
        total = 0.0
        for k, p in enumerate(params):
            x, change = coupled(p, x, k % 2 == 1)
            total = total + change
        return total + jnp.sum(jsp.stats.norm.logpdf(x))

    keys = random.split(random.key(10), 5)
    params = [{"b": jnp.zeros(3), "in": 0.5 * random.normal(keys[2 * k], (2, 3)),
               "out": 0.5 * random.normal(keys[2 * k + 1], (3, 4))} for k in range(2)]
    return value_and_grad(lambda p: -jnp.mean(vmap(partial(density, p))(random.normal(keys[4], (5, 4)))))(params)


@program
def images_and_grids() -> Any:
    x = random.normal(random.key(11), (4, 5))
    smooth = jax.scipy.interpolate.RegularGridInterpolator((jnp.arange(4.0), jnp.arange(5.0)), x)
    along = jax.scipy.ndimage.map_coordinates(x, [jnp.array([0.5, 3.2]), jnp.array([1.25, -0.5])], 1, "reflect")
    return (jax.image.resize(x, (3, 8), "linear"), jax.image.resize(x, (8, 3), "cubic"), along,
            smooth(jnp.array([[0.5, 1.5], [2.25, 3.0]])), lax.clz(jnp.arange(4)), lax.reduce_precision(x, 5, 4),
            jnp.put_along_axis(x, jnp.array([[1], [0], [2], [3]]), 9.0, 1, inplace=False),
            jnp.fill_diagonal(x, 0.0, inplace=False))


def values() -> dict[str, Any]:
    return {name: [np.asarray(leaf).tolist() for leaf in jax.tree.leaves(made())] for name, made in PROGRAMS.items()}


def main() -> None:
    lines = [f"{json.dumps(name)}: {json.dumps(value)}" for name, value in values().items()]
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
