// The page: what is asked, shown, opened and loaded.
import { call, events } from "./api.js";
import * as graph from "./graph.js";
import { make, oneLine, passageText } from "./text.js";
import { uploadAll } from "./upload.js";

const at = (id) => document.getElementById(id);
const SHOWN = 6;
let known = { corpora: [], graphs: [], rights: [] };
let looks = 0;
let asking = null;
let answer = null;
let filled = ""; // the name that the page, and no person, put into the field of the corpus

// --- What the service has ---

async function look(choose) {
  const mine = ++looks;
  const found = await call("/corpora");
  if (mine !== looks) return; // another look began since, and may be back already
  known = found;
  const before = choose ?? at("source").value;
  const groups = [
    ["Documents", "corpus", known.corpora],
    ["Knowledge graphs", "graph", known.graphs],
  ].filter(([, , found]) => found.length);
  at("source").replaceChildren(
    ...groups.map(([label, kind, found]) =>
      make("optgroup", { label }, ...found.map(({ name }) => make("option", { value: `${kind} ${name}` }, name))),
    ),
  );
  if ([...at("source").options].some((option) => option.value === before)) at("source").value = before;
  at("most").textContent = known.upload;
  at("token-form").hidden = true;
  at("upload").hidden = !known.rights.includes("load");
  if (!groups.length) {
    tell("There is nothing to ask yet.");
    if (known.rights.includes("load")) show("documents");
  }
  chosen();
}

function source() {
  const [kind, ...name] = at("source").value.split(" ");
  return { kind, name: name.join(" ") };
}

function chosen() {
  const { kind, name } = source();
  at("question").placeholder = kind === "graph" ? "Ask about this knowledge graph" : "Ask about these documents";
  // What a person wrote before the list came stays: their files go there.
  if (kind === "corpus" && ["", filled, name].includes(at("into").value)) at("into").value = filled = name;
  if (!at("view-documents").hidden) listDocuments();
}

function tell(text) {
  at("status").textContent = text;
}

function complain(error) {
  if (error.name === "AbortError") return;
  if (error.status === 401) {
    at("token-form").hidden = false;
    at("token").focus();
    return;
  }
  at("problem").textContent = error.message;
  at("problem").hidden = false;
}

async function trying(work) {
  at("problem").hidden = true;
  try {
    await work();
  } catch (error) {
    complain(error);
  }
}

function show(view) {
  for (const name of ["ask", "documents"]) {
    at(`view-${name}`).hidden = name !== view;
    at(`to-${name}`).setAttribute("aria-pressed", String(name === view));
  }
  if (view === "documents") listDocuments();
}

// --- A question ---

async function ask() {
  asking?.abort();
  const own = (asking = new AbortController());
  const { kind, name } = source();
  const question = at("question").value.trim();
  if (!question || !name) return;
  answer = null;
  at("result").hidden = false;
  at("stop").hidden = false;
  for (const id of ["answer", "passages", "mindmap", "steps", "node"]) at(id).replaceChildren();
  for (const id of ["passages-part", "mindmap-part", "more"]) at(id).hidden = true;
  at("graph-part").hidden = false;
  legend(kind);
  graph.clear(opened, looked);
  tell("Searching.");
  const [path, body] = kind === "graph" ? ["/mindmap", { question, graph: name }] : ["/ask", { question, corpus: name }];
  try {
    for await (const [event, value] of events(path, body, own.signal)) SHOW[event]?.(value);
  } finally {
    if (asking === own) {
      at("stop").hidden = true;
      asking = null;
    }
  }
}

const SHOW = {
  hop(value) {
    const fresh = value.reached.length;
    const what = value.hop ? `Hop ${value.hop}` : "The search";
    tell(`${what} reached ${fresh} passages.`);
    graph.addHop(value);
  },
  passages(found) {
    tell(`${found.length} passages found; reading them.`);
    graph.addPassages(found);
    listPassages(found, {});
  },
  text(piece) {
    const target = at("answer");
    if (!target.querySelector(".draft")) {
      target.replaceChildren(make("p", { class: "small" }, "Being written, not checked yet:"), make("p", { class: "draft" }));
    }
    target.querySelector(".draft").append(piece);
  },
  entities(found) {
    const names = found.filter(({ id }) => id).map(({ name }) => name);
    tell(names.length ? `The question names ${names.join(", ")}.` : "The question names nothing of this graph.");
  },
  evidence({ entities, triples }) {
    graph.addTriples(triples, entities.map(({ name }) => name));
  },
  answer(made) {
    answer = made;
    if (made.graph) showMap(made);
    else showAnswer(made);
    tell(`Answered in ${made.seconds.toFixed(1)} s.`);
  },
  error(problem) {
    complain(new Error(problem.hint ? `${problem.what}. ${problem.hint}` : problem.what));
    tell("");
  },
};

function showAnswer(made) {
  const numbers = new Map(made.passages.map(({ id }, i) => [id, i + 1]));
  const cites = (ids) => ids.filter((id) => numbers.has(id)).map((id) => cite(numbers.get(id)));
  const said = [];
  const structural = made.structural;
  if (made.by === "structure") {
    said.push(make("p", { class: "said", dir: "auto" }, structural.text), ...cells(structural));
  } else if (made.statements.length) {
    for (const each of made.statements) {
      const line = make("p", { class: each.carried ? "" : "not", dir: "auto" }, each.text, ...cites(each.passages));
      if (!each.carried) line.append(make("small", {}, ` not ${each.judged ? "carried" : "checked"}: ${each.note || "the passages cited do not say so"}`));
      said.push(line);
    }
  } else if (made.tier === "stated" || made.tier === "probable") {
    const line = make("p", { class: "said", dir: "auto" }, made.text, ...cites(made.cited));
    if (made.probably) line.append(make("small", {}, ` ${made.probably}`));
    said.push(line);
    for (const each of made.sentences.filter((sentence) => sentence.text !== made.text)) {
      said.push(make("p", { dir: "auto" }, oneLine(each.text), ...cites([each.passage])));
    }
  } else {
    if (made.tier === "none") said.push(make("p", { class: "unsure" }, `${made.summary}.`));
    if (made.sentences.length) said.push(make("p", { class: "small" }, made.tier === "none" ? "The closest sentence:" : "The sentences that say most:"));
    for (const each of made.sentences) {
      said.push(make("p", { class: made.by === "sentence" ? "said" : "", dir: "auto" }, oneLine(each.text), ...cites([each.passage])));
    }
  }
  if (structural && made.by !== "structure" && structural.markdown) said.push(...cells(structural));
  for (const note of made.notes) said.push(make("p", { class: "small" }, note));
  const by = { structure: "from pages and tables", reader: "by the offline reader", model: "by the language model", sentence: "the nearest sentence" };
  const how = [by[made.by], made.by === "reader" && made.confidence !== null ? `confidence ${Math.round(100 * made.confidence)} %` : ""];
  if (made.usage) how.push(`${made.usage.model}: ${made.usage.prompt_tokens} + ${made.usage.reply_tokens} tokens`);
  said.push(make("p", { class: "small" }, how.filter(Boolean).join(" · ")));
  at("answer").replaceChildren(...said);
  if (!made.passages.length) at("graph-part").hidden = true;
  listPassages(made.passages, made.marks, made.cited);
  graph.addAnswer(made);
}

/** Return the table that an answer comes from, and the cells that it cites. */
function cells(structural) {
  const made = [];
  if (structural.doubt) made.push(make("p", { class: "unsure" }, structural.doubt));
  if (structural.markdown && structural.markdown !== structural.text) {
    const shown = make("div", { class: "text" });
    passageText(shown, structural.markdown);
    made.push(shown);
  }
  if (structural.citations.length) {
    const rows = structural.citations.map((c) =>
      make(
        "tr",
        {},
        make("td", {}, make("button", { type: "button", class: "link", onclick: () => read(c.document, { page: c.page, words: c.text }) }, c.title || "document")),
        make("td", {}, c.page === null ? "" : String(c.page)),
        make("td", {}, c.table_name),
        make("td", {}, [c.row_name, c.column_name].filter(Boolean).join(", ")),
        make("td", { dir: "auto" }, c.text),
      ),
    );
    const head = ["Document", "Page", "Table", "Cell", "Text"].map((name) => make("th", {}, name));
    made.push(make("table", { class: "cells" }, make("tr", {}, ...head), ...rows));
  }
  return made;
}

function cite(number) {
  return make("button", { type: "button", class: "cite", "aria-label": `Passage ${number}`, onclick: () => goTo(number) }, `[${number}]`);
}

function goTo(number) {
  while (!at(`passage-${number}`) && !at("more").hidden) at("more").click();
  const target = at(`passage-${number}`);
  target?.scrollIntoView({ block: "start" });
  target?.focus({ preventScroll: true });
}

function listPassages(found, marks, cited = []) {
  at("passages-part").hidden = !found.length;
  const order = found.map((passage, i) => [passage, i + 1]);
  order.sort((a, b) => cited.includes(b[0].id) - cited.includes(a[0].id) || a[1] - b[1]);
  const items = order.map(([passage, number]) => passageItem(passage, number, marks[passage.id], found));
  at("passages").replaceChildren(...items.slice(0, SHOWN));
  at("more").hidden = items.length <= SHOWN;
  at("more").textContent = `Show ${items.length - SHOWN} more`;
  at("more").onclick = () => {
    at("passages").append(...items.slice(SHOWN));
    at("more").hidden = true;
  };
  steps(found);
}

function passageItem(passage, number, marks, found) {
  const place = [passage.section, passage.page === null ? "" : `page ${passage.page}${passage.recognised ? " (recognised)" : ""}`, passage.source].filter(Boolean).join(" · ");
  const text = make("div", { class: "text", dir: "auto" });
  passageText(text, passage.text, marks);
  const open = () => read(passage.document, { passage: passage.id, marks });
  return make(
    "li",
    { id: `passage-${number}`, tabindex: "-1" },
    make(
      "div",
      { class: "head" },
      make("span", {}, `[${number}]`),
      make("strong", { dir: "auto" }, passage.name),
      make("span", { class: "small" }, place),
      make("button", { type: "button", class: "quiet", onclick: open, "aria-label": `Open passage ${number} in its document` }, passage.page === null ? "Open" : `Open page ${passage.page}`),
    ),
    text,
    make("p", { class: "small way" }, way(passage, found)),
  );
}

function way(passage, found) {
  const titles = new Map(found.map(({ id, name }) => [id, name]));
  if (passage.path.length < 2) return `Found by ${passage.path[0]?.reason || "the search"}.`;
  const last = passage.path.at(-1);
  const before = titles.get(passage.path.at(-2).passage) ?? "another passage";
  const edge = last.edge.toLowerCase().replaceAll("_", " ");
  return `From ${before}, over ${edge}${last.reason ? `: ${last.reason}` : ""}.`;
}

function steps(found) {
  const lines = found.map((passage, i) => make("li", { value: String(i + 1) }, `${passage.name}: ${way(passage, found)}`));
  at("steps").replaceChildren(make("ol", { class: "small" }, ...lines));
}

function showMap(made) {
  const said = [make("p", { class: "said", dir: "auto" }, made.text || "The graph says nothing of this.")];
  for (const notice of made.notices) said.push(make("p", { class: "small" }, notice));
  at("answer").replaceChildren(...said);
  at("mindmap-part").hidden = !made.edges.length;
  const marks = { question: " (said in the question)", model: " (the model's own)", contradicts: " (contradicts the graph)" };
  at("mindmap").replaceChildren(
    ...made.edges.map((edge) =>
      make("li", { class: edge.status, dir: "auto" }, make("strong", {}, edge.head), make("em", {}, ` ${edge.relation.replaceAll("_", " ")} → `), make("strong", {}, edge.tail), marks[edge.status] ?? ""),
    ),
  );
  const routes = made.evidence.routes.map((route) => make("li", {}, route));
  at("steps").replaceChildren(make("ol", { class: "small" }, ...routes));
  if (made.edges.length) graph.addTriples(made.edges, made.evidence.entities.map(({ name }) => name), true);
}

function legend(kind) {
  const parts = kind === "graph" ? [["kq", "asked for"], ["k1", "found"]] : [["kq", "question"], ["k0", "search"], ["k1", "hop 1"], ["k2", "hop 2"]];
  at("legend").replaceChildren(...parts.map(([name, said]) => make("span", { class: name }, said)));
}

function opened({ number }) {
  if (number) goTo(Number(number));
}

function looked({ number, title }) {
  at("node").textContent = number ? `[${number}] ${title}` : title || "A passage on the way that was not kept";
}

// --- A document ---

async function read(id, { passage, page, marks, words }) {
  await trying(async () => {
    const { name } = source();
    const found = await call(`/documents/${encodeURIComponent(id)}?${new URLSearchParams({ corpus: name })}`);
    const parts = [];
    let here = null;
    let last = null;
    let section = "";
    for (const each of found.passages) {
      if (each.page !== last) parts.push(make("h3", { id: `page-${each.page}` }, `Page ${each.page}`));
      else if (each.section !== section && each.section) parts.push(make("h3", {}, each.section));
      last = each.page;
      section = each.section;
      const wanted = passage ? each.id === passage : !here && (page === null || each.page === page) && (!words || each.text.includes(words));
      const shown = make("div", { class: wanted ? "text here" : "text", dir: "auto" });
      passageText(shown, each.text, wanted ? marks : undefined);
      if (wanted) here = shown;
      parts.push(shown);
    }
    at("reader-title").textContent = found.title;
    at("reader-text").replaceChildren(...parts);
    at("reader").showModal();
    (here ?? (page && at(`page-${page}`)) ?? parts[0])?.scrollIntoView({ block: "center" });
    at("reader-text").focus({ preventScroll: true });
  });
}

async function listDocuments() {
  const { kind, name } = source();
  const body = at("documents").tBodies[0];
  if (kind !== "corpus" || !name) {
    body.replaceChildren();
    return;
  }
  await trying(async () => {
    const { documents } = await call(`/documents?${new URLSearchParams({ corpus: name })}`);
    const may = known.rights.includes("load");
    body.replaceChildren(
      ...documents.map((each) =>
        make(
          "tr",
          {},
          make("td", {}, make("button", { type: "button", class: "link", dir: "auto", onclick: () => read(each.id, { page: null }) }, each.title)),
          make("td", {}, each.source),
          make("td", {}, String(each.passages)),
          make("td", {}, may ? make("button", { type: "button", class: "quiet", "aria-label": `Delete ${each.title}`, onclick: () => drop(each) }, "Delete") : ""),
        ),
      ),
    );
  });
}

async function drop({ id, title }) {
  if (!confirm(`Delete "${title}" with everything in it?`)) return;
  await trying(async () => {
    await call(`/documents/${id}?${new URLSearchParams({ corpus: source().name })}`, { method: "DELETE" });
    tell(`Deleted ${title}.`);
    await look();
  });
}

// --- What is pressed ---

at("ask").addEventListener("submit", (event) => {
  event.preventDefault();
  trying(ask);
});
at("question").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
    event.preventDefault();
    at("ask").requestSubmit();
  }
});
at("stop").addEventListener("click", () => {
  asking?.abort();
  tell("Stopped.");
});
at("source").addEventListener("change", chosen);
at("to-ask").addEventListener("click", () => show("ask"));
at("to-documents").addEventListener("click", () => show("documents"));
at("upload").addEventListener("submit", (event) => {
  event.preventDefault();
  trying(async () => {
    const corpus = at("into").value.trim();
    const files = [...at("files").files];
    tell(`Loading ${files.length} ${files.length === 1 ? "file" : "files"}.`);
    await uploadAll(files, corpus, at("uploads"));
    tell("Loading is over.");
    at("files").value = "";
    await look(`corpus ${corpus}`);
  });
});
at("token-form").addEventListener("submit", (event) => {
  event.preventDefault();
  sessionStorage.setItem("kgp-token", at("token").value.trim());
  at("token").value = "";
  trying(look);
});
at("theme").addEventListener("click", () => {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  localStorage.setItem("kgp-theme", root.dataset.theme);
  graph.restyle();
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => graph.restyle());
at("zoom-in").addEventListener("click", () => graph.zoom(1.3));
at("zoom-out").addEventListener("click", () => graph.zoom(1 / 1.3));
at("fit").addEventListener("click", () => graph.fit());
at("reader-close").addEventListener("click", () => at("reader").close());

trying(() => look());
