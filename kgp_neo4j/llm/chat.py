"""Language models of the OpenAI protocol, chat servers and GGUF files; reads what they write."""

import hashlib
import json
import re
import secrets
import threading
import time
import tomllib
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, wait
from contextlib import nullcontext, suppress
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Unpack

from kgp_neo4j.environment.configuration import LanguageSettings, language_settings
from kgp_neo4j.environment.disk import KeptValues
from kgp_neo4j.environment.files import expanded
from kgp_neo4j.environment.folders import checked_url, read_key, shown_url
from kgp_neo4j.environment.job import thread_count
from kgp_neo4j.environment.kinds import needs
from kgp_neo4j.plugins import load_plugin, plugged
from kgp_neo4j.text.safe import parts, plain
from kgp_neo4j.types.corpus import LanguageModel, Reply, ReplyOptions, Usage, Write
from kgp_neo4j.types.errors import ConfigurationError, ContextError, ModelError

DEFAULT_URL = "https://api.openai.com/v1"
#: Assumed context where neither the settings nor the server give one.
DEFAULT_CONTEXT = 8192
#: Least tokens for a reply, where the context leaves fewer than were wanted.
_LEAST_ROOM = 128
#: How long a reply may take as a whole, in multiples of `llm.timeout`.
_WHOLE_REPLY = 10
#: Limits of one reply: bytes received, and characters of its text.
_MOST_BYTES = 64 << 20
_MOST_CHARACTERS = 1 << 20
#: Most bytes of cached replies on disk, some hundred thousand; the oldest are dropped first.
_LARGEST = 256 << 20
#: Seconds between signs of life while a prompt is read, which may take minutes on a CPU.
_SIGN_OF_LIFE = 5
#: Passages of a prompt: some fifty tokens are read a second.
_SHOWN = 5
_FINISH = {"length": "length", "max_tokens": "length", "content_filter": "refused"}


def reply_cache(folder: Path, *, largest: int = _LARGEST) -> KeptValues[str]:
    """Return texts by the hash of their request, in a folder; requests are not stored."""
    return KeptValues(folder / "replies.db", str, largest)


class ChatModel:
    """A model of a chat server: that of `settings.url`, else OpenAI's own.

    The key comes from OPENAI_API_KEY, or from a file of mode 0600, and is never shown. The package
    openai retries requests to a busy or failing server. Options that are refused are left out.
    A server of this process has a key of its own, and no proxy before it. Complete replies are
    cached, even if drawn: by a fixed seed, a new one would be the same.
    """

    _KNOWS_GRAMMARS = False

    def __init__(
        self, name: str, settings: LanguageSettings, *, own_key: str = "", identity: str = ""
    ) -> None:
        self.name = name
        self.context = settings.context or DEFAULT_CONTEXT
        self.passages = settings.passages
        #: True where the settings or the server gave the context.
        self._context_known = settings.context is not None
        self._settings = settings
        self._url = checked_url(settings.url or DEFAULT_URL)
        self._key = own_key or read_key(settings.key_file)
        if not self._key and self._url == DEFAULT_URL:
            hint = "Give --chat-url (or OPENAI_BASE_URL), or set OPENAI_API_KEY."
            raise ConfigurationError("no chat server is named, and OpenAI's needs a key", hint=hint)
        self._client = _client(self._url, self._key, settings, trust_env=not own_key)
        #: Options that the server has refused.
        self._refused: set[str] = set()
        self._kept = None if settings.cache is None else reply_cache(settings.cache)
        # The server, or the state of a file, tells apart models of the same name.
        drawn = (settings.temperature, settings.seed, settings.max_tokens)
        self._asker = (identity or f"chat {self._url}", name, *drawn)

    def count(self, text: str) -> int:
        """Return a high estimate of a text's tokens; the server's tokenizer is unknown."""
        return estimate_tokens(text)

    def reply(self, task: str, prompt: str, **options: Unpack[ReplyOptions]) -> Reply:
        """Return the reply to one prompt, passed to `on_text` while it is written.

        One from the cache has no tokens. Raises ModelError where the server cannot be used, and
        ContextError for a prompt that is too long for its model, which then updates `context`.
        """
        if self._kept is None:
            return self._ask(task, prompt, options)
        limits = (options.get("tokens", 1024), options.get("grammar"), options.get("schema"))
        request = json.dumps([*self._asker, *limits, task, prompt])
        key = hashlib.sha256(request.encode()).hexdigest()
        text = self._kept.find([key]).get(key)
        if text is not None:
            if on_text := options.get("on_text"):
                on_text(text)
            return Reply(text, cached=True)
        reply = self._ask(task, prompt, options)
        if reply.finish == "stop":
            self._kept.keep({key: reply.text})
        return reply

    def _ask(self, task: str, prompt: str, options: ReplyOptions) -> Reply:
        import openai

        messages = [{"role": "system", "content": task}] if task else []
        messages.append({"role": "user", "content": prompt})
        length = self.count(task) + self.count(prompt) + CHAT_TOKENS
        wanted = self._settings.max_tokens or options.get("tokens", 1024)
        create = self._client.chat.completions.create
        while True:
            request = self._request_options(self._room(length, wanted), options)
            received = _Received(options.get("on_text"), "stream" not in request)
            try:
                answer: Any = create(model=self.name, messages=messages, **request)
                with answer if "stream" in request else nullcontext([answer]) as pieces:
                    received.take(pieces)
            except ModelError:
                raise
            except Exception as error:  # not all are the package's own
                # After the end of a reply an error does not matter, nor does a whole reply to a
                # request for a stream, which cannot be read as one.
                if received.finish is None and isinstance(error, openai.OpenAIError):
                    # It raises without the chain: the original error has the key in its request.
                    self._learn(error, request, length, wanted)
                    continue
                unreadable = "stream" in request and isinstance(error, ValueError)
                if received.finish is None and (received.begun or not unreadable):
                    raise self._explain(error, begun=received.begun) from None
            if received.finish is not None:
                reply = received.reply()
                return replace(reply, prompt_tokens=reply.prompt_tokens or length)
            if received.begun or "stream" not in request:
                raise self._explain(None, begun=received.begun)
            self._refused.add("stream")  # some servers do not stream

    def _room(self, length: int, wanted: int) -> int:
        """Return the tokens left for a reply; raises ContextError where there are too few."""
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

    def _request_options(self, room: int, wanted: ReplyOptions) -> dict[str, Any]:
        options = parts(self._settings, "temperature", "seed") | {"max_tokens": room}
        if "max_tokens" in self._refused:
            options["max_completion_tokens"] = room  # its newer name
        if "stream" not in self._refused:
            options |= {"stream": True, "stream_options": {"include_usage": True}}
        if (grammar := wanted.get("grammar")) and self._KNOWS_GRAMMARS:
            options["extra_body"] = {"grammar": grammar}
        if schema := wanted.get("schema"):
            form = {"name": "reply", "schema": schema}
            options["response_format"] = {"type": "json_schema", "json_schema": form}
        return {name: value for name, value in options.items() if name not in self._refused}

    def _learn(self, error: Exception, options: dict[str, Any], length: int, wanted: int) -> None:
        """Adapt the context or the options to a refusal; raise ModelError for any other error."""
        context = context_from(error)
        if context is not None:
            known = self.context if self._context_known else max(self.context, length + wanted)
            # The server gave no limit, or one that was kept: try with less than before.
            self.context = context if 0 < context < known else known * 3 // 4
            self._context_known = True
            self._room(length, wanted)  # a shorter reply may have room
            return
        name = refused_option(error, list(options))
        if name is None:
            raise self._explain(error) from None
        self._refused.add(name)

    def _explain(self, error: Exception | None, *, begun: bool = False) -> ModelError:
        seconds = self._settings.timeout
        problem, hint = explain(error, self.name, self._key, seconds, begun=begun)
        return ModelError(f"the chat server {problem}", where=self._url, hint=hint)


class _Received:
    """A reply as it is received, passed on without reasoning, each part once, if to anybody.

    `finish` is the server's reason for the end, None until then; `begun` is False until the first
    valid piece. A `whole` reply without a choice is an empty one.
    """

    def __init__(self, on_text: Callable[[str], None] | None, whole: bool) -> None:
        self.text = ""
        self.finish: str | None = None
        self.begun = False
        self._on_text = on_text
        self._sent = ""
        self._whole = whole
        self._declined = False
        self._usage: Any = None

    def take(self, pieces: Iterable[Any]) -> None:
        """Add the pieces of a stream, or a whole reply, up to the limit of its text."""
        for piece in pieces:
            self._add(piece)
            if len(self.text) > _MOST_CHARACTERS:
                self.finish = "length"
                break

    def _add(self, piece: Any) -> None:
        import openai

        # Some servers send an error with the status 200; the package checks this in streams only.
        if fault := getattr(piece, "error", None):
            message_text = fault.get("message") if isinstance(fault, dict) else fault
            raise openai.APIError(str(message_text), request=None, body=fault)  # type: ignore[arg-type]
        self._usage = getattr(piece, "usage", None) or self._usage
        choices = getattr(piece, "choices", None)
        choice = next(iter(choices or ()), None)
        whole = getattr(choice, "message", None)
        message = getattr(choice, "delta", None) or whole
        if message is None:
            if self._whole and isinstance(choices, list) and not choices:
                self.begun, self.finish = True, "stop"
            return
        self.begun = True
        # Some servers give no reason for the end of a whole reply.
        self.finish = getattr(choice, "finish_reason", None) or self.finish or (whole and "stop")
        self._declined |= bool(getattr(message, "refusal", None))
        content = getattr(message, "content", None) or ""
        if not isinstance(content, str):  # in parts, some of them reasoning
            content = "".join(part.get("text") or "" for part in content)
        self.text += content
        if content and self._on_text:
            self.show(settled(self.text))

    def show(self, text: str) -> None:
        """Pass on what is new in the text so far."""
        if self._on_text and text.startswith(self._sent) and text != self._sent:
            new, self._sent = text[len(self._sent) :], text
            self._on_text(new)

    def reply(self) -> Reply:
        """Pass on the rest of the complete reply, and return it; empty where it was refused."""
        text = without_reasoning(self.text)
        self.show(text)
        finish = "refused" if self._declined else _FINISH.get(str(self.finish), "stop")
        # The text of a reply that was cut off is kept.
        text = "" if finish == "refused" else text
        if not text and finish == "stop":
            finish = "empty"
        read = _tokens(getattr(self._usage, "prompt_tokens", 0))
        written = _tokens(getattr(self._usage, "completion_tokens", 0))
        estimated = not read or (bool(self.text) and not written)
        # Reasoning that was removed from the text was generated too.
        written = written or estimate_tokens(self.text)
        return Reply(text, finish, read, written, estimated=estimated)


def _tokens(count: Any) -> int:
    """Return a server's count of tokens, 0 where it is missing or implausible."""
    return count if type(count) is int and 0 < count < 1 << 40 else 0


def _client(url: str, key: str, settings: LanguageSettings, *, trust_env: bool) -> Any:
    """Return a bounded openai client; raises ModelError without it, ConfigurationError if unfit."""
    with needs("chat", "a chat server", ModelError):
        from openai import DefaultHttpxClient, OpenAI, Timeout
    wait = Timeout(settings.timeout, connect=min(settings.timeout, CONNECT_SECONDS))

    def bound(response: Any) -> None:
        response.iter_bytes = partial(_bounded, response.iter_bytes, settings.timeout, url)

    try:
        # Prompt and headers must not be sent to another address.
        hooks = {"response": [bound]}
        http = DefaultHttpxClient(follow_redirects=False, event_hooks=hooks, trust_env=trust_env)
        key, tries = key or "none", settings.retries
        return OpenAI(base_url=url, api_key=key, timeout=wait, max_retries=tries, http_client=http)
    except Exception as error:
        # The exception depends on the cause. Its text may contain a proxy's password.
        raise ConfigurationError(
            f"no connection can be made ({type(error).__name__})",
            where=url,
            hint="Check --chat-url, and what HTTP_PROXY, HTTPS_PROXY, ALL_PROXY, SSL_CERT_FILE and "
            'SSL_CERT_DIR say; a SOCKS proxy needs pip install "httpx[socks]".',
        ) from None


def _bounded(
    read: Callable[..., Iterator[bytes]], timeout: float, url: str, size: int | None = None
) -> Iterator[bytes]:
    """Yield what is read; raises ModelError for too many bytes, or seconds of waiting."""
    rest, total, waited = read(size), 0, 0.0
    while True:
        begun = time.monotonic()
        chunk = next(rest, None)
        waited += time.monotonic() - begun
        if chunk is None:
            return
        total += len(chunk)
        if total > _MOST_BYTES or waited > _WHOLE_REPLY * timeout:
            problem = f"did not end its reply within {_WHOLE_REPLY * timeout:g} s"
            if total > _MOST_BYTES:
                problem = f"sent more than {_MOST_BYTES >> 20} MB for one reply"
            raise ModelError(f"the chat server {problem}", where=url, hint=RETRY)
        yield chunk


class GgufModel(ChatModel):
    """A model in a GGUF file, with the file's own chat template.

    llama.cpp's server listens on the loopback address, for a key that only this object has. What it
    read of the last prompt is not read again. Special tokens within the texts are broken up, so
    that no document can pose as the system. Raises ModelError for a file that cannot be loaded.
    """

    _KNOWS_GRAMMARS = True

    def __init__(self, file: str, settings: LanguageSettings) -> None:
        self._file = expanded(file)
        import requests  # takes time

        self._session, key = requests.Session(), secrets.token_urlsafe(32)
        self._session.trust_env = False  # no proxy leads to this process
        self._session.headers["authorization"] = f"Bearer {key}"
        self._server = _started(self._file, settings.context or DEFAULT_CONTEXT, key)
        # Ending a server that has not answered yet may hang.
        self._fetched("GET", "/health")
        context = self._fetched("GET", "/props")["default_generation_settings"]["n_ctx"]
        url = f"{self._server.listening_address}/v1"
        settings = replace(settings, url=url, context=context, passages=settings.passages or _SHOWN)
        state = self._file.stat()  # another file of that name has another
        told = f"{self._file.absolute()} {state.st_size} {state.st_mtime_ns}"
        identity = f"local {hashlib.sha256(told.encode()).hexdigest()}"
        super().__init__(self._file.name, settings, own_key=key, identity=identity)

    def count(self, text: str) -> int:
        """Return how many tokens a text has."""
        return len(self._tokens(text, special=False))

    def _ask(self, task: str, prompt: str, options: ReplyOptions) -> Reply:
        return super()._ask(self._without_marks(task), self._without_marks(prompt), options)

    def _without_marks(self, text: str) -> str:
        """Insert a space into each special token of the model that a text contains."""
        while True:
            plain = {each["id"] for each in self._tokens(text, special=False)}
            read = [each for each in self._tokens(text, special=True) if each["id"] not in plain]
            # Beside a mark other words are cut otherwise, too; those are no marks.
            marks = {
                piece
                for piece in {each["piece"] for each in read}
                if piece in text
                and self._tokens(piece, special=True) != self._tokens(piece, special=False)
            }
            if not marks:
                return text
            for mark in sorted(marks, key=len, reverse=True):
                text = text.replace(mark, f"{mark[0]} {mark[1:]}")

    def _tokens(self, text: str, *, special: bool) -> list[dict[str, Any]]:
        asked = {"content": text, "parse_special": special, "with_pieces": True}
        tokens: list[dict[str, Any]] = self._fetched("POST", "/tokenize", asked)["tokens"]
        # A part of a character is a list of bytes, which is no mark.
        return [each | {"piece": str(each["piece"])} for each in tokens]

    def _fetched(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        """Return what the server says beside chats."""
        import requests

        address = f"{self._server.listening_address}{path}"
        try:
            answer = self._session.request(method, address, json=body, timeout=60)
            answer.raise_for_status()
        except requests.RequestException as error:
            what = f"llama.cpp does not answer ({error})"
            raise ModelError(what, where=str(self._file), hint="Try again.") from error
        return answer.json()


def _started(file: Path, context: int, key: str) -> Any:
    """Return llama.cpp's server on a file; raises ModelError where that cannot be loaded."""
    with needs("local", "a GGUF file", ModelError, where=str(file)):
        import xllamacpp
    try:
        file.open("rb").close()
    except OSError as error:
        problem = f"cannot be read ({error.strerror or error})"
        hint = "Give the path of a model's file: local:MODEL.gguf."
        raise ModelError(problem, where=str(file), hint=hint) from error
    settings = xllamacpp.CommonParams()
    settings.model.path, settings.api_keys = str(file), [key]
    settings.n_ctx, settings.cpuparams.n_threads = context, thread_count()
    settings.verbosity, settings.ui, settings.sse_ping_interval = -1, False, _SIGN_OF_LIFE
    with suppress(RuntimeError):  # llama.cpp gives no reason
        return xllamacpp.Server(settings)
    what = "the model cannot be loaded: it is no GGUF file, damaged, of a kind that llama.cpp does "
    what += "not know, or larger than the memory"
    hint = "Fetch the file again, or set llm.context to less."
    raise ModelError(what, where=str(file), hint=hint)


#: Stands for the first language model that is there.
AUTO = "auto"
_THREADS = 4
#: Where Ollama listens.
OLLAMA = "http://127.0.0.1:11434/v1"
HOW_TO_GET_ONE = (
    "Start Ollama or another server (llm.url), or set llm.file to a GGUF file: docs/models.md."
)
#: Seconds that a server may be silent, seconds in which it has to say what it has, and bytes.
_SILENT, _WHOLE, _MOST = 2.0, 4.0, 1 << 20


def open_language_model(settings: LanguageSettings) -> LanguageModel | None:
    """Return the model that the settings name, with their cache; None for `none` or no name.

    `auto` is the first one `available`, if any is. Raises ConfigurationError for invalid settings,
    ModelError for a model that cannot be loaded.
    """
    return _open(*_resolved(settings))


def _resolved(settings: LanguageSettings) -> tuple[LanguageSettings, bool]:
    """Return settings with the model that `auto` is now, and whether its server was only found."""
    if (settings.model or "").strip().lower() != AUTO:
        return settings, False
    found = next(available(settings), replace(settings, model=None))
    return found, found.url == OLLAMA and settings.url != OLLAMA


def _open(settings: LanguageSettings, was_found: bool) -> LanguageModel | None:
    """Return the model of a name; a server that nobody named gets neither a key nor a proxy."""
    given = (settings.model or "none").strip()
    if given.lower() in ("none", ""):
        return None
    kind, sign, name = given.partition(":")
    kind = kind.lower()
    # Names on a server may have colons too (llama3.2:3b).
    if not sign or kind not in plugged("model"):
        kind, name = "openai", given
    if not name.strip():
        hint = "Give openai:NAME, local:FILE.gguf, or none."
        raise ConfigurationError(f"the language model {given!r} has no name", hint=hint)
    make: Callable[..., LanguageModel] = load_plugin("model", kind)
    return make(name.strip(), settings, **({"own_key": "none"} if was_found else {}))


#: By the key, too: after a refusal another one opens the model anew.
_open_once = lru_cache(maxsize=8)(lambda settings, was_found, key: _open(settings, was_found))


def find_model(model: LanguageModel | str | None) -> LanguageModel | None:
    """Return a model; one given by name is opened once, with the configured settings and key."""
    if not isinstance(model, str):
        return model
    settings, was_found = _resolved(language_settings(model=model))
    key = ""
    with suppress(ConfigurationError):  # said where the key is needed
        key = read_key(settings.key_file)
    return _open_once(settings, was_found, key)


def available(settings: LanguageSettings) -> Iterator[LanguageSettings]:
    """Yield the settings of each language model that is there, in the order of `auto`.

    First come those of the configured server, then Ollama's, then the configured file. Raises
    ConfigurationError for an address or a key that cannot be used.
    """
    own = checked_url(settings.url) if settings.url else ""
    for url in dict.fromkeys((own or OLLAMA, OLLAMA)):
        # The key is for the configured server alone.
        key = read_key(settings.key_file) if url == own else ""
        for name in _served(url, key):
            if "embed" not in name.lower():  # such a one writes nothing
                yield replace(settings, model=f"openai:{name}", url=url)
    if settings.file is not None and settings.file.is_file():
        yield replace(settings, model=f"local:{settings.file}", url=None)


def _served(url: str, key: str) -> list[str]:
    """Return the models that a server of the OpenAI protocol has; none where it does not say."""
    import requests  # takes time

    headers = {"authorization": f"Bearer {key}"} if key else {}
    asked: dict[str, Any] = {"timeout": _SILENT, "allow_redirects": False, "stream": True}
    told: list[str] = []

    def ask() -> None:
        # Else nobody is there, or what is sent is no list of models.
        with suppress(Exception), requests.Session() as session:
            session.trust_env = url != OLLAMA  # no proxy leads to this machine
            answer = session.get(f"{url}/models", headers=headers, **asked)
            listed = json.loads(answer.raw.read(_MOST, decode_content=True))["data"]
            told.extend([str(each["id"]) for each in listed])

    # One that sends a byte now and then is never silent, and is left alone.
    asking = threading.Thread(target=ask, daemon=True)
    asking.start()
    asking.join(_WHOLE)
    return list(told)


def writer(model: LanguageModel) -> Write:
    """Return a function from a prompt to the text of the model's reply."""
    return lambda prompt, **options: model.reply("", prompt, **options).text


def replies(model: LanguageModel, task: str, prompts: Sequence[str]) -> list[Reply]:
    """Return the reply to each prompt, a few requested at once; raises the first error."""
    results: list[Future[Reply]] = [Future() for _ in prompts]
    waiting = deque(zip(prompts, results, strict=True))

    def work() -> None:
        with suppress(IndexError):
            while True:
                prompt, result = waiting.popleft()
                try:
                    result.set_result(model.reply(task, prompt))
                except BaseException as error:
                    result.set_exception(error)

    # Daemon threads, so that an interrupt ends the process at once; a pool's would be joined first.
    for _ in range(min(_THREADS, len(prompts))):
        threading.Thread(target=work, daemon=True).start()
    try:
        wait(results, return_when=FIRST_EXCEPTION)
        return [result.result() for result in results if result.done()]
    finally:
        waiting.clear()


def fit(model: LanguageModel, fixed: str, passages: Sequence[str], tokens: int) -> int:
    """Return how many of the passages, best first, fit into the model's context.

    `fixed` is the rest of the prompt. `tokens`, but at most half of the context, are left free for
    the reply. Passages are taken whole, in their order, up to the first that does not fit.
    """
    left = model.context - min(tokens, model.context // 2) - model.count(fixed) - CHAT_TOKENS
    for number, passage in enumerate(passages):
        left -= model.count(passage) + 2  # for what parts two passages
        if left < 0:
            return number
    return len(passages)


def reply_with_passages(
    model: LanguageModel,
    task: str,
    make: Callable[[Sequence[str]], str],
    passages: Sequence[str],
    **options: Unpack[ReplyOptions],
) -> tuple[Reply, int]:
    """Ask with as many passages, best first, as fit; return the reply and their number.

    `make` writes the prompt of the passages that it gets. Where the model refuses the prompt as too
    long (ContextError), it is asked again with fewer; raises that error where none is left.
    """
    tokens = options.get("tokens", 1024)
    count = fit(model, f"{task}\n{make([])}", passages, tokens)
    while True:
        try:
            return model.reply(task, make(passages[:count]), **options), count
        except ContextError:
            if count == 0:
                raise
            # The model may have learned its context from the refusal.
            count = min(count - 1, fit(model, f"{task}\n{make([])}", passages, tokens))


class MeteredModel:
    """A model that counts calls and tokens since the last `take_usage`; threads may share it."""

    def __init__(self, model: LanguageModel) -> None:
        self._model = model
        self.name = model.name
        self.usage = Usage(model.name)
        self._lock = threading.Lock()

    @property
    def context(self) -> int:
        """Return the tokens for prompt and reply together; a server may set fewer later."""
        return self._model.context

    @property
    def passages(self) -> int | None:
        """Return the number of passages that a prompt should have at most."""
        return self._model.passages

    def count(self, text: str) -> int:
        """Return the number of tokens of a text, or an upper bound."""
        return self._model.count(text)

    def reply(self, task: str, prompt: str, **options: Unpack[ReplyOptions]) -> Reply:
        """Return the model's reply, and count it."""
        reply = self._model.reply(task, prompt, **options)
        with self._lock:
            used, counted = self.usage, ("cached", "prompt_tokens", "reply_tokens")
            sums = {name: getattr(used, name) + getattr(reply, name) for name in counted}
            estimated = used.estimated or reply.estimated
            self.usage = replace(used, calls=used.calls + 1, estimated=estimated, **sums)
        return reply

    def take_usage(self) -> Usage:
        """Return the usage since the last call, and reset it."""
        with self._lock:
            usage, self.usage = self.usage, Usage(self.name)
        return usage


#: What servers and models write besides replies: `messages.toml` describes it.
KNOWN = tomllib.loads(Path(__file__).with_name("messages.toml").read_text("utf-8"))
_MARKS: dict[str, str] = KNOWN["reasoning"]
_ENDS = {begin.lower(): re.compile(re.escape(end), re.I) for begin, end in _MARKS.items()}
_BEGINS = re.compile(rf"(?i)\s*(?:<\|start\|>assistant)?({'|'.join(map(re.escape, _MARKS))})")
_ALONE = "|".join(map(re.escape, {*_MARKS.values()} - {"<|end|>"}))
#: Such an end where its beginning is in the prompt: after a line, a sentence or a paragraph alone.
_END_ALONE = re.compile(
    rf"(?:^|[.!?…。！？])[^\S\n]*(?:{_ALONE})(?![^\S\n]*[a-z\"'”’»`])|"
    rf"^(?:{_ALONE})(?=[a-z])|(?<=\w)(?:{_ALONE})(?=[^\S\n]*\n\s*\n)",
    re.MULTILINE,
)
#: Special tokens round the reply itself.
_FRAME = re.compile(
    r"\A\s*(?:(?:<\|start\|>assistant)?<\|channel\|>final<\|message\|>|<\|START_RESPONSE\|>|"
    r"<\|begin_of_solution\|>)|<\|(?:return|end|END_RESPONSE|end_of_solution)\|>\s*\Z"
)
_CODE = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
#: Tokens of the chat format besides its texts.
CHAT_TOKENS = 16
#: The end of a text that may become a special token.
_PARTIAL_MARK = re.compile(r"<\|?\w*\|?\Z")
#: Four letters of a word, a sign or a digit, some blanks, or a character that is not ASCII.
_TOKEN = re.compile(r"[A-Za-z]{1,4}|[!-/:-@\[-`{-~0-9\n]|[ \t]{2,}|[^\x00-\x7f]")
#: From here on (Chinese, Japanese, Korean, rare signs) a character mostly takes one or two tokens.
_WIDE = "\u2e80"


def without_reasoning(text: str) -> str:
    """Return a reply's text without the reasoning before it."""
    at = 0
    while begun := _BEGINS.match(text, at):
        ended = _ENDS[begun[1].lower()].search(text, begun.end())
        at = ended.end() if ended else len(text)
    # Each piece of a stream comes here with all before it: no expression runs for nothing.
    if any(end in text for end in _MARKS.values()):
        outside = _CODE.sub(lambda code: " " * len(code[0]), text)
        for ended in _END_ALONE.finditer(outside, at):
            at = ended.end()
    bare = _FRAME.sub("", text[at:]) if "<|" in text else text[at:]
    # A lone surrogate, from bytes cut in two, cannot be stored in a database.
    return bare.encode(errors="ignore").decode().strip()


def estimate_tokens(text: str) -> int:
    """Return a high estimate of a text's tokens: more than byte-pair tokenizers make of prose."""
    tokens: list[str] = _TOKEN.findall(text)
    wide, rare = (sum(token >= least for token in tokens) for least in (_WIDE, "\U00010000"))
    return len(tokens) + wide + 2 * rare


def settled(raw: str) -> str:
    """Return what can be shown of a reply that is still written, "" while reasoning may begin."""
    text = _PARTIAL_MARK.sub("", without_reasoning(raw)).rstrip()
    begins = text.startswith("<|") or any(mark.startswith(text[:99].lower()) for mark in _ENDS)
    return "" if begins else text


#: Seconds to wait for a connection.
CONNECT_SECONDS = 10.0
#: Messages of servers by their kind: a prompt that is too long, its context, a refused option.
_MESSAGES = {
    kind: re.compile("|".join(patterns), re.IGNORECASE)
    for kind, patterns in KNOWN["messages"].items()
}


def context_from(error: Any) -> int | None:
    """Return the model's context from an error about a long prompt (0: unknown), else None."""
    # An error within a reply has no status of its own.
    if getattr(error, "status_code", 400) not in (400, 413, 422):
        return None
    body = getattr(error, "body", None)
    body = body if isinstance(body, dict) else {}
    text = _server_text(error)
    said = f"{getattr(error, 'code', '')} {body.get('type', '')} {text}"
    if not _MESSAGES["too_long"].search(said):
        return None
    # llama.cpp has a field for it.
    if isinstance(body.get("n_ctx"), int):
        return int(body["n_ctx"])
    limit = _MESSAGES["context"].search(text.replace(",", ""))
    return int(limit[1] or limit[2]) if limit else 0


def refused_option(error: Any, options: Collection[str]) -> str | None:
    """Return the option that an error refuses, None for an error about anything else."""
    if getattr(error, "status_code", None) not in (400, 422):
        return None
    if isinstance(error.param, str) and error.param in options:
        return error.param
    # Servers that check their input by a schema name the field in the text alone.
    text = _server_text(error)
    named = (n for n in sorted(options, key=len, reverse=True) if re.search(rf"\b{n}\b", text))
    if _MESSAGES["not_supported"].search(text) and (name := next(named, None)):
        return name
    # A server that knows no schemas may say so in words of its own.
    return "response_format" if "response_format" in options else None


_ADDRESS = "Check --chat-url, which most servers want to end in /v1."
RETRY = "See its log, or try again later."


def _explain_status(error: Any, status: int, name: str, key: str) -> tuple[str, str]:
    if status in (401, 403):
        return f"refused the key ({status})", "Set OPENAI_API_KEY to a key of this server."
    if status == 404:
        hint = f"Check the model's name. {_ADDRESS}"
        return f"has no model {name!r}, or this is not its address (404)", hint
    if status == 429:
        when = _header(error, "retry-after")[:40]
        when = f" {when} s" if when.isdecimal() else f" until {when}" * bool(when)
        return "has no room for more requests (429)", f"Wait{when}, or see your quota."
    if status >= 500:
        return f"failed ({status})", RETRY
    if 300 <= status < 400:
        to = shown_url(_header(error, "location"))[:200]
        hint = "Nothing was sent there. Give that address with --chat-url if you trust it."
        return f"wants the request at another address ({f'{status} {to}'.strip()})", hint
    return f"refused the request ({status}: {_safe_text(error, key)})", "See what its model takes."


def explain(
    error: Exception | None, name: str, key: str, timeout: float, *, begun: bool
) -> tuple[str, str]:
    """Return what happened to a request of a model, without the key, and what to do.

    `begun` is True for a reply that broke off; `error` is None where it did so without one.
    """
    import openai

    if status := getattr(error, "status_code", 0):
        return _explain_status(error, status, name, key)
    cause = getattr(error, "__cause__", None)
    if "ConnectTimeout" in type(cause).__name__:
        seconds = min(timeout, CONNECT_SECONDS)
        return f"cannot be reached within {seconds:g} s", "Start it, or check --chat-url."
    # By its name, as some versions of the package let httpx's own error through.
    if "Timeout" in type(error).__name__:
        return f"was silent for {timeout:g} s", "Use a quicker model, or llm.timeout."
    if isinstance(error, openai.APIConnectionError) and not begun:
        hint = "Start it, or check --chat-url."
        if "SSL" in str(cause):
            hint = "Check --chat-url; for a certificate of your own, set SSL_CERT_FILE."
        return f"cannot be reached ({_safe_text(cause or error, key)})", hint
    if isinstance(error, openai.APIError) and not isinstance(error, openai.APIConnectionError):
        return f"sent an error in place of its reply ({_safe_text(error, key)})", RETRY
    if begun or not (error is None or isinstance(error, ValueError | RecursionError)):
        return "lost the connection within its reply", RETRY
    if error is None or isinstance(error, json.JSONDecodeError | UnicodeDecodeError):
        return "did not reply in the OpenAI protocol", _ADDRESS
    # An invalid address or header; it may contain a secret and is not shown.
    hint = "Check --chat-url, OPENAI_ORG_ID, OPENAI_PROJECT_ID and OPENAI_CUSTOM_HEADERS."
    return f"cannot be asked ({type(error).__name__})", hint


def _header(error: Any, name: str) -> str:
    return plain(error.response.headers.get(name, ""))


def _safe_text(error: Any, key: str) -> str:
    """Return a server's message on one line, cut, and without the key."""
    text = plain(_server_text(error))
    for written in {key, plain(key), json.dumps(key)[1:-1]} - {""}:
        text = text.replace(written, "***")
    return text[:300] or type(error).__name__


def _server_text(error: Any) -> str:
    """Return the message of a server's error, else the whole body."""
    body = getattr(error, "body", None)
    if body is None:
        return str(getattr(error, "message", error))
    message = body.get("message") if isinstance(body, dict) else body
    return message if isinstance(message, str) else json.dumps(body, ensure_ascii=False)
