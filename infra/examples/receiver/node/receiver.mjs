import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";

const LIMIT = 1 << 20;

async function read(req) { // the raw bytes, never re-serialised; undefined where they are too many
  const body = Buffer.allocUnsafe(LIMIT);
  let length = 0;
  for await (const chunk of req) {
    if (length + chunk.length > LIMIT) return undefined;
    length += chunk.copy(body, length);
  }
  return body.subarray(0, length);
}

function genuine(secrets, headers, body) {
  const { "wh-id": id, "wh-timestamp": stamp, "wh-signature": signature = "" } = headers;
  const got = Buffer.from(signature);
  const signed = secrets.some((secret) => {
    const hmac = createHmac("sha256", secret); // its literal text, whsec_ included
    const want = Buffer.from("v1," + hmac.update(`${id}.${stamp}.`).update(body).digest("base64"));
    return secret !== "" && got.length === want.length && timingSafeEqual(got, want);
  });
  const fresh = Math.abs(Date.now() / 1000 - Number(stamp)) <= 300; // false where it is not a number
  return signed && fresh;
}

// A server that processes each genuine delivery once and answers 2xx only when that is done. A rotation needs
// two secrets.
export function receiver(secrets, process) {
  const done = new Map(); // by wh-id, false at work; in production: a store all instances share, kept for days
  async function answer(req) {
    if (Number(req.headers["content-length"] ?? 0) > LIMIT) return 413;
    const body = await read(req);
    if (body === undefined) return 413;
    if (!genuine(secrets, req.headers, body)) return 400;
    const { type } = JSON.parse(body); // signed, unlike the header that repeats it
    if (type !== req.headers["wh-webhook-event"]) return 400;
    const id = req.headers["wh-id"];
    if (done.has(id)) return done.get(id) ? 200 : 409; // 409: at work, it may still fail
    done.set(id, false);
    try {
      await process(type, body);
      done.set(id, true);
      return 200;
    } catch (error) {
      done.delete(id); // so that the retry is processed
      console.error(error);
      return 500;
    }
  }
  const slow = { requestTimeout: 10_000, headersTimeout: 10_000, connectionsCheckingInterval: 1_000 };
  return createServer(slow, async (req, res) => {
    const status = await answer(req).catch(() => 400); // a body that broke off
    res.writeHead(status, status === 409 ? { "retry-after": 30 } : status === 413 ? { connection: "close" } : {}).end();
  });
}
