"""Spans of OpenTelemetry around requests, hops and statements, where a program records them.

Nothing is imported here: a program that records spans has imported OpenTelemetry already, and in
any other one a span costs a look into a dictionary.
"""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager, nullcontext

__all__ = ["span"]

_NONE = nullcontext()


def span(name: str, **attributes: str | int | float) -> AbstractContextManager[object]:
    """Return a span for the block, a child of the one around it; it notes what is raised."""
    trace = sys.modules.get("opentelemetry.trace")
    if trace is None:
        return _NONE
    found: AbstractContextManager[object] = trace.get_tracer("kgp_neo4j").start_as_current_span(
        name, attributes=attributes
    )
    return found
