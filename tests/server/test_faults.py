"""The short form of benchmarks/faults.py: ten faults, after which nothing is lost or half."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from commands import environment

from kgp_neo4j.graphdb.database import Database

_HARNESS = Path(__file__).parents[2] / "benchmarks" / "faults.py"


@pytest.mark.slow
def test_ten_faults(database: Database, tmp_path: Path) -> None:
    log = tmp_path / "faults.jsonl"
    done = subprocess.run(
        [sys.executable, str(_HARNESS), "--short", "--faults", "10", "--log", str(log)],
        env=os.environ | environment(database.connection),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert [line["problems"] for line in lines] == [[]] * 10
    assert any(line["client"] != 0 for line in lines)
