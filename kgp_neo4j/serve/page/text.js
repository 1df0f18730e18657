// Texts of documents as elements: always as text, never as markup; tables of Markdown as tables.

/** Return an element with attributes and children; texts among these become text. */
export function make(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "class") made.className = value;
    else if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value !== false && value !== null) made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children);
  return made;
}

/** Append a text to an element: marked intervals as <mark>, Markdown's tables and headings as such. */
export function passageText(target, text, marks = { answer: [], sentences: [] }) {
  for (const [start, end, kind] of blocks(text)) {
    if (kind === "table") target.append(table(text, start, end, marks));
    else if (kind === "heading") {
      const made = make("strong", { class: "heading" });
      const signs = /^\s*#+\s*/.exec(text.slice(start, end))[0].length;
      marked(made, text, start + signs, end, marks);
      target.append(made);
    } else marked(target, text, start, end, marks);
  }
}

/** Return a sentence on one line; of a table's row the cells. */
export function oneLine(text) {
  const line = text.trim();
  return line.startsWith("|") ? cells(line.slice(1)).map((cell) => cell.trim()).join(" · ") : line;
}

/** Return the intervals of a text that are tables (runs of lines with "|"), headings, or neither. */
function blocks(text) {
  const made = [];
  let at = 0;
  for (const line of text.split("\n")) {
    const end = Math.min(text.length, at + line.length + 1);
    const kind = /^\s*\|/.test(line) ? "table" : /^\s*#{1,6}\s+\S/.test(line) ? "heading" : "text";
    const last = made.at(-1);
    if (last && last[2] === kind && kind !== "heading") last[1] = end;
    else made.push([at, end, kind]);
    at = end;
  }
  return made.filter(([start, end]) => end > start);
}

function table(text, start, end, marks) {
  const made = make("table");
  let at = start;
  let first = true;
  for (const line of text.slice(start, end).split("\n")) {
    if (line.trim() && !/^[\s|:-]+$/.test(line)) {
      const row = make("tr");
      let from = at + line.indexOf("|") + 1;
      for (const cell of cells(line.slice(line.indexOf("|") + 1))) {
        const box = make(first ? "th" : "td");
        marked(box, text, from, from + cell.length, marks);
        row.append(box);
        from += cell.length + 1;
      }
      made.append(row);
      first = false;
    }
    at += line.length + 1;
  }
  return made;
}

function cells(line) {
  const made = line.split(/(?<!\\)\|/);
  if (!made.at(-1).trim()) made.pop();
  return made;
}

function marked(target, text, start, end, marks) {
  const words = marks.answer ?? [];
  const sentences = marks.sentences ?? [];
  const cuts = new Set([start, end]);
  for (const [a, b] of [...words, ...sentences]) {
    for (const at of [a, b]) if (at > start && at < end) cuts.add(at);
  }
  const order = [...cuts].sort((a, b) => a - b);
  for (let i = 0; i + 1 < order.length; i++) {
    const [a, b] = [order[i], order[i + 1]];
    const within = (found) => found.some(([first, last]) => first <= a && b <= last);
    const piece = text.slice(a, b);
    if (within(words)) target.append(make("mark", { class: "word" }, piece));
    else if (within(sentences)) target.append(make("mark", {}, piece));
    else target.append(piece);
  }
}
