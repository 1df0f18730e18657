"""Manage the output folder of a training: settings, checkpoints, and the model card."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kgp_neo4j.types.errors import ConfigurationError, ModelError

__all__ = ["SETTINGS_FILE", "Folder"]

SETTINGS_FILE = "kgp-training.json"


class Folder:
    """An output folder; a run continues an earlier one that had the same `settings`.

    Raises ConfigurationError where the folder has a training with other settings and `overwrite` is
    not given, and where it has other files: those are never deleted.
    """

    def __init__(self, path: Path, settings: Mapping[str, Any], *, overwrite: bool) -> None:
        self.path = path
        self.checkpoints = path / "checkpoints"
        self._settings = json.loads(json.dumps(settings))
        kept = self._kept()
        if kept is not None and (overwrite or kept.get("settings") != self._settings):
            if not overwrite:
                raise ConfigurationError(
                    f"the folder holds a training with other settings "
                    f"({', '.join(self._differences(kept))})",
                    where=str(path),
                    hint="Choose another --out, or give --overwrite to train anew.",
                )
            shutil.rmtree(path)
            kept = None
        #: The report of the finished run; None while it is unfinished.
        self.result: dict[str, Any] | None = (kept or {}).get("result")
        if kept is None:
            try:
                path.mkdir(parents=True, exist_ok=True)
                self._write(None)
            except OSError as error:
                raise ModelError(
                    f"the folder cannot be written ({error.strerror})",
                    where=str(path),
                    hint="Choose another --out.",
                ) from error

    def last_checkpoint(self) -> Path | None:
        """Return the newest complete checkpoint; its trainer_state.json is written last."""
        found = [
            (int(folder.name.rpartition("-")[2]), folder)
            for folder in self.checkpoints.glob("checkpoint-*")
            if folder.name.rpartition("-")[2].isdigit() and _is_json(folder / "trainer_state.json")
        ]
        return max(found)[1] if found else None

    def finish(self, result: Mapping[str, Any], card: str) -> None:
        """Write the card and the result, and delete the checkpoints."""
        (self.path / "README.md").write_text(card, encoding="utf-8")
        self._write(dict(result))
        shutil.rmtree(self.checkpoints, ignore_errors=True)

    def _kept(self) -> dict[str, Any] | None:
        file = self.path / SETTINGS_FILE
        if not self.path.exists() or (self.path.is_dir() and not any(self.path.iterdir())):
            return None
        try:
            kept = json.loads(file.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            kept = None
        if not isinstance(kept, dict):
            raise ConfigurationError(
                "the folder holds something that no training made",
                where=str(self.path),
                hint="Choose another --out.",
            )
        return kept

    def _differences(self, kept: Mapping[str, Any]) -> list[str]:
        old = kept.get("settings")
        old = old if isinstance(old, dict) else {}
        return sorted(
            name for name in old | self._settings if old.get(name) != self._settings.get(name)
        )

    def _write(self, result: dict[str, Any] | None) -> None:
        text = json.dumps({"settings": self._settings, "result": result}, indent=2)
        part = self.path / f"{SETTINGS_FILE}.part"
        part.write_text(text + "\n", encoding="utf-8")
        part.replace(self.path / SETTINGS_FILE)


def _is_json(path: Path) -> bool:
    try:
        json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return True
