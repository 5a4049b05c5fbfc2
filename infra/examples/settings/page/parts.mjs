// What the page is made of. Texts become text nodes: no markup is ever parsed.
import texts from "./texts.mjs";

/**
 * Makes an element. Properties with "on" are listeners, the others are attributes: true is an empty one, false and null
 * are none.
 * @param {string} tag
 * @param {Record<string, any>} properties
 * @param {...(Node | string | null | undefined | false)} children
 */
export function el(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (is(value)) made.setAttribute(name, value === true ? "" : value);
  }
  made.append(.../** @type {(Node | string)[]} */ (children.filter(is)));
  return made;
}

/** @param {any} value */
const is = (value) => value !== null && value !== undefined && value !== false;

/** Text of a tenant, which does not reorder what is around it. @param {string} text */
export const foreign = (text) => el("bdi", {}, text);

/** @param {string} time */
export function when(time) {
  const format = new Intl.DateTimeFormat(texts.lang, { dateStyle: "medium", timeStyle: "short" });
  return format.format(new Date(time));
}

/** An answer that is no success. */
export class Refused extends Error {
  /** @param {number} status @param {{ code?: string, detail?: string, errors?: any[] }} body */
  constructor(status, body) {
    super(texts.problems[body.code ?? ""] ?? body.detail ?? texts.failed(status));
    this.faults = body.errors ?? [];
  }
}

/** Asks this page's server. @param {string} method @param {string} path @param {object} [body] */
export async function ask(method, path, body) {
  const headers = method === "GET" ? undefined : { "Content-Type": "application/json" };
  let got, answer;
  try {
    got = await fetch(`v1${path}`, { method, headers, body: body && JSON.stringify(body) });
    answer = got.status === 204 ? {} : await got.json();
  } catch { // no answer, or none of the server's
    throw new Refused(502, { code: "unreachable" });
  }
  if (!got.ok) throw new Refused(got.status, answer);
  return answer;
}

/** Says what was done, or what was not. @param {string} text @param {boolean} [fault] */
export function say(text, fault = false) {
  for (const id of ["said", "fault"]) {
    /** @type {HTMLElement} */ (document.getElementById(id)).textContent = (id === "fault") === fault ? text : "";
  }
}

/** Moves the focus to the first that is there. @param {...string} keys */
export function focus(...keys) {
  for (const key of keys) {
    const found = document.querySelector(`[data-key="${CSS.escape(key)}"]`);
    if (found instanceof HTMLElement) {
      found.focus();
      return;
    }
  }
}
