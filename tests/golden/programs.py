"""Programs whose generated gradients are kept beside this file, each `<name>_<mode>.py`.

Types stand in the annotations. `EXAMPLES` has arguments for each, away from kinks.
"""

import math

import numpy as np

LEARNING_RATE = 0.1


def tanh_regression(w: "f64[m]", b: "f64[m]", x: "f64[n,m]", y: "f64[n,m]"):
    return np.sum((np.tanh(x * w + b) - y) ** 2)


def heat(u: "f64[m]", c: "f64", n: "int", target: "f64[m]"):
    for k in range(n):
        u[1:-1] += c * (u[2:] - 2 * u[1:-1] + u[:-2])
    return np.sum((u - target) ** 2)


def newton(a: "f64", x: "f64"):
    while abs(x**3 - a) > 1e-10:
        x = x - (x**3 - a) / (3 * x * x)
    return x


def logistic(w: "f64[d]", b: "f64", x: "f64[n,d]", y: "f64[n]"):
    p = 1 / (1 + np.exp(-(x @ w + b)))
    return -np.mean(y * np.log(p) + (1 - y) * np.log(1 - p))


def mlp(params: "{w1: f64[d,h], b1: f64[h], w2: f64[h,k], b2: f64[k]}", x: "f64[n,d]", y: "f64[n,k]"):
    hidden = np.tanh(x @ params["w1"] + params["b1"])  # one hidden layer
    output = hidden @ params["w2"] + params["b2"]
    return np.mean((output - y) ** 2)


def cross_entropy(w: "f64[d,k]", x: "f64[n,d]", labels: "i64[n]"):
    # softmax cross-entropy, shifted so that exp cannot overflow
    scores = x @ w
    scores = scores - np.max(scores, axis=1, keepdims=True)
    log_total = np.log(np.sum(np.exp(scores), axis=1))
    picked = scores[np.arange(len(labels)), labels]
    return np.mean(log_total - picked)


def kalman_step(x: "f64[n]", P: "f64[n,n]", F: "f64[n,n]", Q: "f64[n,n]", H: "f64[m,n]", R: "f64[m,m]",
                z: "f64[m]"):
    x = F @ x
    P = F @ P @ F.T + Q
    S = H @ P @ H.T + R
    K = np.linalg.solve(S, H @ P).T
    innovation = z - H @ x
    x = x + K @ innovation
    return np.sum(x**2)


def rosenbrock(x: "f64[n]"):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def rnn(W: "f64[h,h]", U: "f64[h,d]", b: "f64[h]", xs: "f64[n,d]"):
    h = np.zeros(b.shape)
    for x in xs:
        h = np.tanh(W @ h + U @ x + b)
    return np.sum(h * h)


def pendulum(theta: "f64", omega: "f64", steps: "int"):
    dt = 0.01
    for k in range(steps):
        omega = omega - dt * math.sin(theta)
        theta = theta + dt * omega
    return theta**2


def horner(coefficients: "f64[n]", x: "f64"):
    total = 0.0
    k = len(coefficients) - 1
    while k >= 0:
        total = total * x + coefficients[k]
        k -= 1
    return total


def black_scholes(spot: "f64", strike: "f64", rate: "f64", sigma: "f64", years: "f64"):
    d1 = (math.log(spot / strike) + (rate + 0.5 * sigma**2) * years) / (sigma * math.sqrt(years))
    d2 = d1 - sigma * math.sqrt(years)
    first = 0.5 * (1 + math.erf(d1 / math.sqrt(2)))
    second = 0.5 * (1 + math.erf(d2 / math.sqrt(2)))
    return spot * first - strike * math.exp(-rate * years) * second


def recurrence(x: "f64[n]"):
    f = np.zeros(len(x))
    f[0] = x[0]
    for i in range(1, len(x)):
        f[i] = x[i] + f[i - 1] ** 2
    return np.sum(f)


def huber(r: "f64", delta: "f64"):
    if abs(r) <= delta:
        loss = 0.5 * r * r
    else:
        loss = delta * (abs(r) - 0.5 * delta)
    return loss


def attention(q: "f64[n,d]", k: "f64[m,d]", v: "f64[m,e]"):
    scores = q @ k.T / np.sqrt(q.shape[1])
    weights = np.exp(scores - np.max(scores, axis=1, keepdims=True))
    weights = weights / np.sum(weights, axis=1, keepdims=True)
    return np.sum((weights @ v) ** 2)


def ridge(X: "f64[n,d]", y: "f64[n]", penalty: "f64"):
    w = np.linalg.solve(X.T @ X + penalty * np.eye(X.shape[1]), X.T @ y)
    return np.sum((X @ w - y) ** 2)


def standardized(x: "f64[n,m]"):
    z = (x - np.mean(x, axis=0)) / np.std(x, axis=0)
    return np.sum(z**3)


def gradient_descent(w: "f64[d]", X: "f64[n,d]", y: "f64[n]"):
    for k in range(5):
        r = X @ w - y
        w = w - LEARNING_RATE * (X.T @ r) / len(y)
    return np.sum((X @ w - y) ** 2)


def lorenz(state: "f64[3]", n: "int"):
    x, y, z = state
    dt = 0.01
    for k in range(n):
        dx = 10.0 * (y - x)
        dy = x * (28.0 - z) - y
        dz = x * y - 8.0 / 3.0 * z
        x, y, z = x + dt * dx, y + dt * dy, z + dt * dz
    return x + y + z


def gaussian_log_likelihood(mu: "f64[d]", S: "f64[d,d]", x: "f64[n,d]"):
    L = np.linalg.cholesky(S)
    z = np.linalg.solve(L, (x - mu).T)
    return -0.5 * np.sum(z**2) - len(x) * np.sum(np.log(np.diag(L)))


def clipped_steps(x: "f64[n]"):
    total = 0.0
    for i in range(len(x)):
        if x[i] > 1.0:
            total += 2 * x[i] - 1.0
        elif x[i] > 0.0:
            total += x[i] ** 2
    return total


def moving_average(x: "f64[n]", w: "f64[3]"):
    y = w[0] * x[:-2] + w[1] * x[1:-1] + w[2] * x[2:]
    return np.sum(np.abs(y))


def distances(points: "f64[n,2]"):
    d = points[:, None, :] - points[None, :, :]
    return np.sum(np.exp(-np.sum(d**2, axis=-1)))


def mixture(logits: "f64[k]", means: "f64[k]", x: "f64[n]"):
    weights = np.exp(logits) / np.sum(np.exp(logits))
    density = np.exp(-0.5 * (x[:, None] - means) ** 2) / np.sqrt(2 * np.pi)
    return -np.sum(np.log(density @ weights))


def _random(seed=0):
    return np.random.default_rng(seed)


def _spd(n):
    a = _random(9).normal(size=(n, n))
    return a @ a.T + n * np.eye(n)


from transformer import checkpoint_loop, custom_jvp  # noqa: E402 (the files kept tell the lines of the programs above)


@custom_jvp
def eccentric_anomaly(M, e):
    """Kepler's equation, E - e sin E = M, by Newton's method."""
    E = M
    for _ in range(20):
        E = E - (E - e * np.sin(E) - M) / (1 - e * np.cos(E))
    return E


@eccentric_anomaly.defjvp
def eccentric_anomaly_jvp(primals, tangents):
    M, e = primals
    dM, de = tangents
    E = eccentric_anomaly(M, e)
    return E, (dM + de * np.sin(E)) / (1 - e * np.cos(E))


def orbit(e: "f64", M: "f64[n]", x: "f64[n]"):
    E = eccentric_anomaly(M, e)
    return np.sum((np.cos(E) - e - x) ** 2)


def power(x: "f64", n: "int"):
    return 1.0 if n == 0 else x * power(x, n - 1)


def pairwise(x: "f64[n]"):
    if len(x) == 1:
        return x[0]
    half = len(x) // 2
    left, right = pairwise(x[:half]), pairwise(x[half:])
    return left * np.cos(right)


def cholesky(a: "f64[n,n]"):
    n = len(a)
    factor = a.copy()
    for j in range(n):
        factor[j, j] = np.sqrt(factor[j, j] - np.sum(factor[j, :j] ** 2))
        for i in range(j + 1, n):
            factor[i, j] = (factor[i, j] - factor[i, :j] @ factor[j, :j]) / factor[j, j]
    return np.sum(np.log(np.diag(factor)))


def thomas(a: "f64[n]", b: "f64[n]", c: "f64[n]", d: "f64[n]"):
    n = len(d)
    upper, right, x = np.zeros(n), np.zeros(n), np.zeros(n)
    upper[0] = c[0] / b[0]
    right[0] = d[0] / b[0]
    for i in range(1, n):
        m = b[i] - a[i] * upper[i - 1]
        upper[i] = c[i] / m
        right[i] = (d[i] - a[i] * right[i - 1]) / m
    x[n - 1] = right[n - 1]
    for i in range(n - 2, -1, -1):
        x[i] = right[i] - upper[i] * x[i + 1]
    return np.sum(x ** 2)


def time_warping(a: "f64[n]", b: "f64[m]"):
    n, m = len(a), len(b)
    cost = np.full((n + 1, m + 1), 1e9)
    cost[0, 0] = 0.0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            best = min(cost[i - 1, j], cost[i, j - 1], cost[i - 1, j - 1])
            cost[i, j] = (a[i - 1] - b[j - 1]) ** 2 + best
    return cost[n, m]


def waves(u: "f64[n]", c: "f64", steps: "int"):
    u = u.copy()
    with checkpoint_loop():
        for _ in range(steps):
            u[1:-1] += c * np.sin(u[2:] - 2 * u[1:-1] + u[:-2])
    return np.sum(u ** 2)


def roots(x: "f64[n]", c: "f64", weights: "f64[n]"):
    total = 0.0
    for i in range(len(x)):
        t = x[i]
        for _ in range(20):
            t = t - (t ** 3 - c * x[i]) / (3 * t * t)
        total += weights[i] * t
    return total


def softmax_rows(x: "f64[n,m]", v: "f64[m]"):
    n, m = x.shape
    out = np.zeros((n, m))
    for i in range(n):
        total = 0.0
        for j in range(m):
            total += np.exp(x[i, j])
        for j in range(m):
            out[i, j] = np.exp(x[i, j]) / total * v[j]
    return np.sum(out ** 2)


def settling(x: "f64[n]", rate: "f64"):
    with checkpoint_loop():
        while np.max(np.abs(x)) > 0.01:
            x = x - rate * np.tanh(x) * x ** 2
    return np.sum(x)


def fixed_point(a: "f64", x: "f64"):
    for _ in range(50):
        y = 0.5 * (x + a / x)
        if abs(y - x) < 1e-12:
            break
        x = y
    return x


def forest(w: "f64[n]", low: "int", high: "int"):
    if high - low == 1:
        return np.tanh(w[low])
    middle = (low + high) // 2
    return np.sin(forest(w, low, middle)) * forest(w, middle, high) + w[low]


def filtered_and_pooled(x: "f64[n]", w: "f64[k]"):
    size = w.shape[0]
    count = x.shape[0] - size + 1
    y = np.empty(count)
    for i in range(count):
        y[i] = np.tanh(x[i:i + size] @ w)
    half = count // 2
    pooled = np.empty(half)
    for i in range(half):
        pooled[i] = np.max(y[2 * i:2 * i + 2])
    count = half - size + 1
    total = 0.0
    for i in range(count):
        total += (pooled[i:i + size] @ w) ** 2
    return total


def quadrature(c: "f64[m]", a: "f64", b: "f64"):
    """The integral of a function, where it bends in parts as narrow as need be: a stack has those to be done."""
    def height(t):
        return np.exp(-c[0] * t) * np.sin(c[1] * t)

    total, stack = 0.0, [(a, b)]
    while stack:
        low, high = stack.pop()
        middle, width = (low + high) / 2, high - low
        coarse = width * height(middle)
        fine = width / 2 * (height((low + middle) / 2) + height((middle + high) / 2))
        if abs(coarse - fine) < 1e-3:
            total += fine
        else:
            stack.append((low, middle))
            stack.append((middle, high))
    return total


def gauss_jordan(a: "f64[n, n]", b: "f64[n]"):
    a, b = a.copy(), b.copy()
    n = len(b)
    for i in range(n):
        for j in range(n):
            if j != i:
                f = a[j, i] / a[i, i]
                a[j, i:] -= f * a[i, i:]
                b[j] -= f * b[i]
    return np.sum((b / np.diag(a)) ** 2)


def edit_distance(a: "f64[n]", b: "f64[m]", cost: float):
    n, m = len(a), len(b)
    table = [[0.0] * (m + 1) for _ in range(n + 1)]
    for i in range(n + 1):
        table[i][0] = i * cost
    for j in range(m + 1):
        table[0][j] = j * cost
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            replaced = table[i - 1][j - 1] + (a[i - 1] - b[j - 1]) ** 2
            table[i][j] = min(table[i - 1][j] + cost, table[i][j - 1] + cost, replaced)
    return table[n][m]


def spanning_tree(lengths: "f64[e]", ends: "i64[e,2]", n: int):
    """The squares of what Kruskal's algorithm takes."""
    parent, total = list(range(n)), 0.0
    for edge in np.argsort(lengths):
        i, j = ends[edge]
        while parent[i] != i:
            parent[i] = parent[parent[i]]
            i = parent[i]
        while parent[j] != j:
            j = parent[j]
        if i != j:
            parent[i] = j
            total += lengths[edge] ** 2
    return total


def divided_differences(x: "f64[n]", y: "f64[n]"):
    """Newton's coefficients of the polynomial through points; each iteration leaves one difference fewer."""
    total, differences = y[0], y
    for k in range(1, len(x)):
        differences = (differences[1:] - differences[:-1]) / (x[k:] - x[:-k])
        total += k * differences[0] ** 2
    return total


def hidden_markov(start: "f64[s]", moves: "f64[s,s]", shows: "f64[s,k]", seen: "i64[n]"):
    """The log likelihood of what a chain shows, by the forward algorithm."""
    state, total = start * shows[:, seen[0]], 0.0
    for symbol in seen[1:]:
        state = (state @ moves) * shows[:, symbol]
        total += np.log(np.sum(state))
        state = state / np.sum(state)
    return total


def robust_layer(x: "f64[n,d]", W: "f64[d,k]", scale: "f64[k]", target: "f64[n,k]"):
    """A layer with its outputs normalized, and errors that count by their size beyond 1."""
    y = x @ W
    spread = y.std(axis=-1, keepdims=True) + 1e-6
    error = scale * (y - y.mean(axis=-1, keepdims=True)) / spread - target
    return np.mean(np.where(np.abs(error) < 1, 0.5 * error**2, np.abs(error) - 0.5))


def american_put(spot: "f64", sigma: "f64", strike: "f64", rate: "f64", steps: "int"):
    dt = 1 / steps
    up = np.exp(sigma * np.sqrt(dt))
    p = (np.exp(rate * dt) - 1 / up) / (up - 1 / up)
    value = np.maximum(strike - spot * up ** (2.0 * np.arange(steps + 1) - steps), 0)
    for k in range(steps - 1, -1, -1):
        kept = np.exp(-rate * dt) * (p * value[1:] + (1 - p) * value[:-1])
        value = np.maximum(kept, strike - spot * up ** (2.0 * np.arange(k + 1) - k))
    return value[0]


def volatility(params: "f64[3]", returns: "f64[n]"):
    omega, alpha, beta = params
    variance = np.var(returns)
    total = 0.0
    for r in returns:
        total += np.log(variance) + r * r / variance
        variance = omega + alpha * r * r + beta * variance
    return 0.5 * total


def rates(y, k):
    a, b, c = y
    forward = k[0] * a
    back = k[1] * b * c
    slow = k[2] * b * b  # of second order
    light = np.exp(-forward) + np.tanh(back)
    return np.array([back * light - forward, forward - back - slow, slow + light])


def reaction(y: "f64[3]", k: "f64[3]", h: "f64", steps: "int"):
    """Four stages of a step call one helper, in a loop: its reverse computes it again."""
    for i in range(steps):
        k1 = rates(y, k)
        k2 = rates(y + 0.5 * h * k1, k)
        k3 = rates(y + 0.5 * h * k2, k)
        k4 = rates(y + h * k3, k)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return np.sum(y * y)


def mixed(x, w):
    h = np.tanh(x @ w)
    y = h * h + np.sin(h)
    z = y - np.mean(y, axis=0)
    return z / np.sqrt(np.mean(z * z, axis=0) + 1e-3) + h


def mixers(x: "f64[n, d]", w: "f64[d, d]", v: "f64[d, d]"):
    """A helper that takes time is called outside of loops: its reverse gets what was computed."""
    return np.sum(mixed(mixed(mixed(x, w), v), w) ** 2)


EXAMPLES = {
    "tanh_regression": lambda r: (r.normal(size=4), r.normal(size=4), r.normal(size=(5, 4)),
                                  r.normal(size=(5, 4))),
    "heat": lambda r: (r.normal(size=8), 0.2, 4, r.normal(size=8)),
    "newton": lambda r: (3.0, 2.0),
    "reaction": lambda r: (r.normal(size=3), r.uniform(0.2, 0.8, 3), 0.1, 4),
    "mixers": lambda r: (r.normal(size=(5, 3)), r.normal(size=(3, 3)), r.normal(size=(3, 3))),
    "fixed_point": lambda r: (3.0, 2.0),
    "logistic": lambda r: (r.normal(size=3), 0.3, r.normal(size=(6, 3)), r.integers(0, 2, 6) * 1.0),
    "mlp": lambda r: ({"w1": r.normal(size=(3, 4)), "b1": r.normal(size=4), "w2": r.normal(size=(4, 2)),
                       "b2": r.normal(size=2)}, r.normal(size=(5, 3)), r.normal(size=(5, 2))),
    "cross_entropy": lambda r: (r.normal(size=(3, 4)), r.normal(size=(5, 3)), r.integers(0, 4, 5)),
    "kalman_step": lambda r: (r.normal(size=3), _spd(3), r.normal(size=(3, 3)), _spd(3),
                              r.normal(size=(2, 3)), _spd(2), r.normal(size=2)),
    "rosenbrock": lambda r: (r.normal(size=5),),
    "rnn": lambda r: (r.normal(size=(3, 3)), r.normal(size=(3, 2)), r.normal(size=3), r.normal(size=(4, 2))),
    "pendulum": lambda r: (0.4, 0.1, 6),
    "horner": lambda r: (r.normal(size=5), 0.7),
    "black_scholes": lambda r: (100.0, 95.0, 0.03, 0.2, 1.5),
    "recurrence": lambda r: (r.normal(size=5),),
    "huber": lambda r: (1.7, 1.0),
    "attention": lambda r: (r.normal(size=(3, 4)), r.normal(size=(5, 4)), r.normal(size=(5, 2))),
    "ridge": lambda r: (r.normal(size=(6, 3)), r.normal(size=6), 0.7),
    "hidden_markov": lambda r: (np.array([0.4, 0.6]), np.array([[0.7, 0.3], [0.2, 0.8]]),
                                np.array([[0.5, 0.3, 0.2], [0.1, 0.2, 0.7]]), np.array([0, 2, 1, 1])),
    "robust_layer": lambda r: (r.normal(size=(5, 3)), r.normal(size=(3, 4)), r.normal(size=4), r.normal(size=(5, 4))),
    "american_put": lambda r: (95.0, 0.3, 100.0, 0.05, 4),
    "volatility": lambda r: (np.array([0.1, 0.2, 0.7]), r.normal(size=6)),
    "standardized": lambda r: (r.normal(size=(6, 3)),),
    "gradient_descent": lambda r: (r.normal(size=3), r.normal(size=(6, 3)), r.normal(size=6)),
    "lorenz": lambda r: (np.array([1.0, 2.0, 20.0]), 5),
    "gaussian_log_likelihood": lambda r: (r.normal(size=3), _spd(3), r.normal(size=(4, 3))),
    "clipped_steps": lambda r: (np.array([1.4, -0.3, 0.5, 2.0]),),
    "moving_average": lambda r: (r.normal(size=7), r.normal(size=3)),
    "distances": lambda r: (r.normal(size=(5, 2)),),
    "orbit": lambda r: (0.3, r.uniform(0, 6, size=5), r.normal(size=5)),
    "mixture": lambda r: (r.normal(size=3), r.normal(size=3), r.normal(size=6)),
    "power": lambda r: (1.3, 5),
    "pairwise": lambda r: (r.normal(size=7),),
    "cholesky": lambda r: (_spd(4),),
    "thomas": lambda r: (0.1 * r.normal(size=5), 3 + 0.1 * r.normal(size=5), r.normal(size=5), r.normal(size=5)),
    "time_warping": lambda r: (r.normal(size=5), r.normal(size=4)),
    "waves": lambda r: (r.normal(size=6), 0.2, 7),
    "roots": lambda r: (1 + r.random(4), 2.0, r.normal(size=4)),
    "softmax_rows": lambda r: (r.normal(size=(3, 4)), r.normal(size=4)),
    "settling": lambda r: (np.array([1.2, 0.7, -0.6]), 0.8),
    "forest": lambda r: (r.normal(size=6), 0, 6),
    "filtered_and_pooled": lambda r: (r.normal(size=13), r.normal(size=3)),
    "quadrature": lambda r: (np.array([0.7, 3.0]), 0.0, 2.0),
    "divided_differences": lambda r: (np.arange(4.0), r.normal(size=4)),
    "edit_distance": lambda r: (r.normal(size=4), r.normal(size=3), 0.4),
    "spanning_tree": lambda r: (r.random(6), np.array([[0, 1], [1, 2], [2, 3], [3, 0], [0, 2], [1, 3]]), 4),
    "gauss_jordan": lambda r: (r.normal(size=(4, 4)) + 4 * np.eye(4), r.normal(size=4)),
}

# What is kept: the program, the mode, and the arguments it is differentiated for.
KEPT = [
    ("tanh_regression", "grad", "w,b"),
    ("heat", "grad", "u,c"),
    ("heat", "grad", "u"),
    ("heat", "jvp", "u"),
    ("newton", "grad", "a,x"),
    ("fixed_point", "grad", "a,x"),
    ("logistic", "value_and_grad", "w,b"),
    ("logistic", "jvp", "w"),
    ("mlp", "grad", "params"),
    ("cross_entropy", "grad", "w"),
    ("kalman_step", "grad", "x,P"),
    ("rosenbrock", "grad", "x"),
    ("rosenbrock", "jvp", "x"),
    ("rnn", "grad", "W,U,b"),
    ("pendulum", "grad", "theta,omega"),
    ("horner", "grad", "coefficients,x"),
    ("black_scholes", "value_and_grad", "spot,sigma"),
    ("recurrence", "grad", "x"),
    ("huber", "grad", "r,delta"),
    ("attention", "grad", "q,k,v"),
    ("ridge", "grad", "penalty"),
    ("standardized", "grad", "x"),
    ("gradient_descent", "grad", "w"),
    ("lorenz", "grad", "state"),
    ("gaussian_log_likelihood", "grad", "mu,S"),
    ("clipped_steps", "grad", "x"),
    ("moving_average", "grad", "x,w"),
    ("distances", "grad", "points"),
    ("mixture", "grad", "logits,means"),
    ("orbit", "grad", "e"),
    ("orbit", "grad", "e,M"),
    ("power", "grad", "x"),
    ("power", "jvp", "x"),
    ("pairwise", "grad", "x"),
    ("cholesky", "grad", "a"),
    ("thomas", "grad", "a,b,c,d"),
    ("time_warping", "grad", "a,b"),
    ("waves", "grad", "u,c"),
    ("roots", "grad", "x,c"),
    ("softmax_rows", "grad", "x,v"),
    ("settling", "grad", "x,rate"),
    ("forest", "grad", "w"),
    ("filtered_and_pooled", "grad", "x,w"),
    ("quadrature", "grad", "c"),
    ("divided_differences", "grad", "x,y"),
    ("reaction", "grad", "y,k"),
    ("reaction", "jvp", "k"),
    ("mixers", "grad", "x,w,v"),
    ("gauss_jordan", "grad", "a,b"),
    ("edit_distance", "grad", "a,b"),
    ("spanning_tree", "grad", "lengths"),
    ("hidden_markov", "grad", "moves,shows"),
    ("hidden_markov", "jvp", "moves"),
    ("robust_layer", "grad", "W,scale"),
    ("american_put", "grad", "spot,sigma"),
    ("volatility", "grad", "params"),
    ("volatility", "jvp", "params"),
]
