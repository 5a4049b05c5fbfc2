// Publishes events to Herald's EventsQueue, in batches.
import { setTimeout } from "node:timers/promises";

const BATCH = 10, BYTES = 256 * 1024, TRIES = 5; // SQS takes ten messages in a request

/**
 * Sends messages, and returns those that SQS did not take, each with its code.
 *
 * send is entries => client.send(new SendMessageBatchCommand({ QueueUrl, Entries: entries })) of @aws-sdk/client-sqs.
 * A message has body, an event that was encoded once and has an id; tenantId; and traceparent, or none. If this
 * throws, it is not known what was sent: send all again, the ids make it safe.
 */
export async function publish(send, messages, wait = setTimeout) {
  const notSent = [];
  for (let left of batches(messages)) {
    for (let attempt = 0; left.length > 0; attempt++) {
      if (attempt > 0) await wait(100 * 2 ** (attempt - 1));
      const { Failed = [] } = await send(left.map(entry));
      const again = [];
      for (const { Id, SenderFault, Code } of Failed) { // a request can succeed in part
        const message = left[Number(Id)];
        if (SenderFault || attempt === TRIES - 1) notSent.push({ message, code: Code });
        else again.push(message);
      }
      left = again;
    }
  }
  return notSent;
}

// batches groups messages as SQS takes them: by number, and by the bytes of all.
function batches(messages) {
  const all = [];
  let size = Infinity;
  for (const message of messages) {
    const n = Buffer.byteLength(message.body) + 256; // the attribute included
    if (size + n > BYTES || all.at(-1).length === BATCH) {
      all.push([]);
      size = 0;
    }
    all.at(-1).push(message);
    size += n;
  }
  return all;
}

// entry is a message as SendMessageBatch takes it. The tenant as group keeps others' events from waiting behind it.
function entry({ body, tenantId, traceparent }, n) {
  const made = { Id: String(n), MessageBody: body, MessageGroupId: tenantId };
  if (traceparent) made.MessageAttributes = { traceparent: { DataType: "String", StringValue: traceparent } };
  return made;
}
