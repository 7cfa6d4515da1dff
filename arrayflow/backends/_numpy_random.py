"""Draws from counter-based streams of Philox words, computed on the host: the same bits on every platform.

NumPy promises the words. From there on everything is integer arithmetic, or the four operations and the square root
of float64, which IEEE 754 fixes to the last bit: NumPy's own log, sin and cos differ between its versions and CPUs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["NATIVES", "philox_words"]

# Words turned into numbers at a time, so that temporaries stay in the cache.
CHUNK = 32768
Key = tuple[int, int]


def philox_words(key: Key, step: int, n: int) -> Any:
    """`n` 64-bit words of draw number `step` of the stream of `key`: two 64-bit integers."""
    counter = np.asarray([0, step, 0, 0], dtype=np.uint64)
    return np.random.Philox(key=np.asarray(key, dtype=np.uint64), counter=counter).random_raw(n)


def _halves(key: Key, step: int, n: int) -> Any:
    """`n` 32-bit words: the lower half of each long one, then the upper."""
    words = philox_words(key, step, (n + 1) // 2)
    return words.astype("<u8", copy=False).view("<u4")[:n]


def random_uniform(key: Key, step: int, n: int, low: float, high: float, bits: int, dtype: str) -> Any:
    """`n` numbers ``low + (high - low) k / 2**bits`` as `dtype`, k uniform below 2**bits; none is rounded to `high`."""
    source, width = (_halves, 32) if bits <= 32 else (philox_words, 64)
    words = source(key, step, n)
    out: Any = np.empty(n, dtype)
    top = np.nextafter(out.dtype.type(high), out.dtype.type(low))
    for start in range(0, n, CHUNK):
        part = out[start : start + CHUNK]
        unit = (words[start : start + CHUNK] >> words.dtype.type(width - bits)).astype(np.float64) * 2.0**-bits
        part[...] = unit * (high - low) + low
        if high != low:
            part[part == out.dtype.type(high)] = top
    return out


def random_mask(key: Key, step: int, n: int, keep: float) -> Any:
    """`n` booleans, each True with probability `keep`, to the nearest 2**-32."""
    limit = round(keep * 2**32)
    return np.ones(n, np.bool_) if limit >> 32 else _halves(key, step, n) < np.uint32(limit)


def random_permutation(key: Key, step: int, n: int) -> Any:
    """0 ... n-1 in the order of as many words."""
    return np.argsort(philox_words(key, step, n), kind="stable").astype(np.int64, copy=False)


def random_integers(key: Key, step: int, n: int, low: int, high: int) -> Any:
    """`n` integers uniform in [low, high); words above the last whole multiple of the range are drawn again."""
    span = high - low
    usable = 2**64 // span * span
    words = philox_words(key, step, n)
    if usable < 2**64:
        drawn = n
        while (again := np.flatnonzero(words >= np.uint64(usable))).size:
            drawn += again.size
            words[again] = philox_words(key, step, drawn)[-again.size :]
        words %= np.uint64(span)
    elif span < 2**64:
        words &= np.uint64(span - 1)
    # The wrap-around of 64-bit integers is the right sum here, also for negative `low`.
    return (words + np.uint64(low % 2**64)).view(np.int64)


def random_normal(key: Key, step: int, n: int, mean: float, std: float, dtype: str) -> Any:
    """`n` normal numbers by Box and Muller's method in float64, rounded to `dtype` at the end.

    References
    ----------
    G. E. P. Box and M. E. Muller, A note on the generation of random normal deviates, Ann. Math. Stat. 29, 1958.
    """
    words = philox_words(key, step, n + n % 2).reshape(-1, 2)
    out = np.empty(words.shape, dtype)
    for start in range(0, len(words), CHUNK // 2):
        pair = words[start : start + CHUNK // 2]
        unit = (pair >> np.uint64(11)).astype(np.float64)
        # 1 - u lies in (0, 1], where the logarithm is finite.
        radius = np.sqrt(-2.0 * _log(1.0 - unit[:, 0] * 2.0**-53)) * std
        cosine, sine = _cos_sin_of_turn(unit[:, 1] * 2.0**-53)
        out[start : start + CHUNK // 2, 0] = radius * cosine + mean
        out[start : start + CHUNK // 2, 1] = radius * sine + mean
    return out.reshape(-1)[:n]


# --- elementary functions from exact operations alone ---------------------------------------------------

# Minimax polynomials of fdlibm (Sun Microsystems, 1993): e_log.c, k_cos.c and k_sin.c, errors below 2**-57.
_LOG = (0.6666666666666735130, 0.3999999999940941908, 0.2857142874366239149, 0.2222219843214978396,
        0.1818357216161805012, 0.1531383769920937332, 0.1479819860511658591)  # fmt: skip
_SIN = (-1.66666666666666324348e-01, 8.33333333332248946124e-03, -1.98412698298579493134e-04,
        2.75573137070700676789e-06, -2.50507602534068634195e-08, 1.58969099521155010221e-10)  # fmt: skip
_COS = (4.16666666666666019037e-02, -1.38888888888741095749e-03, 2.48015872894767294178e-05,
        -2.75573143513906633035e-07, 2.08757232129817482790e-09, -1.13596475577881948265e-11)  # fmt: skip
_LN2 = 0.69314718055994530942
_TURN = 6.283185307179586


def _polynomial(z: Any, coefficients: tuple[float, ...]) -> Any:
    total = coefficients[-1] * z
    for c in reversed(coefficients[:-1]):
        total += c
        total *= z
    return total  # z (c0 + z (c1 + ...))


def _log(x: Any) -> Any:
    """Natural logarithm of positive normal numbers."""
    m, exponent = np.frexp(x)
    small = m < 0.7071067811865476
    f = np.where(small, m + m, m) - 1.0
    s = f / (f + 2.0)
    half = 0.5 * f * f
    tail = s * (half + _polynomial(s * s, _LOG))
    return (exponent - small) * _LN2 + (f - (half - tail))


def _cos_sin_of_turn(u: Any) -> tuple[Any, Any]:
    """Cosine and sine of 2 pi u, for u in [0, 1)."""
    quarter = np.floor(4.0 * u + 0.5)
    x = (u - 0.25 * quarter) * _TURN  # the difference is exact; |x| <= pi / 4
    z = x * x
    sine = x + x * _polynomial(z, _SIN)
    cosine = 1.0 - 0.5 * z + z * _polynomial(z, _COS)
    k = quarter.astype(np.int64) & 3
    odd = (k & 1) == 1
    c, s = np.where(odd, sine, cosine), np.where(odd, cosine, sine)
    return np.where((k == 1) | (k == 2), -c, c), np.where(k >= 2, -s, s)


NATIVES: dict[str, Callable[..., Any]] = {
    "philox_words": philox_words,
    "random_integers": random_integers,
    "random_mask": random_mask,
    "random_normal": random_normal,
    "random_permutation": random_permutation,
    "random_uniform": random_uniform,
}
