"""Elementwise functions."""
from ..autograd import primitive
exp = primitive("exp", lambda g, y: g * y)
multiply = primitive("multiply", lambda g, x2: g * x2, lambda g, x1: g * x1)
add = primitive("add", lambda g: g, lambda g: g)
