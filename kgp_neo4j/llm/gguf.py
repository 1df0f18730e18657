"""Runs a GGUF file with llama.cpp in this process, which is spoken to as a chat server is."""

import hashlib
import secrets
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from kgp_neo4j.environment.configuration import LanguageSettings
from kgp_neo4j.environment.extras import needs
from kgp_neo4j.environment.files import expanded
from kgp_neo4j.environment.job import thread_count
from kgp_neo4j.llm.chat import DEFAULT_CONTEXT, ChatModel
from kgp_neo4j.types.errors import ModelError
from kgp_neo4j.types.language import Reply, ReplyOptions

#: Seconds between signs of life while a prompt is read, which may take minutes on a CPU.
_SIGN_OF_LIFE = 5
#: Passages of a prompt: some fifty tokens are read a second.
_SHOWN = 5


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
        shown = settings.passages or _SHOWN
        settings = replace(settings, url=url, context=context, passages=shown)
        super().__init__(self._file.name, settings, own_key=key)

    @property
    def identity(self) -> str:
        """A hash of the file's state, which changes when there is another file of that name."""
        state = self._file.stat()
        told = f"{self._file.absolute()} {state.st_size} {state.st_mtime_ns}"
        return f"local {hashlib.sha256(told.encode()).hexdigest()}"

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
            raise ModelError(
                f"llama.cpp does not answer ({error})", where=str(self._file), hint="Try again."
            ) from error
        return answer.json()


def _started(file: Path, context: int, key: str) -> Any:
    """Return llama.cpp's server on a file; raises ModelError where that cannot be loaded."""
    with needs("local", "a GGUF file", ModelError, where=str(file)):
        import xllamacpp
    try:
        with file.open("rb") as opened:
            begins = opened.read(4)
    except OSError as error:
        problem = f"cannot be read ({error.strerror or error})"
        hint = "Give the path of a model's file: local:MODEL.gguf."
        raise ModelError(problem, where=str(file), hint=hint) from error
    settings = xllamacpp.CommonParams()
    settings.model.path, settings.api_keys = str(file), [key]
    settings.n_ctx, settings.cpuparams.n_threads = context, thread_count()
    settings.verbosity, settings.ui, settings.sse_ping_interval = -1, False, _SIGN_OF_LIFE
    wrong = "it is no GGUF file"
    if begins == b"GGUF":
        wrong = "it is damaged, of a kind that llama.cpp does not know, or larger than the memory"
        with suppress(RuntimeError):  # llama.cpp gives no reason
            return xllamacpp.Server(settings)
    hint = "Fetch the file again, or set llm.context to less."
    raise ModelError(f"the model cannot be loaded: {wrong}", where=str(file), hint=hint)
