// Serves the settings page for a tenant of the local stack, and prints its address. Whoever has the address is signed
// in: it has a token, and its name and path are new with each start, so that no page of another site, and no other
// server on this machine, gets in by the browser's cookies.
import { randomBytes, timingSafeEqual } from "node:crypto";
import { rm } from "node:fs/promises";
import { createServer } from "node:http";

import { Folder, Keys, issuer } from "./keys.mjs";
import { settings } from "./server.mjs";

const { HERALD_API, INVOKE, TENANT, KEYS } = process.env; // INVOKE is the URL of apikeys in Lambda's API

const random = () => randomBytes(16).toString("hex");
const token = random();
const base = `/${random()}`;

await rm(KEYS, { recursive: true, force: true }); // an earlier stack has issued what is in there
const keys = new Keys({
  store: new Folder(KEYS),
  issuer: issuer(invoke, "demo@example.com"),
  secrets: [randomBytes(32)],
});

/** @param {string} payload */
async function invoke(payload) {
  return (await fetch(INVOKE, { method: "POST", body: payload })).text();
}

/** @param {string | null | undefined} text */
function isToken(text) {
  const given = Buffer.from(text ?? "");
  return given.length === token.length && timingSafeEqual(given, Buffer.from(token));
}

/** The session of the demonstration. @param {import("node:http").IncomingMessage} request */
function tenantOf(request) {
  const cookies = (request.headers.cookie ?? "").split(/; */);
  return cookies.some((c) => c.startsWith("settings=") && isToken(c.slice("settings=".length))) ? TENANT : null;
}

const server = createServer(async (request, response) => {
  const port = server.address().port;
  const origins = [`http://settings-${base.slice(1, 9)}.localhost:${port}`, `http://127.0.0.1:${port}`];
  const url = new URL(request.url, "http://unused");
  if (request.method === "GET" && url.pathname === `${base}/` && isToken(url.searchParams.get("token")) &&
    origins.some((o) => o === `http://${request.headers.host}`)) {
    response.setHeader("Set-Cookie", `settings=${token}; Path=${base}/; HttpOnly; SameSite=Strict`);
    response.writeHead(303, { Location: `${base}/`, "Cache-Control": "no-store", "Referrer-Policy": "no-referrer" });
    response.end();
    return;
  }
  const handle = settings({ origins, base, api: HERALD_API, tenantOf, keyOf: (tenantId) => keys.of(tenantId) });
  await handle(request, response);
});
server.listen(0, "127.0.0.1", () => {
  console.log(`http://settings-${base.slice(1, 9)}.localhost:${server.address().port}${base}/?token=${token}`);
});
