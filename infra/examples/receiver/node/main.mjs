// Starts the receiver for the tests, which say what becomes of each delivery: infra/kit/published.
import { receiver } from "./receiver.mjs";

const server = receiver(process.env.SIGNING_SECRETS.split(","), async (event, body) => {
  const answer = await fetch(process.env.WORK, { method: "POST", headers: { event }, body });
  if (!answer.ok) throw new Error(`the work failed: ${answer.status}`);
});
server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}`));
