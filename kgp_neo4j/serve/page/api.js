// Calls of the service: JSON, and server-sent events read from the body of a POST.

export class Refused extends Error {
  constructor(status, what, hint) {
    super(hint ? `${what}. ${hint}` : what);
    this.status = status;
  }
}

export function headers(more = {}) {
  const token = sessionStorage.getItem("kgp-token");
  return token ? { ...more, authorization: `Bearer ${token}` } : more;
}

export function refusal(status, text) {
  try {
    const { what, hint } = JSON.parse(text).error;
    return new Refused(status, what, hint);
  } catch {
    return new Refused(status, `the service answers ${status}`, "");
  }
}

export async function call(path, options = {}) {
  const response = await fetch(path, { ...options, headers: headers(options.headers) });
  if (!response.ok) throw refusal(response.status, await response.text());
  return response.json();
}

/** Yield [name, value] for each event of the answer to a JSON body. */
export async function* events(path, body, signal) {
  const response = await fetch(path, {
    method: "POST",
    headers: headers({ "content-type": "application/json", accept: "text/event-stream" }),
    body: JSON.stringify(body),
    signal,
  });
  if (!response.ok) throw refusal(response.status, await response.text());
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  const parse = parser();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    yield* parse(value);
  }
}

/** Return a function from the next piece of a stream to the events that it completes. */
export function parser() {
  let held = "";
  return function* parse(piece) {
    held += piece;
    for (let end = held.indexOf("\n\n"); end >= 0; end = held.indexOf("\n\n")) {
      const lines = held.slice(0, end).split("\n");
      held = held.slice(end + 2);
      const name = lines.find((line) => line.startsWith("event: "));
      const data = lines.find((line) => line.startsWith("data: "));
      if (name && data) yield [name.slice(7), JSON.parse(data.slice(6))];
    }
  };
}
