"""Train the judge of relation paths that is shipped, `path_judge.safetensors`.

    python benchmarks/train_directions.py FOLDER --out trained/directions

Learns from questions over relations of `directions/lexicon.tsv`, worded in many ways for either end
and for paths of up to three steps, beside the paths of a made-up graph: the other direction, the
relation's inverse, near relations and longer or shorter paths. Beside them stand the questions of
PathQuestion, 2WikiMultihopQA and MuSiQue, train parts, over their own triples. With `--without`
domains of the lexicon are kept apart, and what is right there is told.
"""

from __future__ import annotations

import collections
import gzip
import random
import re
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import _common as common
import numpy as np

sys.path.insert(0, str(Path(__file__).with_name("directions")))
from wording import Relation, Wording, names, read_lexicon

from kgp_neo4j.corpus.read.reader import SHIPPED
from kgp_neo4j.mindmap.explore.path_judge import Step, lay_out, masked, statement
from kgp_neo4j.mindmap.load.graph_names import key_of
from kgp_neo4j.models.torch_encoder import quick_products
from kgp_neo4j.models.reader.network import WEIGHTS_FILE
from kgp_neo4j.train.reader import trainable
from kgp_neo4j.train.reader_network import TrainedNetwork
from kgp_neo4j.text.words import FUNCTION_WORDS

#: Paths beside each question at most, questions of a batch, the lowest layer trained, and the rate.
PATHS, BATCH, LOWEST, RATE = 3, 32, 0, 2e-4
PLAIN = re.compile(r"\s*\(.*\)")

#: A question, and paths with whether each is asked for.
Group = tuple[str, list[tuple[str, bool]]]


class Maker:
    """Makes questions over relations of the lexicon, each with paths of a graph."""

    def __init__(self, relations: Sequence[Relation], seed: int) -> None:
        self.draw = random.Random(seed)
        self.relations = relations
        self.word = Wording(self.draw)
        self.by_domain = collections.defaultdict(list)
        for relation in relations:
            self.by_domain[relation.domain].append(relation)

    def name(self) -> str:
        """Return a made-up name."""
        parts = "an bel cor dra el fin gor hal is jun kel lor mar nor ost per qui ros sel tor".split()
        return " ".join("".join(self.draw.choices(parts, k=self.draw.choice([1, 2, 3])))
                        for _ in range(self.draw.choice([1, 2, 2])))  # fmt: skip

    def graph(self) -> list[tuple[Relation, bool, str]]:
        """Return relationship types: what each means, in which direction, and its name."""
        draw = self.draw
        near = self.by_domain[draw.choice(self.relations).domain]
        drawn = draw.sample(near, min(len(near), draw.choice([2, 3, 4, 5])))
        drawn += draw.sample(self.relations, draw.choice([0, 1, 2, 3]))
        kept: list[Relation] = []
        for relation in drawn:
            if not any(relation.words & other.words for other in kept):
                kept.append(relation)
        edges = []
        for relation in kept:
            along = draw.random() < 0.6
            for way in [along, not along] if draw.random() < 0.2 else [along]:
                if some := names(relation.view(way)):
                    edges.append((relation, way, draw.choice(some)))
        return edges

    def groups(self) -> Iterator[Group]:
        """Yield questions without end."""
        while True:
            edges = self.graph()
            if len(edges) >= 2 and (made := self.group(edges)):
                yield made

    def group(self, edges: list[tuple[Relation, bool, str]]) -> Group | None:
        draw, word = self.draw, self.word
        meant = {name: (relation, way) for relation, way, name in edges}
        steps = [(name, forward) for name in meant for forward in (True, False)]

        def meaning(step: Step) -> tuple[Relation, bool]:
            relation, way = meant[step[0]]
            return relation, relation.symmetric or way == step[1]

        def view(step: Step) -> Any:
            relation, way = meant[step[0]]
            return relation.view(way == step[1])

        kind = draw.choices(("1", "2", "3", "same", "whether", "both", "none", "no name"),
                            (50, 23, 5, 4, 11, 6, 3, 8))[0]  # fmt: skip
        length = {"2": 2, "3": 3}.get(kind) or (1 if kind != "no name" else draw.choice([1, 2]))
        asked = [draw.choice(steps) for _ in range(length)]
        if kind == "2" and draw.random() < 0.3:
            asked[1] = asked[0]
        if kind == "same":
            asked += [(asked[0][0], not asked[0][1])]
            text = word.same(view(asked[0]), "x")
        elif kind == "whether":
            text = word.whether(view(asked[0]), "x", "y")
        elif kind == "both":
            other = draw.choice(steps)
            text = word.both(view(asked[0]), "x", view(other), "y") if other != asked[0] else ""
        elif kind == "none":
            relation = draw.choice(self.relations)
            if any(relation.words & other.words for other, _, _ in edges):
                return None
            text = word.ask(relation.view(draw.random() < 0.5), "x")
        else:
            thing = "x"
            for step in asked[:-1]:
                thing = word.thing(view(step), thing)
            text = word.ask(view(asked[-1]), thing)
        if not text:
            return None
        if kind == "no name":
            # A word that is no name is taken for one.
            tokens = text.split()
            places = [at for at, token in enumerate(tokens) if token.isalpha() and token != "x"
                      and token not in FUNCTION_WORDS]  # fmt: skip
            if not places:
                return None
            tokens = [self.name() + token[1:] if re.match(r"x\b", token) else token for token in tokens]
            text = " ".join("x" if at == place else token for place in [draw.choice(places)]
                            for at, token in enumerate(tokens))  # fmt: skip
        elif draw.random() < 0.4:
            text = re.sub(r"\by\b", self.name(), text)
        wanted = [meaning(step) for step in asked] if kind not in ("none", "no name") else None

        paths = {tuple(asked): None}
        most = 2 if draw.random() < 0.65 else PATHS
        flips = [[step if draw.random() < 0.5 else (step[0], not step[1]) for step in asked]
                 for _ in range(4)]  # fmt: skip
        same = [step for step in steps if wanted and meaning(step) == wanted[0]]
        others = draw.sample(steps, min(len(steps), 6))
        near = [[(asked[0][0], not asked[0][1]), *asked[1:]], [*asked[:-1], (asked[-1][0], not asked[-1][1])],
                *flips[: 2 * length - 1], *([one, *asked[1:]] for one in same)]  # fmt: skip
        far = [[*asked, draw.choice(steps)], [draw.choice(steps), *asked], asked[:-1], asked[1:],
               asked[::-1], [*asked, asked[-1]], [*asked, (asked[-1][0], not asked[-1][1])],
               [*asked[:-1], draw.choice(steps)], [draw.choice(steps), *asked[1:]],
               [draw.choice(steps), draw.choice(steps)], *([one] for one in others)]  # fmt: skip
        draw.shuffle(far)
        near = near[:1] if length == 1 and draw.random() < 0.8 else draw.sample(near, len(near))
        for path in (*near[:1], *far, *near[1:]):
            if 0 < len(path) <= 4 and len(paths) < most:
                paths[tuple(path)] = None
        made = [(statement(path), wanted == [meaning(step) for step in path]) for path in paths]
        return text, made


# --- Questions over triples ---


class Graph:
    """Triples in memory, by entity and step."""

    def __init__(self, triples: Sequence[Sequence[str]]) -> None:
        self.steps: dict[str, dict[Step, set[str]]] = collections.defaultdict(dict)
        for head, relation, tail in triples:
            a, b = key_of(head), key_of(tail)
            self.steps[a].setdefault((relation, True), set()).add(b)
            self.steps[b].setdefault((relation, False), set()).add(a)
        self.relations = sorted({r for steps in self.steps.values() for r, _ in steps})

    def ends(self, entity: str, path: Sequence[Step]) -> set[str]:
        reached = {entity}
        for step in path:
            reached = {m for n in sorted(reached)[:200] for m in self.steps[n].get(step, ())}
        return reached

    def walk(self, entity: str, length: int, draw: random.Random) -> list[Step]:
        path: list[Step] = []
        for _ in range(length):
            reached = sorted(self.ends(entity, path))[:10]
            steps = sorted({step for n in reached for step in self.steps[n]})
            path += [draw.choice(steps)] if steps else []
        return path


def questions(data: Path) -> dict[str, tuple[Graph, list[tuple[str, str, list[str], list[str]]]]]:
    """Return graphs with train questions: text, entity, relations along, and answers."""
    made = {}
    for name in ("pathquestion", "pathquestion_large"):
        with gzip.open(data / "kgqa" / f"{name}.tsv.gz", "rt", encoding="utf-8") as file:
            graph = Graph([line.rstrip("\n").split("\t") for line in file])
        files = [data / "kgqa" / f"{name}_{hops}hop_train.jsonl.gz" for hops in (2, 3)]
        made[name] = graph, [
            (r["question"], r["question_entities"][0], r["relations"], r["answer_entities"])
            for r in common.read_lines(*files)
        ]
    rows, triples = [], []
    for r in common.read_lines(*(data / "2wiki" / f"{n}.jsonl.gz" for n in ("train", "train_more"))):
        facts = [(h, relation, t) for h, relation, t in r["evidences"]]
        triples += facts
        if r["type"] in ("compositional", "inference") and len(facts) == 2:
            rows.append((r["question"], facts[0][0], [f[1] for f in facts], [facts[1][2]]))
    made["2wiki"] = Graph(triples), rows
    rows, triples = [], []
    files = [data / "musique" / f"{name}.jsonl.gz" for name in ("train_decompositions", "train")]
    for r in common.read_lines(*files):
        steps = [s["question"].split(" >> ") for s in r["question_decomposition"]]
        answers = [s["answer"] for s in r["question_decomposition"]]
        chain = [f"#{at}" for at in range(1, len(steps))]
        if all(len(s) == 2 for s in steps) and [s[0] for s in steps[1:]] == chain:
            heads, relations = [steps[0][0], *answers], [s[1].strip() for s in steps]
            triples += list(zip(heads, relations, answers, strict=False))
            rows.append((r["question"], heads[0], relations, [answers[-1]]))
    made["musique"] = Graph(triples), rows
    return made


def of_triples(graph: Graph, row: Any, draw: random.Random) -> Group | None:
    """Return a question over triples with some of its paths."""
    question, entity, relations, answers = row
    mention, key = key_of(PLAIN.sub("", entity)), key_of(entity)
    at = question.casefold().find(mention)
    if at < 0:
        return None
    right = tuple((relation, True) for relation in relations)
    wanted = {key_of(answer) for answer in answers}
    paths: dict[tuple[Step, ...], bool] = {right: True}
    tried = [[(r, f != (draw.random() < 0.5)) for r, f in right] for _ in range(2)]
    tried += [list(right[:-1]), list(right[1:]), [*right, draw.choice(right)]]
    tried += [graph.walk(key, draw.choice([1, 2, 2, 3]), draw) for _ in range(6)]
    tried += [[*right[:-1], (draw.choice(graph.relations), True)]]
    for path in tried:
        ends = graph.ends(key, path)
        f1 = 2 * len(ends & wanted) / (len(ends) + len(wanted))
        if path and (f1 < 0.5 or f1 == 1) and len(paths) < PATHS:
            paths.setdefault(tuple(path), f1 == 1)
    text = masked(question, (at, at + len(mention)))
    return text, [(statement(path), is_right) for path, is_right in paths.items()]


# --- Training ---


class Laid:
    """A text and a statement in word pieces."""

    def __init__(self, ids: list[int], types: list[int]) -> None:
        self.ids, self.types = ids, types


def judged(network: TrainedNetwork, groups: Sequence[Group]) -> Any:
    """Return the log odds of all paths of some questions, one after the other."""
    import torch

    laid = [Laid(*each) for question, paths in groups
            for each in lay_out(network.tokenizer, question, [p for p, _ in paths])]  # fmt: skip
    order = sorted(range(len(laid)), key=lambda at: len(laid[at].ids))
    parts = [order[at : at + 36] for at in range(0, len(order), 36)]
    odds = torch.cat([network.judge([laid[at] for at in part]) for part in parts])
    return odds[torch.tensor(np.argsort(order))]


def loss(network: TrainedNetwork, groups: Sequence[Group]) -> Any:
    """Return how far each path, and the best of each question, is from right."""
    import torch
    from torch.nn.functional import binary_cross_entropy_with_logits

    odds = judged(network, groups)
    right = torch.tensor([float(r) for _, paths in groups for _, r in paths])
    total = binary_cross_entropy_with_logits(odds, right)
    apart, at = [], 0
    for _, paths in groups:
        here = slice(at, at + len(paths))
        at += len(paths)
        if right[here].any():
            logs = odds[here].log_softmax(0)
            apart.append(-logs[right[here] > 0].logsumexp(0))
    return total * 2 + torch.stack(apart).mean()


def learn(network: TrainedNetwork, groups: Sequence[Group], seconds: float) -> None:
    """Train on the questions, once each, or on as many as there is time for."""
    import torch

    parts = trainable(network, RATE, LOWEST)
    optimizer = torch.optim.AdamW(parts, weight_decay=0.0)
    every = [part for group in parts for part in group["params"]]
    rates = [group["lr"] for group in parts]
    network.body.eval()
    began, recent = time.monotonic(), []
    for at in range(0, len(groups), BATCH):
        # The rate rises for a short time, then falls with what is left of questions or time.
        done = max(at / len(groups), (time.monotonic() - began) / seconds)
        if done >= 1:
            break
        for group, rate in zip(optimizer.param_groups, rates, strict=True):
            group["lr"] = rate * min(at / BATCH / 10 + 0.1, 1 - done)
        with quick_products(network.body):
            value = loss(network, groups[at : at + BATCH])
        optimizer.zero_grad(set_to_none=True)
        value.backward()
        torch.nn.utils.clip_grad_norm_(every, 1.0)
        optimizer.step()
        recent.append(float(value.detach()))
        if len(recent) % 10 == 0:
            passed = time.monotonic() - began
            common.say(f"{at} questions, {passed:.0f} s, loss {np.mean(recent[-10:]):.3f}")


def measure(network: TrainedNetwork, groups: Sequence[Group]) -> str:
    """Return how often the likeliest path is right, and the error of its probability."""
    import torch

    rows = []
    with torch.inference_mode():
        for at in range(0, len(groups), 16):
            some = groups[at : at + 16]
            odds, place = judged(network, some).tolist(), 0
            for _, paths in some:
                own = odds[place : place + len(paths)]
                place += len(paths)
                best = int(np.argmax(own))
                rows.append((own[best], paths[best][1]))
    likely = 1 / (1 + np.exp(-np.array([value for value, _ in rows])))
    right = np.array([good for _, good in rows])
    sure = likely > 0.5
    return (f"{right.mean():.3f} right; above 50 %: {sure.mean():.2f} of all, {right[sure].mean():.3f} "
            f"right at {likely[sure].mean():.3f}; wrong above 50 %: {(sure & ~right).mean():.3f}")  # fmt: skip


def main() -> None:
    """Make the questions, train, tell, and write."""
    parser = common.parser(__doc__ or "", 16_000)
    parser.add_argument("--out", type=Path, default=Path("trained/directions"))
    parser.add_argument("--without", type=common.words, default=[], help="domains kept apart")
    parser.add_argument("--from", type=Path, dest="base", help="goes on from what this folder has")
    parser.add_argument("--minutes", type=float, default=60, help="the training takes at most")
    given = parser.parse_args()
    draw = random.Random(given.seed)
    relations = read_lexicon()
    apart = [r for r in relations if r.domain in given.without]
    maker = Maker([r for r in relations if r not in apart], given.seed)
    endless = maker.groups()
    groups = [next(endless) for _ in range(int(given.questions * 0.9))]
    real = {}
    for name, (graph, rows) in questions(given.folder).items():
        draw.shuffle(rows)
        some = (of_triples(graph, row, draw) for row in rows[: given.questions // 40 + 40])
        real[name] = [each for each in some if each]
        groups += real[name][40:]
    kept = {name: some[:40] for name, some in real.items()}
    if apart:
        endless = Maker(apart, given.seed + 1).groups()
        kept["relations kept apart"] = [next(endless) for _ in range(250)]
    endless = maker.groups()
    kept["relations learned"] = [next(endless) for _ in range(150)]
    draw.shuffle(groups)
    network = TrainedNetwork(("right",))
    network.load(given.base or SHIPPED, heads=given.base is not None)
    common.say(f"{len(groups)} questions")
    learn(network, groups, 60 * given.minutes)
    given.out.mkdir(parents=True, exist_ok=True)
    network.save_differences(given.out / WEIGHTS_FILE)
    for name, some in kept.items():
        print(f"{name}: {measure(network, some)}")


if __name__ == "__main__":
    main()
