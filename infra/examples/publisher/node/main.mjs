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

// played prints each entry, and reads the failures.
async function played(entries) {
  const printed = entries.map(({ Id, MessageGroupId, MessageAttributes, MessageBody }) =>
    [Id, MessageGroupId, MessageAttributes?.traceparent.StringValue, btoa(MessageBody)].join("\t") + "\n");
  process.stdout.write(printed.join("") + "\n");
  return { Failed: (await rows()).map(([Id, fault, Code]) => ({ Id, SenderFault: fault === "sender", Code })) };
}

const messages = (await rows()).map(([tenantId, traceparent, body]) => ({ tenantId, traceparent, body: atob(body) }));
for (const { message, code } of await publish(played, messages, async () => {})) {
  console.log(["not sent", message.tenantId, code].join("\t"));
}
process.exit();
