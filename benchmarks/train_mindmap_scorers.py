"""Train the scorer of mind maps' relation paths.

    python benchmarks/train_mindmap_scorers.py FOLDER --out trained

Graphs and questions are those of PathQuestion (both), 2WikiMultihopQA and MuSiQue, train parts: the
evidence triples and decompositions of the latter two make graphs of Wikidata's relations. Beside
their questions stand generated ones over the same graphs: a random walk, put into words by a small
grammar, in which a relation is named by a word of the encoder's vocabulary near its name. Each
graph is left out once: of its questions comes the temperature that makes probabilities of the
scores. The weights in the package were made by an earlier form of this script. Needs the extra
`train`.
"""

from __future__ import annotations

import collections
import gzip
import random
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import _common as common
import numpy as np

from kgp_neo4j.mindmap.aggregate import readable
from kgp_neo4j.mindmap.explore.path_scorer import (
    GRAMMAR,
    HOPS,
    Step,
    path_forms,
    read_question,
    word_features,
)
from kgp_neo4j.mindmap.load.graph_names import key_of
from kgp_neo4j.models.encoder import Encoder, embed, load_encoder
from kgp_neo4j.text.words import STOP_WORDS

PLAIN = re.compile(r"\s*\(.*\)")


class Graph:
    """Triples in memory, by entity and step."""

    def __init__(self, triples: Sequence[Sequence[str]]) -> None:
        self.steps: dict[str, dict[Step, list[str]]] = collections.defaultdict(dict)
        self.names: dict[str, str] = {}
        for head, relation, tail in sorted({tuple(each) for each in triples}):
            a, b = key_of(head), key_of(tail)
            self.names |= {a: head, b: tail}
            self.steps[a].setdefault((relation, True), []).append(b)
            self.steps[b].setdefault((relation, False), []).append(a)
        self.relations = sorted({r for steps in self.steps.values() for r, _ in steps})

    def ends(self, entity: str, path: Sequence[Step]) -> set[str]:
        reached = {entity}
        for step in path:
            reached = {m for n in reached for m in self.steps[n].get(step, ())}
        return reached

    def paths(
        self, entity: str, weight: dict[str, float], beam: int = 40
    ) -> list[tuple[Step, ...]]:
        """Return the paths that `cypher/explore/relation_paths.cypher` finds, nearly."""
        found: list[tuple[Step, ...]] = []
        front: list[tuple[float, tuple[Step, ...], list[str]]] = [(0.0, (), [entity])]
        for _ in range(HOPS):
            made: dict[tuple[Step, ...], tuple[float, dict[str, None]]] = {}
            for value, path, nodes in front:
                for node in nodes:
                    for (relation, forward), others in self.steps[node].items():
                        more = value + weight[relation] - 0.02 * (not forward)
                        longer = (*path, (relation, forward))
                        made.setdefault(longer, (more, {}))[1].update(dict.fromkeys(others[:200]))
            front = [(v, p, list(n)[:25]) for p, (v, n) in made.items()]
            front = sorted(front, key=lambda each: -each[0])[:beam]
            found += [path for _, path, _ in front]
        return found


def row(question: str, entity: str, relations: Sequence[str], answers: Sequence[str]) -> dict:
    mention = key_of(PLAIN.sub("", entity))
    path = tuple((relation, True) for relation in relations)
    return {"question": question, "entity": key_of(entity), "mention": mention, "path": path,
            "answers": {key_of(answer) for answer in answers}}  # fmt: skip


def read(data: Path) -> dict[str, tuple[Graph, list[dict[str, Any]]]]:
    """Return graphs and train questions by name."""
    made = {}
    for name in ("pathquestion", "pathquestion_large"):
        with gzip.open(data / "kgqa" / f"{name}.tsv.gz", "rt", encoding="utf-8") as file:
            graph = Graph([line.rstrip("\n").split("\t") for line in file])
        rows = [
            row(r["question"], r["question_entities"][0], r["relations"], r["answer_entities"])
            for hops in (2, 3)
            for r in common.read_lines(data / "kgqa" / f"{name}_{hops}hop_train.jsonl.gz")
        ]
        made[name] = graph, rows
    rows, triples = [], []
    for file in ("train", "train_more"):
        for r in common.read_lines(data / "2wiki" / f"{file}.jsonl.gz"):
            facts = [(h, relation.replace(" ", "_"), t) for h, relation, t in r["evidences"]]
            triples += facts
            if r["type"] in ("compositional", "inference") and len(facts) == 2:
                relations = [relation for _, relation, _ in facts]
                rows.append(row(r["question"], facts[0][0], relations, [facts[1][2]]))
    made["2wiki"] = Graph(triples), rows
    rows, triples = [], []
    for file in ("train_decompositions", "train"):
        for r in common.read_lines(data / "musique" / f"{file}.jsonl.gz"):
            steps = [s["question"].split(" >> ") for s in r["question_decomposition"]]
            answers = [s["answer"] for s in r["question_decomposition"]]
            chain = [f"#{at}" for at in range(1, len(steps))]
            if all(len(s) == 2 for s in steps) and [s[0] for s in steps[1:]] == chain:
                heads = [steps[0][0], *answers]
                relations = [s[1].strip().replace(" ", "_") for s in steps]
                triples += list(zip(heads, relations, answers, strict=False))
                rows.append(row(r["question"], heads[0], relations, [answers[-1]]))
    made["musique"] = Graph(triples), rows
    return made


# --- Generated questions ---

SAME = ("the {t} that share {p} with {x}", "the {t} with the same {p} as {x}",
        "{t} that have the same {p} as {x}", "the {t} {p} by the {p} of {x}")  # fmt: skip
ALONG = ("the {p} of {x}", "{x} 's {p}", "{x}'s {p}", "the {p} for {x}", "{p} of {x}",
         "the {p} in {x}", "{x} {p}")  # fmt: skip
ASK_ALONG = ("who {p} {x}", "who was {p} in {x}", "what {p} is {x}", "what {p} do {x} have",
             "{x} are in which {p}", "when was {x} {p}", "when were {x} {p}", "where is {x} {p}",
             "which {p} is {x} in", "{x} was {p} by who", "{x} were {p} by who",
             "what {p} does {x} fall under", "who are the {p} in {x}", "what kind of {p} is {x}",
             "{x} were {p} in which {p}", "what {p} is {x} about", "what are {x} {p}")  # fmt: skip
AGAINST = ("the {t} {p} {x}", "the {t} whose {p} is {x}", "the {t} {p} by {x}", "{t} {p} by {x}",
           "the {t} that {x} {p}", "the {x} {p} {t}", "{t} with {x} as {p}",
           "{t} in which {x} {p}", "{t} for which {x} is the {p}")  # fmt: skip
ASK_AGAINST = ("what {t} did {x} {p}", "which {t} have {x} as {p}", "what {t} are {p} {x}",
               "which {t} were {p} by {x}", "which {t} were {p} in {x}", "{x} {p} which {t}",
               "{x} was the {p} of which {t}", "what {t} can be {p} with {x}",
               "which {t} fall under the {x} {p}", "what {t} are {x}")  # fmt: skip
BEGIN = ("what is ", "who is ", "which are ", "name ", "what are ", "tell me ", "who are ")


class Generator:
    """Makes questions of random walks."""

    def __init__(self, encoder: Encoder, seed: int) -> None:
        self.encoder = encoder
        self.chance = random.Random(seed)
        known = sorted(encoder.tokenizer.get_vocab().items(), key=lambda pair: pair[1])
        self.words = [w for w, _ in known if w.isalpha() and w.isascii() and len(w) > 2]
        self.words = [w for w in self.words if w not in STOP_WORDS][:6000]
        self.vectors = encoder.encode(self.words)

    def phrase(self, relation: str) -> str:
        name = readable(relation)
        near = self.vectors @ embed(self.encoder, [name])[0]
        some = [at for at in np.argsort(-near)[:12] if near[at] > 0.5]
        if self.chance.random() < 0.4 or not some:
            return name
        return self.words[self.chance.choice(some)]

    def things(self, path: Sequence[Step]) -> str:
        if self.chance.random() < 0.3:
            return self.chance.choice(["things", "ones", "items"])
        middle = embed(self.encoder, [readable(relation) for relation, _ in path]).mean(axis=0)
        near = self.vectors @ middle
        return self.words[self.chance.choice([a for a in np.argsort(-near)[:80] if near[a] < 0.6])]

    def worded(self, name: str, path: Sequence[Step]) -> str:
        text, things, at = name, self.things(path), 0
        while at < len(path):
            relation, forward = path[at]
            forms = (ALONG, ASK_ALONG) if forward else (AGAINST, ASK_AGAINST)
            chosen = [*forms[0], *(forms[1] if at == len(path) - 1 else ())]
            back = forward and tuple(path[at + 1 : at + 2]) == ((relation, False),)
            if back and self.chance.random() < 0.75:
                chosen, at = list(SAME), at + 1
            form = self.chance.choice(chosen)
            text, at = form.format(p=self.phrase(relation), t=things, x=text), at + 1
        begin = self.chance.choice(BEGIN) if self.chance.random() < 0.45 else ""
        return begin + text + self.chance.choice([" ?", "?", ""])

    def questions(self, graph: Graph, count: int) -> list[dict[str, Any]]:
        entities, made = sorted(graph.steps), []
        while len(made) < count:
            entity = self.chance.choice(entities)
            hops = self.chance.choice([1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 4])
            path: list[Step] = []
            while len(path) < hops:
                reached = sorted(graph.ends(entity, path))[:20]
                steps = list(dict.fromkeys(s for n in reached for s in graph.steps[n]))
                back = (path[-1][0], not path[-1][1]) if path else None
                if back in steps and back and not back[1] and self.chance.random() < 0.35:
                    path.append(back)
                    continue
                steps = [step for step in steps if step != back]
                if not steps:
                    break
                along = [step for step in steps if step[1]]
                path.append(
                    self.chance.choice(along if along and self.chance.random() < 0.6 else steps)
                )
            answers = graph.ends(entity, path) - {entity}
            name = graph.names[entity]
            if len(path) == hops and answers and "{" not in name:
                name = self.chance.choice([name, name.lower()])
                made.append({"question": self.worded(name, path), "entity": entity,
                             "mention": key_of(name), "path": tuple(path),
                             "answers": answers, "generated": True})  # fmt: skip
        return made


# --- The scorer of relation paths ---


def example(encoder: Encoder, graph: Graph, each: dict[str, Any]) -> dict[str, Any] | None:
    """Return a question's words, its paths, and which are right (1), wrong (0) or near (-1)."""
    at = each["question"].casefold().find(each["mention"])
    if at < 0:
        return None
    names = [readable(relation) for relation in graph.relations]
    mention = [(at, at + len(each["mention"]))]
    words = read_question(encoder, each["question"], mention, names)
    weights = dict(zip(graph.relations, words.weights().tolist(), strict=True))
    paths = graph.paths(each["entity"], weights)
    labels = np.zeros(len(paths), np.int8)
    for number, path in enumerate(paths):
        ends, answers = graph.ends(each["entity"], path), each["answers"]
        if each["entity"] not in answers:
            ends -= {each["entity"]}
        f1 = 2 * len(ends & answers) / (len(ends) + len(answers))
        same = f1 == 1 and "generated" not in each
        labels[number] = 1 if path == each["path"] or same else -(f1 >= 0.5)
    if not (labels == 1).any():
        return None
    return {"words": words, "paths": paths, "forms": path_forms(paths), "labels": labels,
            **({"generated": True} if "generated" in each else {}),
            "place": {relation: row for row, relation in enumerate(graph.relations)}}  # fmt: skip


def network() -> Any:
    """Return the network that `path_scorer.PathScorer` runs in numpy."""
    import torch
    from torch import nn
    from torch.nn import functional

    class Network(nn.Module):
        def __init__(self, width: int = 40, spoken: int = 12) -> None:
            super().__init__()
            forms = 2 * HOPS + 2
            self.grammar = nn.Parameter(torch.randn(len(GRAMMAR), spoken) * 0.3)
            self.input = nn.Linear(4 * HOPS + 5 + spoken + forms, width)
            self.first = nn.Conv1d(width, width, 5, padding=2)
            self.second = nn.Conv1d(width, width, 5, padding=2)
            self.middle = nn.Linear(3 * width + forms, width)
            self.output = nn.Linear(width, 1)

        def forward(self, beside: Any, spoken: Any, forms: Any, mention: Any) -> Any:
            count, size = beside.shape[:2]
            said = self.grammar[spoken][None].expand(count, -1, -1)
            whole = forms[:, None].expand(-1, size, -1)
            hidden = functional.relu(self.input(torch.cat([beside, said, whole], 2))).transpose(
                1, 2
            )
            for layer in (self.first, self.second):
                hidden = hidden + functional.relu(
                    layer(functional.dropout(hidden, 0.1, self.training))
                )
            entity = (hidden * mention).sum(2) / mention.sum().clamp(min=1)
            read = torch.cat([hidden.mean(2), hidden.max(2)[0], entity, forms], 1)
            return self.output(functional.relu(self.middle(read)))[:, 0]

    return Network()


def fit(examples: Sequence[dict[str, Any]], epochs: int = 8, batch: int = 24) -> Any:
    import torch

    torch.manual_seed(0)
    chance = np.random.default_rng(0)
    model = network()
    optimiser = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=0.01)
    steps = epochs * -(-len(examples) // batch)
    rate = torch.optim.lr_scheduler.OneCycleLR(optimiser, 2e-3, total_steps=steps, pct_start=0.1)
    for epoch in range(epochs):
        order, total = chance.permutation(len(examples)), 0.0
        for start in range(0, len(order), batch):
            losses = []
            for at in order[start : start + batch]:
                each = examples[at]
                right = chance.permutation(np.flatnonzero(each["labels"] == 1))[:3]
                wrong = chance.permutation(np.flatnonzero(each["labels"] == 0))[:24]
                scores = model(*tensors(each, [*right, *wrong], chance)).log_softmax(0)
                losses.append(-scores[: len(right)].logsumexp(0))
            loss = torch.stack(losses).mean()
            optimiser.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimiser.step()
            rate.step()
            total += float(loss.detach()) * len(losses)
        print(f"epoch {epoch}: loss {total / len(examples):.3f}", flush=True)
    return model.eval()


def tensors(each: dict[str, Any], chosen: Sequence[int], chance: Any = None) -> tuple[Any, ...]:
    import torch

    beside = word_features(each["words"], [each["paths"][i] for i in chosen], each["place"])
    if chance is not None:  # names of other graphs are nearer or further
        noise = chance.standard_normal(beside.shape).astype(np.float32)
        noise[..., 4 * HOPS + 2 :] = 0
        beside = beside + 0.04 * noise * (beside != 0)
    words = each["words"]
    return (torch.from_numpy(beside), torch.from_numpy(words.grammar),
            torch.from_numpy(each["forms"][list(chosen)]),
            torch.from_numpy(words.mention.astype(np.float32)))  # fmt: skip


# --- The whole ---


def path_scores(model: Any, examples: Sequence[dict[str, Any]]) -> list[tuple[Any, Any]]:
    """Return the scores of each question's paths, with their labels."""
    import torch

    with torch.inference_mode():
        return [(model(*tensors(e, range(len(e["paths"])))).numpy(), e["labels"]) for e in examples]


def path_temperature(scored: Sequence[tuple[Any, Any]]) -> float:
    """Return the temperature at which the right paths are most probable (likelihood)."""

    def loss(temperature: float) -> float:
        total = 0.0
        for scores, labels in scored:
            apart = np.exp((scores - scores.max()) / temperature)
            total -= float(np.log(apart[labels == 1].sum() / apart.sum() + 1e-12))
        return total

    return float(min(np.arange(0.5, 5.01, 0.1), key=loss))


def main() -> None:
    parser = common.parser(__doc__ or "", 900)
    parser.add_argument("data", type=Path)
    parser.add_argument("--out", type=Path, required=True, help="the folder that is written")
    given = parser.parse_args()
    encoder, chance = load_encoder(), random.Random(given.seed)
    generator = Generator(encoder, given.seed)
    paths: dict[str, list[Any]] = {}
    for name, (graph, questions) in read(given.data).items():
        chance.shuffle(questions)
        asked = questions[: given.questions]
        made = generator.questions(graph, given.questions)
        paths[name] = [e for each in (*asked, *made) if (e := example(encoder, graph, each))]
        print(f"{name}: {len(paths[name])} of {len(asked) + len(made)} questions", flush=True)
    scored: list[tuple[Any, Any]] = []
    for name in paths:
        model = fit([e for other, some in paths.items() if other != name for e in some])
        held = path_scores(model, [e for e in paths[name] if "generated" not in e])
        right = np.mean([labels[scores.argmax()] == 1 for scores, labels in held])
        print(f"without {name}: the first path is right for {right:.3f}", flush=True)
        scored += held
    from safetensors.numpy import save_file

    model = fit([e for some in paths.values() for e in some])
    weights = {key: value.numpy() for key, value in model.state_dict().items()}
    weights["temperature"] = np.array([path_temperature(scored)], np.float32)
    print(f"temperature {weights['temperature'][0]:.1f}")
    given.out.mkdir(parents=True, exist_ok=True)
    save_file(weights, given.out / "path_scorer.safetensors")


if __name__ == "__main__":
    main()
