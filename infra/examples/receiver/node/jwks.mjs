import { createPublicKey, verify } from "node:crypto";

// The keys are asked for anew after an hour, and at once, but only once a minute, for a signature that none verifies:
// it may be of a new key, or forged.
const LIFETIME = 3_600_000;

// A function that tells whether a delivery is genuine and fresh, by the public keys at url:
// …/v1/webhooks/{id}/jwks.json of the one endpoint that it receives for. Whoever verifies needs no secret. It throws
// where there are no keys yet: answer 503 then.
export function verifier(url, pause = 60_000) { // milliseconds
  let keys, read = -Infinity, asked = -Infinity, asking;

  async function get() {
    const answer = await fetch(url, { signal: AbortSignal.timeout(5_000) });
    if (!answer.ok) throw new Error(`asking for keys: ${answer.status}`);
    const set = await answer.json();
    return set.keys
      .filter(({ kty, crv }) => kty === "OKP" && crv === "Ed25519")
      .map(({ kty, crv, x }) => createPublicKey({ format: "jwk", key: { kty, crv, x } }));
  }

  async function refresh() { // at most once a minute; where it fails, the keys before stay
    if (performance.now() - asked >= pause) {
      asked = performance.now();
      asking = get().then((found) => { keys = found; read = asked; }, console.error);
    }
    await asking;
  }

  return async (headers, body) => { // body: the raw bytes, never re-serialised
    const { "webhook-id": id, "webhook-timestamp": stamp, "webhook-signature": signed = "" } = headers;
    if (!(Math.abs(Date.now() / 1000 - Number(stamp)) <= 300)) return false; // nor where it is not a number
    const content = Buffer.concat([Buffer.from(`${id}.${stamp}.`), body]);
    const signatures = signed.split(" ").filter((text) => text.startsWith("v1a,")).slice(0, 2)
      .map((text) => Buffer.from(text.slice(4), "base64"));
    const matches = () => keys?.some((key) => signatures.some((signature) => verify(null, content, key, signature)));
    if (performance.now() - read > LIFETIME) await refresh();
    if (matches()) return true;
    if (signatures.length > 0) await refresh();
    if (keys === undefined) throw new Error("no keys yet");
    return matches();
  };
}
