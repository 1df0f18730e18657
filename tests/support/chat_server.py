"""A server of the OpenAI protocol for tests, whose replies a test decides."""

import json
import socket
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Reply = tuple[int, Any] | tuple[int, Any, dict[str, str]]


@dataclass(frozen=True)
class Drop:
    """The connection ends here, in the middle."""


@dataclass(frozen=True)
class Pause:
    """Nothing is sent for so long."""

    seconds: float


@dataclass(frozen=True)
class Stream:
    """A reply in pieces (server-sent events): what each holds, or what happens instead."""

    pieces: Sequence[dict[str, Any] | bytes | Drop | Pause]


class ChatServer(ThreadingHTTPServer):
    """Answers by `answer`, a function of the request's body; keeps what it was sent.

    An answer is a status with a JSON value, bytes or a Stream; and headers, where it needs some. A
    completion is sent as a stream where one was asked for, unless `streams` is False.
    """

    answer: Callable[[dict[str, Any]], Reply]
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.bodies: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self.url = f"http://127.0.0.1:{self.server_port}/v1"
        self.streams = True
        self.answer = lambda body: (200, completion("Ada Moor was born in Sund."))

    def handle_error(self, *_: object) -> None:
        """A client that has gone is nothing to report."""


class _Handler(BaseHTTPRequestHandler):
    server: ChatServer

    def do_GET(self) -> None:
        known = self.path == "/v1/models"
        self._whole(*((200, {"data": [{"id": "m"}]}) if known else (404, {})), {})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.bodies.append(body)
        self.server.keys.append(self.headers["Authorization"])
        status, answer, *more = self.server.answer(body)
        headers = more[0] if more else {"Retry-After-Ms": "1"}
        if self.path != "/v1/chat/completions":
            status, answer = 404, {"error": {"message": "no such path"}}
        if self.server.streams and "stream" in body and status == 200:
            answer = _streamed(answer)
        if isinstance(answer, Drop):
            self._drop()
        elif isinstance(answer, Stream):
            self._stream(answer, headers)
        else:
            self._whole(status, answer, headers)

    def _whole(self, status: int, answer: Any, headers: dict[str, str]) -> None:
        data = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        kind = "text/html" if isinstance(answer, bytes) else "application/json"
        self._head(status, {"Content-Type": kind, "Content-Length": str(len(data))} | headers)
        self.wfile.write(data)

    def _head(self, status: int, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()

    def _stream(self, answer: Stream, headers: dict[str, str]) -> None:
        self.protocol_version = "HTTP/1.1"
        kind = {"Content-Type": "text/event-stream", "Transfer-Encoding": "chunked"}
        self._head(200, kind | {"Connection": "close"} | headers)
        self.close_connection = True
        for piece in answer.pieces:
            if isinstance(piece, Drop):
                self._drop()
                return
            if isinstance(piece, Pause):
                time.sleep(piece.seconds)
                continue
            data = piece if isinstance(piece, bytes) else json.dumps(piece).encode()
            event = b"data: " + data + b"\n\n"
            self.wfile.write(f"{len(event):x}\r\n".encode() + event + b"\r\n")
            self.wfile.flush()
        self.wfile.write(b"0\r\n\r\n")

    def _drop(self) -> None:
        self.wfile.flush()
        self.connection.shutdown(socket.SHUT_RDWR)
        self.close_connection = True

    def log_message(self, *_: object) -> None:
        return None


def completion(
    text: str | None, finish: str = "stop", usage: tuple[int, int] | None = None, **message: object
) -> dict[str, Any]:
    """Return a whole reply; `usage` are the tokens read and written, which not all servers tell."""
    said = {"role": "assistant", "content": text} | message
    made = _made("chat.completion", {"message": said, "finish_reason": finish})
    return made | _usage(usage)


def stream(
    *texts: str | Drop | Pause | bytes,
    finish: str | None = "stop",
    usage: tuple[int, int] | None = None,
) -> Stream:
    """Return a reply in the pieces given, up to its end, or to where the connection drops."""
    pieces: list[dict[str, Any] | bytes | Drop | Pause] = []
    for text in texts:
        pieces.append(_piece({"content": text}, None) if isinstance(text, str) else text)
    pieces.append(_piece({}, finish))
    if usage is not None:
        pieces.append(_piece({}, None) | {"choices": []} | _usage(usage))
    return Stream([*pieces, b"[DONE]"])


def _streamed(answer: Any) -> Any:
    """Return a completion as a stream of one piece; anything else as it is."""
    if not isinstance(answer, dict) or not answer.get("choices"):
        return answer
    choice = answer["choices"][0]
    piece = _piece(choice["message"], choice["finish_reason"])
    return Stream([piece | {"usage": answer.get("usage")}, b"[DONE]"])


def _piece(delta: dict[str, Any], finish: str | None) -> dict[str, Any]:
    return _made("chat.completion.chunk", {"delta": delta, "finish_reason": finish})


def _made(kind: str, choice: dict[str, Any]) -> dict[str, Any]:
    choices = [{"index": 0} | choice]
    return {"id": "1", "object": kind, "created": 1, "model": "m", "choices": choices}


def _usage(usage: tuple[int, int] | None) -> dict[str, Any]:
    if usage is None:
        return {}
    read, written = usage
    counts = {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}
    return {"usage": counts}


def error(text: str, param: str | None = None, **more: object) -> dict[str, Any]:
    """Return a refusal; `more` are further fields of it, `code` for one."""
    return {"error": {"message": text, "type": "error", "param": param, "code": None} | more}
