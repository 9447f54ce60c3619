"""Which back end to use, by name. A lazy table: a back end's libraries load when it is asked for."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from types import MappingProxyType

from tradeschool.errors import SandboxError, UsageError, did_you_mean
from tradeschool.sandbox.base import Sandbox, SandboxSpec

BACKENDS: Mapping[str, str] = MappingProxyType(
    {
        "docker": "tradeschool.sandbox.docker:DockerSandbox",
        "namespace": "tradeschool.sandbox.namespace:NamespaceSandbox",
    }
)


def backend_class(name: str) -> type[Sandbox]:
    """The class of a back end. Raises UsageError with a suggestion."""
    if name not in BACKENDS:
        raise UsageError(f"there is no sandbox {name!r}.{did_you_mean(name, [*BACKENDS, 'auto'])}")
    module, _, cls = BACKENDS[name].partition(":")
    return getattr(importlib.import_module(module), cls)


def resolve_backend(name: str) -> str:
    """`auto` becomes docker where its engine answers and holds our image, else namespace; other names are checked.

    Raises SandboxError with the remedy when the back end asked for (or, with `auto`, each of them) cannot run here.
    """
    if name != "auto":
        backend_class(name).check()
        return name
    reasons = []
    for candidate in BACKENDS:
        try:
            backend_class(candidate).check()
        except SandboxError as error:
            reasons.append(f"{candidate}: {error}")
        else:
            return candidate
    raise SandboxError(f"no sandbox can run here. {' '.join(reasons)}", kind="no_backend")


def open_sandbox(backend: str, spec: SandboxSpec) -> Sandbox:
    """A sandbox that is not yet started: use it in a `with` block, or call `start` and `close`."""
    return backend_class(backend)(spec)
