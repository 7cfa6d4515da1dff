"""One class for each kind of mistake.

Every class also derives from the built-in exception that a user would expect, so that both
``except TypeError`` and ``except DeviceMismatchError`` work.
"""

from __future__ import annotations

__all__ = [
    "ArrayflowError",
    "BackendUnavailableError",
    "DTypeError",
    "DeviceError",
    "DeviceMismatchError",
    "FileFormatError",
    "GraphError",
    "OperationError",
    "OptimizerError",
    "ShapeError",
    "StateMismatchError",
    "TransferError",
    "UnregisteredArrayError",
]


class ArrayflowError(Exception):
    """Base class of every error that arrayflow raises on purpose."""


class DeviceError(ArrayflowError, ValueError):
    """A device string that is malformed, or names a device this machine lacks."""


class BackendUnavailableError(DeviceError):
    """The library behind a device string is not installed, or cannot run here."""


class TransferError(ArrayflowError, TypeError):
    """Data would have crossed between devices where the rules do not allow it."""


class DeviceMismatchError(TransferError):
    """Rule 2: one operation was given arrays that live on different devices."""


class UnregisteredArrayError(TransferError, AttributeError):
    """Rule 4: a model holds an array that no name registers, so a move would leave it behind."""


class ShapeError(ArrayflowError, ValueError):
    """Shapes that do not fit together."""


class DTypeError(ArrayflowError, TypeError):
    """A data type that an operation, or the device, does not take."""


class GraphError(ArrayflowError, RuntimeError):
    """The graph of a Variable cannot be used as asked: freed, changed in place, or absent."""


class OperationError(ArrayflowError, ValueError, TypeError):
    """An operation that its library refused: shapes, axes or data types that do not fit."""


class OptimizerError(ArrayflowError, ValueError):
    """A number that is no step size, or an optimizer without parameters."""


class FileFormatError(ArrayflowError, ValueError):
    """A file is truncated, damaged, or not of the format asked for."""


class StateMismatchError(ArrayflowError, ValueError):
    """The names, shapes or data types in a file are not those of the object to load into."""
