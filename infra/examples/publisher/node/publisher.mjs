// Publishes events to Herald's EventsQueue, in batches.
import { setTimeout } from "node:timers/promises";

const BATCH = 10; // messages that SQS takes in a request
const BYTES = 256 * 1024; // that EventsQueue takes in a message; a request is kept below it as well
const TRIES = 5;

const UNFIT = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/u; // characters that SQS refuses in a body
const NAME = /^[!-~]{1,128}$/; // the groups that it takes
const ITS_OWN = /TooLong|InvalidMessageContents|InvalidParameterValue|MissingParameter|Serialization/;

/**
 * An event that was encoded once and has an id; its tenant; and its trace, or none.
 * @typedef {{ body: string, tenantId: string, traceparent?: string | null }} Message
 * @typedef {{ message: Message, code: string | undefined }} NotSent
 * @typedef {{ Id?: string, SenderFault?: boolean, Code?: string }} Failure
 * @typedef {(entries: ReturnType<typeof entry>[]) => Promise<{ Failed?: Failure[] }>} Send
 * @typedef {(milliseconds: number) => Promise<unknown>} Wait
 */

/**
 * Sends messages, and returns those that SQS did not take, each with its code.
 *
 * send is entries => client.send(new SendMessageBatchCommand({ QueueUrl, Entries: entries })) of @aws-sdk/client-sqs.
 * A message that SQS would refuse is not sent, and all others are. If this throws, it is not known what was sent: send
 * all again, the ids make it safe.
 *
 * @param {Send} send
 * @param {Iterable<Message>} messages
 * @param {Wait} wait
 */
export async function publish(send, messages, wait = setTimeout) {
  /** @type {NotSent[]} */
  const notSent = [];
  const good = [];
  for (const message of messages) {
    const code = fault(message);
    if (code) notSent.push({ message, code });
    else good.push(message);
  }
  for (const batch of batches(good)) notSent.push(...(await sendBatch(send, batch, wait)));
  return notSent;
}

/**
 * Is the code by which SQS would refuse a message, "" for a good one.
 * @param {Message} message
 */
function fault(message) {
  // Half a surrogate pair, or a control character.
  if (!message.body || UNFIT.test(message.body)) return "InvalidMessageContents";
  if (!NAME.test(message.tenantId ?? "")) return "InvalidParameterValue";
  return size(message) > BYTES ? "MessageTooLong" : "";
}

/**
 * Sends a batch until SQS has taken all that it takes, and returns the others.
 * @param {Send} send
 * @param {Message[]} left
 * @param {Wait} wait
 * @returns {Promise<NotSent[]>}
 */
async function sendBatch(send, left, wait) {
  /** @type {NotSent[]} */
  const notSent = [];
  for (let attempt = 0; left.length > 0; attempt++) {
    if (attempt > 0) await wait(100 * 2 ** (attempt - 1));
    let failed;
    try {
      failed = (await send(left.map(entry))).Failed ?? [];
    } catch (error) {
      const code = error instanceof Error ? error.name : "";
      if (!ITS_OWN.test(code)) throw error;
      if (left.length === 1) return [...notSent, { message: left[0], code }];
      for (const message of left) notSent.push(...(await sendBatch(send, [message], wait))); // one made SQS refuse all
      return notSent;
    }
    const again = [];
    for (const { Id, SenderFault, Code } of failed) { // a request can succeed in part
      const message = left[Number(Id)];
      if (SenderFault || attempt === TRIES - 1) notSent.push({ message, code: Code });
      else again.push(message);
    }
    left = again;
  }
  return notSent;
}

/**
 * Groups messages as SQS takes them: by number, and by the bytes of all.
 * @param {Message[]} messages
 */
function batches(messages) {
  const all = [];
  /** @type {Message[]} */
  let batch = [];
  let total = 0;
  for (const message of messages) {
    const n = size(message);
    if (batch.length === 0 || batch.length === BATCH || total + n > BYTES) {
      all.push((batch = []));
      total = 0;
    }
    batch.push(message);
    total += n;
  }
  return all;
}

/**
 * Is the number of bytes that SQS counts: of the body, and of an attribute's name, type and value.
 * @param {Message} message
 */
function size(message) {
  const value = trace(message);
  return Buffer.byteLength(message.body) + (value && `traceparentString${value}`).length;
}

/**
 * Is the traceparent, "" without one that SQS takes.
 * @param {Message} message
 */
function trace({ traceparent }) {
  return traceparent && NAME.test(traceparent) ? traceparent : "";
}

/**
 * Is a message as SendMessageBatch takes it. The tenant as group keeps others' events from waiting behind it.
 * @param {Message} message
 * @param {number} n
 */
function entry(message, n) {
  const value = trace(message);
  const attributes = value ? { traceparent: { DataType: "String", StringValue: value } } : undefined;
  return { Id: String(n), MessageBody: message.body, MessageGroupId: message.tenantId, MessageAttributes: attributes };
}
