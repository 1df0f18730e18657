"""How `kgp-neo4j evaluate` ends: a report printed, and kept in a folder."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kgp_neo4j.cli._output import echo_json, write_file

if TYPE_CHECKING:
    from kgp_neo4j.evaluate.experiment import Result
    from kgp_neo4j.evaluate.graph_experiment import GraphResult
    from kgp_neo4j.evaluate.report import Table

__all__ = ["tell_evaluation", "tell_report"]


def tell_evaluation(
    result: Result | GraphResult,
    about: Sequence[str],
    tables: Sequence[Table],
    out: Path | None,
    *,
    as_json: bool,
) -> None:
    """Print an evaluation, and write report and scores to the folder `out` where one is given."""
    means = {name: run.means() for name, run in result.runs.items()}
    missing = {name: list(run.missing) for name, run in result.runs.items() if run.missing}
    told = {"dataset": result.dataset, "methods": means, "missing": missing}
    if out is not None:
        kept = {"dataset": result.dataset, "settings": result.settings, "methods": means}
        write_file(out / "scores.json", json.dumps(kept, indent=1) + "\n")
    tell_report(about, tables, out, as_json=told if as_json else None)


def tell_report(
    about: Sequence[str],
    tables: Sequence[Table],
    out: Path | None,
    *,
    picture: str = "",
    as_json: Any = None,
) -> None:
    """Print a report, or `as_json` in its place, and write it to `out` as Markdown and as a page.

    `picture` is SVG.
    """
    from kgp_neo4j.evaluate.report import markdown_report, page_report

    report = markdown_report(about, tables)
    if out is not None:
        write_file(out / "report.md", report)
        write_file(out / "report.html", page_report(about, tables, picture))
    if as_json is None:
        click.echo(report, nl=False)
    else:
        echo_json(as_json)
