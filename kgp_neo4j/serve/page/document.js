// A document beside the page: its pages as pictures with what is cited marked, or its text.
import { call, headers } from "./api.js";
import { make, passageText } from "./text.js";

const at = (id) => document.getElementById(id);
const SCALE = 2;
let corpus = "";
let stops = []; // the places that the answer cites
let here = null; // the place that is open: document, page, passage, words
let pages = 0;
let kept = null; // the document whose text was read last
let asked = 0;

/** Open a place of a document; `n` and `p` lead to the next and the previous of `others`. */
export async function openPlace(name, place, others = []) {
  [corpus, stops, here] = [name, others, place];
  at("reader-parts").checked = false;
  if (!at("reader").open) at("reader").showModal();
  await show();
}

async function show(asText = false) {
  const mine = ++asked;
  const found = await text(here.document);
  if (mine !== asked) return;
  at("reader-title").textContent = found.title;
  const index = stops.indexOf(here);
  at("reader-stop").textContent = stops.length > 1 && index >= 0 ? `Citation ${index + 1} of ${stops.length}` : "";
  for (const id of ["reader-before", "reader-after"]) at(id).hidden = stops.length < 2;
  here.page ??= found.passages.find(({ id }) => id === here.passage)?.page ?? found.passages[0]?.page ?? null;
  const picture = asText || here.page === null || !found.pictured ? null : await pictureOf(here);
  if (mine !== asked) return;
  for (const id of ["reader-back", "reader-on", "reader-as-read", "reader-as-text"]) at(id).hidden = !picture;
  at("reader-page").textContent = picture ? `Page ${here.page} of ${pages}` : "";
  at("reader-text").replaceChildren(...(picture ?? textOf(found)));
  (at("reader-text").querySelector(".words, .here") ?? at("reader-text").firstElementChild)?.scrollIntoView({ block: "center" });
  at("reader-text").focus({ preventScroll: true });
}

async function text(id) {
  if (kept?.id !== id || kept.corpus !== corpus) {
    const query = new URLSearchParams({ corpus });
    kept = { ...(await call(`/documents/${encodeURIComponent(id)}?${query}`)), corpus };
  }
  return kept;
}

/** Return the page as a picture with its marks; null where there is no file to draw it from. */
async function pictureOf({ document: id, page, passage, words }) {
  const query = new URLSearchParams({ corpus });
  if (passage) query.append("passage", passage);
  for (const each of words ?? []) query.append("words", each.slice(0, 1000));
  if (at("reader-parts").checked) query.set("view", "read");
  const base = `/documents/${encodeURIComponent(id)}/pages/${page}`;
  let told;
  try {
    told = await call(`${base}?${query}`);
  } catch (error) {
    if (error.status === 404) return null;
    throw error;
  }
  const drawn = await fetch(`${base}.png?${new URLSearchParams({ corpus, scale: SCALE })}`, { headers: headers() });
  if (!drawn.ok) return null;
  pages = told.pages;
  const address = URL.createObjectURL(await drawn.blob());
  const picture = make("img", { src: address, alt: `Page ${page}` });
  picture.onload = () => URL.revokeObjectURL(address);
  return [make("div", { class: "sheet" }, picture, overlay(told)), ...(told.recognised && !told.marks.length ? [make("p", { class: "small" }, "This page was recognised as a picture; where its words stand is not known.")] : [])];
}

function overlay(told) {
  const svg = (tag, attributes, ...children) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...children);
    return made;
  };
  const box = ([x0, top, x1, bottom], kind, title) => {
    const made = svg("rect", { x: x0, y: top, width: x1 - x0, height: bottom - top, class: kind });
    if (title) made.append(svg("title", {}, title));
    return made;
  };
  const marks = told.marks.flatMap(({ words, boxes }) => boxes.map((each) => box(each, words ? "words" : "whole")));
  const parts = told.parts.flatMap(({ kind, boxes }) => boxes.map((each) => box(each, `part ${kind}`, kind)));
  return svg("svg", { viewBox: `0 0 ${told.width} ${told.height}`, "aria-hidden": "true" }, ...parts, ...marks);
}

function textOf(found) {
  const parts = [];
  let last = null;
  let section = "";
  let marked = false;
  for (const each of found.passages) {
    if (each.page !== last) parts.push(make("h3", {}, `Page ${each.page}`));
    else if (each.section !== section && each.section) parts.push(make("h3", {}, each.section));
    [last, section] = [each.page, each.section];
    const words = here.words?.at(-1);
    const wanted = here.passage ? each.id === here.passage : !marked && (here.page === null || each.page === here.page) && (!words || each.text.includes(words));
    const shown = make("div", { class: wanted ? "text here" : "text", dir: "auto" });
    passageText(shown, each.text, wanted ? here.marks : undefined);
    marked ||= wanted;
    parts.push(shown);
  }
  return parts;
}

/** Make the reader's buttons and keys work; `trying` shows what goes wrong. */
export function setUpReader(trying) {
  const turn = (by) => {
    const page = here.page + by;
    if (page < 1 || page > pages) return;
    here = { document: here.document, page, words: [], passage: "" };
    trying(show);
  };
  const follow = (by) => {
    if (stops.length < 2) return;
    here = stops[(stops.indexOf(here) + by + stops.length) % stops.length];
    trying(show);
  };
  const press = { "reader-back": () => turn(-1), "reader-on": () => turn(1), "reader-before": () => follow(-1), "reader-after": () => follow(1), "reader-as-text": () => trying(() => show(true)), "reader-close": () => at("reader").close() };
  for (const [id, work] of Object.entries(press)) at(id).addEventListener("click", work);
  at("reader-parts").addEventListener("change", () => trying(show));
  at("reader").addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const work = { n: () => follow(1), p: () => follow(-1), ArrowRight: () => turn(1), ArrowLeft: () => turn(-1) }[event.key];
    if (work) {
      event.preventDefault();
      work();
    }
  });
}
