// An answer to be kept: copied with its citations, or saved as Markdown, JSON or HTML.
import { make } from "./text.js";

/** Return the buttons of an answer that `element` shows. */
export function keepers(made, element, tell) {
  const button = (label, work) => make("button", { type: "button", class: "quiet", onclick: work }, label);
  const name = made.question.replace(/[^\p{L}\p{N}]+/gu, "-").slice(0, 60).replace(/^-|-$/g, "") || "answer";
  return [
    button("Copy", async () => {
      await navigator.clipboard.writeText(markdown(made));
      tell("Copied with its citations.");
    }),
    button("Markdown", () => save(`${name}.md`, "text/markdown", markdown(made))),
    button("JSON", () => save(`${name}.json`, "application/json", JSON.stringify(made, null, 2))),
    button("HTML", async () => save(`${name}.html`, "text/html", await page(made, element))),
  ];
}

function save(name, type, text) {
  const address = URL.createObjectURL(new Blob([text], { type }));
  const link = make("a", { href: address, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

const line = (text) => text.replace(/\s+/g, " ").trim();
const plain = (text) => line(text).replace(/[\\`*_[\]<>#|!]/g, "\\$&");

/** Return an answer as Markdown, with what it cites as footnotes. */
export function markdown(made) {
  const told = [`## ${plain(made.question)}`, ""];
  if (made.graph) {
    told.push(plain(made.text), "");
    for (const { head, relation, tail, status } of made.edges) {
      told.push(`- ${plain(head)} – ${plain(relation.replaceAll("_", " "))} → ${plain(tail)}${status === "grounded" ? "" : ` (${status})`}`);
    }
    return `${told.join("\n")}\n`;
  }
  const numbers = new Map(made.passages.map(({ id }, i) => [id, i + 1]));
  const notes = (ids) => ids.filter((id) => numbers.has(id)).map((id) => `[^${numbers.get(id)}]`).join("");
  const used = new Set(made.cited);
  if (made.statements.length) {
    for (const each of made.statements) {
      for (const id of each.passages) used.add(id);
      told.push(`${plain(each.text)}${notes(each.passages)}${each.carried ? "" : " *(not carried by the passages)*"}`);
    }
  } else {
    if (made.said) told.push(`**${plain(made.said)}**${notes(made.cited)} ${made.probably}`.trim(), "");
    else told.push(`${plain(made.heading)}.`, "");
    for (const c of made.structural?.citations ?? []) {
      told.push(`- ${[c.title, c.page === null ? "" : `page ${c.page}`, c.table_name, c.row_name, c.column_name].filter(Boolean).map(plain).join(", ")}: ${plain(c.text)}`);
    }
    for (const each of made.sentences) {
      used.add(each.passage);
      told.push(`> ${plain(each.text)}${notes([each.passage])}`, "");
    }
  }
  told.push("");
  for (const passage of made.passages.filter(({ id }) => used.has(id))) {
    const place = [passage.name, passage.section, passage.page === null ? "" : `page ${passage.page}`, passage.source].filter(Boolean);
    told.push(`[^${numbers.get(passage.id)}]: ${place.map(plain).join(", ")}`);
  }
  return `${told.join("\n")}\n`;
}

/** Return what the pane shows as a page that needs no network and runs nothing. */
async function page(made, element) {
  const styles = await Promise.all(["tree.css", "style.css"].map(async (name) => (await fetch(`/static/${name}`)).text()));
  const shown = element.cloneNode(true);
  for (const each of shown.querySelectorAll(".tools, .head button, .passages + button")) each.remove();
  for (const each of shown.querySelectorAll("button")) each.replaceWith(make("span", { class: each.className }, ...each.childNodes));
  const policy = `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">`;
  const title = make("title", {}, made.question);
  const heading = make("h1", { dir: "auto" }, made.question);
  return `<!DOCTYPE html>\n<html><head><meta charset="utf-8">${policy}<meta name="viewport" content="width=device-width">${title.outerHTML}<style>${styles.join("\n")}</style></head><body><main>${heading.outerHTML}${shown.outerHTML}</main></body></html>\n`;
}
