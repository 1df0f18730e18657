// One answer on the page: what is said, how it was found, and the passages.
import { keepers } from "./keep.js";
import { make, oneLine, passageText } from "./text.js";
import { drawTree } from "./tree.js";

const SHOWN = 6;
const BY = { structure: "from pages and tables", reader: "by the offline reader", model: "by the language model", sentence: "the nearest sentence" };
const MAP_KEY = "Blue: on a path between what the question names; grey: beside it; dashed: the model's own; red: the graph contradicts it.";
const PATH_KEY = "From left to right: the question, what was found by it, and what that led to. Blue: the way to the answer.";

/** Return a pane with its element, and with what shows the events of a question in it. */
export function makePane(name, { read, tell, ask }) {
  const said = make("div", { class: "reply" });
  const tools = make("div", { class: "tools" });
  const drawn = make("div");
  const list = make("ol", { class: "passages" });
  const more = make("button", { type: "button", class: "quiet", hidden: true });
  const card = (title, ...inside) => make("section", { class: "card", "aria-label": title, hidden: true }, make("h2", {}, title), ...inside);
  const parts = { answer: card("Answer", said, tools), found: card("How it was found", drawn), passages: card("Passages", list, more) };
  const heading = make("h2", { class: "of", dir: "auto" }, name);
  const element = make("div", { class: "pane" }, heading, ...Object.values(parts));
  const items = new Map();

  function cite(number) {
    return make("button", { type: "button", class: "cite", "aria-label": `Passage ${number}`, onclick: () => goTo(number) }, `[${number}]`);
  }

  function goTo(number) {
    if (!items.get(number)?.isConnected) more.click();
    const target = items.get(number);
    target?.scrollIntoView({ block: "start" });
    target?.focus({ preventScroll: true });
  }

  function listPassages(found, marks, cited, stops) {
    const order = found.map((passage, i) => [passage, i + 1]);
    order.sort((a, b) => cited.includes(b[0].id) - cited.includes(a[0].id) || a[1] - b[1]);
    items.clear();
    const titles = new Map(found.map((each) => [each.id, each.name]));
    for (const [passage, number] of order) items.set(number, passageItem(passage, number, marks[passage.id], stops, titles));
    const made = [...items.values()];
    list.replaceChildren(...made.slice(0, SHOWN));
    more.hidden = made.length <= SHOWN;
    more.textContent = `Show ${made.length - SHOWN} more`;
    more.onclick = () => {
      list.append(...made.slice(SHOWN));
      more.hidden = true;
    };
    parts.passages.hidden = !found.length;
  }

  function passageItem(passage, number, marks, stops, titles) {
    const page = passage.page === null ? "" : `page ${passage.page}${passage.recognised ? " (recognised)" : ""}`;
    const place = [passage.section, page, passage.source].filter(Boolean).join(" · ");
    const text = make("div", { class: "text", dir: "auto" });
    passageText(text, passage.text, marks);
    const open = () => read(stopOf(passage, marks), stops);
    const label = passage.page === null ? "Open" : `Open page ${passage.page}`;
    return make(
      "li",
      { tabindex: "-1" },
      make(
        "div",
        { class: "head" },
        make("span", {}, `[${number}]`),
        make("strong", { dir: "auto" }, passage.name),
        make("span", { class: "small" }, place),
        make("button", { type: "button", class: "quiet", onclick: open, "aria-label": `Open passage ${number} in its document` }, label),
      ),
      text,
      make("p", { class: "small way" }, way(passage.path, titles)),
    );
  }

  function showAnswer(made) {
    const numbers = new Map(made.passages.map(({ id }, i) => [id, i + 1]));
    const cites = (ids) => ids.filter((id) => numbers.has(id)).map((id) => cite(numbers.get(id)));
    const stops = stopsOf(made);
    said.replaceChildren(...sentences(made, cites, (stop) => read(stop, stops)));
    listPassages(made.passages, made.marks, made.cited, stops);
    draw(made.tree, PATH_KEY);
    const next = made.passages.filter(({ id }) => !made.cited.includes(id)).map(({ title }) => title);
    const asks = [...new Set(next)].slice(0, 3).map((title) => `What is known of ${title}?`);
    tools.replaceChildren(...keepers(made, element, tell), ...nextQuestions(asks, ask));
  }

  function showMap(made) {
    said.replaceChildren(
      make("p", { class: "said", dir: "auto" }, made.text || "The graph says nothing of this."),
      ...made.notices.map((notice) => make("p", { class: "small" }, notice)),
    );
    const names = [...new Set(made.edges.flatMap(({ head, tail }) => [head, tail]))];
    const asked = made.evidence.entities.map((each) => each.name);
    const fresh = names.filter((each) => !asked.includes(each)).slice(0, 3);
    tools.replaceChildren(...keepers(made, element, tell), ...nextQuestions(fresh.map((each) => `What is known of ${each}?`), ask));
    draw(made.tree, MAP_KEY);
    const routes = made.evidence.routes.map((route) => make("li", {}, route));
    if (routes.length) drawn.append(make("details", {}, make("summary", {}, `The evidence: ${made.evidence.triples.length} triples`), make("ol", { class: "small" }, ...routes)));
  }

  function draw(tree, key) {
    parts.found.hidden = !tree;
    if (tree) drawn.replaceChildren(drawTree(tree, goTo), make("p", { class: "small" }, key));
  }

  return {
    element,
    heading,
    clear() {
      for (const part of Object.values(parts)) part.hidden = true;
      for (const each of [said, tools, drawn, list]) each.replaceChildren();
    },
    show(made) {
      parts.answer.hidden = false;
      if (made.graph) showMap(made);
      else showAnswer(made);
    },
    on: {
      hop: (value) => tell(`${value.hop ? `Hop ${value.hop}` : "The search"} reached ${value.reached.length} passages.`),
      passages(found) {
        tell(`${found.length} passages found; reading them.`);
        listPassages(found, {}, [], []);
      },
      text(piece) {
        parts.answer.hidden = false;
        const draft = said.querySelector(".draft") ?? make("p", { class: "draft" });
        if (!draft.isConnected) said.replaceChildren(make("p", { class: "small" }, "Being written, not checked yet:"), draft);
        draft.append(piece);
      },
      entities(found) {
        const names = found.filter(({ id }) => id).map((each) => each.name);
        tell(names.length ? `The question names ${names.join(", ")}.` : "The question names nothing of this graph.");
      },
    },
  };
}

function nextQuestions(questions, ask) {
  if (!questions.length) return [];
  const made = questions.map((each) => make("button", { type: "button", class: "link", dir: "auto", onclick: () => ask(each) }, each));
  return [make("p", { class: "next small" }, "Ask next: ", ...made)];
}

/** Return a place in a document that can be opened: the passage, with the words marked in it. */
function stopOf(passage, marks) {
  const { document, page, id, text } = passage;
  const cut = (intervals) => (intervals ?? []).map(([start, end]) => text.slice(start, end));
  return { document, page, passage: id, marks, words: [...cut(marks?.answer), ...cut(marks?.sentences)] };
}

/** Return the places that an answer cites, in order. */
function stopsOf(made) {
  const cells = (made.structural?.citations ?? []).map(cellStop);
  const cited = made.passages.filter(({ id }) => made.cited.includes(id) || made.marks[id]);
  return [...cells, ...cited.map((passage) => stopOf(passage, made.marks[passage.id]))];
}

function cellStop({ document, page, text, row_name: row }) {
  // The cell is sought near the name of its row.
  return { document, page, passage: "", words: [row, text].filter(Boolean) };
}

function way(path, titles) {
  if (!path.length) return "";
  const { why } = path.at(-1);
  const said = `${why.charAt(0).toUpperCase()}${why.slice(1)}`;
  return path.length > 1 ? `${said} – from ${titles.get(path.at(-2).passage) ?? "another passage"}.` : `${said}.`;
}

function sentences(made, cites, open) {
  const said = [];
  const structural = made.structural;
  if (made.tier !== "stated" && made.tier !== "probable") said.push(make("p", { class: "unsure" }, `${made.heading}.`));
  if (made.statements.length) {
    for (const each of made.statements) {
      const line = make("p", { class: each.carried ? "" : "not", dir: "auto" }, each.text, ...cites(each.passages));
      if (!each.carried) line.append(make("small", {}, ` not ${each.judged ? "carried" : "checked"}: ${each.note || "the passages cited do not say so"}`));
      said.push(line);
    }
  } else if (made.said) {
    const line = make("p", { class: "said", dir: "auto" }, made.said, ...cites(made.cited));
    if (made.probably) line.append(make("small", {}, ` ${made.probably}`));
    said.push(line);
  }
  if (!made.statements.length) {
    if (made.tier === "none" && made.sentences.length) said.push(make("p", { class: "small" }, "The closest sentence:"));
    for (const each of made.sentences.filter((sentence) => sentence.text !== made.said)) {
      said.push(make("p", { class: made.by === "sentence" ? "said" : "", dir: "auto" }, oneLine(each.text), ...cites([each.passage])));
    }
  }
  if (structural) said.push(...cells(structural, made.said, open));
  for (const note of made.notes) said.push(make("p", { class: "small" }, note));
  const how = [BY[made.by], made.by === "reader" && made.confidence !== null ? `confidence ${Math.round(100 * made.confidence)} %` : ""];
  if (made.usage) how.push(`${made.usage.model}: ${made.usage.prompt_tokens} + ${made.usage.reply_tokens} tokens`);
  said.push(make("p", { class: "small" }, how.filter(Boolean).join(" · ")));
  return said;
}

/** Return the table that an answer comes from, and the cells that it cites. */
function cells(structural, told, open) {
  const made = [];
  if (structural.doubt) made.push(make("p", { class: "unsure" }, structural.doubt));
  if (structural.markdown && structural.markdown !== told) {
    const shown = make("div", { class: "text" });
    passageText(shown, structural.markdown);
    made.push(shown);
  }
  if (structural.citations.length) {
    const rows = structural.citations.map((c) =>
      make(
        "tr",
        {},
        make("td", {}, make("button", { type: "button", class: "link", onclick: () => open(cellStop(c)) }, c.title || "document")),
        make("td", {}, c.page === null ? "" : String(c.page)),
        make("td", {}, c.table_name),
        make("td", {}, [c.row_name, c.column_name].filter(Boolean).join(", ")),
        make("td", { dir: "auto" }, c.text),
      ),
    );
    const head = ["Document", "Page", "Table", "Cell", "Text"].map((name) => make("th", {}, name));
    made.push(make("table", { class: "cells", tabindex: "0" }, make("tr", {}, ...head), ...rows));
  }
  return made;
}
