"""An array library that arrayflow has never heard of: arrays with a place, over NumPy."""

import array_api_compat.numpy as compat
import numpy as np


class ToyArray:
    def __init__(self, values, place):
        self.values, self.device = np.asarray(values), place

    dtype = property(lambda self: self.values.dtype)
    shape = property(lambda self: self.values.shape)
    ndim = property(lambda self: self.values.ndim)

    def __getitem__(self, key):
        return ToyArray(self.values[unwrap(key)], self.device)

    def __setitem__(self, key, value):
        self.values[unwrap(key)] = unwrap(value)

    def __array_namespace__(self, api_version=None):
        import toylib

        return toylib


def unwrap(x):
    if isinstance(x, tuple | list):
        return type(x)(unwrap(y) for y in x)
    return x.values if isinstance(x, ToyArray) else x


def wrap(x, place):
    if isinstance(x, tuple | list):
        return type(x)(wrap(y, place) for y in x)
    return ToyArray(x, place) if isinstance(x, np.ndarray | np.generic) else x


def places(x):
    if isinstance(x, tuple | list):
        return {place for y in x for place in places(y)}
    return {x.device} if isinstance(x, ToyArray) else set()


def __getattr__(name):
    function = getattr(compat, name)
    if isinstance(function, type) or not callable(function):
        return function

    def call(*args, device=None, **kwargs):
        there = places(args)
        if len(there | ({device} if device else set())) > 1:
            raise ValueError(f"{name}: mixed places {there}")
        out = function(*map(unwrap, args), **{k: unwrap(v) for k, v in kwargs.items()})
        return wrap(out, device or (there or {"desk"}).pop())

    return call


def operator(name):
    def call(self, other):
        if places(other) - {self.device}:
            raise ValueError(f"{name}: mixed places")
        return wrap(getattr(self.values, name)(unwrap(other)), self.device)

    return call


for word in ["add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "xor"]:
    setattr(ToyArray, f"__{word}__", operator(f"__{word}__"))
    setattr(ToyArray, f"__r{word}__", operator(f"__r{word}__"))
for word in ["lt", "le", "gt", "ge", "eq", "ne"]:
    setattr(ToyArray, f"__{word}__", operator(f"__{word}__"))
ToyArray.__neg__ = lambda self: wrap(-self.values, self.device)
