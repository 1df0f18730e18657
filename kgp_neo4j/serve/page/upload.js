// Files into a corpus, one after another, each with a bar for its way and one for its loading.
import { call, headers, parser, refusal } from "./api.js";
import { make } from "./text.js";

/** The folder that a file was chosen with, below that which was chosen; empty for a single file. */
const folderOf = (file) => (file.webkitRelativePath ?? "").split("/").slice(0, -1).join("/");

/** Whether a file of a folder is meant to be seen. */
export const isSeen = (file) => !file.webkitRelativePath.split("/").some((part) => part.startsWith("."));

/**
 * Tell what of a folder is gone since it was loaded before, with a button that removes it: its work is
 * tried by `trying`, and `removed` is called once it is done.
 */
export async function follow(files, corpus, list, trying, removed) {
  const [folder] = files[0].webkitRelativePath.split("/");
  const ask = (prune) =>
    call("/folders", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ corpus, folder, files: files.map((file) => file.webkitRelativePath), prune }),
    });
  const { gone } = await ask(false);
  if (!gone.length) return;
  const line = make("li", {}, make("strong", {}, folder), ` has no longer: ${gone.join(", ")} `);
  const remove = async () => {
    const { pruned } = await ask(true);
    line.replaceChildren(make("strong", {}, folder), `: removed ${pruned.join(", ")}`);
    await removed();
  };
  line.append(make("button", { type: "button", class: "quiet", onclick: () => trying(remove) }, "Remove from the corpus"));
  list.prepend(line);
}

/** Load files; `list` gets a line for each, a refused one with `retry`. Resolves after the last. */
export async function uploadAll(files, corpus, list, retry) {
  for (const [at, file] of [...files].entries()) {
    const said = make("span", {}, "is sent");
    const bar = make("progress", { max: "100", value: "0", "aria-label": `Loading ${file.name}` });
    const line = make("li", {}, make("strong", {}, file.name), " ", said, bar);
    list.prepend(line);
    try {
      // The whole corpus is connected anew, so once is enough, after the last of the files.
      const told = await upload(file, corpus, at === files.length - 1, said, bar);
      const { passages, pages, tables, left_out: left } = told.loaded;
      said.textContent = `is loaded: ${passages} passages, ${pages} pages, ${tables} tables`;
      if (left.length) said.textContent += `; left out: ${left.join(", ")}`;
    } catch (error) {
      line.className = "failed";
      said.textContent = error.message;
      const again = () => {
        line.remove();
        retry(file);
      };
      line.append(" ", make("button", { type: "button", class: "quiet", "aria-label": `Load ${file.name} again`, onclick: again }, "Try again"));
    }
    bar.remove();
  }
}

function upload(file, corpus, connect, said, bar) {
  const query = new URLSearchParams({ corpus, name: file.name, folder: folderOf(file), connect: String(connect) });
  const request = new XMLHttpRequest();
  request.open("POST", `/documents?${query}`);
  for (const [name, value] of Object.entries(headers({ accept: "text/event-stream" }))) {
    request.setRequestHeader(name, value);
  }
  request.setRequestHeader("content-type", "application/octet-stream");
  return new Promise((done, failed) => {
    const parse = parser();
    let read = 0;
    let last = null;
    request.upload.onprogress = ({ loaded, total }) => {
      bar.value = (100 * loaded) / total;
    };
    request.upload.onload = () => {
      said.textContent = "is read";
      bar.removeAttribute("value");
    };
    const follow = () => {
      if (request.status !== 200) return;
      for (const [name, value] of parse(request.responseText.slice(read))) {
        if (name === "progress") progress(value, said, bar);
        else if (name === "done" || name === "error") last = [name, value];
      }
      read = request.responseText.length;
    };
    request.onprogress = follow;
    request.onload = () => {
      follow();
      if (request.status >= 400) failed(refusal(request.status, request.responseText));
      else if (last?.[0] === "done") done(last[1]);
      else failed(new Error(last ? last[1].what : "the service broke off; load it again"));
    };
    request.onerror = () => failed(new Error("the service is out of reach; load it again"));
    request.send(file);
  });
}

function progress({ step, done, total }, said, bar) {
  said.textContent = step;
  if (total) {
    bar.max = total;
    bar.value = done;
  } else bar.removeAttribute("value");
}
