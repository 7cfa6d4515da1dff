"""The backend of toylib, whole: this is what a third party writes."""

from arrayflow.backends.protocol import Backend


class ToyBackend(Backend):
    """Arrays of toylib."""

    prefix = "toy"
    packages = ("toylib",)
    install = "pip install toylib"

    def __init__(self):
        import numpy
        import toylib

        self.numpy = numpy
        self.xp = toylib
        self.array_types = (toylib.ToyArray,)

    def devices(self):
        return ("toy:desk", "toy:shelf")

    def native(self, name):
        return name.removeprefix("toy:")

    def name_of(self, native):
        return f"toy:{native}"

    def to_host(self, array):
        return array.values.copy()

    def from_host(self, host, native):
        return self.xp.ToyArray(host.copy(), native)

    def normal_dtype(self, raw):
        return self.numpy.dtype(raw)
