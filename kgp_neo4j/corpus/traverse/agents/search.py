"""Agents that rank neighbours by the question, or by evidence a model generates (KGP, Eq. 1)."""

import logging
import warnings
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from functools import lru_cache
from itertools import groupby
from operator import itemgetter
from typing import Any, ClassVar

from kgp_neo4j.corpus.load.split import sentences
from kgp_neo4j.corpus.traverse.algorithm import NextEvidenceAgent
from kgp_neo4j.environment.configuration import language_settings
from kgp_neo4j.environment.files import expanded
from kgp_neo4j.environment.kinds import needs
from kgp_neo4j.llm.chat import open_language_model, replies, without_reasoning
from kgp_neo4j.models.encoder import Encoder, load_mdr
from kgp_neo4j.text.words import title_words, words
from kgp_neo4j.types.corpus import NextEvidence, Passage, ReasoningPath
from kgp_neo4j.types.errors import ConfigurationError, ModelError, first_line
from kgp_neo4j.types.settings import AgentSettings


class TfidfAgent(NextEvidenceAgent):
    """Ranks by the question's words, without a model; with an encoder by its vector, too."""

    name = "tfidf"
    graphs: ClassVar[Sequence[str]] = ("keywords",)

    def __init__(
        self, encoder: Encoder | None = None, settings: AgentSettings | None = None
    ) -> None:
        self._encoder = encoder
        self._settings = settings or AgentSettings()

    def begin(self, question: str) -> NextEvidence:
        """Return the question, and its vector where there is an encoder."""
        return self.evidence_of([question])[0]

    def next_evidence(
        self, question: str, paths: Sequence[ReasoningPath], passages: Mapping[str, Passage]
    ) -> list[NextEvidence]:
        """Return the question for every path."""
        return [self.begin(question)] * len(paths)

    def evidence_of(self, texts: Sequence[str]) -> list[NextEvidence]:
        """Return texts as evidence, with their vectors where there is an encoder."""
        if self._encoder is None:
            return [NextEvidence(text=text) for text in texts]
        vectors = self._encoder.encode(texts).tolist()
        return [NextEvidence(text, vector) for text, vector in zip(texts, vectors, strict=True)]


class KnnAgent(TfidfAgent):
    """Ranks neighbours by their similarity to the question's embedding."""

    name = "knn"
    graphs: ClassVar[Sequence[str]] = ("similarity",)
    needs_encoder = True


class RandomAgent(TfidfAgent):
    """Ranks neighbours at random: the paper's baseline.

    Its seeds are the others'. The order depends on seed, question and passage alone: runs repeat.
    """

    name = "random"

    def next_evidence(
        self, question: str, paths: Sequence[ReasoningPath], passages: Mapping[str, Passage]
    ) -> list[NextEvidence]:
        """Return a random order for every path."""
        return [NextEvidence(draw=f"{self._settings.seed} {question}")] * len(paths)


class MdrAgent(TfidfAgent):
    """Predicts the next passage with the MDR encoder, from the question and the path so far.

    The query vector of each path is compared with the neighbours' MDR embeddings (KGP, Table 2;
    Xiong et al., ICLR 2021). Its seeds are those of the other agents.
    """

    name = "mdr"
    graphs = ("mdr",)
    reads_passages = True

    def next_evidence(
        self, question: str, paths: Sequence[ReasoningPath], passages: Mapping[str, Passage]
    ) -> list[NextEvidence]:
        """Return the query vector of every path; all are encoded in one batch."""
        queries = []
        for path in paths:
            visited = [passages[s.passage] for s in path.steps if s.passage in passages]
            queries.append((question, [(passage.heading, passage.text) for passage in visited]))
        vectors = load_mdr().encode_queries(queries).tolist()
        return [NextEvidence(question, vector, space="mdr") for vector in vectors]


#: Most tokens of a prompt, as in KGP's fine-tuning.
_INPUT_TOKENS = 512
#: Most tokens generated: more than a supporting fact has, and no more than encoders read.
_OUTPUT_TOKENS = 160
_BATCH = 16


class Generator:
    """A language model that continues prompts of up to `limit` tokens in batches."""

    def __init__(self, model: Any, tokenizer: Any, device: str) -> None:
        self._model = model.eval()
        self._tokenizer = tokenizer
        self._device = device
        tokenizer.padding_side = "left"  # it continues from the right end
        self.limit = input_limit(model)

    def length(self, prompt: str) -> int:
        """Return the number of tokens of a prompt, with those that the tokenizer adds."""
        return len(self._tokenizer(prompt)["input_ids"])

    def generate(self, prompts: list[str], *, temperature: float = 0.0, seed: int = 0) -> list[str]:
        """Return the likeliest text for each prompt, above temperature 0 a sample by the seed."""
        import torch

        drawn = {"do_sample": True, "temperature": temperature, "top_k": 0, "top_p": 1.0}
        # A checkpoint's own options are reset: transformers warns of them without sampling.
        unused = dict.fromkeys(("temperature", "top_k", "top_p", "min_p", "typical_p"))
        options = drawn if temperature > 0 else {"do_sample": False, "num_beams": 1, **unused}
        options |= {"max_new_tokens": _OUTPUT_TOKENS, "pad_token_id": self._tokenizer.pad_token_id}
        form = {"return_tensors": "pt", "padding": True, "return_token_type_ids": False}
        # Each prompt once, sorted by length, so that a batch has prompts of similar length.
        order = sorted(dict.fromkeys(prompts), key=lambda prompt: (-len(prompt), prompt))
        written: dict[str, str] = {}
        # The seed leaves no trace in torch's own draws.
        devices = [torch.cuda.current_device()] if self._device == "cuda" else []
        with torch.inference_mode(), torch.random.fork_rng(devices):
            torch.manual_seed(seed)
            for start in range(0, len(order), _BATCH):
                batch = order[start : start + _BATCH]
                inputs = self._tokenizer(batch, **form).to(self._device)
                outputs = self._model.generate(**inputs, **options)
                outputs = outputs[:, inputs["input_ids"].shape[1] :]
                texts = self._tokenizer.batch_decode(outputs, skip_special_tokens=True)
                written |= zip(batch, texts, strict=True)
        return [written[prompt] for prompt in prompts]


def input_limit(model: Any) -> int:
    """Return how many tokens a prompt may have, so that the output still fits."""
    # A model without a limit has no such number, or a huge one, or one below 1.
    places = getattr(model.config.get_text_config(), "max_position_embeddings", 0)
    return max(1, min(_INPUT_TOKENS, places - _OUTPUT_TOKENS)) if places > 0 else _INPUT_TOKENS


@lru_cache(maxsize=2)
def load_generator(name: str) -> Generator:
    """Load a checkpoint (folder or hub name), or a LoRA adapter's folder with its base model.

    Raises ModelError where it is not found, has no safetensors weights, or is not causal.
    """
    return Generator(*load_checkpoint(name))


def load_checkpoint(name: str, *, to_train: bool = False) -> tuple[Any, Any, str]:
    """Return the model, the tokenizer and the device; raises as `load_generator` does.

    It is in bfloat16 on a GPU and, unless it is `to_train`, on CPUs that have it; else in float32.
    """
    with needs("torch", "a checkpoint", ModelError):
        import torch
        from peft import AutoPeftModelForCausalLM
        from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer
        from transformers.utils import logging as chatter
    chatter.disable_progress_bar()  # type: ignore[no-untyped-call]  # it would draw over our own
    device = "cuda" if torch.cuda.is_available() else "cpu"
    # A model that writes waits for its weights, which are half as large in bfloat16: one of 270 M
    # parameters writes twice as fast with AVX512-BF16, even where products are slower in it.
    quick = not to_train and getattr(torch.cpu, "_is_avx512_bf16_supported", bool)()
    dtype = torch.bfloat16 if quick or device == "cuda" else torch.float32
    folder = expanded(name)
    # An absolute path, because an adapter stores the name of its base model.
    source = str(folder.absolute()) if folder.is_dir() else name
    is_adapter = (folder / "adapter_config.json").is_file()
    # peft would fall back to a pickle.
    if is_adapter and not (folder / "adapter_model.safetensors").is_file():
        hint = "Give the folder of a LoRA adapter, as `kgp-neo4j train` makes it."
        raise ModelError("there is no adapter_model.safetensors", where=str(folder), hint=hint)
    kind: Any = AutoPeftModelForCausalLM if is_adapter else AutoModelForCausalLM
    # The base of an adapter may be a model of the hub.
    options = {"trust_remote_code": False, "local_files_only": folder.is_dir() and not is_adapter}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # about the libraries' own calls
            config = None if is_adapter else AutoConfig.from_pretrained(source, **options)
            if config is not None and config.is_encoder_decoder:
                raise ValueError(f"no causal checkpoint but one of the type {config.model_type}")
            model = kind.from_pretrained(source, dtype=dtype, use_safetensors=True, **options)
            tokenizer = AutoTokenizer.from_pretrained(model.name_or_path, **options)
            if tokenizer.eos_token_id is None:
                raise ValueError("its tokenizer has no token that ends a text, no eos_token")
    except Exception as error:  # damaged files raise what their libraries like
        raise ModelError(
            f"the checkpoint {name!r} could not be loaded ({first_line(error)})",
            hint="Give a folder with safetensors weights and a tokenizer, or a hub name while "
            "online.",
        ) from error
    if tokenizer.pad_token_id is None:
        tokenizer.pad_token = tokenizer.eos_token
    return model.to(device), tokenizer, device


#: Makes a prompt of a question and the evidence so far.
Prompt = Callable[[str, Sequence[str]], str]
#: What a model is to do: the system message of a chat, the instruction of other prompts.
_TASK = (
    "Read the question and the evidence found so far. Write the one piece of evidence that is "
    "needed next to come closer to the answer, as a sentence or two that could stand in an "
    "encyclopedia. Do not answer the question."
)


class GeneratingAgent(TfidfAgent):
    """Generates the next evidence of all paths in one batch; without an encoder its words count."""

    reads_passages = True
    writes_text = True

    @abstractmethod
    def write(self, question: str, evidence: Sequence[Sequence[str]]) -> list[str]:
        """Return the next evidence after each list of evidence; empty where there is none."""

    def next_evidence(
        self, question: str, paths: Sequence[ReasoningPath], passages: Mapping[str, Passage]
    ) -> list[NextEvidence]:
        """Return the generated evidence for each path, the question where there is none."""
        known = []
        for path in paths:
            visited = [passages[s.passage] for s in path.steps if s.passage in passages]
            known.append(tuple(titled_line(p.title, p.text) for p in visited))
        different = list(dict.fromkeys(known))
        texts = [readable(text) for text in self.write(question, different)]
        evidence = iter(self.evidence_of([text for text in texts if text]))
        pairs = zip(different, texts, strict=True)
        written = {e: next(evidence) if text else self.begin(question) for e, text in pairs}
        return [written[each] for each in known]


class LlamaAgent(GeneratingAgent):
    """Writes with a causal checkpoint, as LLaMA, with the adapters of `kgp-neo4j train llama`."""

    name = "llama"
    takes_model = True

    def __init__(self, encoder: Encoder | None, settings: AgentSettings) -> None:
        super().__init__(encoder, settings)
        if settings.model is None:
            raise ConfigurationError(
                "the agent llama needs a model",
                hint="Give --model: the folder that `kgp-neo4j train llama` made, or any causal "
                "checkpoint.",
            )
        self._model = load_generator(settings.model)

    def write(self, question: str, evidence: Sequence[Sequence[str]]) -> list[str]:
        """Return the model's continuation of each prompt, in one batch."""
        model, settings = self._model, self._settings
        prompts = [fitted(alpaca_prompt, question, e, model.length, model.limit) for e in evidence]
        return model.generate(prompts, temperature=settings.temperature, seed=settings.seed)


def readable(text: str) -> str:
    """Return a model's text on one line, without its reasoning, up to the next heading."""
    # Models that were not tuned to this task may continue with an instruction of their own.
    return " ".join(without_reasoning(text).split("###")[0].split())


#: About 4,000 tokens: half of what any model reads today.
_CHARACTERS = 16_000
_log = logging.getLogger("kgp_neo4j")


class ChatAgent(GeneratingAgent):
    """Generates with the model named, else the configured one (`open_language_model`).

    Where a reply is refused or empty, the question is used in its place, with a warning; raises
    ModelError where the server cannot be used.
    """

    name = "chat"
    takes_model = True

    def __init__(self, encoder: Encoder | None, settings: AgentSettings) -> None:
        super().__init__(encoder, settings)
        model = open_language_model(language_settings(**asdict(settings)))
        if model is None:
            hint = "Give --model, as the chat server calls it."
            raise ConfigurationError("the agent chat needs the name of a model", hint=hint)
        self._model = model

    def write(self, question: str, evidence: Sequence[Sequence[str]]) -> list[str]:
        """Return the model's reply for each list of evidence; empty where it gave none."""
        prompts = [fitted(chat_prompt, question, e, len, _CHARACTERS) for e in evidence]
        written = [readable(reply.text) for reply in replies(self._model, _TASK, prompts)]
        if lost := sum(not text for text in written):
            _log.warning(
                f"Warning: the model {self._model.name} gave no evidence for {lost} of "
                f"{len(written)} paths (an empty or refused reply); the question stands in for it."
            )
        return written


def titled_line(title: str, text: str) -> str:
    """Return a passage or a fact on one line, after its title unless the text has it."""
    line = " ".join(text.split())
    text_words = f" {' '.join(words(line)).lower()} "
    named = any(f" {' '.join(form).lower()} " in text_words for form in title_words(title))
    return line if named or not title.strip() else f"{' '.join(title.split())}: {line}"


def alpaca_prompt(question: str, evidence: Sequence[str]) -> str:
    """Return the prompt of the paper's LLaMA in Alpaca's format: instruction, input, response.

    No line of question or evidence passes for a heading: each begins with a label or a number.
    """
    asked = chat_prompt(question, evidence)
    return f"### Instruction:\n{_TASK}\n\n### Input:\n{asked}\n\n### Response:\n"


def chat_prompt(question: str, evidence: Sequence[str]) -> str:
    """Return the question and the numbered evidence; the task is in the system message."""
    lines = [f"{number}. {text}" for number, text in enumerate(evidence, 1)] or ["none"]
    return "\n".join([f"Question: {' '.join(question.split())}", "Evidence:", *lines])


def fitted(
    prompt: Prompt, question: str, evidence: Sequence[str], length: Callable[[str], int], limit: int
) -> str:
    """Return the prompt with the latest sentences of evidence that fit; ModelError if none does."""
    text = prompt(question, evidence)
    if length(text) <= limit:
        return text
    units = [
        (place, passage[start:end].strip())
        for place, passage in enumerate(evidence)
        for start, end in sentences(passage)
    ]
    for first in range(1, len(units) + 1):
        groups = groupby(units[first:], key=itemgetter(0))
        text = prompt(question, [" ".join(sentence for _, sentence in own) for _, own in groups])
        if length(text) <= limit:
            return text
    what = f"the question has {length(text)} tokens with its instruction; the model reads {limit}"
    raise ModelError(what, hint="Ask a shorter question.")
