// Starts the settings page on its own. Fill in the function tenantOf; keyOf may stay as it is, with a table of yours in
// place of the folder.
//
//   node main.mjs                 serves the page
//   node main.mjs rotate TENANT   replaces a tenant's API key
//   node main.mjs reseal TENANT   seals it by the first of the secrets
import { createServer } from "node:http";

import { Folder, Keys, issuer } from "./keys.mjs";
import { settings } from "./server.mjs";

const {
  ORIGIN = "https://app.example.com", // that browsers see
  BASE = "/settings/webhooks",
  HERALD_API = "https://api.example.com", // the stack's ApiUrl
  APIKEYS_FUNCTION = "herald-prod-apikeys", // the stack's ApikeysFunctionName
  KEYS = "keys",
  KEY_SECRETS = "", // 32 bytes in Base64 each, with commas between them, from where your secrets are
  PORT = "8080",
} = process.env;

/**
 * Is the tenant whose webhooks the signed-in user may manage, or null. Take it from your session, and from nothing else
 * that the browser sends.
 * @param {import("node:http").IncomingMessage} request
 * @returns {Promise<string | null>}
 */
async function tenantOf(request) {
  void request;
  return null;
}

/**
 * Is the API key of a tenant: of the sample store, where the first use issues it.
 * @param {string} tenantId
 */
const keyOf = (tenantId) => keys.of(tenantId);

/** Invokes Herald's operator function. The caller's role needs the policy KeyIssuers. */
async function invoke(/** @type {string} */ payload) {
  const { LambdaClient, InvokeCommand } = await import("@aws-sdk/client-lambda");
  const client = new LambdaClient({ maxAttempts: 1 }); // a second attempt would issue a second key
  const { Payload } = await client.send(new InvokeCommand({ FunctionName: APIKEYS_FUNCTION, Payload: payload }));
  return Buffer.from(Payload).toString();
}

const secrets = KEY_SECRETS.split(",").map((secret) => Buffer.from(secret, "base64"));
const keys = new Keys({ store: new Folder(KEYS), issuer: issuer(invoke, "settings page"), secrets });

const [command, tenantId] = process.argv.slice(2);
if (command === "rotate") await keys.rotate(tenantId);
else if (command === "reseal") await keys.reseal(tenantId);
else {
  const page = settings({ origins: [ORIGIN], base: BASE, api: HERALD_API, tenantOf, keyOf, changed: console.info });
  const server = createServer(page).listen(Number(PORT), "127.0.0.1", () => {
    console.log(`http://127.0.0.1:${server.address().port}${BASE}`); // behind what ends TLS, under ORIGIN
  });
}
