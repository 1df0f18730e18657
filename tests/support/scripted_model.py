"""A language model whose replies a test writes down: the logic around a model, without one."""

from collections.abc import Callable, Iterable
from typing import Unpack

from kgp_neo4j.types.corpus import Reply, ReplyOptions


class Scripted:
    """Replies in the order given, or as a function of the prompt says; keeps what it was asked.

    A reply is a text, a Reply, or an error to raise; running out of them fails the test.
    """

    def __init__(
        self,
        replies: Iterable[str | Reply | Exception] | Callable[[str], str | Reply | Exception],
        *,
        name: str = "scripted",
        context: int = 8192,
    ) -> None:
        self.name = name
        self.context = context
        self.passages = None
        self._replies = replies if callable(replies) else iter(replies)
        self.tasks: list[str] = []
        self.prompts: list[str] = []

    def reply(self, task: str, prompt: str, **options: Unpack[ReplyOptions]) -> Reply:
        self.tasks.append(task)
        self.prompts.append(prompt)
        if callable(self._replies):
            said = self._replies(prompt)
        else:
            none = AssertionError(f"the scripted model has no reply left for: {prompt[:200]}")
            said = next(self._replies, none)
        if isinstance(said, Exception):
            raise said
        if not isinstance(said, Reply):
            made = (self.count(f"{task} {prompt}"), self.count(said))
            said = Reply(said, "stop" if said.strip() else "empty", *made)
        if on_text := options.get("on_text"):
            for line in said.text.splitlines(keepends=True):
                on_text(line)
        return said

    def count(self, text: str) -> int:
        return len(text.split())
