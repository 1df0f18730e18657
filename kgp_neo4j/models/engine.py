"""The light inference engine: networks in ONNX or OpenVINO format on the CPU, without torch."""

import os
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache, lru_cache
from itertools import groupby
from pathlib import Path
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from kgp_neo4j.environment.folders import Folders
from kgp_neo4j.environment.job import thread_count

#: The arrays given to a network, by the names of its inputs.
Feed = Mapping[str, NDArray[np.int64]]
#: How a text's vector is made from the states of its tokens: their mean, or the first one.
Pooling = Literal["mean", "cls"]
_CONVERTER = "openvino.tools.ovc"
_Made = TypeVar("_Made")
#: Shapes of inputs for which the engine keeps what it compiled, per network. It would keep 5,000,
#: some megabytes each; the passages of a corpus have hundreds. With none it takes twice as long.
_MOST_SHAPES = 64
_BATCH = 16
#: Texts are padded to a multiple of this many tokens: the engine keeps something for each shape of
#: inputs that it ever saw, 90 MB in all for passages of any length.
_STEP = 8


def import_openvino() -> Any:
    """Import OpenVINO without its converter and without its telemetry."""
    # `import openvino` sends an event over the network where openvino_telemetry can be imported. It
    # works without the converter, which takes a fifth of the import's time.
    sys.modules.setdefault("openvino_telemetry", None)  # type: ignore[arg-type]
    if "openvino" not in sys.modules:
        sys.modules.setdefault(_CONVERTER, None)  # type: ignore[arg-type]
    import openvino

    if sys.modules.get(_CONVERTER, openvino) is None:
        del sys.modules[_CONVERTER]  # so that others can import it
    return openvino


@cache
def _core() -> Any:
    core = import_openvino().Core()
    folder = Folders.from_environment().cache / "engine"
    with suppress(OSError):  # without a cache the start is slower, and nothing else
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if os.access(folder, os.W_OK):
        core.set_property({"CACHE_DIR": str(folder)})
    return core


@cache
def precision() -> str:
    """Return the type that this CPU multiplies fastest: bfloat16 or float32.

    Bfloat16 is it with AMX, and with the AVX512-BF16 of other makers than Intel. On Intel's without
    AMX (which virtual machines may hide) it takes 1.7 times as long as float32.
    """
    if "BF16" not in _core().get_property("CPU", "OPTIMIZATION_CAPABILITIES"):
        return "f32"
    has_amx = True  # where the system does not tell
    with suppress(OSError):
        has_amx = "amx_bf16" in Path("/proc/cpuinfo").read_text(encoding="utf-8")
    name = _core().get_property("CPU", "FULL_DEVICE_NAME")
    return "f32" if "Intel" in name and not has_amx else "bf16"


def describe_engine() -> dict[str, str | int]:
    """Return the engine's version, its precision on this CPU, and its number of threads."""
    version = import_openvino().__version__.partition("-")[0]
    return {"engine": f"OpenVINO {version}", "precision": precision(), "threads": thread_count()}


class CompiledNetwork:
    """A network ready to run on the CPU; safe to use from several threads.

    `file` is an `.xml` or `.onnx`, whose compiled form is cached.
    Up to `streams` inputs are computed at once, each by its share of the threads: independent
    streams keep the cores busy, where all threads on one input wait for each other at each step.
    """

    def __init__(self, file: Path, *, streams: int | None = None) -> None:
        threads = thread_count()
        self.streams = min(streams or threads, threads)
        options = {
            "PERFORMANCE_HINT": "THROUGHPUT",
            "INFERENCE_PRECISION_HINT": precision(),
            "NUM_STREAMS": self.streams,
            "INFERENCE_NUM_THREADS": threads,
            "CPU_RUNTIME_CACHE_CAPACITY": _MOST_SHAPES,
        }
        self._compiled = _core().compile_model(str(file), "CPU", options)
        self.inputs = frozenset(port.any_name for port in self._compiled.inputs)
        #: The size of what the first output has for a token.
        self.width = int(self._compiled.outputs[0].partial_shape[-1].get_length())
        self._local = threading.local()

    def run(
        self, feeds: Sequence[Feed], take: Callable[[Feed, list[NDArray[np.float32]]], _Made]
    ) -> list[_Made]:
        """Return the result of `take` for each feed and its outputs, in the order of the feeds.

        The outputs are views of memory that the next input overwrites: `take` must copy them.
        """
        results: list[Any] = [None] * len(feeds)

        def take_result(request: Any, at: int) -> None:
            results[at] = take(feeds[at], [tensor.data for tensor in request.output_tensors])

        # A thread's requests reuse their memory from call to call.
        if not hasattr(self._local, "queue"):
            self._local.queue = import_openvino().AsyncInferQueue(self._compiled, self.streams)
        queue = self._local.queue
        queue.set_callback(take_result)
        for at, feed in enumerate(feeds):
            queue.start_async({k: v for k, v in feed.items() if k in self.inputs}, at)
        queue.wait_all()
        return results


@lru_cache(maxsize=4)
def read_tokenizer(path: Path) -> Tokenizer:
    """Read a `tokenizer.json` (once); it neither truncates nor pads."""
    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def token_id(tokenizer: Tokenizer, *names: str) -> int | None:
    """Return the id of the first of these tokens that a tokenizer has."""
    return next((at for at in map(tokenizer.token_to_id, names) if at is not None), None)


class LightTransformer:
    """A network of the light engine that turns texts of `longest` tokens at most into vectors."""

    def __init__(self, network: Path, tokenizer: Path, longest: int, pooling: Pooling) -> None:
        self.tokenizer = read_tokenizer(tokenizer)
        self._padding = token_id(self.tokenizer, "[PAD]", "<pad>") or 0
        self._network = CompiledNetwork(network)
        self._pooling = pooling
        self._longest = longest
        self.dimension = self._network.width
        self.form = f"{network.stem} {precision()} by length"

    def __call__(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the vectors of texts: (texts, dimension)."""
        room = self._longest - self.tokenizer.num_special_tokens_to_add(is_pair=False)
        read = self.tokenizer.encode_batch(list(texts), add_special_tokens=False)
        for one in read:
            one.truncate(max(room, 1))
        ids = [self.tokenizer.post_process(one).ids for one in read]
        padded = [min(-(-len(one) // _STEP) * _STEP, self._longest) for one in ids]
        order = sorted(range(len(ids)), key=lambda at: -padded[at])
        # Few texts are shared out evenly among the parallel streams.
        size = min(_BATCH, -(-len(order) // (2 * self._network.streams)))
        # A batch has texts of one padded length: in bfloat16 a vector would change with the others.
        groups = [list(same) for _, same in groupby(order, padded.__getitem__)]
        parts = [each[at : at + size] for each in groups for at in range(0, len(each), size)]
        feeds = [self._feed([ids[at] for at in part], padded[part[0]]) for part in parts]
        vectors = np.empty((len(ids), self.dimension), dtype=np.float32)
        for part, pooled in zip(parts, self._network.run(feeds, self._pooled), strict=True):
            vectors[part] = pooled
        return vectors

    def _feed(self, batch: Sequence[Sequence[int]], longest: int) -> Feed:
        size = (len(batch), longest)
        ids = np.full(size, self._padding, dtype=np.int64)
        mask = np.zeros(size, dtype=np.int64)
        for at, one in enumerate(batch):
            ids[at, : len(one)] = one
            mask[at, : len(one)] = 1
        return {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}

    def _pooled(self, feed: Feed, outputs: list[NDArray[np.float32]]) -> NDArray[np.float32]:
        states = outputs[0]
        if self._pooling == "cls":
            return states[:, 0].copy()
        mask = feed["attention_mask"].astype(np.float32)
        return np.asarray((mask[:, None, :] @ states)[:, 0] / mask.sum(1, keepdims=True))
