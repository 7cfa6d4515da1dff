"""PyTorch. Device strings ``torch:cpu`` and ``torch:cuda:N``."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable
from contextlib import AbstractContextManager
from functools import cached_property, wraps
from typing import Any

from ..errors import DTypeError
from ._host import ready, ready_copy
from .protocol import Backend

__all__ = ["TorchBackend"]

# PyTorch stores uint16, uint32 and uint64, but computes little with them.
_NOT_IMPLEMENTED = re.compile(r"not implemented for '(\w+)'")


class TorchBackend(Backend):
    """Tensors of PyTorch."""

    prefix = "torch"
    packages = ("torch",)
    install = "pip install torch"

    def __init__(self) -> None:
        import array_api_compat.torch as xp
        import torch

        self.torch = torch
        self.xp = xp
        self.array_types = (torch.Tensor,)
        self._cpu = torch.device("cpu")

    def devices(self) -> tuple[str, ...]:
        gpus = self.torch.cuda.device_count() if self.torch.cuda.is_available() else 0
        return ("torch:cpu", *(f"torch:cuda:{i}" for i in range(gpus)))

    def native(self, name: str) -> Hashable:
        return self.torch.device(name.removeprefix("torch:"))

    def name_of(self, native: Hashable) -> str:
        return f"torch:{native}"

    def to_host(self, array: Any) -> Any:
        # A conjugate or a negative of a tensor is a flag on a view; NumPy sees through neither.
        tensor = array.detach().resolve_conj().resolve_neg().to("cpu", copy=True)
        if tensor.dtype is self.torch.bfloat16:
            return tensor.view(self.torch.uint16).numpy().view(_host_bfloat16())
        return tensor.numpy()

    def from_host(self, host: Any, native: Hashable) -> Any:
        # from_numpy shares memory, which only a copy to another device ends.
        own = (ready_copy if native == self._cpu else ready)(self, host, native)
        if not own.flags.writeable:  # from_numpy warns of what cannot happen here
            own = own.copy()
        if own.dtype.name == "bfloat16":
            return self.torch.from_numpy(own.view("uint16")).view(self.torch.bfloat16).to(native)
        return self.torch.from_numpy(own).to(native)

    def transfer(self, array: Any, native: Hashable) -> Any:
        return array.detach().to(native, copy=True)

    def copy(self, array: Any) -> Any:
        return array.detach().clone()

    def adopt(self, value: Any) -> Any:
        if value.requires_grad:  # else PyTorch would record what is computed with it a second time
            value = value.detach()
        if value.layout is not self.torch.strided:
            raise DTypeError(f"A tensor of layout {value.layout} is no array of the standard. Use x.to_dense().")
        return value

    def context(self, native: Hashable) -> AbstractContextManager[Any]:
        # A raw tensor among the operands may ask PyTorch to record; gradients it shall leave alone.
        return self.torch.no_grad()

    def synchronize(self, native: Hashable) -> None:
        if native.type == "cuda":  # type: ignore[attr-defined]
            self.torch.cuda.synchronize(native)

    @cached_property
    def natives(self) -> dict[str, Callable[..., Any]]:
        from ._torch_kernels import NATIVES

        return NATIVES

    def bind(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def explained(*args: Any, **kwargs: Any) -> Any:
            try:
                return function(*args, **kwargs)
            except (NotImplementedError, RuntimeError) as error:
                missing = _NOT_IMPLEMENTED.search(str(error))
                if missing is None:
                    raise
                what = {"Half": "float16", "BFloat16": "bfloat16", "ComplexFloat": "complex64"}
                dtype = what.get(missing[1], missing[1].lower())
                name = getattr(function, "__name__", "this function")
                raise DTypeError(
                    f"PyTorch has no {name} for {dtype} here. Cast first: af.astype(x, af.int64) for integers, "
                    f"af.astype(x, af.float32) for the rest."
                ) from error

        return explained


def _host_bfloat16() -> Any:
    try:
        import ml_dtypes
    except ImportError:
        raise DTypeError(
            "NumPy has no bfloat16 of its own, so a bfloat16 tensor cannot be read on the host as it is. "
            "Install ml_dtypes (pip install ml_dtypes), or cast first: af.astype(x, af.float32)."
        ) from None
    return ml_dtypes.bfloat16
