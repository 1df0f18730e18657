"""The Chromium of this machine, and pictures of its pages for the documentation."""

from __future__ import annotations

import os
import shutil
from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image
from playwright.sync_api import Locator, Page

__all__ = ["find_chromium", "keep_picture"]

_NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")


def find_chromium() -> str:
    """Return where Chromium is; without one the test is left out, but never in CI."""
    found = next(filter(None, map(shutil.which, _NAMES)), None)
    if found is None:
        if os.environ.get("CI") == "true":
            pytest.fail("there is no Chromium, and CI needs one: apt-get install chromium")
        pytest.skip("there is no Chromium on this machine")
    return found


def keep_picture(shown: Page | Locator, name: str) -> None:
    """Keep a picture in the folder KGP_NEO4J_PICTURES, where that is set."""
    if folder := os.environ.get("KGP_NEO4J_PICTURES"):
        taken = Image.open(BytesIO(shown.screenshot())).convert("RGB")
        taken.quantize(128).save(Path(folder) / name, optimize=True)
