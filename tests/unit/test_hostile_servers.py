"""Chat servers that do what no server should: every reply is one, or an error in our words."""

import dataclasses
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
from chat_server import ChatServer, Pause, completion, error, stream
from raw_server import RESET, RawServer, event, head, whole

from kgp_neo4j.environment.configuration import LanguageSettings
from kgp_neo4j.environment.folders import Connection, checked_url
from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.llm import chat
from kgp_neo4j.llm.chat import ChatModel
from kgp_neo4j.types.corpus import Reply
from kgp_neo4j.types.errors import ConfigurationError, ContextError, DatabaseError, ModelError

_KEY = "sk-only-for-tests-0123456789"
_STREAM = head("text/event-stream")
_DONE = event(b"[DONE]")

Serve = Callable[[Sequence[bytes | float | None]], RawServer]


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Iterator[Serve]:
    """What starts a server of one answer; the key is set."""
    monkeypatch.setenv("OPENAI_API_KEY", _KEY)
    made: list[RawServer] = []

    def start(pieces: Sequence[bytes | float | None]) -> RawServer:
        made.append(RawServer(pieces))
        return made[-1]

    yield start
    for server in made:
        server.close()


def _asked(server: RawServer, **settings: Any) -> tuple[Reply, str]:
    """Return the reply, and what was shown of it."""
    given = {"url": server.url, "retries": 0, "timeout": 20.0} | settings
    shown: list[str] = []
    reply = ChatModel("m", LanguageSettings(**given)).reply("", "Who is it?", on_text=shown.append)
    return reply, "".join(shown)


def _piece(content: Any = None, finish: Any = None, **delta: Any) -> dict[str, Any]:
    said = delta | ({} if content is None else {"content": content})
    return {"choices": [{"index": 0, "delta": said, "finish_reason": finish}]}


_END = event(_piece(finish="stop"))


@pytest.mark.parametrize(
    ("pieces", "text"),
    [
        # What goes wrong after the end was not needed.
        ([event(_piece("Ada", "stop")), RESET], "Ada"),
        ([event(_piece("Ada", "stop")), event(b"{"), _DONE], "Ada"),
        # What is no piece of a reply is passed over.
        ([event({"choices": []}), event({"choices": None}), event(_piece("Ada", "stop"))], "Ada"),
        # Reasoning beside the text, and within it; calls of tools that nobody offered.
        ([event(_piece("", reasoning_content="Hm.")), event(_piece("Ada", "stop"))], "Ada"),
        ([event(_piece([{"type": "thinking"}, {"type": "text", "text": "Ada"}])), _END], "Ada"),
        ([event(_piece(None, "tool_calls", tool_calls=[{"index": 0}])), _DONE], ""),
    ],
)
def test_odd_streams(serve: Serve, pieces: Sequence[bytes | float | None], text: str) -> None:
    server = serve([_STREAM, *pieces])
    made, shown = _asked(server)
    assert (made.text, shown) == (text, text)
    assert made.finish == ("stop" if text else "empty")
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "counts",
    [{"prompt_tokens": 10**400}, {"prompt_tokens": "many"}, {"completion_tokens": -3}, [1]],
)
def test_counts_that_cannot_be_are_estimated(serve: Serve, counts: Any) -> None:
    last = event({"choices": [], "usage": counts})
    made, _ = _asked(serve([_STREAM, event(_piece("Ada.", "stop")), last]))
    assert 0 < made.prompt_tokens < 100
    assert 0 < made.reply_tokens < 10
    assert made.estimated


@pytest.mark.parametrize(
    ("sent", "status"), [(b": ping\n\n", "200 OK"), (event(_piece("a")), "200 OK"), (b" ", "400 x")]
)
def test_a_reply_as_a_whole_ends_in_time(
    serve: Serve, monkeypatch: pytest.MonkeyPatch, sent: bytes, status: str
) -> None:
    monkeypatch.setattr(chat, "_WHOLE_REPLY", 1)
    pieces = [piece for _ in range(100) for piece in (sent, 0.05)]
    server = serve([head("text/event-stream", status), *pieces])
    begun = time.monotonic()
    with pytest.raises(ModelError, match=r"did not end its reply within 0\.5 s"):
        _asked(server, timeout=0.5, retries=2)
    assert time.monotonic() - begun < 4
    assert len(server.requests) == 1


def test_a_server_never_says_what_it_has(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chat, "_WHOLE", 0.5)
    settings = LanguageSettings(url=serve([b" ", 0.2] * 50).url)
    begun = time.monotonic()
    assert settings.url not in [each.url for each in chat.available(settings)]
    assert time.monotonic() - begun < 4


def test_a_slow_reader_is_no_slow_server(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chat, "_WHOLE_REPLY", 1)
    server = serve([_STREAM, *(event(_piece(f"{n} ")) for n in range(4)), _END])
    model = ChatModel("m", LanguageSettings(url=server.url, retries=0, timeout=1.0))
    made = model.reply("", "Count.", on_text=lambda text: time.sleep(0.4))
    assert made.text == "0 1 2 3"


def test_a_reply_without_end_is_cut_off(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chat, "_MOST_CHARACTERS", 1000)
    made, _ = _asked(serve([_STREAM, *[event(_piece("word " * 50))] * 100, 30.0]))
    assert made.finish == "length"
    assert 1000 <= len(made.text) < 2000


@pytest.mark.parametrize("status", ["200 OK", "400 x"])
def test_any_answer_is_bounded(serve: Serve, monkeypatch: pytest.MonkeyPatch, status: str) -> None:
    monkeypatch.setattr(chat, "_MOST_BYTES", 10 << 20)
    server = serve([head(status=status), *[b"data: " + b"x" * (1 << 20)] * 20, 30.0])
    with pytest.raises(ModelError, match="sent more than 10 MB"):
        _asked(server)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (whole({"error": f"nope {_KEY}"}, "400 x"), r"\(400: nope \*\*\*\)"),
        (whole(error("a\x1b]0;b\x07\u202ec\nd"), "400 x"), r"\(400: ac d\)"),
        (whole(error(f"a {_KEY[:9]}\u200b{_KEY[9:]}"), "400 x"), r"\(400: a \*\*\*\)"),
        (whole(error(f"overloaded {_KEY}")), r"sent an error .* \(overloaded \*\*\*\)"),
        ([_STREAM, event({"error": "boom"})], r"sent an error .*boom\)"),
        *(
            (answer, "did not reply in the OpenAI protocol")
            for answer in (
                [head("text/html"), b"<html>hi</html>"],
                whole(b""),
                whole(b'{"choices": "\xff"}'),
                whole({"choices": [{"text": "hi"}]}),
            )
        ),
        # The connection is lost within a refusal.
        ([head(status="500 x", Content_Length="99"), b"{", RESET], "lost the connection"),
        (whole(error("no such model"), "404 x"), r"has no model '.*\(404\)"),
        (whole(error(f"wrong {_KEY}"), "401 x"), r"refused the key \(401\).*OPENAI_API_KEY"),
        ([b"SSH-2.0-OpenSSH\r\n"], r"cannot be reached \(Server disconnected"),
        ([RESET], r"cannot be reached \(.*reset"),
        (whole(error("q"), "429 x"), r"\(429\)\. Wait, or see your quota"),
        (
            whole(error("q"), "429 x", Retry_After="Wed, 21 Oct 2099 07:28:00 GMT"),
            r"Wait until Wed, 21 Oct 2099 07:28:00 GMT, or see",
        ),
    ],
)
def test_faults_are_said(serve: Serve, answer: Sequence[bytes | float | None], said: str) -> None:
    server = serve(answer)
    with pytest.raises(ModelError, match=said) as caught:
        _asked(server)
    assert _KEY not in str(caught.value)
    assert str(caught.value).isprintable()


@pytest.mark.parametrize("before", [262, 283, 297])
def test_no_part_of_a_key_is_left_where_a_message_is_cut(serve: Serve, before: int) -> None:
    server = serve(whole({"detail": "x" * before + _KEY}, "400 x"))
    with pytest.raises(ModelError) as caught:
        _asked(server)
    assert _KEY[:6] not in str(caught.value)


@pytest.mark.parametrize("status", [301, 307])
def test_no_redirection_is_followed(serve: Serve, status: int) -> None:
    other = serve(whole(completion("from elsewhere")))
    here = serve([head(status=f"{status} x", Location=f"http://me:hidden@{other.host}/v1")])
    with pytest.raises(ModelError, match="wants the request at another address") as caught:
        _asked(here)
    assert other.host in str(caught.value)
    assert "hidden" not in str(caught.value)
    assert other.requests == []


@pytest.mark.parametrize(
    ("refusal", "reads"),
    [
        # Of vLLM, vLLM, SGLang, llama.cpp, Ollama, TGI, OpenAI, Gemini and Anthropic.
        ("You passed 5000 input tokens. However, the model's context length is only 4096", 4096),
        ("The decoder prompt (length 5000) is longer than the maximum model length of 4096", 4096),
        ("The input (5000 tokens) is longer than the model's context length (4096 tokens)", 4096),
        ("request (5000 tokens) exceeds the available context size (4096 tokens), try", 4096),
        ("the input length exceeds the context length", None),
        ("`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 `inputs` tokens", 4096),
        ("Input tokens exceed the configured limit of 4096 tokens. Yours are 5000", 4096),
        ("The input token count (5000) exceeds the maximum number of tokens allowed (4096)", 4096),
        ("prompt is too long: 5000 tokens > 4096 maximum", None),
    ],
)
def test_words_for_a_long_prompt(chat_server: ChatServer, refusal: str, reads: int | None) -> None:
    status = 422 if "`inputs`" in refusal else 400
    chat_server.answer = lambda body: (status, error(refusal))
    model = ChatModel("m", LanguageSettings(url=chat_server.url))
    with pytest.raises(ContextError):
        model.reply("", "word " * 5000)
    if reads is not None:
        assert model.context == reads
        assert len(chat_server.bodies) == 1


@pytest.mark.parametrize(
    ("url", "said"),
    [
        *((url, "is no http address") for url in (
            *("http://a b/v1", "http://h:99999/v1", "http://h:x/v1", "http://[::1/v1"),
            *("http:///v1", "http://h:0/v1", "file:///etc/passwd", "http://h\x00/v1"),
            *("http://a\u200bb/v1", "http://h\\@other/v1"),
        )),
        ("http://me:secret@127.0.0.1/v1", "a user, a password or a query"),
        ("http://h/v1?key=secret", "a user, a password or a query"),
    ],
)  # fmt: skip
def test_addresses_that_cannot_be(url: str, said: str) -> None:
    with pytest.raises(ConfigurationError, match=said) as caught:
        checked_url(url)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("HTTP_PROXY", "socks://me:hidden@127.0.0.1:1"),
        ("HTTP_PROXY", "http://me:hid/den@h"),
        ("SSL_CERT_FILE", "/nowhere/hidden"),
    ],
)
def test_what_the_environment_says_of_connections_is_named_and_not_shown(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str
) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(ConfigurationError, match=f"no connection can be made.*{variable}") as said:
        ChatModel("m", LanguageSettings(url="http://127.0.0.1:9/v1"))
    assert "hid" not in str(said.value)


def test_a_server_that_takes_no_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0), backlog=0) as busy:
        full = [socket.socket() for _ in range(3)]
        for each in full:
            each.setblocking(False)
            each.connect_ex(busy.getsockname())
        url = f"http://127.0.0.1:{busy.getsockname()[1]}/v1"
        monkeypatch.setattr(chat, "CONNECT_SECONDS", 0.3)
        with pytest.raises(ModelError, match=r"cannot be reached within 0\.3 s"):
            ChatModel("m", LanguageSettings(url=url, retries=0)).reply("", "Who?")
        for each in full:
            each.close()


def test_an_interrupt_waits_for_no_server(chat_server: ChatServer) -> None:
    """Several prompts are asked at once, by threads that a process must not wait for."""
    chat_server.answer = lambda body: (200, stream(Pause(120.0)))
    script = (
        "from kgp_neo4j.environment.configuration import LanguageSettings\n"
        "from kgp_neo4j.llm.chat import open_language_model, replies\n"
        f"model = open_language_model(LanguageSettings(model='m', url={chat_server.url!r}))\n"
        "try:\n"
        "    replies(model, '', list('abcdef'))\n"
        "except KeyboardInterrupt:\n"
        "    raise SystemExit(130)\n"
    )
    running = subprocess.Popen(
        [sys.executable, "-c", script],
        # A test run in the background ignores SIGINT, and hands that on.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    try:
        while len(chat_server.bodies) < 4:
            time.sleep(0.05)
            assert running.poll() is None
        running.send_signal(signal.SIGINT)
        assert running.wait(60) == 130
    finally:
        running.kill()


@pytest.mark.parametrize(
    "message",
    [b"\xff\x7f\x80", b"\xb1\x55\xa0", b"\xb1\x7f\x81\xff\xff", b"\xb1\x71\x90", b"\xb1\x7f\x80"],
)
def test_a_database_that_speaks_no_bolt_is_an_error_of_ours(serve: Serve, message: bytes) -> None:
    agreed = b"\x00\x00\x08\x05"
    server = serve([agreed, len(message).to_bytes(2) + message + b"\x00\x00", 0.1])
    with (
        Database(Connection(f"bolt://{server.host}", "neo4j", "password")) as database,
        pytest.raises(DatabaseError) as raised,
    ):
        database.verify()
    assert str(raised.value).startswith("cypher/install/state.cypher")


@pytest.mark.parametrize("scheme", ["bolt+s", "bolt+ssc", "neo4j+s"])
def test_a_server_without_tls_is_told_with_what_helps(connection: Connection, scheme: str) -> None:
    place = connection.uri.partition("://")[2]
    with (
        Database(dataclasses.replace(connection, uri=f"{scheme}://{place}")) as database,
        pytest.raises(DatabaseError, match=r"does not answer .* \+ssc .* is for TLS"),
    ):
        database.verify()
