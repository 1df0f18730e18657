"""The output folder of a training: its settings, checkpoint, result and model card."""

import datetime
import hashlib
import json
import shutil
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from kgp_neo4j.environment.disk import disk_errors
from kgp_neo4j.environment.files import expanded
from kgp_neo4j.types.errors import ConfigurationError, ModelError

_SETTINGS_FILE = "kgp-training.json"


class Folder:
    """An output folder, whose `checkpoint` belongs to an unfinished run of the same `settings`.

    Raises ConfigurationError where the folder has a finished training or one with other settings
    and `overwrite` is not given, and where it has other files: those are never deleted.
    """

    def __init__(self, path: Path, settings: Mapping[str, Any], *, overwrite: bool) -> None:
        self.path = path
        self.checkpoint = path / "checkpoint.safetensors"
        self._settings = json.loads(json.dumps(settings))
        before = self._read()
        if overwrite:
            shutil.rmtree(path, ignore_errors=True)
        elif before not in (None, {"settings": self._settings, "result": None}):
            problem = "the folder holds a training that is finished or has other settings"
            hint = "Choose another --out, or give --overwrite to train anew."
            raise ConfigurationError(problem, where=str(path), hint=hint)
        with self.saving():
            path.mkdir(parents=True, exist_ok=True)
            self._write(None)

    def saving(self) -> AbstractContextManager[None]:
        """Turn an OSError in the block into a ModelError that names the folder."""
        hint = "Make room, or choose another --out."
        return disk_errors(self.path, "the folder cannot be written", ModelError, hint)

    def finish(self, result: Mapping[str, Any], title: str, facts: Iterable[str]) -> None:
        """Write the result and a model card, and delete the checkpoint."""
        lines = [
            f"# {title}",
            "",
            *(f"- {fact}" for fact in facts),
            f"- Trained: {datetime.datetime.now(datetime.UTC).date()}, by `kgp-neo4j train`",
            "- Licence: to be chosen by whoever passes it on, within those of the model it began "
            "with and of the data",
            "",
            "| setting | |",
            "|---|---|",
            *(f"| {name} | {value} |" for name, value in self._settings.items()),
        ]
        (self.path / "README.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
        self._write(result)
        self.checkpoint.unlink(missing_ok=True)

    def _read(self) -> Any:
        """Return what an earlier training wrote; None for a folder that is new or empty."""
        if not self.path.exists() or (self.path.is_dir() and not any(self.path.iterdir())):
            return None
        try:
            return json.loads((self.path / _SETTINGS_FILE).read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            problem = "the folder holds something that no training made"
            hint = "Choose another --out."
            raise ConfigurationError(problem, where=str(self.path), hint=hint) from error

    def _write(self, result: Mapping[str, Any] | None) -> None:
        text = json.dumps({"settings": self._settings, "result": result}, indent=2)
        (self.path / _SETTINGS_FILE).write_text(text + "\n", encoding="utf-8")


def digest(examples: Iterable[object]) -> str:
    """Return sixteen characters that differ for other training data."""
    text = "\n".join(map(repr, examples))
    return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:16]


def named(model: str) -> str:
    """Return a model's name for cards and settings, which must not tell a local path."""
    return Path(model).name if expanded(model).is_dir() else model
