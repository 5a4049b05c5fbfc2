// Takes an endpoint through its life by the types that openapi-typescript makes of infra/openapi.yaml.
import createClient from "openapi-fetch";
import type { components, paths } from "./herald.ts";

declare const process: { env: Record<string, string | undefined> };

type Problem = components["schemas"]["Problem"];
type Gateway = components["schemas"]["Gateway"];

const url = "https://example.com/hooks";
const clientOf = (baseUrl: string, key: string) =>
  createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${key}` } });
type Client = ReturnType<typeof clientOf>;

function setting(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set`);
  return value;
}

function need<T>(answer: { data?: T; error?: unknown; response: Response }): T {
  if (answer.data === undefined) throw new Error(`answered ${answer.response.status} ${JSON.stringify(answer.error)}`);
  return answer.data;
}

function fault(what: string, answer: { error?: Problem | Gateway; response: Response }) {
  const { error, response } = answer;
  if (!error) throw new Error(`${what}: answered ${response.status}`);
  if ("message" in error) return console.log(what, response.status, error.message);
  const where = (error.errors ?? []).map((e) => e.pointer ?? e.parameter).join(",");
  console.log(what, response.status, error.status, error.code, where || "-");
}

async function life(api: Client) {
  const body = { url, events: ["user.created", "organization.*"], description: "one" } satisfies components["schemas"]["NewEndpoint"];
  const create = await api.POST("/v1/webhooks", { body });
  const made = need(create);
  console.log("create", create.response.status, made.status, made.events.join(","), made.signing_secret.startsWith("whsec_"));
  const one = { params: { path: { id: made.id } } };
  let read = await api.GET("/v1/webhooks/{id}", one);
  console.log("get", read.response.status, need(read).url, need(read).created_at === made.created_at);
  const other = { body: { url: `${url}/2`, events: ["*"] } } satisfies { body: components["schemas"]["NewEndpoint"] };
  const put = await api.PUT("/v1/webhooks", other);
  const again = await api.PUT("/v1/webhooks", other);
  console.log("put", put.response.status, again.response.status, need(again).status);
  const first = need(await api.GET("/v1/webhooks", { params: { query: { limit: 1 } } }));
  const second = await api.GET("/v1/webhooks", { params: { query: { limit: 1, cursor: first.next_cursor! } } });
  const last = need(second);
  console.log("list", second.response.status, first.data[0]?.events[0], last.data[0]?.id === made.id, last.next_cursor === null);
  const types = await api.GET("/v1/event-types");
  console.log("event types", types.response.status, need(types).data.length, need(types).patterns.length);
  const change = { ...one, body: { status: "disabled", description: "two" } } as const;
  const update = await api.PATCH("/v1/webhooks/{id}", change);
  console.log("update", update.response.status, need(update).status, need(update).description);
  const back = await api.PATCH("/v1/webhooks/{id}", { ...one, body: { status: "active" } });
  const test = await api.POST("/v1/webhooks/{id}/test", { ...one, body: { type: "user.created" } });
  console.log("test", back.response.status, test.response.status, need(test).delivery_id.startsWith("test_"));
  const rotate = await api.POST("/v1/webhooks/{id}/rotate-secret", one);
  const rotated = need(rotate);
  console.log("rotate", rotate.response.status, rotated.signing_secret !== made.signing_secret, rotated.secret_rotated_at !== null);
  fault("restore too early", await api.POST("/v1/webhooks/{id}/restore", one));
  console.log("delete", (await api.DELETE("/v1/webhooks/{id}", one)).response.status);
  fault("update too late", await api.PATCH("/v1/webhooks/{id}", change));
  read = await api.GET("/v1/webhooks/{id}", one);
  console.log("get", read.response.status, need(read).status, need(read).deleted_at !== null);
  const restore = await api.POST("/v1/webhooks/{id}/restore", one);
  console.log("restore", restore.response.status, need(restore).status, need(restore).deleted_at !== null);
}

async function faults(base: string, api: Client) {
  const stranger = clientOf(base, "hk_unknown");
  const reader = clientOf(base, setting("READ_KEY"));
  fault("unknown key", await stranger.GET("/v1/event-types"));
  fault("key without the scope", await reader.POST("/v1/webhooks", { body: { url: `${url}/2`, events: ["*"] } }));
  fault("unknown endpoint", await api.GET("/v1/webhooks/{id}", { params: { path: { id: "webhook_unknown" } } }));
  fault("url", await api.POST("/v1/webhooks", { body: { url: "http://example.com", events: ["*"] } }));
  fault("cursor", await api.GET("/v1/webhooks", { params: { query: { cursor: "never-issued" } } }));
}

// later reads what a later version of the service may answer.
async function later(api: Client) {
  const one = { params: { path: { id: "webhook_1" } } };
  const read = await api.GET("/v1/webhooks/{id}", one);
  console.log("later", read.response.status, need(read).status, need(read).events.join(","));
  fault("later", await api.POST("/v1/webhooks/{id}/restore", one));
  fault("throttled", await api.DELETE("/v1/webhooks/{id}", one));
}

const base = setting("API");
const owner = clientOf(base, setting("KEY"));
await life(owner);
await faults(base, owner);
await later(clientOf(setting("LATER_API"), "hk_any"));
