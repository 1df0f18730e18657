"""Finds the language models that are there: of the configured server, of Ollama, in a file."""

import json
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any

from kgp_neo4j.environment.configuration import LanguageSettings
from kgp_neo4j.environment.folders import checked_url, read_key

#: Where Ollama listens.
OLLAMA = "http://127.0.0.1:11434/v1"
HOW_TO_GET_ONE = (
    "Start Ollama or another server (llm.url), or set llm.file to a GGUF file: docs/models.md."
)
#: Seconds that a server may be silent, seconds in which it has to say what it has, and bytes.
_SILENT, _WHOLE, _MOST = 2.0, 4.0, 1 << 20


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
