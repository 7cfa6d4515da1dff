"""Floor 9: runnable programs. ``python -m arrayflow.examples.digits`` is the one to start with."""
