"""Fourier transforms and decompositions of matrices, as they are used."""

import cmath

import numpy as np
import scipy.fft
import scipy.linalg
import scipy.signal

from .program import Program, fixed, normal

GRID = 2 * np.pi * np.arange(8) / 8


def spectral_derivative(u):
    k = np.fft.fftfreq(len(u), 1 / len(u))
    du = np.fft.ifft(1j * k * np.fft.fft(u)).real
    return np.sum((du - u) ** 2)


def by_hand(x):
    """In place, with the places in the order of their bits turned around."""
    a, n, j = x.astype(complex), len(x), 0
    for i in range(1, n):
        bit = n >> 1
        while j & bit:
            j ^= bit
            bit >>= 1
        j |= bit
        if i < j:
            a[i], a[j] = a[j], a[i]
    length = 2
    while length <= n:
        turn = cmath.exp(-2j * cmath.pi / length)
        for i in range(0, n, length):
            w = 1 + 0j
            for k in range(i, i + length // 2):
                u, v = a[k], a[k + length // 2] * w
                a[k], a[k + length // 2] = u + v, u - v
                w *= turn
        length <<= 1
    return np.sum(np.abs(a) ** 3)


def convolution(x, kernel):
    n = len(x) + len(kernel) - 1
    y = np.fft.irfft(np.fft.rfft(x, n) * np.fft.rfft(kernel, n), n)
    return np.sum(y**3)


def spectrum_of_a_series(x):
    power = np.abs(np.fft.rfft(x * np.hanning(len(x)))) ** 2
    return np.sum(np.log(power + 1.0))


def image_filter(image):
    spectrum = np.fft.fftshift(np.fft.fft2(image))
    y, x = np.indices(image.shape)
    low = np.exp(-((y - image.shape[0] // 2) ** 2 + (x - image.shape[1] // 2) ** 2) / 4.0)
    smooth = np.fft.ifft2(np.fft.ifftshift(spectrum * low)).real
    return np.sum((smooth - image) ** 2)


def real_image(image):
    spectrum = np.fft.rfft2(image, norm="ortho")
    back = np.fft.irfft2(spectrum * np.abs(spectrum), s=image.shape, norm="ortho")
    return np.sum(back * image)


def poisson(f):
    k = np.fft.rfftfreq(len(f), 1 / len(f))
    symbol = np.where(k == 0, 1.0, -(k**2))
    u = np.fft.irfft(np.fft.rfft(f) / symbol, len(f))
    return np.sum((u - u[0]) ** 2)


def split_step(u, potential):
    k = np.fft.fftfreq(u.size, 1 / u.size)
    psi = u + 0j
    for _ in range(3):
        psi = psi * np.exp(-0.05j * potential)
        psi = np.fft.ifft(np.exp(-0.05j * k**2) * np.fft.fft(psi))
    return np.sum(np.abs(psi) ** 4)


def low_rank(a):
    u, s, vt = np.linalg.svd(a, full_matrices=False)
    return np.sum((u[:, :2] * s[:2] @ vt[:2] - a) ** 2) + np.sum((u[:, :1] @ vt[:1]) ** 3)


def nuclear(a):
    return np.linalg.norm(a, "nuc") + np.linalg.norm(a, 2) ** 2 + np.linalg.cond(a)


def singular_only(a):
    _, s, _ = np.linalg.svd(a)
    return np.sum(np.log1p(s))


def least_squares(a, b):
    x, residuals, rank, _ = np.linalg.lstsq(a, b, rcond=None)
    return np.sum(x**3) + rank * np.sum(residuals)


def underdetermined(a, b):
    x = np.linalg.lstsq(a.T, b[:2], rcond=None)[0]
    return np.sum(x**4)


def line_fit(y):
    slope, offset = np.polyfit(np.arange(len(y)) * 0.5, y, 1)
    return slope**2 * offset + np.polyval(np.polyfit(GRID[: len(y)], y, 2), 0.3) ** 2


def flow(a, x):
    for _ in range(2):
        x = scipy.linalg.expm(0.3 * a) @ x
    return np.sum(x**2)


def gaussian_likelihood(points, y, length):
    gaps = points[:, None] - points
    covariance = np.exp(-((gaps / length) ** 2)) + 0.5 * np.eye(len(points))
    factor = scipy.linalg.cho_factor(covariance, lower=True)
    log_det = 2 * np.sum(np.log(np.diag(factor[0])))
    return 0.5 * (y @ scipy.linalg.cho_solve(factor, y) + log_det + len(y) * np.log(2 * np.pi))


def whitened(a, b):
    factor = np.linalg.cholesky(a @ a.T + np.eye(len(a)))
    z = scipy.linalg.solve_triangular(factor, b, lower=True)
    return z @ z + np.sum(scipy.linalg.solve_triangular(factor, np.outer(b, b), trans="T", lower=True) ** 2)


def stability(a):
    return np.max(np.linalg.eigvals(a).real) ** 2


def damped_modes(a):
    """The eigenvalues without an imaginary part, and those that are exactly conjugate to others."""
    w = np.linalg.eigvals(a)
    real = np.sum(w[np.imag(w) == 0].real ** 2)
    return real + sum(np.abs(w[k]) ** 3 for k in range(len(w)) if np.any(np.conj(w[k]) == w))


def mode_energy(a, x):
    w, v = np.linalg.eig(a)
    c = np.linalg.solve(v, x + 0j)
    return np.sum(np.abs(v @ (np.exp(0.1 * w) * c)) ** 2)


def root_sizes(p):
    return np.sum(np.abs(np.roots(p)) ** 2)


def structured(c):
    banded = scipy.linalg.toeplitz(c, np.sin(c))
    blocks = scipy.linalg.block_diag(banded, scipy.linalg.circulant(c[:2]), scipy.linalg.hankel(c[:2], c[1:3]))
    return np.sum(blocks @ blocks) + np.linalg.det(scipy.linalg.inv(banded))


def convolved_at_a_power_of_two(x, k):
    """Filled up with zeros to a length that a loop finds."""
    whole = len(x) + len(k) - 1
    length = 1
    while length < whole:
        length *= 2
    y = np.fft.irfft(np.fft.rfft(x, length) * np.fft.rfft(k, length), length)[:whole]
    return np.sum(y**2 * np.arange(whole))


def cut_or_filled_up(x, k):
    """To the length of the other one, which may be less or more."""
    return np.sum(np.abs(np.fft.fft(x, len(k)) * np.fft.fft(k)) ** 2)


def filled_below(x):
    """NumPy reads what is filled of these matrices."""
    a = np.zeros((3, 3))
    for i in range(3):
        for j in range(i + 1):
            a[i, j] = np.tanh(x[i, j])
        a[i, i] += 4.0
    factor = np.linalg.cholesky(a)
    upper = np.triu(x) @ np.diag(x[0])
    return np.sum(factor**3) + np.sum(np.linalg.eigvalsh(upper, UPLO="U") ** 3)


def one_result_of_several(a):
    q = np.linalg.qr(a)[0]
    r = np.linalg.qr(a[:, :2])[1]
    u = np.linalg.svd(a, full_matrices=False)[0]
    _, v = np.linalg.eigh(a + a.T)
    return np.sum(q**3) + np.sum(r**3) + np.sum(u[:, 0] ** 3) + np.sum(v[:, -1] ** 3)


SQUARE = np.array([[2.0, -0.4, 0.7], [0.2, 4.1, -0.8], [0.6, -0.35, 7.3]])
TALL = np.array([[1.1, -0.4], [0.2, 1.9], [0.6, -0.35], [-0.7, 0.8]])
TURNING = np.array([[0.3, -2.0, 0.1], [1.5, 0.4, -0.2], [0.2, 0.1, -1.1]])

def envelope(x):
    """How strong a signal is, over time, after its trend is taken away."""
    return np.sum(np.abs(scipy.signal.hilbert(scipy.signal.detrend(x))) ** 3)


def noise_floor(x, rate):
    """Power by frequency: of short pieces, and of the whole signal."""
    frequencies, power = scipy.signal.welch(x, rate, nperseg=4)
    return np.sum(frequencies * np.log(power + 0.1)) + np.sum(scipy.signal.periodogram(x, rate, "hamming")[1] ** 2)


def compressed(x):
    parts = scipy.fft.dct(x, norm="ortho")
    kept = scipy.fft.idct(np.where(np.arange(len(x)) < 4, parts, 0.0), norm="ortho")
    return np.sum((kept - x) ** 2) + np.sum(scipy.fft.dctn(np.outer(x, x)) ** 2)


def in_sections(sos, x):
    return np.sum(scipy.signal.sosfilt(sos, x) ** 2)


PROGRAMS = [
    Program(envelope, normal((7,)), order=1),
    Program(noise_floor, normal((9,), then=(2.0,)), wrt=(0, 1), order=1),
    Program(compressed, normal((6,)), order=1),
    Program(in_sections, fixed(scipy.signal.butter(3, 0.3, output="sos"), np.arange(5.0)), wrt=(1,), order=1),
    Program(spectral_derivative, normal((6,))),
    Program(by_hand, normal((8,)), name="spectrum_by_hand"),
    Program(convolved_at_a_power_of_two, normal((5,), (3,)), wrt=(0, 1)),
    Program(cut_or_filled_up, normal((5,), (3,)), wrt=(0, 1)),
    Program(cut_or_filled_up, normal((3,), (5,)), wrt=(0, 1), name="cut_or_filled_up_with_zeros"),
    Program(convolution, normal((5,), (3,)), wrt=(0, 1)),
    Program(spectrum_of_a_series, normal((7,))),
    Program(image_filter, normal((3, 4))),
    Program(real_image, normal((3, 5))),
    Program(poisson, normal((6,))),
    Program(split_step, normal((4,), (4,)), wrt=(0, 1)),
    Program(low_rank, fixed(SQUARE)),
    Program(one_result_of_several, fixed(SQUARE)),
    Program(nuclear, fixed(SQUARE)),
    Program(singular_only, fixed(TALL)),
    Program(least_squares, fixed(TALL, np.array([0.4, -1.2, 0.9, 0.3])), wrt=(0, 1)),
    Program(underdetermined, fixed(TALL, np.array([0.4, -1.2])), wrt=(0, 1)),
    Program(line_fit, normal((6,))),
    Program(flow, normal((3, 3), (3,)), wrt=(0, 1)),
    Program(gaussian_likelihood, normal((4,), (4,), then=(0.8,)), wrt=(0, 1, 2)),
    Program(whitened, normal((3, 3), (3,)), wrt=(0, 1)),
    Program(filled_below, fixed(SQUARE / 4)),
    Program(stability, fixed(SQUARE)),
    Program(damped_modes, fixed(TURNING)),
    Program(mode_energy, fixed(TURNING, np.array([0.4, -1.2, 0.9])), wrt=(0, 1)),
    Program(root_sizes, fixed(np.array([1.3, -0.4, 2.2, 0.7]))),
    Program(structured, fixed(np.array([2.0, -0.4, 0.7]))),
]
