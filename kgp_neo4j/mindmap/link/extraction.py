"""The entities of a question as a language model names them, by in-context examples."""

import json
from collections.abc import Sequence

import regex

from kgp_neo4j.text.safe import plain
from kgp_neo4j.types.language import Write

_PROMPT = """Name the entities in the last question: the things that one would look up in a \
knowledge graph, each in a few words, as a list of JSON strings and nothing else.

Question: Doctor, I have been coughing for weeks and I can't sleep. Could it be asthma?
Entities: ["cough", "insomnia", "asthma"]

Question: My legs are swollen and painful since I began to take amlodipine.
Entities: ["leg swelling", "leg pain", "amlodipine"]

Question: 我最近总是头疼，还有点发烧，需要做什么检查？
Entities: ["头痛", "发热"]

Question: {question}
Entities:"""
_LIST = regex.compile(r"\[[^\[\]]*\]")
_BULLET = regex.compile(r"^\s*(?:[-*•]|\d+[.)])\s+")
#: A model that names more, or longer things, has not done what it was asked.
_MOST = 20
_LONGEST = 100


def extract(question: str, write: Write) -> list[str]:
    """Return the entities that a model names in a question (MindMap, section 3.1): one call.

    They are those of the last list in brackets in its reply, or of lines with bullets. Any other
    reply has none, so that the caller can match names instead.
    """
    reply = write(_PROMPT.format(question=" ".join(question.split())))
    for text in reversed(_LIST.findall(reply)):
        try:
            values = json.loads(text)
        except ValueError:
            values = [part.strip().strip("\"'“”‘’") for part in text[1:-1].split(",")]
        if names := _usable(values):
            return names
    return _usable([_BULLET.sub("", line) for line in reply.splitlines() if _BULLET.match(line)])


def _usable(values: Sequence[object]) -> list[str]:
    texts = [plain(value).strip(".。") for value in values if isinstance(value, str)]
    names = list(dict.fromkeys(text for text in texts if 0 < len(text) <= _LONGEST))
    return names if len(names) <= _MOST else []
