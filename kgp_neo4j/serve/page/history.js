// Past questions of a corpus, with the answers that were given.
import { call } from "./api.js";
import { make } from "./text.js";

/** Fill `list` with the questions asked of a corpus; `show` gets a kept answer, `again` a question. */
export async function listHistory(corpus, list, { words, mayRemove, show, again, refresh, trying }) {
  const query = new URLSearchParams({ corpus });
  const mine = (list.dataset.asked = `${corpus} ${words}`);
  const { traces } = await call(`/traces?${query}&${new URLSearchParams({ words })}`);
  if (list.dataset.asked !== mine) return; // another list was asked for since
  const open = (id) => trying(async () => show((await call(`/traces/${id}?${query}`)).answer));
  const remove = (id) =>
    trying(async () => {
      await call(`/traces/${id}?${query}`, { method: "DELETE" });
      await refresh();
    });
  const lines = traces.map(({ id, question, answer, asked_at: when }) => {
    const line = make(
      "li",
      {},
      make("button", { type: "button", class: "link", dir: "auto", onclick: () => open(id) }, question),
      make("p", { class: "small", dir: "auto" }, answer || "No sure answer"),
      make("p", { class: "small" }, new Date(when).toLocaleString()),
      make("button", { type: "button", class: "quiet", "aria-label": `Ask again: ${question}`, onclick: () => again(question) }, "Ask again"),
    );
    if (mayRemove) line.append(make("button", { type: "button", class: "quiet", "aria-label": `Remove: ${question}`, onclick: () => remove(id) }, "Remove"));
    return line;
  });
  const none = words.trim() ? "No past question has these words." : "No question of this corpus was kept yet.";
  list.replaceChildren(...(lines.length ? lines : [make("li", { class: "small" }, none)]));
}
