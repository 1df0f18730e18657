"""A language model behind a server with the OpenAI protocol (`/chat/completions`)."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import Any

from kgp_neo4j.environment.addresses import checked_url, read_key
from kgp_neo4j.environment.configuration import LanguageSettings
from kgp_neo4j.environment.extras import needs
from kgp_neo4j.llm.chat_errors import CONNECT_SECONDS, context_of, explain, refused_option
from kgp_neo4j.llm.limits import limiter
from kgp_neo4j.llm.reply_text import ReplyStream, cost_of, estimate_tokens, without_reasoning
from kgp_neo4j.types.errors import ConfigurationError, ContextError, ModelError
from kgp_neo4j.types.language import Reply

__all__ = ["DEFAULT_URL", "ChatModel"]

DEFAULT_URL = "https://api.openai.com/v1"
#: What a server reads at least, where neither it nor the settings say more.
_CONTEXT = 8192
#: Tokens that a chat's form takes besides its texts.
_FORM = 16
#: Room that is worth asking for, where the context leaves less than was wanted.
_LEAST_ROOM = 128
#: The first wait after a connection that was lost within a reply; each further one is twice that.
_WAIT = 0.5
_LONGEST_WAIT = 8.0
#: How long a reply may take as a whole, in multiples of `llm.timeout`.
_WHOLE = 10
#: More than any reply has: bytes as they are sent, and characters of its text.
_MOST_BYTES = 64 << 20
_LONGEST = 1 << 20
_FINISH = {"length": "length", "max_tokens": "length", "content_filter": "refused"}
#: What the package openai sends to any server, keys of other kinds included.
_HEADERS = "OPENAI_CUSTOM_HEADERS"


class ChatModel:
    """A model of a chat server: that of `settings.url`, else OpenAI's own.

    The key comes from OPENAI_API_KEY, or from a file of mode 0600, and is shown nowhere. A busy or
    failing server is asked again with growing waits (as Retry-After says, where it does), and so is
    one that lost the connection within a reply. A setting that the model does not take is left out.
    """

    def __init__(self, name: str, settings: LanguageSettings | None = None) -> None:
        settings = settings or LanguageSettings()
        self.name = name
        self.context = settings.context or _CONTEXT
        #: True where the settings or the server itself said how much the model reads.
        self._context_known = settings.context is not None
        self._settings = settings
        self._url = checked_url(settings.url or DEFAULT_URL)
        self._key = _key(self._url, settings)
        self._client = _client(self._url, self._key, settings)
        self._limiter = limiter(
            f"{self._url} {name}", settings.requests_per_minute, settings.tokens_per_minute
        )
        #: Options that the model turned out not to take.
        self._refused: set[str] = set()

    def __repr__(self) -> str:
        return f"ChatModel({self.name!r}, {self._url!r})"

    @property
    def identity(self) -> str:
        """What tells this model from one of the same name: its server."""
        return f"chat {self._url}"

    def count(self, text: str) -> int:
        """Return how many tokens a text will hardly exceed; the server's tokenizer is unknown."""
        return estimate_tokens(text)

    def reply(
        self,
        task: str,
        prompt: str,
        *,
        tokens: int = 1024,
        on_text: Callable[[str], None] | None = None,
    ) -> Reply:
        """Return the reply to one prompt, handed to `on_text` while it is written.

        Raises ModelError where the server cannot be used at all, and ContextError for a prompt that
        is too long for its model; `context` then says how much it reads, as far as the server told.
        """
        import openai

        messages = [{"role": "system", "content": task}] if task else []
        messages.append({"role": "user", "content": prompt})
        length = self.count(task) + self.count(prompt) + _FORM
        wanted = self._settings.max_tokens or tokens
        stream = ReplyStream(on_text) if on_text is not None else None
        while True:
            options = self._options(self._room(length, wanted))
            try:
                received = self._receive(messages, options, stream, length + wanted)
            except openai.OpenAIError as error:
                # Without the chain, whose request carries the key.
                self._learn(error, options, length, wanted)
            else:
                reply = received.reply()
                read = reply.prompt_tokens or length
                cost = cost_of(self._settings, read, reply.reply_tokens)
                return replace(reply, prompt_tokens=read, cost=cost)

    def _room(self, length: int, wanted: int) -> int:
        """Return the tokens that a reply may have; ContextError where the prompt leaves none."""
        if not self._context_known:
            return wanted
        room = min(wanted, self.context - length)
        if room < min(wanted, _LEAST_ROOM):
            raise ContextError(
                f"the prompt has up to {length:,} tokens and the model {self.name!r} reads "
                f"{self.context:,} together with its reply",
                where=self._url,
                hint="Ask with fewer passages, or set llm.context if it reads more.",
            )
        return room

    def _options(self, room: int) -> dict[str, Any]:
        """Return the options of a request, without those that the model refused."""
        options: dict[str, Any] = {
            "temperature": self._settings.temperature,
            "seed": self._settings.seed,
            "max_tokens": room,
        }
        if "max_tokens" in self._refused:
            options["max_completion_tokens"] = room  # its newer name
        if "stream" not in self._refused:
            options |= {"stream": True, "stream_options": {"include_usage": True}}
        return {name: value for name, value in options.items() if name not in self._refused}

    def _learn(self, error: Exception, options: dict[str, Any], length: int, wanted: int) -> None:
        """Take from a refusal what may make the request pass; raise ModelError where nothing."""
        context = context_of(error)
        if context is not None:
            known = self.context if self._context_known else max(self.context, length + wanted)
            # Where the server does not say how much, or says what was kept to: less than before.
            self.context = context if 0 < context < known else known * 3 // 4
            self._context_known = True
            self._room(length, wanted)  # a shorter reply may have room
            return
        name = refused_option(error, list(options))
        if name is None:
            raise self._explain(error) from None
        self._refused.add(name)

    def _receive(
        self,
        messages: list[dict[str, str]],
        options: dict[str, Any],
        stream: ReplyStream | None,
        tokens: int,
    ) -> _Received:
        """Ask for a reply, anew where the connection is lost within it."""
        received = _Received()
        for attempt in range(self._settings.retries + 1):
            if attempt:
                time.sleep(min(_WAIT * 2 ** (attempt - 1), _LONGEST_WAIT))
            self._limiter.wait(tokens)
            received = _Received()
            with self._send(messages, options) as pieces:
                for text in received.read(pieces):
                    if stream is not None:
                        stream.show(text)
            # What is lost after the end was not needed.
            if received.finish is not None:
                if stream is not None:
                    stream.show(received.text, done=True)
                return received
            error = received.error
            if error is not None and context_of(error) is not None:
                raise error
            if not received.begun and (error is None or isinstance(error, ValueError)):
                if "stream" not in options:
                    raise self._explain(None)
                # Some servers know no streams, and reply in one piece.
                self._refused.add("stream")
                whole = {name: options[name] for name in options if "stream" not in name}
                return self._receive(messages, whole, stream, tokens)
        raise self._explain(received.error, begun=True)

    def _send(
        self, messages: list[dict[str, str]], options: dict[str, Any]
    ) -> AbstractContextManager[Iterable[Any]]:
        """Send a request; the pieces of its reply are read, and closed, within the context."""
        import openai

        try:
            answer = self._client.chat.completions.create(
                model=self.name, messages=messages, **options
            )
        except (openai.OpenAIError, ModelError):
            raise
        except Exception as error:
            # The package lets through what breaks while it writes a request or reads a refusal.
            raise self._explain(error) from None
        return answer if "stream" in options else nullcontext([answer])

    def _explain(self, error: Exception | None, *, begun: bool = False) -> ModelError:
        return explain(error, self._url, self.name, self._key, self._settings, begun=begun)


class _Received:
    """What came of a reply: the text so far, why it ended, and what went wrong.

    `finish` is None until the server says why it ended, `error` what broke it off, and `begun`
    False as long as nothing of the protocol came.
    """

    def __init__(self) -> None:
        self.text = ""
        self.finish: str | None = None
        self.error: Exception | None = None
        self.begun = False
        self._declined = False
        self._usage: Any = None

    def read(self, pieces: Iterable[Any]) -> Iterator[str]:
        """Yield the text so far, each time that there is more of it."""
        try:
            for piece in pieces:
                if self._take(piece):
                    yield self.text
                if len(self.text) > _LONGEST:
                    self.finish = "length"
                    return
        except ModelError:
            raise
        except Exception as error:
            # The connection, a piece that is no JSON: what is raised differs by the package's
            # version.
            self.error = error

    def _take(self, piece: Any) -> bool:
        """Take in a piece of a stream, or a whole reply; return whether there is more text."""
        import openai

        # As the package does it for streams: some servers send an error with the status 200.
        if fault := getattr(piece, "error", None):
            said = fault.get("message") if isinstance(fault, dict) else fault
            raise openai.APIError(str(said), request=None, body=fault)  # type: ignore[arg-type]
        self._usage = getattr(piece, "usage", None) or self._usage
        choice = next(iter(getattr(piece, "choices", None) or ()), None)
        whole = getattr(choice, "message", None)
        message = getattr(choice, "delta", None) or whole
        if message is None:
            return False
        self.begun = True
        # Some that reply in one piece do not say why it ended.
        self.finish = getattr(choice, "finish_reason", None) or self.finish or (whole and "stop")
        self._declined |= bool(getattr(message, "refusal", None))
        content = getattr(message, "content", None) or ""
        if not isinstance(content, str):  # in parts, of which some are reasoning
            content = "".join(part.get("text") or "" for part in content)
        self.text += content
        return bool(content)

    def reply(self) -> Reply:
        """Return the reply; its text is empty where it was refused or filtered."""
        finish = "refused" if self._declined else _FINISH.get(str(self.finish), "stop")
        # A reply that was cut off is still evidence to compare with.
        text = "" if finish == "refused" else without_reasoning(self.text)
        if not text and finish == "stop":
            finish = "empty"
        read = _tokens(getattr(self._usage, "prompt_tokens", 0))
        written = _tokens(getattr(self._usage, "completion_tokens", 0))
        estimated = not read or (bool(self.text) and not written)
        # What was left out of the text was written too.
        written = written or estimate_tokens(self.text)
        return Reply(text, finish, read, written, estimated=estimated)


def _tokens(count: Any) -> int:
    """Return a server's count of tokens, 0 for none and for what cannot be one."""
    return count if type(count) is int and 0 < count < 1 << 40 else 0


def _key(url: str, settings: LanguageSettings) -> str:
    """Return the key for a server; servers of one's own often need none."""
    if not settings.with_key and os.environ.get(_HEADERS):
        raise ConfigurationError(
            f"the headers in {_HEADERS} would be sent to an address that a project's file names",
            where=url,
            hint="Name the address in OPENAI_BASE_URL or in your own file of settings, or unset "
            f"{_HEADERS}.",
        )
    key = read_key(settings.key_file) if settings.with_key else ""
    if not key and url == DEFAULT_URL:
        raise ConfigurationError(
            "no chat server is named, and OpenAI's needs a key",
            hint="Give --chat-url (or OPENAI_BASE_URL), or set OPENAI_API_KEY.",
        )
    return key


def _client(url: str, key: str, settings: LanguageSettings) -> Any:
    """Return a client of the package openai that follows no redirection and reads no endless reply.

    Raises ModelError without the package, and ConfigurationError where what the environment says of
    proxies and certificates cannot be used.
    """
    with needs("chat", "a chat server", ModelError):
        from openai import DefaultHttpxClient, OpenAI, Timeout
    timeout = Timeout(settings.timeout, connect=min(settings.timeout, CONNECT_SECONDS))

    def bound(response: Any) -> None:
        response.iter_bytes = _bounded(response.iter_bytes, settings.timeout, url)

    try:
        http = DefaultHttpxClient(
            timeout=timeout,
            # Prompt and headers are for the address that was given, and for no other.
            follow_redirects=False,
            event_hooks={"response": [bound]},
        )
        return OpenAI(
            base_url=url,
            api_key=key or "none",
            timeout=timeout,
            max_retries=settings.retries,
            http_client=http,
        )
    except Exception as error:
        # What is raised differs by what is wrong. Its text may hold a proxy's password.
        raise ConfigurationError(
            f"no connection can be made ({type(error).__name__})",
            where=url,
            hint="Check --chat-url, and what HTTP_PROXY, HTTPS_PROXY, ALL_PROXY, SSL_CERT_FILE and "
            'SSL_CERT_DIR say; a SOCKS proxy needs pip install "httpx[socks]".',
        ) from None


def _bounded(
    read: Callable[..., Iterator[bytes]], timeout: float, url: str
) -> Callable[..., Iterator[bytes]]:
    """Return a reader of an answer's bytes that ends with ModelError where there is no end to them.

    The time that passes between two reads is that of the reader, and is not counted.
    """

    def chunks(size: int | None = None) -> Iterator[bytes]:
        rest, total, waited = read(size), 0, 0.0
        while True:
            begun = time.monotonic()
            chunk = next(rest, None)
            waited += time.monotonic() - begun
            if chunk is None:
                return
            total += len(chunk)
            if total > _MOST_BYTES or waited > _WHOLE * timeout:
                what = f"did not end its reply within {_WHOLE * timeout:g} s"
                if total > _MOST_BYTES:
                    what = f"sent more than {_MOST_BYTES >> 20} MB for one reply"
                raise ModelError(
                    f"the chat server {what}", where=url, hint="See its log, or try again later."
                )
            yield chunk

    return chunks
