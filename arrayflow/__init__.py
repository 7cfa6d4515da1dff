"""arrayflow: define-by-run neural networks over the Python array API standard.

Every public name is found here, and loaded when it is first asked for: ``import arrayflow`` loads no array library.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

# `config` and `transfers` are modules as well as names of this package. Loading a submodule puts it here under
# its own name, once: so these two are loaded now, and what they are named after takes that place for good.
from .config import config as config
from .config import no_grad as no_grad
from .config import using_config as using_config
from .transfers import transfers as transfers

__version__ = "0.1.0"
__array_api_version__ = "2025.12"

# Submodules that `import arrayflow as af` makes reachable as `af.links` and the like.
_ROOMS = (
    "autograd backends data device dtypes errors examples functions initializers links namespace optimizers random "
    "serializers slots testing typing"
)
# Where a name lives. The namespace's chapters are listed name by name, because to ask them would load them.
_HOMES = {
    "autograd.tape": "backward",
    "device": "Device default_device device_of devices to_device using_device",
    "errors": """
        ArrayflowError BackendUnavailableError DTypeError DeviceError DeviceMismatchError FileFormatError GraphError
        OperationError OptimizerError ShapeError StateMismatchError TransferError UnregisteredArrayError""",
    "links.parameter": "Parameter",
    "namespace.constants": "e inf nan newaxis pi",
    "namespace.creation": """
        arange asarray empty empty_like eye from_dlpack full full_like linspace meshgrid ones ones_like tril triu zeros
        zeros_like""",
    "namespace.data_types": """
        astype can_cast finfo iinfo isdtype result_type
        bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 bfloat16 float32 float64 complex64 complex128""",
    "namespace.elementwise": """
        abs acos acosh add asin asinh atan atan2 atanh bitwise_and bitwise_invert bitwise_left_shift bitwise_or
        bitwise_right_shift bitwise_xor ceil clip conj copysign cos cosh divide equal exp expm1 floor floor_divide
        greater greater_equal hypot imag isfinite isinf isnan less less_equal log log10 log1p log2 logaddexp logical_and
        logical_not logical_or logical_xor maximum minimum multiply negative nextafter not_equal positive pow real
        reciprocal remainder round sign signbit sin sinh sqrt square subtract tan tanh trunc""",
    "namespace.indexing": "take take_along_axis",
    "namespace.info": "__array_namespace_info__ array_namespace",
    "namespace.linear_algebra": "matmul matrix_transpose tensordot vecdot",
    "namespace.manipulation": """
        broadcast_arrays broadcast_shapes broadcast_to concat expand_dims flip moveaxis permute_dims repeat reshape roll
        squeeze stack tile unstack""",
    "namespace.operators": "Variable",
    "namespace.searching": "argmax argmin count_nonzero nonzero searchsorted where",
    "namespace.sets": "isin unique_all unique_counts unique_inverse unique_values",
    "namespace.sorting": "argsort sort",
    "namespace.statistical": "cumulative_prod cumulative_sum max mean min prod std sum var",
    "namespace.utility": "all any diff",
    "random": "seed",
}
_WHERE = {name: home for home, names in _HOMES.items() for name in names.split()}

__all__ = sorted({*_WHERE, "config", "no_grad", "transfers", "using_config", "__array_api_version__", "__version__"})


def __getattr__(name: str) -> Any:
    home = _WHERE.get(name)
    if home is not None:
        value = getattr(import_module(f"{__name__}.{home}"), name)
    elif name in _ROOMS.split():
        value = import_module(f"{__name__}.{name}")
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}{_hint(name)}")
    globals()[name] = value  # so that the next look-up does not come here
    return value


def _hint(name: str) -> str:
    if name.startswith("_"):  # asked for by machinery, which reads no hints
        return ""
    from difflib import get_close_matches

    close = get_close_matches(name, [*__all__, *_ROOMS.split()], 3, 0.6)
    return f". Did you mean {' or '.join(f'af.{found}' for found in close)}?" if close else ""


def __dir__() -> list[str]:
    return sorted({*__all__, *_ROOMS.split(), *(name for name in globals() if name.startswith("__"))})
