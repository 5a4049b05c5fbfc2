// Sends with Node's fetch, as its documentation has it: node sender.mjs CA PAUSE URL…
// Trust comes from NODE_EXTRA_CA_CERTS, which Node reads when it starts, so this starts itself again.
import { spawnSync } from "node:child_process";

const [ca, pause, ...urls] = process.argv.slice(2);
if (process.env.NODE_EXTRA_CA_CERTS !== ca) {
  const env = { ...process.env, NODE_EXTRA_CA_CERTS: ca };
  const { status } = spawnSync(process.execPath, process.argv.slice(1), { env, stdio: "inherit" });
  process.exit(status ?? 1);
}

for (const [i, url] of urls.entries()) {
  if (i > 0) await new Promise((resolve) => setTimeout(resolve, pause * 1000));
  try {
    const response = await fetch(url, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: '{"type":"user.created","data":{}}',
      signal: AbortSignal.timeout(15_000),
    });
    await response.text();
    console.log(response.status);
  } catch {
    console.log(0);
  }
}
process.exit(0); // with connections that are still open
