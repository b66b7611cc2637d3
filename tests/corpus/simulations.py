"""Numerical methods and small simulations: time steps, iterations, integrals, finance."""

import math

import numpy as np
from scipy.special import ndtr

from .program import Program, fixed, normal, positive


def rosenbrock(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def horner(coefficients, x):
    result = 0.0
    i = len(coefficients) - 1
    while i >= 0:
        result = result * x + coefficients[i]
        i -= 1
    return result


def newton_cube_root(a, x0):
    x = x0
    while abs(x**3 - a) > 1e-10:
        x = x - (x**3 - a) / (3 * x * x)
    return x


def kepler(mean_anomaly, eccentricity):
    """Solve Kepler's equation, then take the radius."""
    e = mean_anomaly
    for _ in range(8):
        e = e - (e - eccentricity * np.sin(e) - mean_anomaly) / (1 - eccentricity * np.cos(e))
    return 1 - eccentricity * np.cos(e)


def black_scholes_call(spot, strike, rate, vol, time):
    d1 = (math.log(spot / strike) + (rate + 0.5 * vol**2) * time) / (vol * math.sqrt(time))
    d2 = d1 - vol * math.sqrt(time)
    cdf1 = 0.5 * (1 + math.erf(d1 / math.sqrt(2)))
    cdf2 = 0.5 * (1 + math.erf(d2 / math.sqrt(2)))
    return spot * cdf1 - strike * math.exp(-rate * time) * cdf2


def black_scholes_book(spot, strike, rate, vol, time, is_call):
    root = vol * np.sqrt(time)
    d1 = (np.log(spot / strike) + (rate + vol**2 / 2) * time) / root
    d2 = d1 - root
    discounted = strike * np.exp(-rate * time)
    call = spot * ndtr(d1) - discounted * ndtr(d2)
    put = discounted * ndtr(-d2) - spot * ndtr(-d1)
    return np.where(is_call, call, put).sum()


def binomial_tree(spot, vol, rate, steps):
    """American put on a recombining tree, the layer overwritten from the end."""
    dt = 1.0 / steps
    up = np.exp(vol * np.sqrt(dt))
    p = (np.exp(rate * dt) - 1 / up) / (up - 1 / up)
    strike = 1.1
    prices = spot * up ** (2 * np.arange(steps + 1) - steps)
    value = np.maximum(strike - prices, 0.0)
    for step in range(steps - 1, -1, -1):
        value = np.exp(-rate * dt) * (p * value[1:] + (1 - p) * value[:-1])
        prices = spot * up ** (2 * np.arange(step + 1) - step)
        value = np.maximum(value, strike - prices)
    return value[0]


def arma(params, y):
    phi, theta, mu = params
    error = 0.0
    total = 0.0
    previous = mu
    for t in range(len(y)):
        error = y[t] - (mu + phi * (previous - mu) + theta * error)
        previous = y[t]
        total += error**2
    return total


def garch(omega, alpha, beta, returns):
    variance = np.var(returns)
    nll = 0.0
    for r in returns:
        nll += 0.5 * (np.log(variance) + r**2 / variance)
        variance = omega + alpha * r**2 + beta * variance
    return nll


def nbody_step(position, velocity, mass, dt):
    n = len(mass)
    acceleration = np.zeros_like(position)
    for i in range(n):
        for j in range(n):
            if i != j:
                d = position[j] - position[i]
                acceleration[i] += mass[j] * d / (np.sum(d**2) + 0.1) ** 1.5
    velocity = velocity + dt * acceleration
    position = position + dt * velocity
    return np.sum(position**2) + np.sum(mass[:, None] * velocity**2)


def nbody_forces(position, mass):
    """All pairs, of which those at one place attract each other by nothing."""
    force = np.zeros_like(position)
    for i in range(len(position)):
        for j in range(len(position)):
            d = position[j] - position[i]
            r = np.sqrt(np.sum(d * d))
            if r == 0:
                continue
            force[i] += mass[j] * d / r**3
    return np.sum(force * force)


def nbody_energy(position, velocity, mass):
    kinetic = 0.5 * np.sum(mass * np.sum(velocity**2, axis=1))
    potential = 0.0
    for i in range(len(mass)):
        for j in range(i):
            potential -= mass[i] * mass[j] / np.linalg.norm(position[i] - position[j])
    return kinetic + potential


def lorenz_rk4(state, sigma, rho, beta, steps):
    def slope(s):
        x, y, z = s
        return np.array([sigma * (y - x), x * (rho - z) - y, x * y - beta * z])

    h = 0.01
    for _ in range(steps):
        k1 = slope(state)
        k2 = slope(state + h / 2 * k1)
        k3 = slope(state + h / 2 * k2)
        k4 = slope(state + h * k3)
        state = state + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return np.sum(state**2)


def heat_in_place(u0, c, n, target):
    u = u0.copy()
    for k in range(n):
        u[1:-1] += c * (u[2:] - 2 * u[1:-1] + u[:-2])
    return np.sum((u - target) ** 2)


def wave_equation(u, speed, steps):
    previous = u.copy()
    for _ in range(steps):
        following = 2 * u - previous
        following[1:-1] += speed**2 * (u[2:] - 2 * u[1:-1] + u[:-2])
        following[0] = 0.0
        following[-1] = 0.0
        previous, u = u, following
    return np.sum(u**4)


def burgers(u, nu, steps):
    dx = 0.5
    dt = 0.05
    for _ in range(steps):
        left = np.roll(u, 1)
        right = np.roll(u, -1)
        u = u - dt * u * (right - left) / (2 * dx) + nu * dt * (right - 2 * u + left) / dx**2
    return np.sum(u**2)


def upwind(u, a, steps):
    for _ in range(steps):
        flux = np.where(a > 0, a * u[:-1], a * u[1:])
        u = np.concatenate([u[:1], u[1:-1] - 0.1 * (flux[1:] - flux[:-1]), u[-1:]])
    return np.sum(np.sin(u))


def pendulum(theta, omega, length, steps, dt=0.1):
    """A physics time step, semi-implicit, with friction that depends on the speed."""
    g = 9.81
    for _ in range(steps):
        drag = 0.1 * abs(omega) * omega
        omega = omega - dt * (g / length * math.sin(theta) + drag)
        theta = theta + dt * omega
    return length * (1 - math.cos(theta)) * g + 0.5 * (length * omega) ** 2


def bouncing_ball(height, speed, restitution, steps):
    dt = 0.05
    for _ in range(steps):
        speed = speed - 9.81 * dt
        height = height + speed * dt
        if height < 0:
            height = -height
            speed = -restitution * speed
    return height + speed**2


def spring_chain(x, v, stiffness, steps):
    dt = 0.1
    for _ in range(steps):
        stretch = x[1:] - x[:-1] - 1.0
        force = np.zeros_like(x)
        force[:-1] += stiffness * stretch
        force[1:] -= stiffness * stretch
        v = 0.99 * v + dt * force
        x = x + dt * v
    return 0.5 * np.sum(v**2) + 0.5 * np.sum(stiffness * (x[1:] - x[:-1] - 1.0) ** 2)


def predator_prey(rates, steps):
    state = {"prey": 1.0, "predators": 0.5}
    for _ in range(steps):
        born = rates["birth"] * state["prey"]
        eaten = rates["hunt"] * state["prey"] * state["predators"]
        died = rates["death"] * state["predators"]
        state = {
            "prey": state["prey"] + 0.1 * (born - eaten),
            "predators": state["predators"] + 0.1 * (0.5 * eaten - died),
        }
    return state["prey"] ** 2 + state["predators"]


def simpson(a, b, n):
    h = (b - a) / n
    total = np.exp(-a * a) + np.exp(-b * b)
    for i in range(1, n):
        t = a + i * h
        total += (4 if i % 2 else 2) * np.exp(-t * t)
    return total * h / 3


def conjugate_gradient(root, b):
    a = root @ root.T + np.eye(len(b))
    x = np.zeros_like(b)
    r = b - a @ x
    p = r
    rs = r @ r
    for _ in range(2):
        ap = a @ p
        alpha = rs / (p @ ap)
        x = x + alpha * p
        r = r - alpha * ap
        rs_new = r @ r
        p = r + rs_new / rs * p
        rs = rs_new
    return np.sum(x**3)


def jacobi(off_diagonal, b, steps):
    x = np.zeros_like(b)
    for _ in range(steps):
        x = (b - off_diagonal @ x) / 6.0
    return np.sum(np.exp(x))


def thomas(lower, diagonal, upper, b):
    """Tridiagonal solve by elimination in place."""
    n = len(b)
    d = diagonal + 4.0
    x = b.copy()
    for i in range(1, n):
        factor = lower[i - 1] / d[i - 1]
        d[i] -= factor * upper[i - 1]
        x[i] -= factor * x[i - 1]
    x[n - 1] = x[n - 1] / d[n - 1]
    for i in range(n - 2, -1, -1):
        x[i] = (x[i] - upper[i] * x[i + 1]) / d[i]
    return np.sum(x**2)


def gram_schmidt(a):
    q = np.zeros_like(a)
    for j in range(a.shape[1]):
        v = a[:, j]
        for i in range(j):
            v = v - (q[:, i] @ a[:, j]) * q[:, i]
        q[:, j] = v / np.sqrt(v @ v)
    return np.sum(np.sin(np.arange(1, 4)[:, None] * q))


def determinant_by_elimination(a):
    a = a.copy()
    n = a.shape[0]
    det = 1.0
    for k in range(n):
        det *= a[k, k]
        for i in range(k + 1, n):
            a[i, k:] -= a[i, k] / a[k, k] * a[k, k:]
    return det


def arithmetic_geometric_mean(a, b):
    while abs(a - b) > 1e-12:
        a, b = 0.5 * (a + b), math.sqrt(a * b)
    return a


def exponential_series(x):
    term = 1.0
    total = 1.0
    k = 1
    while abs(term) > 1e-14:
        term = term * x / k
        total += term
        k += 1
    return total


def chebyshev(coefficients, x):
    """Clenshaw's recurrence, from the last coefficient to the first."""
    b1 = b2 = 0.0
    for c in reversed(coefficients[1:]):
        b1, b2 = c + 2 * x * b1 - b2, b1
    return coefficients[0] + x * b1 - b2


def continued_fraction(x, depth):
    value = x
    for k in range(depth, 0, -1):
        value = k + x / value
    return value


def escape_time(cx, cy):
    """Iterates until the point leaves the disc or the count is used up."""
    x = y = 0.0
    k = 0
    while x * x + y * y < 4.0 and k < 20:
        x, y = x * x - y * y + cx, 2 * x * y + cy
        k += 1
    return k + math.log(x * x + y * y)


def pressure(p, b, sweeps):
    """Sweeps with borders that are copied from beside, which the reverse hands on and clears."""
    p = p.copy()
    for _ in range(sweeps):
        p[1:-1, 1:-1] = (p[1:-1, 2:] + p[1:-1, :-2] + p[2:, 1:-1] + p[:-2, 1:-1] - b[1:-1, 1:-1]) / 4
        p[:, -1] = p[:, -2]
        p[0, :] = 2 * p[1, :]
        p[:, 0] = p[:, 1]
        p[-1, :] = p[-3, ::-1] * p[-2, :]
    return np.sum(p ** 2)


def image_blur(image, kernel):
    h, w = image.shape
    kh, kw = kernel.shape
    out = np.zeros((h - kh + 1, w - kw + 1))
    for i in range(kh):
        for j in range(kw):
            out += kernel[i, j] * image[i : i + h - kh + 1, j : j + w - kw + 1]
    return np.sum(np.tanh(out) ** 2)


def _book(rng, size=4):
    spot, strike, vol, time = rng.uniform(0.5, 2.0, (4, size))
    return spot, strike, 0.05, vol, time, rng.random(size) < 0.5


def _predators(rng):
    return {"birth": rng.random(), "hunt": rng.random(), "death": rng.random()}, 5


def _bodies(rng, size=4):
    return rng.standard_normal((size, 2)), rng.standard_normal((size, 2)), rng.random(size) + 0.5


PROGRAMS = [
    Program(rosenbrock, normal(("n",))),
    Program(horner, normal(("n",), None), (0, 1)),
    Program(newton_cube_root, fixed(7.0, 1.5)),
    Program(kepler, fixed(0.8, 0.3), (0, 1)),
    Program(black_scholes_call, fixed(1.1, 1.0, 0.05, 0.3, 0.75), (0, 1, 2, 3, 4)),
    Program(black_scholes_book, _book, (0, 1, 2, 3, 4)),
    Program(binomial_tree, fixed(1.0, 0.4, 0.05, 4), (0, 1, 2)),
    Program(arma, normal((3,), ("n",)), (0, 1)),
    Program(garch, positive(None, None, None, ("n",)), (0, 1, 2, 3)),
    Program(nbody_step, lambda rng, size=3: (*_bodies(rng, size), 0.1), (0, 1, 2, 3)),
    Program(nbody_energy, _bodies, (0, 1, 2)),
    Program(nbody_forces, lambda rng: _bodies(rng, 3)[::2], (0, 1)),
    Program(lorenz_rk4, normal((3,), None, None, None, then=(4,)), (0, 1, 2, 3)),
    Program(
        heat_in_place, lambda rng, size=4: (rng.random(size), 0.2, 3, rng.random(size)), (0, 1)
    ),
    Program(wave_equation, lambda rng, size=5: (rng.random(size), 0.4, 3), (0, 1)),
    Program(burgers, lambda rng, size=4: (rng.random(size), 0.2, 4), (0, 1)),
    Program(upwind, lambda rng, size=4: (rng.random(size), 0.7, 4), (0, 1)),
    Program(pendulum, fixed(0.7, 0.4, 1.3, 6), (0, 1, 2)),
    Program(bouncing_ball, fixed(0.5, 0.3, 0.8, 12), (0, 1, 2)),
    Program(spring_chain, normal(("n",), ("n",), None, then=(4,)), (0, 1, 2)),
    Program(predator_prey, _predators),
    Program(simpson, fixed(0.2, 1.4, 6), (0, 1)),
    Program(conjugate_gradient, normal((4, 4), (4,)), (0, 1)),
    Program(jacobi, normal(("n", "n"), ("n",), then=(4,)), (0, 1)),
    Program(thomas, normal(("m",), ("n",), ("m",), ("n",)), (0, 1, 2, 3)),
    Program(gram_schmidt, normal((3, 3))),
    Program(determinant_by_elimination, lambda rng: (rng.random((4, 4)) + 2 * np.eye(4),)),
    Program(arithmetic_geometric_mean, positive(None, None), (0, 1)),
    Program(exponential_series, normal(None)),
    Program(chebyshev, normal(("n",), None), (0, 1)),
    Program(continued_fraction, positive(None, then=(5,))),
    Program(escape_time, fixed(0.4, 0.5), (0, 1)),
    Program(image_blur, normal((5, 6), (2, 3)), (0, 1)),
    Program(pressure, normal((4, 5), (4, 5), then=(2,)), (0, 1)),
]
