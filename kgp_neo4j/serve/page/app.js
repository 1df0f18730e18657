// The page: what is asked, shown, opened and loaded.
import { makePane } from "./answer.js";
import { call, events } from "./api.js";
import { openPlace, setUpReader } from "./document.js";
import { listHistory } from "./history.js";
import { make } from "./text.js";
import { follow as followFolder, isSeen, uploadAll } from "./upload.js";

const at = (id) => document.getElementById(id);
const VIEWS = ["ask", "history", "documents"];
const NONE = "nothing";
const SMALL = 1000; // documents of a corpus whose list is worth reading for examples alone
let known = { corpora: [], graphs: [], rights: [], models: [] };
let looks = 0;
let asking = null;
let typed; // the wait for the next key of a search
let filled = ""; // the name that the page, and no person, put into the field of the corpus

// --- What the service has ---

async function look(choose) {
  const mine = ++looks;
  const found = await call("/corpora");
  if (mine !== looks) return; // another look began since, and may be back already
  known = found;
  const groups = [
    ["Documents", "corpus", known.corpora],
    ["Knowledge graphs", "graph", known.graphs],
  ].filter(([, , found]) => found.length);
  const options = () => groups.map(([label, kind, found]) => make("optgroup", { label }, ...found.map(({ name }) => make("option", { value: `${kind} ${name}` }, name))));
  refill(at("source"), options(), choose);
  refill(at("beside"), [make("option", { value: NONE }, NONE), ...options()]);
  refill(at("model"), [...known.models.map((name) => make("option", { value: name }, name)), make("option", { value: NONE }, "offline reader")]);
  at("model-field").hidden = !known.models.length;
  at("most").textContent = known.upload;
  at("token-form").hidden = true;
  at("upload").hidden = !known.rights.includes("load");
  if (!groups.length) {
    tell("There is nothing to ask yet.");
    if (known.rights.includes("load")) show("documents");
  }
  chosen();
}

/** Give a choice other options; what was chosen stays where it is still there. */
function refill(select, options, choose = select.value) {
  select.replaceChildren(...options);
  if ([...select.options].some((option) => option.value === choose)) select.value = choose;
}

function named(value) {
  const [kind, ...name] = value.split(" ");
  return { kind, name: name.join(" ") };
}

const source = () => named(at("source").value);

function chosen() {
  const { kind, name } = source();
  at("question").placeholder = kind === "graph" ? "Ask about this knowledge graph" : "Ask about these documents";
  // What a person wrote before the list came stays: their files go there.
  if (kind === "corpus" && ["", filled, name].includes(at("into").value)) at("into").value = filled = name;
  refresh();
  trying(suggest);
}

/** Offer questions about what the corpus has, until one is asked. */
async function suggest() {
  const { kind, name } = source();
  at("suggested").replaceChildren();
  const size = known.corpora.find((each) => each.name === name)?.documents ?? 0;
  if (kind !== "corpus" || size > SMALL || !name || at("result").childElementCount) return;
  const { documents } = await call(`/documents?${new URLSearchParams({ corpus: name })}`);
  if (source().name !== name || at("result").childElementCount) return;
  const step = Math.max(1, Math.floor(documents.length / 4));
  const titles = documents.filter((_, i) => i % step === 0).slice(0, 4).map(({ title }) => title);
  const made = titles.map((title) => `What is known of ${title}?`).map((each) => make("button", { type: "button", class: "link", dir: "auto", onclick: () => askThis(each) }, each));
  if (made.length) at("suggested").append("For example: ", ...made);
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
  for (const name of VIEWS) {
    at(`view-${name}`).hidden = name !== view;
    at(`to-${name}`).setAttribute("aria-pressed", String(name === view));
  }
  refresh();
}

/** Read anew what the view that is open lists. */
function refresh() {
  if (!at("view-documents").hidden) trying(listDocuments);
  if (!at("view-history").hidden) trying(showHistory);
}

// --- A question ---

function paneFor({ kind, name }) {
  const read = (place, others) => trying(() => openPlace(name, place, others));
  return makePane(`${kind === "graph" ? "Knowledge graph" : "Corpus"} ${name}`, { read, tell, ask: askThis });
}

/** Put panes for these sources where answers are shown. */
function lay(sources) {
  const panes = sources.map(paneFor);
  for (const pane of panes) pane.heading.hidden = panes.length < 2;
  at("result").className = panes.length > 1 ? "result beside" : "result";
  at("result").replaceChildren(...panes.map(({ element }) => element));
  for (const pane of panes) pane.clear();
  at("suggested").replaceChildren();
  return panes;
}

function askThis(question) {
  show("ask");
  at("question").value = question;
  at("ask").requestSubmit();
}

async function ask() {
  asking?.abort();
  const own = (asking = new AbortController());
  const question = at("question").value.trim();
  const sources = [source()];
  if (at("beside").value !== NONE && at("beside").value !== at("source").value) sources.push(named(at("beside").value));
  if (!question || !sources[0].name) return;
  const panes = lay(sources);
  at("stop").hidden = false;
  tell("Searching.");
  try {
    await Promise.all(sources.map((each, i) => follow(each, question, panes[i], own.signal)));
  } finally {
    if (asking === own) {
      at("stop").hidden = true;
      asking = null;
    }
  }
}

async function follow({ kind, name }, question, pane, signal) {
  const model = at("model").value !== NONE && at("model").value;
  const [path, body] = kind === "graph" ? ["/mindmap", { question, graph: name, model }] : ["/ask", { question, corpus: name, model }];
  for await (const [event, value] of events(path, body, signal)) {
    if (event === "answer") {
      pane.show(value);
      tell(`Answered in ${value.seconds.toFixed(1)} s.`);
    } else if (event === "error") {
      complain(new Error(value.hint ? `${value.what}. ${value.hint}` : value.what));
      tell("");
    } else pane.on[event]?.(value);
  }
}

async function showHistory() {
  const { kind, name } = source();
  if (kind !== "corpus" || !name) {
    at("past").replaceChildren(make("li", { class: "small" }, "Questions to knowledge graphs are not kept."));
    return;
  }
  await listHistory(name, at("past"), {
    words: at("sought").value,
    mayRemove: known.rights.includes("load"),
    trying,
    again: askThis,
    refresh: showHistory,
    show(answer) {
      show("ask");
      at("question").value = answer.question;
      lay([{ kind, name }])[0].show(answer);
      tell("As it was answered then.");
    },
  });
}

// --- Documents ---

async function listDocuments() {
  const { kind, name } = source();
  const body = at("documents").tBodies[0];
  if (kind !== "corpus" || !name) {
    body.replaceChildren();
    return;
  }
  const { documents } = await call(`/documents?${new URLSearchParams({ corpus: name })}`);
  const may = known.rights.includes("load");
  const open = ({ id }) => trying(() => openPlace(name, { document: id, page: null, passage: "", words: [] }));
  body.replaceChildren(
    ...documents.map((each) =>
      make(
        "tr",
        {},
        make("td", {}, make("button", { type: "button", class: "link", dir: "auto", onclick: () => open(each) }, each.title)),
        make("td", {}, each.source),
        make("td", {}, String(each.passages)),
        make("td", {}, may ? make("button", { type: "button", class: "quiet", "aria-label": `Delete ${each.title}`, onclick: () => drop(each) }, "Delete") : ""),
      ),
    ),
  );
}

async function drop({ id, title }) {
  if (!confirm(`Delete "${title}" with everything in it?`)) return;
  await trying(async () => {
    await call(`/documents/${id}?${new URLSearchParams({ corpus: source().name })}`, { method: "DELETE" });
    tell(`Deleted ${title}.`);
    await look();
  });
}

/** Load files into a corpus, those of a folder too, and tell what is gone from that. */
async function load(files, corpus, ofFolder = []) {
  tell(`Loading ${files.length} ${files.length === 1 ? "file" : "files"}.`);
  await uploadAll(files, corpus, at("uploads"), (file) => trying(() => load([file], corpus)));
  if (ofFolder.length) await followFolder(ofFolder, corpus, at("uploads"), trying, look);
  tell("Loading is over.");
  await look(`corpus ${corpus}`);
}

/** Open the document that the address names, as a link from another program does. */
async function openAddressed() {
  const wanted = new URLSearchParams(location.hash.slice(1));
  if (!wanted.get("document")) return;
  const place = { document: wanted.get("document"), page: null, passage: wanted.get("passage") ?? "", words: [] };
  await openPlace(wanted.get("corpus") ?? source().name, place);
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
for (const view of VIEWS) at(`to-${view}`).addEventListener("click", () => show(view));
at("sought").addEventListener("input", () => {
  clearTimeout(typed);
  typed = setTimeout(() => trying(showHistory), 200);
});
at("upload").addEventListener("submit", (event) => {
  event.preventDefault();
  const ofFolder = [...at("folder").files].filter(isSeen);
  const files = [...at("files").files, ...ofFolder];
  at("files").value = at("folder").value = "";
  if (files.length) trying(() => load(files, at("into").value.trim(), ofFolder));
  else tell("Choose files or a folder first.");
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
});
addEventListener("hashchange", () => trying(openAddressed));

setUpReader(trying);
trying(async () => {
  await look();
  await openAddressed();
});
