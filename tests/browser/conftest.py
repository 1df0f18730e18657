"""What the tests that drive a Chromium share."""

from collections.abc import Iterator

import pytest
from chromium import PATIENCE, find_chromium
from playwright.sync_api import Browser, expect, sync_playwright


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        made = playwright.chromium.launch(executable_path=find_chromium(), args=["--no-sandbox"])
        expect.set_options(timeout=PATIENCE)
        yield made
        made.close()
