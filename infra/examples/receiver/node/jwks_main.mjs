// Answers for the tests whether deliveries verify: infra/kit/published.
import { createServer } from "node:http";
import { verifier } from "./jwks.mjs";

const genuine = verifier(process.env.JWKS_URL, Number(process.env.PAUSE) * 1000);
const server = createServer(async (req, res) => {
  const parts = [];
  for await (const part of req) parts.push(part);
  const status = await genuine(req.headers, Buffer.concat(parts)).then((yes) => (yes ? 200 : 400), () => 503);
  res.writeHead(status).end();
});
server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}`));
