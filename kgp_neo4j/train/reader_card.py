"""The model card of a trained reader."""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kgp_neo4j.train.reader import ReaderReport, ReaderSettings

__all__ = ["card"]


def card(settings: ReaderSettings, files: Sequence[Path], report: ReaderReport) -> str:
    """Return the card in Markdown: what it is, what it was trained on, what it reaches."""
    # A folder's place is nobody else's business.
    base = Path(settings.encoder)
    given = dataclasses.asdict(settings)
    given["encoder"] = base.name if base.expanduser().is_dir() else settings.encoder
    rows = "\n".join(f"| {name} | {value} |" for name, value in given.items())
    figures = "not measured: too few questions were held out"
    if report.right is not None and report.calibration_error is not None:
        figures = (
            f"{100 * report.right:.1f} % answered exactly, calibration error "
            f"{100 * report.calibration_error:.1f} points"
        )
    return f"""# Offline reader of kgp-neo4j

Finds the answer to a question in passages: a span, yes, no, or that it is not there. The top layers
of a sentence encoder and two heads; `reader.safetensors` holds what differs from the encoder, in
eight bits, `reader.json` how sure it is. Nothing in them can be executed.

- Data: {", ".join(path.name for path in files)}: {report.examples} examples
- Held out for calibration: {report.held_out} questions; {figures}
- Trained: {datetime.datetime.now(datetime.UTC).date().isoformat()}, {report.steps} steps, loss
  {report.loss:.4f}
- Licence: to be chosen by whoever passes it on, within those of the encoder and the data

| setting | |
|---|---|
{rows}

Made by `kgp-neo4j train reader`.
"""
