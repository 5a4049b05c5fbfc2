// Publishes the messages of standard input to an SQS that its other lines play; infra/examples tests it.
import { createInterface } from "node:readline";

import { publish } from "./publisher.mjs";

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();

// rows reads the fields of lines until an empty one.
async function rows() {
  const all = [];
  for (let { value: line } = await lines.next(); line; { value: line } = await lines.next()) all.push(line.split("\t"));
  return all;
}

// played prints each entry, and reads the failures, or the refusal of all.
async function played(entries) {
  const printed = entries.map(({ Id, MessageGroupId, MessageAttributes, MessageBody }) =>
    [Id, MessageGroupId, MessageAttributes?.traceparent.StringValue, Buffer.from(MessageBody).toString("base64")]
      .join("\t") + "\n");
  process.stdout.write(printed.join("") + "\n");
  const answer = await rows();
  if (answer[0]?.[0] === "refused") throw Object.assign(new Error("refused"), { name: answer[0][1] });
  return { Failed: answer.map(([Id, fault, Code]) => ({ Id, SenderFault: fault === "sender", Code })) };
}

const messages = (await rows()).map(([tenantId, traceparent, body]) =>
  ({ tenantId, traceparent, body: Buffer.from(body, "base64").toString("utf16le") }));
for (const { message, code } of await publish(played, messages, async () => {})) {
  console.log(["not sent", message.tenantId, code].join("\t"));
}
process.exit();
