"""Runs a checkpoint on this machine with transformers, as a chat where it has a chat template."""

import hashlib
import threading
from pathlib import Path
from typing import Any, Unpack

from kgp_neo4j.environment.configuration import LanguageSettings
from kgp_neo4j.llm.generators import drawing, load_checkpoint, placed, position_limit, sampling
from kgp_neo4j.llm.reply_text import REASONING_MARKS, ReplyStream, without_reasoning
from kgp_neo4j.types.errors import ContextError, ModelError, first_line
from kgp_neo4j.types.language import SHOWN, Reply, ReplyOptions

#: Context of a model whose configuration gives none.
_CONTEXT = 2048
#: Most tokens of the mark that begins reasoning.
_LONGEST_MARK = 8


class LocalModel:
    """A causal checkpoint: a folder, a LoRA adapter's folder, or a hub name.

    Prompts are formatted with the tokenizer's chat template where it has one. Special tokens within
    the texts are broken up, so that no document can pose as the system. One reply is generated at a
    time. A reply is cut off after `settings.timeout`.
    """

    def __init__(self, name: str, settings: LanguageSettings | None = None) -> None:
        self._settings = settings or LanguageSettings()
        self.name = name
        self._device, dtype = placed()
        model, self._tokenizer = load_checkpoint(name, dtype)
        self._model = model.to(self._device).eval()
        self._model.generation_config.max_length = None  # every call says how long
        self._lock = threading.Lock()
        # Of added tokens that are not declared special, those that look like marks (<think>) alone.
        added = self._tokenizer.added_tokens_decoder.values()
        marks = {each.content for each in added if each.special or each.content[:1] in ("<", "[")}
        marks |= set(self._tokenizer.all_special_tokens)
        #: The texts of special tokens, the longest first.
        self._marks = sorted((mark for mark in marks if len(mark) > 1), key=len, reverse=True)
        limit = position_limit(self._model.config)
        self.passages = self._settings.passages or SHOWN
        self.context = min(filter(None, (self._settings.context, limit)), default=_CONTEXT)

    @property
    def identity(self) -> str:
        """A hash of the files' states, which changes when the folder gets another checkpoint."""
        digest = hashlib.sha256()
        for path in sorted(Path(self.name).expanduser().glob("*")):
            if path.suffix in (".safetensors", ".json", ".jinja"):
                state = path.stat()
                digest.update(f"{path.name} {state.st_size} {state.st_mtime_ns}\n".encode())
        return f"local {digest.hexdigest()}"

    def count(self, text: str) -> int:
        """Return how many tokens a text has."""
        return len(self._tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"])

    def reply(self, task: str, prompt: str, **options: Unpack[ReplyOptions]) -> Reply:
        """Return the reply to one prompt; raises ContextError where there is no room for one."""
        ids = self._token_ids(task, prompt)
        wanted = self._settings.max_tokens or options.get("tokens", 1024)
        room = min(wanted, self.context - len(ids))
        if room < 1:
            raise ContextError(
                f"the prompt has {len(ids):,} tokens and the model reads {self.context:,} together "
                "with its reply",
                where=self.name,
                hint="Ask with fewer passages, or take a model that reads more.",
            )
        on_text = options.get("on_text")
        stream = ReplyStream(on_text) if on_text is not None else None
        with self._lock:
            try:
                written = self._generate(ids, room, stream)
            except (RuntimeError, ValueError, TypeError) as error:
                # Out of memory, or invalid settings in the checkpoint.
                raise ModelError(
                    f"the checkpoint could not write ({first_line(error)})",
                    where=self.name,
                    hint="Set llm.context to less, or take another checkpoint.",
                ) from error
        ended = bool(written) and written[-1] in self._end_tokens()
        text = without_reasoning(self._decode(ids, written[:-1] if ended else written))
        if stream is not None:
            stream.show(text, done=True)
        finish = "length" if not ended else "stop" if text else "empty"
        return Reply(text, finish, len(ids), len(written))

    def _token_ids(self, task: str, prompt: str) -> list[int]:
        """Return the tokens of a prompt, as a chat where the tokenizer has a template."""
        task, prompt = self._without_marks(task), self._without_marks(prompt)
        both = f"{task}\n\n{prompt}" if task else prompt
        if not self._tokenizer.chat_template:
            return list(self._tokenizer(both, verbose=False)["input_ids"])
        user = {"role": "user", "content": prompt}
        # Some templates have no system role.
        chats = [[{"role": "system", "content": task}, user]] if task else []
        for messages in (*chats, [user | {"content": both}]):
            try:
                form = self._tokenizer.apply_chat_template(
                    messages, tokenize=False, add_generation_prompt=True
                )
                ids = self._tokenizer(form, add_special_tokens=False, verbose=False)["input_ids"]
                return list(ids)
            except Exception as error:  # from jinja2, or from Python values used in a template
                problem = error
        raise ModelError(
            f"the tokenizer's chat template cannot be used ({first_line(problem)})",
            where=self.name,
            hint="Choose another checkpoint.",
        ) from problem

    def _decode(self, ids: list[int], written: list[int]) -> str:
        """Decode the reply, preceded by the mark of reasoning if the prompt ends with one."""
        begun = ""
        if self._tokenizer.chat_template:
            end = self._tokenizer.decode(ids[-_LONGEST_MARK:]).rstrip()
            begun = next((mark for mark in REASONING_MARKS if end.endswith(mark)), "")
        return begun + str(self._tokenizer.decode(written, skip_special_tokens=True))

    def _without_marks(self, text: str) -> str:
        """Insert a space into each special token of the tokenizer that a text contains."""
        for mark in self._marks:
            text = text.replace(mark, f"{mark[0]} {mark[1:]}")
        return text

    def _generate(self, ids: list[int], room: int, stream: ReplyStream | None) -> list[int]:
        import torch

        def show(sequences: Any, _scores: Any) -> Any:
            """Show the text so far, and let the model go on."""
            written = sequences[0, len(ids) :].tolist()
            if stream is not None and written[-1] not in self._end_tokens():
                # A character may have more than one token.
                stream.show(self._decode(ids, written).rstrip("\ufffd"))
            return torch.zeros(1, dtype=torch.bool, device=sequences.device)

        inputs = torch.tensor([ids], device=self._device)
        with drawing(self._device, self._settings.seed):
            output = self._model.generate(
                input_ids=inputs,
                attention_mask=torch.ones_like(inputs),
                **sampling(self._settings.temperature),
                max_new_tokens=room,
                max_time=self._settings.timeout,
                pad_token_id=self._tokenizer.pad_token_id,
                stopping_criteria=[show],
            )
        return list(output[0, len(ids) :].tolist())

    def _end_tokens(self) -> set[int]:
        """Return the tokens that end a reply; a checkpoint may have several of them."""
        tokens = self._model.generation_config.eos_token_id
        return {*(tokens if isinstance(tokens, list) else [tokens]), self._tokenizer.eos_token_id}
