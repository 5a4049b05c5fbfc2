// Serves a tenant's settings of webhooks: the page, and the routes of Herald's API that it needs.
//
// The browser never gets the tenant's API key: this server adds it. What a request may reach is the list ROUTES; whose
// endpoints these are is decided by the key alone.
import { readFile } from "node:fs/promises";

const ID = "webhook_[0-9A-HJKMNP-TV-Z]{26}";
const ROUTES = [
  { path: /^\/v1\/event-types$/, methods: ["GET"] },
  { path: /^\/v1\/webhooks$/, methods: ["GET", "POST"], query: ["status", "cursor", "limit"] },
  { path: new RegExp(`^/v1/webhooks/${ID}$`), methods: ["PATCH", "DELETE"] },
  { path: new RegExp(`^/v1/webhooks/${ID}/(restore|rotate-secret|test)$`), methods: ["POST"] },
];

/** @type {Record<string, { name: string, type: string }>} */
const FILES = {
  "/": { name: "index.html", type: "text/html; charset=utf-8" },
  "/settings.css": { name: "settings.css", type: "text/css; charset=utf-8" },
  ...Object.fromEntries(["settings.mjs", "facts.mjs", "forms.mjs", "dialogs.mjs", "parts.mjs", "texts.mjs"].map(
    (name) => [`/${name}`, { name, type: "text/javascript; charset=utf-8" }])),
};

const BODY = 64 * 1024; // bytes, as many as Herald takes
const TIME = 30_000; // milliseconds, for Herald to answer

// Nothing is loaded from elsewhere, and no text becomes markup: the page makes elements, and never parses any.
const HEADERS = {
  "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; " +
    "form-action 'none'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; " +
    "trusted-types 'none'",
  "X-Content-Type-Options": "nosniff",
  "Referrer-Policy": "same-origin",
  "Cache-Control": "no-store",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
};

/**
 * @typedef {import("node:http").IncomingMessage} Request
 * @typedef {import("node:http").ServerResponse} Response
 * @typedef {{ tenantId: string, method: string, path: string, status: number, requestId: string }} Change
 * @typedef {{
 *   origins: string[], // under which browsers see the page, such as "https://app.example.com"
 *   base: string, // the path of the page without a slash at the end, such as "/settings/webhooks"
 *   api: string, // Herald's ApiUrl
 *   tenantOf: (request: Request) => Promise<string | null> | string | null, // null: may not manage webhooks
 *   keyOf: (tenantId: string) => Promise<string>, // the tenant's API key
 *   changed?: (change: Change) => void, // called after each request that may have changed something, for your log
 * }} Options
 */

/** An answer that is not Herald's. */
class Refusal extends Error {
  /** @param {number} status @param {string} code */
  constructor(status, code) {
    super(code);
    this.status = status;
    this.code = code;
  }
}

/**
 * Is a handler for node:http's requests below base.
 * @param {Options} options
 */
export function settings(options) {
  const { protocol, hostname } = new URL(options.api);
  if (protocol !== "https:" && !["127.0.0.1", "localhost"].includes(hostname)) {
    throw new Error("api has to be https: it gets the tenants' keys");
  }
  return async (/** @type {Request} */ request, /** @type {Response} */ response) => {
    for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value);
    try {
      await serve(options, request, response);
    } catch (error) {
      if (!(error instanceof Refusal)) console.error("settings:", reason(error));
      const { status, code } = error instanceof Refusal ? error : new Refusal(502, "unreachable");
      if (!response.headersSent) answer(response, status, JSON.stringify({ code }));
      else response.destroy();
    }
  };
}

/**
 * Says what went wrong. The text of an error may have a key in it: fetch quotes a header that it refuses.
 * @param {unknown} error
 */
function reason(error) {
  const cause = error instanceof Error ? /** @type {{ code?: string } | undefined} */ (error.cause) : undefined;
  return `${error} ${cause?.code ?? ""}`.replaceAll(/hk_[\w-]*/g, "hk_…");
}

/** @param {Options} options @param {Request} request @param {Response} response */
async function serve(options, request, response) {
  admit(options, request);
  const url = new URL(request.url ?? "/", "http://unused");
  if (!url.pathname.startsWith(options.base + "/")) throw new Refusal(404, "not_found");
  const path = url.pathname.slice(options.base.length);
  const file = Object.hasOwn(FILES, path) ? FILES[path] : null;
  if (file && request.method === "GET") { // the same for everybody
    response.setHeader("Content-Type", file.type);
    response.end(await readFile(new URL(`page/${file.name}`, import.meta.url)));
    return;
  }
  const method = request.method ?? "";
  const route = ROUTES.find((r) => r.path.test(path) && r.methods.includes(method));
  if (!route) throw new Refusal(404, "not_found");
  const tenantId = await options.tenantOf(request);
  if (!tenantId) throw new Refusal(401, "signed_out");
  const query = new URLSearchParams();
  for (const name of route.query ?? []) {
    const value = url.searchParams.get(name);
    if (value !== null) query.set(name, value);
  }
  const target = `${options.api}${path}${query.size ? `?${query}` : ""}`;
  const { status, text, headers } = await forward(options, tenantId, { target, method, body: await read(request) });
  if (method !== "GET") {
    options.changed?.({ tenantId, method, path, status, requestId: headers.get("x-request-id") ?? "" });
  }
  for (const name of ["retry-after", "x-request-id"]) {
    const value = headers.get(name);
    if (value) response.setHeader(name, value);
  }
  answer(response, status, text);
}

/**
 * Lets in requests under the page's own name. A foreign site could give its name this server's address, and its pages
 * could post here with the browser's cookies: their Origin tells. A request that says nothing of its origin changes
 * nothing.
 * @param {Options} options @param {Request} request
 */
function admit({ origins }, request) {
  const { host, origin, "sec-fetch-site": site } = request.headers;
  const own = origins.find((o) => new URL(o).host === host);
  if (!own) throw new Refusal(403, "foreign_host");
  if (request.method === "GET") return; // no page of another site can read the answer
  if (origin !== own || (site && site !== "same-origin")) throw new Refusal(403, "foreign_site");
  if (!/^application\/json\b/.test(request.headers["content-type"] ?? "")) throw new Refusal(415, "not_json");
}

/** @param {Request} request */
async function read(request) {
  const parts = [];
  let size = 0;
  for await (const part of request) {
    size += part.length;
    if (size > BODY) throw new Refusal(413, "body_too_large");
    parts.push(part);
  }
  return Buffer.concat(parts);
}

/**
 * Asks Herald as the tenant. A key that was rotated meanwhile is read again, once: Herald has done nothing then.
 * @param {Options} options @param {string} tenantId @param {{ target: string, method: string, body: Buffer }} asked
 */
async function forward({ keyOf }, tenantId, asked) {
  let key = await keyOf(tenantId);
  let answered = await ask(key, asked);
  if (answered.status === 401) {
    const another = await keyOf(tenantId);
    if (another !== key) answered = await ask((key = another), asked);
  }
  // An operator may have revoked the key. This is no reason to issue another, nor to send the user to sign in.
  if (answered.status === 401) throw new Refusal(503, "key_refused");
  if (answered.text.includes(key)) throw new Refusal(502, "unreachable");
  return answered;
}

/** @param {string} key @param {{ target: string, method: string, body: Buffer }} asked */
async function ask(key, { target, method, body }) {
  const got = await fetch(target, {
    method,
    headers: { Authorization: `Bearer ${key}`, ...(body.length ? { "Content-Type": "application/json" } : {}) },
    body: method === "GET" || body.length === 0 ? undefined : body,
    redirect: "error", // it would take the key along
    signal: AbortSignal.timeout(TIME),
  });
  return { status: got.status, text: await got.text(), headers: got.headers };
}

/** @param {Response} response @param {number} status @param {string} text */
function answer(response, status, text) {
  response.statusCode = status;
  if (status !== 204) response.setHeader("Content-Type", "application/json");
  response.end(status === 204 ? undefined : text);
}
