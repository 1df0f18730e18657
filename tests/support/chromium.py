"""The Chromium of this machine, and pictures of its pages for the documentation."""

from __future__ import annotations

import os
import shutil
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from PIL import Image

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

#: Milliseconds to wait for what a page shows: a machine with other work to do is slow to draw.
PATIENCE = 30_000
_NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")


def find_chromium() -> str | None:
    """Return where Chromium is, None where there is none."""
    return next(filter(None, map(shutil.which, _NAMES)), None)


def keep_picture(shown: Page | Locator, name: str) -> None:
    """Keep a picture in the folder KGP_NEO4J_PICTURES, where that is set."""
    if folder := os.environ.get("KGP_NEO4J_PICTURES"):
        taken = Image.open(BytesIO(shown.screenshot())).convert("RGB")
        taken.quantize(128).save(Path(folder) / name, optimize=True)
