"""Sandboxes: where hostile code runs. `base` is the contract; `open_sandbox` picks a back end."""

from tradeschool.sandbox.base import (
    Capabilities,
    Channel,
    Completed,
    Limits,
    Mount,
    Sandbox,
    SandboxSpec,
    Shell,
    ShellResult,
)
from tradeschool.sandbox.factory import BACKENDS, open_sandbox, resolve_backend

__all__ = [
    "BACKENDS",
    "Capabilities",
    "Channel",
    "Completed",
    "Limits",
    "Mount",
    "Sandbox",
    "SandboxSpec",
    "Shell",
    "ShellResult",
    "open_sandbox",
    "resolve_backend",
]
