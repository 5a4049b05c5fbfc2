// The page of a tenant's webhooks: it shows what the API shows, and does what the API does.
import { facts } from "./facts.mjs";
import * as forms from "./forms.mjs";
import { ask, el, focus, foreign, Refused, say } from "./parts.mjs";
import texts from "./texts.mjs";

/** @type {{ data: any[], patterns: string[] }} */
let catalogue = { data: [], patterns: [] };

/** All endpoints with a status, or all that are not deleted. @param {string} [status] */
async function list(status) {
  const all = [];
  for (let cursor = null; ;) {
    const query = new URLSearchParams({ limit: "100", ...(status ? { status } : {}), ...(cursor ? { cursor } : {}) });
    const page = /** @type {any} */ (await ask("GET", `/webhooks?${query}`));
    all.push(...page.data);
    if (!(cursor = page.next_cursor)) return all;
  }
}

/** @param {string} id */
const section = (id) => /** @type {HTMLElement} */ (document.querySelector(`section[aria-labelledby="${id}"]`));

/** Shows what is there now. */
async function show() {
  const [live, deleted] = await Promise.all([list(), list("deleted")]);
  section("endpoints").replaceChildren(
    el("h2", { id: "endpoints", tabindex: -1, "data-key": "endpoints" }, texts.endpoints),
    el("button", { class: "primary", "data-key": "add", onclick: () => act(add, "add") }, texts.add),
    live.length ? el("ul", { class: "cards" }, ...live.map((e) => card(e, ofLive(e)))) : el("p", {}, texts.none));
  section("deleted").hidden = deleted.length === 0;
  section("deleted").replaceChildren(el("h2", { id: "deleted" }, texts.deleted),
    el("ul", { class: "cards" }, ...deleted.map((e) => card(e, { restore }))));
}

/**
 * Does something, shows what is there then, and moves the focus to the first of the buttons that is left.
 * @param {() => Promise<string | null | undefined>} what gives what was done, or nothing
 * @param {...string} keys
 */
async function act(what, ...keys) {
  say("");
  try {
    const done = await what();
    if (done) {
      await show();
      say(done);
    }
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    say(error.message, true);
  }
  if (document.activeElement === document.body) focus(...keys, "endpoints"); // what had it was replaced
}

/** @typedef {(endpoint: any) => Promise<string | null | undefined>} Act */

/** @param {any} e @returns {Record<string, Act>} */
function ofLive(e) {
  return e.status === "active" ? { edit, test, rotate, disable, remove } : { edit, rotate, enable, remove };
}

/** The buttons that are there after one that goes. @type {Record<string, string>} */
const AFTER = { disable: "enable", enable: "disable", remove: "restore", restore: "edit" };

/** @param {any} e @param {Record<string, Act>} acts */
function card(e, acts) {
  const title = `title-${e.id}`;
  const buttons = Object.entries(acts).map(([name, what]) => el("button", {
    class: what === remove ? "danger" : false, "data-key": `${e.id} ${name}`, "aria-describedby": title,
    onclick: () => act(() => what(e), `${e.id} ${name}`, `${e.id} ${AFTER[name]}`),
  }, /** @type {any} */ (texts)[name]));
  return el("li", {}, el("h3", { id: title }, foreign(e.url)),
    e.description ? el("p", {}, foreign(e.description)) : null, facts(e), el("div", { class: "acts" }, ...buttons));
}

/** Says what was done, and what Herald adds. @param {string} text @param {any} answer */
function told(text, { warnings = [], headers_dropped: dropped }) {
  const all = [text, ...warnings.map((/** @type {any} */ w) => w.detail)];
  if (dropped) all.push(texts.done.dropped(dropped.join(", ")));
  return all.join(" ");
}

async function add() {
  const made = await forms.edit(null, catalogue);
  if (!made) return null;
  await forms.secret(made.signing_secret);
  return told(texts.done.created, made);
}

/** @type {Act} */
async function edit(e) {
  const changed = await forms.edit(e, catalogue);
  if (!changed) return null;
  return changed.id ? told(texts.done.saved, changed) : texts.unchanged;
}

/** @type {Act} */
async function test(e) {
  const sent = await forms.test(e, catalogue);
  return sent && texts.done.sent(sent.delivery_id);
}

/** @type {Act} */
async function rotate(e) {
  const rotated = await forms.rotate(e);
  if (!rotated) return null;
  await forms.secret(rotated.signing_secret);
  return texts.done.rotated;
}

/** @type {Act} */
async function disable(e) {
  return told(texts.done.disabled, await ask("PATCH", `/webhooks/${e.id}`, { status: "disabled" }));
}

/** @type {Act} */
async function enable(e) {
  return told(texts.done.enabled, await ask("PATCH", `/webhooks/${e.id}`, { status: "active" }));
}

/** @type {Act} */
async function remove(e) {
  return (await forms.remove(e)) && texts.done.removed;
}

/** @type {Act} */
async function restore(e) {
  return told(texts.done.restored, await ask("POST", `/webhooks/${e.id}/restore`));
}

/** Shows the types of events, and searches them. */
function showTypes() {
  const all = catalogue.data.map((t) => ({ words: `${t.name} ${t.description}`.toLowerCase(), shown: type(t) }));
  const count = el("p", { role: "status" });
  const search = /** @type {HTMLInputElement} */ (el("input", { type: "search", id: "search", oninput: () => {
    const wanted = search.value.toLowerCase().split(/\s+/);
    for (const { words, shown } of all) shown.hidden = !wanted.every((w) => words.includes(w));
    count.textContent = texts.found(all.filter(({ shown }) => !shown.hidden).length, all.length);
  } }));
  section("types").replaceChildren(el("h2", { id: "types" }, texts.types),
    el("div", { class: "field" }, el("label", { for: "search" }, texts.search), search), count,
    ...all.map(({ shown }) => shown));
}

/** @param {any} t */
function type(t) {
  const text = (/** @type {any} */ value) => el("pre", {}, JSON.stringify(value, null, 2));
  return el("details", {}, el("summary", {}, el("code", {}, t.name), " ", foreign(t.description)),
    t.deprecated ? el("p", { class: "warn" }, texts.deprecated(t.replaced_by)) : null,
    el("h3", {}, texts.sample), text({ type: t.name, data: t.example }), el("h3", {}, texts.schema), text(t.schema));
}

document.documentElement.lang = texts.lang;
document.title = texts.title;
/** @type {HTMLElement} */ (document.querySelector("h1")).textContent = texts.title;
/** @type {HTMLElement} */ (document.getElementById("intro")).textContent = texts.intro;
try {
  catalogue = /** @type {any} */ (await ask("GET", "/event-types"));
  await show();
  showTypes();
} catch (error) {
  if (!(error instanceof Refused)) throw error;
  say(error.message, true);
}
