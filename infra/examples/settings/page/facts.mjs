// What the API shows of an endpoint, as a list of names and values.
import { el, when } from "./parts.mjs";
import texts from "./texts.mjs";

/** @param {any} e */
export function facts(e) {
  const status = el("span", { class: e.status === "active" ? "good" : "warn" }, texts.statuses[e.status] ?? e.status);
  return el("dl", {},
    row(texts.status, status),
    row(texts.events, ...names(e.events)),
    row(texts.limit, limit(e)),
    e.header_names ? row(texts.headers, ...names(e.header_names)) : null,
    row(texts.secret, secret(e)),
    e.public_key ? row(texts.publicKey, el("code", {}, e.public_key)) : null,
    row(texts.created, time(e.created_at)),
    e.deleted_at ? row(texts.deletedAt, time(e.deleted_at)) : row(texts.changed, time(e.updated_at)));
}

/** @param {string} name @param {...(Node | string)} value */
const row = (name, ...value) => el("div", {}, el("dt", {}, name), el("dd", {}, ...value));

/** @param {string} t */
const time = (t) => el("time", { datetime: t }, when(t));

/** @param {string[]} all */
const names = (all) => all.flatMap((name) => [el("code", {}, name), " "]);

/** The smaller limit holds: the tenant's own, or the operator's. @param {any} e */
function limit({ rate_limit: own, operator_rate_limit: ours, effective_rate_limit: holds }) {
  if (holds === null) return texts.limits.none;
  return ours === holds && own !== holds ? texts.limits.operator(holds) : String(holds);
}

/** @param {any} e */
function secret({ created_at: created, secret_rotated_at: rotated, previous_secret_until: until }) {
  const since = texts.secretSince(when(rotated ?? created));
  return until ? `${since}. ${texts.secretBefore(when(until))}` : since;
}
