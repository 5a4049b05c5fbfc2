// Verifies deliveries with the libraries for Node.js, each by its usual constructor, at the time of their arrival.
import { readFileSync } from "node:fs";
import { Webhook as StandardWebhooks } from "standardwebhooks";
import { Webhook as Svix } from "svix";
import { Webhook as Svix1 } from "svix-1";

const libraries = { "standardwebhooks": StandardWebhooks, "svix": Svix, "svix 1": Svix1 };
for (const { name, secret, headers, body, at } of JSON.parse(readFileSync(0, "utf8"))) {
  Date.now = () => at * 1000;
  for (const [library, Webhook] of Object.entries(libraries)) {
    let verdict = "verified";
    try {
      new Webhook(secret).verify(Buffer.from(body, "base64").toString("utf8"), headers);
    } catch (fault) {
      verdict = `refused: ${fault.message}`;
    }
    console.log(`node ${library}\t${name}\t${verdict}`);
  }
}
