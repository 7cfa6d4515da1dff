"""Files: the state of models and optimizers as NumPy's .npz, written atomically, verified and compared on load."""

from .npz import load_npz, read_npz, save_npz

__all__ = ["load_npz", "read_npz", "save_npz"]
