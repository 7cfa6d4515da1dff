"""Native bodies for JAX, whose arrays cannot be written to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from . import _jax_neural
from .kernels.indexing import is_mask

__all__ = ["NATIVES"]


def cumulative_prod(x: Any, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False) -> Any:
    if dtype is None and x.dtype.kind in "iu":  # jax.numpy widens in cumulative_sum, but not here
        dtype = {"i": "int", "u": "uint"}[x.dtype.kind] + ("64" if jax.config.jax_enable_x64 else "32")
    return jnp.cumulative_prod(x, axis=axis, dtype=dtype, include_initial=include_initial)


def permute_dims(x: Any, /, axes: Sequence[int]) -> Any:
    return jnp.permute_dims(x, tuple(a % x.ndim for a in axes))  # jax.numpy knows no negative axes here


def get_item(x: Any, *, key: Any) -> Any:
    return x[key]


def set_item(x: Any, value: Any, *, key: Any) -> Any:
    return x.at[key].set(value)


def scatter_add(x: Any, *, key: Any, to: tuple[int, ...]) -> Any:
    zeros = jnp.zeros(to, dtype=x.dtype, device=x.device)
    return zeros.at[key].set(x) if is_mask(key) else zeros.at[key].add(x)


NATIVES: dict[str, Callable[..., Any]] = {
    "cumulative_prod": cumulative_prod,
    "get_item": get_item,
    "permute_dims": permute_dims,
    "scatter_add": scatter_add,
    "set_item": set_item,
    **_jax_neural.NATIVES,
}
