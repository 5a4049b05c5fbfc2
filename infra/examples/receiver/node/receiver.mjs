import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";
const seen = new Set(); // in production: a store all instances share, kept for some days
async function receive(req) {
  const { "wh-id": id, "wh-timestamp": stamp, "wh-signature": signature = "", "wh-webhook-event": event } = req.headers;
  let body = Buffer.alloc(0); // the raw bytes, never re-serialised
  for await (const chunk of req) if ((body = Buffer.concat([body, chunk])).length > 1 << 20) return 400;
  const hmac = createHmac("sha256", process.env.SIGNING_SECRET); // its literal text, whs_ included
  const want = Buffer.from("v1," + hmac.update(`${id}.${stamp}.`).update(body).digest("base64"));
  const got = Buffer.from(signature);
  if (got.length !== want.length || !timingSafeEqual(got, want)) return 400;
  if (!(Math.abs(Date.now() / 1000 - Number(stamp)) <= 300)) return 400;
  if (!seen.has(id)) console.log(`${id} ${event} ${body.length}`); // process it here; a throw means 500 and a retry
  seen.add(id);
  return 200;
}

createServer((req, res) => {
  receive(req).catch(() => 500).then((status) => res.writeHead(status).end());
}).listen(process.env.PORT, "127.0.0.1"); // behind whatever ends TLS
