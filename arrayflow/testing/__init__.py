"""Floor 9: tools for people who write rules and backends."""

from .gradients import GradientError, check_grads

__all__ = ["GradientError", "check_grads"]
