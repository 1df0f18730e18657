"""Train the reader that is shipped, again: the weights of `kgp_neo4j/models/reader/`.

    python benchmarks/make_questions.py FOLDER --out made
    python benchmarks/train_reader.py FOLDER --made made --from BASE --out trained/reader

BASE holds the reader that it begins with, `reader.json` and `reader.safetensors` of revision
dcfcea5 in that folder: their training, by a larger teacher on a GPU, is told in the model card and
is not made again. Data sets and the questions made are read in one pass; no development question
is. The weights that are written lie between those of BASE and those that it ends with, which reads
better than either (Wortsman et al., CVPR 2022). How sure the reader is stays as BASE has it: nearly
all questions of these files were seen before, so that they cannot tell. On two cores it takes most
of an hour, on the same machine it gives the same weights.
"""

import json
from pathlib import Path

import _common as common
from reading import NAMES

from kgp_neo4j.models.reader.network import CARD_FILE
from kgp_neo4j.train.reader import ReaderSettings, TrainedNetwork, train_reader

#: The share of BASE in the weights that are written.
_KEPT = 0.3
#: From this confidence on an answer is stated: nine in ten are right on IIRC's questions, which
#: neither training saw, and more than 85 in 100 on the development questions of HotpotQA and 2Wiki.
_STATED = 0.9


def main() -> None:
    """Train and write the folder."""
    given = common.training_options(__doc__, "trained/reader", "the reader to begin with")
    data: Path = given.folder
    files = [*common.extractive(data), data / "boolq/train_part.jsonl.gz"]
    files += [data / name / "train.jsonl.gz" for name in NAMES]
    files.append(data / "hotpotqa" / "train_more.jsonl.gz")
    files += [given.made / f"{name}.jsonl" for name in ("composed", "swapped")]
    settings = ReaderSettings(epochs=1, batch=8192, rate=1e-4, seed=given.seed, further=given.base)
    trained = given.out / "trained"
    print(train_reader(files, trained, settings))
    mix(trained, given.base, given.out)


def mix(trained: Path, base: Path, out: Path) -> None:
    """Write what lies between two readers."""
    network = TrainedNetwork()
    network.load(trained)
    network.load(base, _KEPT)
    calibration = json.loads((base / CARD_FILE).read_text(encoding="utf-8"))["calibration"]
    network.save(out, {"calibration": calibration | {"stated": _STATED}})


if __name__ == "__main__":
    main()
