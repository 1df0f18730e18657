"""`kgp-neo4j serve` as a process of its own."""

import os
import re
import signal
import subprocess
import sys

import httpx
from commands import environment

from kgp_neo4j.demo import QUESTION
from kgp_neo4j.graphdb.database import Database


def test_the_command_serves_until_it_is_interrupted(database: Database, demo_graph: str) -> None:
    variables = {**os.environ, **environment(database.connection)}
    command = [sys.executable, "-m", "kgp_neo4j.cli", "serve", "--port", "0"]
    process = subprocess.Popen(command, env=variables, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        told = ""
        while not (found := re.search(r"http://127\.0\.0\.1:\d+", told)):
            line = process.stderr.readline()
            assert line, told  # it ended
            told += line
        asked = {"question": QUESTION, "corpus": demo_graph}
        assert httpx.post(f"{found[0]}/ask", json=asked, timeout=120).status_code == 200
        process.send_signal(signal.SIGINT)
        logged = process.communicate(timeout=60)[1]
    finally:
        process.kill()
    # What was asked stays in the service.
    assert "/ask" in logged
    assert "Hesk" not in logged
