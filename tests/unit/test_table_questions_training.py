"""Training the ranker of questions over tables, and the benchmark that measures it."""

from __future__ import annotations

import gzip
import os
import re
import subprocess
import sys
import tarfile
from pathlib import Path
from random import Random

import numpy as np
import pytest
from commands import environment

from kgp_neo4j.corpus.tables.questions.candidates import candidates
from kgp_neo4j.corpus.tables.questions.cell_links import link
from kgp_neo4j.corpus.tables.questions.features import example
from kgp_neo4j.corpus.tables.questions.plans import Plan, Rows, denotation
from kgp_neo4j.corpus.tables.questions.ranker import (
    CONFIDENCE,
    Ranker,
    groups_of,
    load_ranker,
    read_ranker,
)
from kgp_neo4j.corpus.tables.questions.table_grid import Grid, grid_of
from kgp_neo4j.environment.folders import Connection
from kgp_neo4j.evaluate.denotations import same_values
from kgp_neo4j.models.trees import Trees
from kgp_neo4j.train.table_forms import made_up
from kgp_neo4j.train.table_questions import (
    RankerSettings,
    Sample,
    best_of,
    grow_confidence,
    save,
    train_ranker,
)
from kgp_neo4j.types.errors import ModelError

_BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
_SMALL = RankerSettings(
    words=8, header=4, hidden=16, rounds=4, rare_gram=2, rare_signature=2, rare_header=2, seed=5
)


def _grid(seed: int) -> Grid:
    """Return a small table of invented islands."""
    random = Random(seed)
    names = [f"{a}{b}" for a in ("Ard", "Hesk", "Mor", "Skel") for b in ("fin", "vich", "by")]
    random.shuffle(names)
    rows = [
        (name, str(random.randrange(10, 900)), random.choice(("Norway", "Denmark", "Iceland")))
        for name in names[:9]
    ]
    return grid_of(("Island", "People", "Flag"), rows)


def _samples(seeds: range) -> list[Sample]:
    made = []
    for seed in seeds:
        grid = _grid(seed)
        for text, plan in made_up(grid, Random(seed), 8):
            links = link(text, grid)
            found = candidates(links, grid)
            if not (values := denotation(grid, plan).values):
                continue  # the row after the last
            right = [same_values(c.result.values, values) for c in found]
            made.append(Sample(example(links, grid, found), right, groups_of(found), part=seed % 2))
    return made


def test_made_up_questions_can_be_read_as_they_are_meant() -> None:
    samples = _samples(range(12))
    assert len(samples) > 40
    # A comparison that no row fulfils is not among the readings.
    assert sum(any(s.right) for s in samples) >= 0.95 * len(samples)


@pytest.mark.slow
@pytest.mark.train
def test_a_ranker_reads_questions_over_tables_it_has_not_seen_and_knows_how_well() -> None:
    ranker = Ranker(*train_ranker(_samples(range(25)), _SMALL))
    unseen = _samples(range(100, 130))
    judged = [best_of(ranker, sample) for sample in unseen]
    right = np.array([right for right, _ in judged])
    assert right.mean() > 0.6 > np.mean([np.mean(sample.right) for sample in unseen])
    rows = [row for _, row in judged]
    trees = Trees(CONFIDENCE, grow_confidence(rows, list(right), smallest_leaf=10))
    scores = trees.scores(np.array(rows, np.float32))
    assert scores[right].mean() > scores[~right].mean()


@pytest.mark.slow
@pytest.mark.train
def test_training_again_gives_the_same_and_a_saved_ranker_scores_as_before(tmp_path: Path) -> None:
    samples = _samples(range(3))
    (weights, card), (again, _) = (train_ranker(samples, _SMALL) for _ in range(2))
    assert all(np.array_equal(weights[name], again[name]) for name in weights)
    save(tmp_path, weights, {**card, "threshold": 0.7})
    before, after = Ranker(weights, card), read_ranker(tmp_path)
    assert after.threshold == 0.7
    for sample in samples[:5]:
        scores = after.scores(sample.example)
        assert np.allclose(before.scores(sample.example), scores, atol=0.05, rtol=0.01)


def test_the_ranker_that_is_shipped_is_loaded_once_and_what_is_none_is_told(tmp_path: Path) -> None:
    assert load_ranker() is load_ranker()
    assert 0.3 < load_ranker().threshold < 1
    with pytest.raises(ModelError, match="no ranker") as caught:
        read_ranker(tmp_path)
    assert str(tmp_path) in str(caught.value)
    (tmp_path / "ranker.safetensors").write_bytes(b"not one")
    with pytest.raises(ModelError, match="no ranker"):
        read_ranker(tmp_path)


@pytest.mark.slow
@pytest.mark.train
def test_the_benchmark_goes_from_a_folder_to_its_figures(
    connection: Connection, tmp_path: Path
) -> None:
    folder, grids = tmp_path / "data", {f"csv/1-csv/{n}.csv": _grid(n) for n in (1, 2)}
    folder.mkdir()
    lines = ["id\tutterance\tcontext\ttargetValue"]
    with tarfile.open(folder / "tables_csv.tar.gz", "w:gz") as packed:
        for name, grid in grids.items():
            file = tmp_path / Path(name).name
            rows = [[c.header for c in grid.columns], *([c.text for c in r] for r in grid.rows)]
            file.write_text("".join(",".join(f'"{t}"' for t in row) + "\n" for row in rows))
            packed.add(file, name)
            first = grid.rows[0]
            lines.append(f"{name}-1\twhat is the flag of {first[0].text}?\t{name}\t{first[2].text}")
            count = denotation(grid, Plan("count", Rows())).values[0]
            lines.append(f"{name}-2\thow many islands are there?\t{name}\t{count}")
    with gzip.open(folder / "random-split-1-dev.tsv.gz", "wt") as file_:
        file_.write("\n".join(lines) + "\n")
    done = subprocess.run(
        [sys.executable, str(_BENCHMARKS / "table_questions.py"), str(folder)],
        capture_output=True,
        text=True,
        env=os.environ | environment(connection),
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    figures = dict(re.findall(r"^(\w+) +([\d.]+)$", done.stdout, re.MULTILINE))
    assert figures["questions"] == "4"
    assert float(figures["accuracy"]) >= 50
