"""A server for tests that sends the bytes it is told to, and hangs or goes where it is told."""

import contextlib
import json
import socket
import struct
import threading
import time
from collections.abc import Sequence
from typing import Any

#: The connection is reset here.
RESET = None


class RawServer:
    """Answers with the same pieces (bytes, seconds to wait, RESET), and keeps all `requests`."""

    def __init__(self, pieces: Sequence[bytes | float | None]) -> None:
        self.pieces = pieces
        self.requests: list[bytes] = []
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.host = f"127.0.0.1:{self._listening.getsockname()[1]}"
        self.url = f"http://{self.host}/v1"
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        """Take no more requests."""
        self._listening.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self._listening.accept()
                threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError):
            came = b""
            while (sent := connection.recv(65536)) and not _complete(came := came + sent):
                pass
            self.requests.append(came)
            for piece in self.pieces:
                if isinstance(piece, bytes):
                    connection.sendall(piece)
                elif piece is RESET:
                    at_once = struct.pack("ii", 1, 0)
                    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, at_once)
                    return
                else:
                    time.sleep(piece)


def _complete(came: bytes) -> bool:
    if came.startswith((b"\x16", b"\x60\x60\xb0\x17")):  # it speaks TLS, or Bolt
        return True
    start, end, body = came.partition(b"\r\n\r\n")
    lines = [line for line in start.lower().split(b"\r\n") if line.startswith(b"content-length:")]
    return bool(end) and len(body) >= (int(lines[0].split(b":")[1]) if lines else 0)


def head(kind: str = "application/json", status: str = "200 OK", **headers: str) -> bytes:
    """Return the head of an answer that ends where the connection does."""
    named = {"Content-Type": kind, "Connection": "close"} | {
        name.replace("_", "-"): value for name, value in headers.items()
    }
    lines = [f"HTTP/1.1 {status}", *(f"{name}: {value}" for name, value in named.items())]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def whole(value: Any, status: str = "200 OK", **headers: str) -> list[bytes]:
    """Return an answer in one piece: a value as JSON, or bytes as they are."""
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    return [head(status=status, **headers), data]


def event(value: Any) -> bytes:
    """Return an event of a stream: a value as JSON, or bytes as they are."""
    data = value if isinstance(value, bytes) else json.dumps(value, ensure_ascii=False).encode()
    return b"data: " + data + b"\n\n"
