"""The output folder of a training: its settings, checkpoints, result and model card."""

from __future__ import annotations

import datetime
import hashlib
import json
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kgp_neo4j.types.errors import ConfigurationError, ModelError

__all__ = ["Folder", "Report", "card", "digest", "named", "no_divergence"]

_SETTINGS_FILE = "kgp-training.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What every training reports.

    `resumed` is the step it continued from, and `done_before` is true where it was finished before.
    """

    steps: int
    seconds: float
    resumed: int = 0
    done_before: bool = False


class Folder:
    """An output folder; a run continues an earlier one that had the same `settings`.

    Raises ConfigurationError where the folder has a training with other settings and `overwrite` is
    not given, and where it has other files: those are never deleted.
    """

    def __init__(self, path: Path, settings: Mapping[str, Any], *, overwrite: bool) -> None:
        self.path = path
        self.checkpoints = path / "checkpoints"
        self._settings = json.loads(json.dumps(settings))
        before = self._read()
        if before is not None and (overwrite or before.get("settings") != self._settings):
            if not overwrite:
                old = before.get("settings") or {}
                names = old | self._settings
                changed = sorted(n for n in names if old.get(n) != self._settings.get(n))
                raise ConfigurationError(
                    f"the folder holds a training with other settings ({', '.join(changed)})",
                    where=str(path),
                    hint="Choose another --out, or give --overwrite to train anew.",
                )
            shutil.rmtree(path)
            before = None
        #: The report of the finished run; None while it is unfinished.
        self.result: dict[str, Any] | None = (before or {}).get("result")
        #: The newest complete checkpoint, and its step.
        self.last, self.resumed = self._last_checkpoint()
        if before is None:
            with self.saving():
                path.mkdir(parents=True, exist_ok=True)
                self._write(None)

    @contextmanager
    def saving(self) -> Iterator[None]:
        """Turn an OSError in the block into a ModelError that names the folder."""
        try:
            yield
        except OSError as error:
            raise ModelError(
                f"the folder cannot be written ({error.strerror or error})",
                where=str(self.path),
                hint="Make room, or choose another --out; the same command goes on from the last "
                "checkpoint.",
            ) from error

    def finish(self, result: Mapping[str, Any], card: str) -> None:
        """Write the card and the result, and delete the checkpoints."""
        (self.path / "README.md").write_text(card, encoding="utf-8")
        self._write(result)
        shutil.rmtree(self.checkpoints, ignore_errors=True)

    def _last_checkpoint(self) -> tuple[Path | None, int]:
        complete = [
            (int(number), folder)
            for folder in self.checkpoints.glob("checkpoint-*")
            if (number := folder.name.rpartition("-")[2]).isdigit()
            # Written last: a checkpoint without it is incomplete.
            and _json(folder / "trainer_state.json") is not None
        ]
        if not complete:
            return None, 0
        step, place = max(complete)
        return place, step

    def _read(self) -> dict[str, Any] | None:
        if not self.path.exists() or (self.path.is_dir() and not any(self.path.iterdir())):
            return None
        before = _json(self.path / _SETTINGS_FILE)
        if not isinstance(before, dict):
            raise ConfigurationError(
                "the folder holds something that no training made",
                where=str(self.path),
                hint="Choose another --out.",
            )
        return before

    def _write(self, result: Mapping[str, Any] | None) -> None:
        text = json.dumps({"settings": self._settings, "result": result}, indent=2)
        part = self.path / f"{_SETTINGS_FILE}.part"
        part.write_text(text + "\n", encoding="utf-8")
        part.replace(self.path / _SETTINGS_FILE)


def _json(path: Path) -> Any:
    """Return the value of a file; None where it is missing or broken."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def digest(examples: Iterable[object]) -> str:
    """Return sixteen characters that differ for other training data."""
    hasher = hashlib.sha256()
    for example in examples:
        hasher.update(repr(example).encode("utf-8", "backslashreplace"))
    return hasher.hexdigest()[:16]


def named(model: str) -> str:
    """Return a model's name for cards and settings, which must not tell a local path."""
    return Path(model).name if Path(model).expanduser().is_dir() else model


def no_divergence(out: Path) -> ModelError:
    """Return the error of a training whose loss is no number."""
    return ModelError(
        "the training diverged: its loss is no number",
        where=str(out),
        hint="Train anew with a lower --rate and --overwrite.",
    )


def card(title: str, about: str, facts: Iterable[str], settings: Mapping[str, Any]) -> str:
    """Return a model card in Markdown: what it is, how it was made, and its settings."""
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    return "\n".join(
        [
            f"# {title}",
            "",
            about,
            "",
            *(f"- {fact}" for fact in facts),
            f"- Trained: {today}, by `kgp-neo4j train`",
            "- Licence: to be chosen by whoever passes it on, within those of the model it began "
            "with and of the data",
            "",
            "| setting | |",
            "|---|---|",
            *(f"| {name} | {value} |" for name, value in settings.items()),
            "",
        ]
    )
