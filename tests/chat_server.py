"""A server of the OpenAI protocol for tests, whose replies a test decides."""

from __future__ import annotations

import json
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

__all__ = ["ChatServer", "Reply", "completion", "error"]

Reply = tuple[int, Any]


class ChatServer(ThreadingHTTPServer):
    """Answers by `answer`, a function of the request's body; keeps what it was sent."""

    answer: Callable[[dict[str, Any]], Reply]

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.bodies: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self.url = f"http://127.0.0.1:{self.server_port}/v1"
        self.answer = lambda body: (200, completion("Ada Moor was born in Sund."))


class _Handler(BaseHTTPRequestHandler):
    server: ChatServer

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.bodies.append(body)
        self.server.keys.append(self.headers["Authorization"])
        status, answer = self.server.answer(body)
        if self.path != "/v1/chat/completions":
            status, answer = 404, {"error": {"message": "no such path"}}
        data = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        self.send_response(status)
        kind = "text/html" if isinstance(answer, bytes) else "application/json"
        self.send_header("Content-Type", kind)
        self.send_header("Retry-After-Ms", "1")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        return None


def completion(text: str | None, finish: str = "stop", **message: object) -> dict[str, Any]:
    said = {"role": "assistant", "content": text} | message
    return {
        "id": "1",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [{"index": 0, "message": said, "finish_reason": finish}],
    }


def error(text: str, param: str | None = None) -> dict[str, Any]:
    return {"error": {"message": text, "type": "error", "param": param, "code": None}}
