// A receiver behind a function URL: it answers 503 until the moment that the address names, then 200, after a pause if
// the address names one, and puts each request on a queue.
import { SQSClient, SendMessageCommand } from "@aws-sdk/client-sqs";

const sqs = new SQSClient({});

export const handler = async (event) => {
  const until = Number(event.queryStringParameters?.until ?? 0);
  const now = Date.now();
  const status = now < until ? 503 : 200;
  await new Promise((resolve) => setTimeout(resolve, Number(event.queryStringParameters?.pause ?? 0)));
  const header = (name) => event.headers[name] ?? "";
  const body = event.isBase64Encoded ? event.body : Buffer.from(event.body ?? "", "utf8").toString("base64");
  await sqs.send(new SendMessageCommand({
    QueueUrl: process.env.QUEUE_URL,
    MessageBody: JSON.stringify({
      inbox: decodeURIComponent(event.rawPath.slice(1)), id: header("wh-id"), event: header("wh-webhook-event"),
      timestamp: header("wh-timestamp"), signature: header("wh-signature"), body, status, at: new Date(now).toISOString(),
    }),
  }));
  return { statusCode: status };
};
