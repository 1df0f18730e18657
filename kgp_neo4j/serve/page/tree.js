// Reasoning paths and mind maps as trees: the drawing of the pages for a file, from the same record.
import { make } from "./text.js";

/** Return the tree of a record; `goTo` gets the number of a passage that is pressed. */
export function drawTree(root, goTo) {
  const box = make("div", { class: "box" }, make("span", { class: "title", dir: "auto" }, root.title));
  const made = make("li", { class: root.kinds.join(" ") }, box, ...below(root, goTo));
  return make("div", { class: "tree" }, make("ul", {}, made));
}

function below(node, goTo) {
  const items = node.children.map((each) => branch(each, goTo));
  if (node.more.length) {
    const folded = make("ul", {}, ...node.more.map((each) => branch(each, goTo)));
    items.push(make("li", { class: "more" }, make("details", {}, make("summary", {}, `${node.hidden} more`), folded)));
  }
  return items.length ? [make("ul", {}, ...items)] : [];
}

function branch(node, goTo) {
  const box = make("div", { class: "box" });
  if (node.why) box.append(make("span", { class: "why", dir: "auto" }, node.why));
  const title = node.number ? `[${node.number}] ${node.title}` : node.title;
  const press = () => goTo(node.number);
  const named = node.number ? make("button", { type: "button", onclick: press }, title) : title;
  box.append(make("span", { class: "title", dir: "auto" }, named));
  if (node.note) box.append(make("span", { class: "note", dir: "auto" }, node.note));
  return make("li", { class: node.kinds.join(" ") }, box, ...below(node, goTo));
}
