// SPDX-License-Identifier: Apache-2.0
// Requests to the server. The token is in the memory of this tab only.

let token = "";
let session = "";

export class Failed extends Error {
  constructor(message, status, more) {
    super(message);
    this.status = status;
    this.more = more || {};
  }
}

// The token comes in the fragment, which is removed from the address bar and the history at once.
export function takeToken() {
  const found = /^#([0-9a-f]{32})$/.exec(location.hash);
  if (found) {
    sessionStorage.setItem("token", found[1]);
    history.replaceState(null, "", location.pathname);
  }
  token = sessionStorage.getItem("token") || "";
  return token !== "";
}

export function setToken(text) {
  const found = /([0-9a-f]{32})\s*(\(|$)/.exec(text.trim());
  token = found ? found[1] : "";
  if (token) sessionStorage.setItem("token", token);
  return token !== "";
}

async function ask(method, path, body, headers) {
  let answer;
  try {
    answer = await fetch("/api/v1" + path, { method, body, headers: { "Shoal-Token": token, ...headers }, cache: "no-store" });
  } catch {
    throw new Failed("The server has ended. Start 'shoal serve' again.", 0);
  }
  if (answer.ok) return answer;
  const text = await answer.text();
  let message = text;
  try { message = JSON.parse(text).error.message; } catch { /* the text itself */ }
  throw new Failed(message || `The server answered ${answer.status}.`, answer.status);
}

export const call = async (method, path, body) => (await ask(method, path, body === undefined ? undefined : JSON.stringify(body))).json();
export const inSession = (method, path, body) => call(method, `/sessions/${session}${path}`, body);

// Makes the session this tab's own. A copy of a tab has its storage too, but not its lock; a tab that is loaded again waits for the lock of its old page.
const hold = (id) => new Promise((resolve) => {
  navigator.locks.request(`session ${id}`, { signal: AbortSignal.timeout(2000) }, () => { resolve(true); return new Promise(() => {}); }).catch(() => resolve(false));
});

// The session of this tab: the one from before a reload, or a new one.
export async function openSession() {
  const known = sessionStorage.getItem("session");
  if (known && await hold(known)) {
    session = known;
    try { return await inSession("GET", ""); } catch (error) { if (error.status !== 404) throw error; }
  }
  const state = await call("POST", "/sessions");
  session = state.session;
  sessionStorage.setItem("session", session);
  await hold(session);
  return state;
}

export const putPolicy = async (yaml) => (await ask("PUT", `/sessions/${session}/policy`, yaml)).json();

export const upload = async (file) =>
  (await ask("PUT", `/sessions/${session}/data`, file, { "Shoal-Name": file.name.replace(/[^ -~]/g, "_") })).json();

export const download = async (name) => (await ask("GET", `/sessions/${session}/download/${name}`)).blob();

export const cancel = (kind) => inSession("DELETE", `/jobs/${kind}`);

// Runs a job: calls onLine for progress and points, returns the result.
export async function job(kind, request, onLine) {
  const answer = await ask("POST", `/sessions/${session}/jobs/${kind}`, JSON.stringify(request || {}));
  const reader = answer.body.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    rest += done ? decoder.decode() : decoder.decode(value, { stream: true });
    const lines = rest.split("\n");
    rest = lines.pop();
    for (const line of lines) {
      if (!line) continue;
      const said = JSON.parse(line);
      if (said.result) return said.result;
      if (said.error) throw new Failed(said.error.message, said.error.status, said.error);
      if (onLine) onLine(said);
    }
    if (done) throw new Failed("The connection to the server ended.", 0);
  }
}
