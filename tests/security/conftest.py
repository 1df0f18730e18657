"""What the tests of security share."""

import http.server
import threading
from collections.abc import Iterator

import pytest


@pytest.fixture(scope="module")
def address() -> Iterator[tuple[str, list[str]]]:
    """An address on loopback, and what was asked for there."""
    asked: list[str] = []

    class Answer(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b'{"secret": 1}\n')

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answer) as served:
        threading.Thread(target=served.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{served.server_port}/secret", asked
        served.shutdown()
