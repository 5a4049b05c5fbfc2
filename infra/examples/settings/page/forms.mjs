// What the page asks before it does something, and what it shows once.
import { field, fresh, open, openForm } from "./dialogs.mjs";
import { ask, el, foreign } from "./parts.mjs";
import texts from "./texts.mjs";

/**
 * Creates an endpoint, or changes the one that is given.
 * @param {any} endpoint @param {{ data: any[], patterns: string[] }} catalogue
 */
export function edit(endpoint, catalogue) {
  const now = endpoint ?? { url: "", description: "", events: [], rate_limit: null };
  const hint = endpoint?.header_names ? `${texts.urlHint}. ${texts.headersHint}` : texts.urlHint;
  return openForm({
    title: endpoint ? texts.edit : texts.add, about: endpoint?.url, button: endpoint ? texts.save : texts.create,
    fields: [
      field("url", texts.url,
        el("input", { type: "url", value: now.url, autocomplete: "off", spellcheck: "false" }), hint),
      field("description", texts.description,
        el("input", { type: "text", maxlength: 256, value: now.description, autocomplete: "off" })),
      field("rate_limit", texts.limit, el("input", { type: "number", min: 1, max: 300, value: now.rate_limit ?? "" }),
        texts.limitHint),
      choices(now.events, catalogue),
    ],
  }, (given) => {
    const wanted = read(given, now);
    if (!endpoint) return ask("POST", "/webhooks", wanted);
    const changes = Object.entries(wanted).filter(([name, value]) => !same(value, now[name]));
    if (changes.length === 0) return Promise.resolve(null);
    return ask("PATCH", `/webhooks/${endpoint.id}`, Object.fromEntries(changes));
  });
}

/** @param {any} a @param {any} b */
const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);

/** Reads what the form says. The order of events means nothing. @param {FormData} given @param {any} now */
function read(given, now) {
  const events = given.getAll("events");
  const limit = String(given.get("rate_limit"));
  return {
    url: String(given.get("url")).trim(),
    description: String(given.get("description")),
    events: same([...events].sort(), [...now.events].sort()) ? now.events : events,
    rate_limit: limit === "" ? null : Number(limit),
  };
}

/**
 * Patterns, types and whatever the endpoint has besides: a name that the catalogue has lost may stay.
 * @param {string[]} chosen @param {{ data: any[], patterns: string[] }} catalogue
 */
function choices(chosen, { data, patterns }) {
  const about = new Map(data.map((t) => [t.name, t.description]));
  for (const pattern of patterns) about.set(pattern, texts.patternHint);
  const names = [...new Set([...patterns, ...about.keys(), ...chosen])];
  const fault = fresh();
  return el("fieldset", { "data-field": "events", "aria-describedby": fault }, el("legend", {}, texts.events),
    el("span", { id: fault, class: "fault" }), ...names.map((name) => el("label", { class: "choice" },
      el("input", { type: "checkbox", name: "events", value: name, checked: chosen.includes(name) }),
      el("code", {}, name), " ", el("span", { class: "hint" }, foreign(about.get(name) ?? "")))));
}

/** Shows a secret, which is forgotten with the dialog. @param {string} text */
export function secret(text) {
  const shown = el("code", { class: "secret" }, text);
  const said = el("p", { role: "status" });
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      said.textContent = texts.copied;
    } catch { // not allowed here
      getSelection()?.selectAllChildren(shown);
      said.textContent = texts.copyYourself;
    }
  };
  return open(texts.secretTitle, (close) => [el("p", {}, texts.secretHint), el("p", {}, shown), said,
    el("div", { class: "acts" }, el("button", { class: "primary", onclick: copy }, texts.copy),
      el("button", { onclick: close }, texts.stored))]);
}

/** @param {any} endpoint */
export function rotate(endpoint) {
  const hours = el("select", {}, ...[0, 1, 8, 24].map((n) => el("option", { value: n }, texts.hours(n))));
  return openForm({
    title: texts.rotate, about: endpoint.url, button: texts.rotate,
    fields: [el("p", {}, texts.rotateHint), field("previous_secret_hours", texts.overlap, hours)],
  }, (given) => ask("POST", `/webhooks/${endpoint.id}/rotate-secret`,
    { previous_secret_hours: Number(given.get("previous_secret_hours")) }));
}

/** @param {any} endpoint @param {{ data: any[] }} catalogue */
export function test(endpoint, { data }) {
  const type = el("select", {}, ...["herald.test", ...data.map((t) => t.name)].map((name) => el("option", {}, name)));
  return openForm({
    title: texts.test, about: endpoint.url, button: texts.send,
    fields: [el("p", {}, texts.testHint), field("type", texts.testType, type)],
  }, (given) => ask("POST", `/webhooks/${endpoint.id}/test`, { type: given.get("type") }));
}

/** @param {any} endpoint */
export function remove(endpoint) {
  return openForm({
    title: texts.remove, about: endpoint.url, button: texts.remove, danger: true,
    fields: [el("p", {}, texts.removeHint)],
  }, () => ask("DELETE", `/webhooks/${endpoint.id}`));
}
