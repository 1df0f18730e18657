// The picture of a traversal or of a mind map: to be moved, zoomed and opened.
/* global cytoscape */

const RING = 80;
const calm = matchMedia("(prefers-reduced-motion: reduce)");
let drawn = null;
let angles = new Map();
let waiting = Promise.resolve();

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

function style() {
  const text = colour("--text");
  const base = [
    { selector: "node", style: { "background-color": colour("--hop0"), label: "data(number)", color: colour("--card"), "text-valign": "center", "text-halign": "center", "font-size": 11, width: 24, height: 24 } },
    { selector: "node.asked", style: { "background-color": colour("--asked"), width: 34, height: 34, "font-size": 16, label: "?" } },
    { selector: "node.cited, node.entity", style: { width: 34, height: 34, "font-size": 12, "border-width": 4, "border-color": colour("--strong"), label: "data(called)", color: text, "text-valign": "bottom", "text-margin-y": 4, "text-wrap": "wrap", "text-max-width": 110, "text-background-color": colour("--ground"), "text-background-opacity": 0.8 } },
    { selector: "node.entity", style: { "border-width": 0, "background-color": colour("--hop1"), width: 22, height: 22 } },
    { selector: "node.asked-for", style: { "background-color": colour("--asked"), width: 30, height: 30 } },
    { selector: "node.faded", style: { opacity: 0.3 } },
    { selector: "edge", style: { width: 1.5, "line-color": colour("--soft"), "target-arrow-color": colour("--soft"), "target-arrow-shape": "triangle", "arrow-scale": 0.8, "curve-style": "bezier", opacity: 0.6, "overlay-opacity": 0 } },
    { selector: "edge.named", style: { label: "data(label)", "font-size": 9, color: colour("--soft"), "text-rotation": "autorotate", "text-background-color": colour("--ground"), "text-background-opacity": 0.9 } },
    { selector: "edge.way", style: { width: 3, opacity: 1, "line-color": colour("--main"), "target-arrow-color": colour("--main") } },
    { selector: "edge.faded", style: { opacity: 0.15 } },
    { selector: "node:selected", style: { "border-width": 4, "border-color": colour("--main") } },
  ];
  for (const hop of [0, 1, 2, 3]) {
    base.splice(1, 0, { selector: `node[hop = ${hop}]`, style: { "background-color": colour(`--hop${hop}`) } });
  }
  return base;
}

export function restyle() {
  drawn?.style(style());
}

export function clear(onOpen, onLook) {
  drawn?.destroy();
  angles = new Map();
  waiting = Promise.resolve();
  drawn = cytoscape({ container: document.getElementById("graph"), style: style(), minZoom: 0.1, maxZoom: 3, boxSelectionEnabled: false });
  drawn.on("tap", "node", (event) => onOpen(event.target.data()));
  drawn.on("mouseover select", "node", (event) => onLook(event.target.data()));
  // For tests, and for people who look behind the page.
  document.getElementById("graph").kgpGraph = drawn;
}

export function zoom(factor) {
  if (!drawn) return;
  const middle = { x: drawn.width() / 2, y: drawn.height() / 2 };
  drawn.zoom({ level: drawn.zoom() * factor, renderedPosition: middle });
}

export function fit() {
  drawn?.resize();
  drawn?.fit(undefined, 30);
}

/** Draw something after what waits to be drawn, so that hops can be seen one after another. */
function later(draw, pause) {
  const own = drawn;
  waiting = waiting.then(async () => {
    if (own !== drawn) return;
    draw();
    if (pause && !calm.matches) await new Promise((done) => setTimeout(done, pause));
  });
}

export function addHop({ hop, reached }) {
  later(() => {
    if (!drawn.getElementById("?").length) {
      drawn.add({ data: { id: "?", title: "The question" }, classes: "asked", position: { x: 0, y: 0 } });
    }
    const fresh = reached.filter(({ passage }) => !drawn.getElementById(passage).length);
    // Near the passage before, so that edges cross little.
    fresh.sort((a, b) => (angles.get(a.before) ?? 7) - (angles.get(b.before) ?? 7));
    const ring = Math.max(RING * (hop + 1), (fresh.length * 34) / (2 * Math.PI));
    fresh.forEach(({ passage, before }, at) => {
      const angle = -Math.PI / 2 + (2 * Math.PI * (at + 0.5 * (hop % 2))) / fresh.length;
      angles.set(passage, angle);
      drawn.add({ data: { id: passage, hop: Math.min(hop, 3), number: "", title: "" }, position: { x: ring * Math.cos(angle), y: ring * Math.sin(angle) } });
      join(before ?? "?", passage);
    });
    for (const { passage, before } of reached) if (before) join(before, passage);
    if (calm.matches) fit();
    else drawn.animate({ fit: { eles: drawn.elements(), padding: 30 }, duration: 250 });
  }, 450);
}

function join(from, to) {
  const id = `${from}>${to}`;
  if (!drawn.getElementById(id).length && drawn.getElementById(from).length) {
    drawn.add({ data: { id, source: from, target: to } });
  }
}

/** Name the passages found, and let fade what was left on the way. */
export function addPassages(passages) {
  later(() => {
    if (!drawn.nodes().length) return;
    passages.forEach((passage, at) => {
      drawn.getElementById(passage.id).data({ number: String(at + 1), title: passage.name, called: `[${at + 1}] ${passage.name}` });
    });
    drawn.nodes("[hop]").forEach((node) => node.toggleClass("faded", !node.data("number")));
    drawn.edges().forEach((edge) => edge.toggleClass("faded", edge.target().hasClass("faded")));
  }, 0);
}

export function addAnswer(answer) {
  later(() => {
    for (const passage of answer.passages) {
      if (!answer.cited.includes(passage.id)) continue;
      drawn.getElementById(passage.id).addClass("cited");
      const way = passage.path.map((step) => step.passage);
      way.unshift("?");
      for (let at = 1; at < way.length; at++) {
        join(way[at - 1], way[at]);
        drawn.getElementById(`${way[at - 1]}>${way[at]}`).addClass("way").removeClass("faded");
      }
    }
  }, 0);
}

/** Draw triples of a knowledge graph: the evidence, or in its place the mind map. */
export function addTriples(triples, asked, isMap = false) {
  later(() => {
    if (isMap) drawn.elements().remove();
    for (const { head, relation, tail } of triples) {
      for (const name of [head, tail]) {
        if (!drawn.getElementById(`n ${name}`).length) {
          drawn.add({ data: { id: `n ${name}`, title: name, called: name }, classes: asked.includes(name) ? "entity asked-for" : "entity" });
        }
      }
      const id = `${head} ${relation} ${tail}`;
      if (!drawn.getElementById(id).length) {
        drawn.add({ data: { id, source: `n ${head}`, target: `n ${tail}`, label: relation.replaceAll("_", " ") }, classes: triples.length < 40 ? "named" : "" });
      }
      if (isMap) drawn.getElementById(id).addClass("way named");
    }
    if (triples.length) {
      drawn.layout({ name: "cose", animate: false, nodeRepulsion: () => 400000, nodeOverlap: 60, idealEdgeLength: () => 70, gravity: 60, numIter: 1500, padding: 20, randomize: true }).run();
      fit();
    }
  }, 0);
}
