// node --test keys.test.mjs
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdtemp, readdir, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { Folder, Keys, issuer } from "./keys.mjs";

const store = async () => new Folder(await mkdtemp(join(tmpdir(), "keys-")));
const secret = () => randomBytes(32);

/** Issues keys as apikeys does, and remembers what was asked. */
function played() {
  const asked = [];
  const issued = issuer(async (payload) => {
    const request = JSON.parse(payload);
    asked.push([request.action, request.tenant_id, request.key_id].filter(Boolean).join(" "));
    if (request.action === "revoke") return JSON.stringify({ key_id: request.key_id });
    const id = String(asked.length).padStart(26, "0");
    return JSON.stringify({ key_id: id, api_key: `hk_${id}_${randomBytes(32).toString("base64url")}` });
  }, "tests");
  return { issued, asked };
}

test("a tenant has one key, whoever asks at once", async () => {
  const { issued, asked } = played();
  const keys = new Keys({ store: await store(), issuer: issued, secrets: [secret()] });
  const all = await Promise.all([keys.of("acme"), keys.of("acme"), keys.of("globex")]);
  assert.equal(all[0], all[1]);
  assert.notEqual(all[0], all[2]);
  assert.deepEqual(asked, ["issue acme", "issue globex"]);
});

test("of two processes at once, one revokes its own key and uses the other's", async () => {
  const { issued, asked } = played();
  const options = { store: await store(), issuer: issued, secrets: [secret()] };
  const [one, other] = await Promise.all([new Keys(options).of("acme"), new Keys(options).of("acme")]);
  assert.equal(one, other);
  assert.equal(asked.filter((a) => a.startsWith("revoke acme")).length, 1);
});

test("a rotation stores the new key before it revokes the old one", async () => {
  const { issued, asked } = played();
  const folder = await store();
  const keys = new Keys({ store: folder, issuer: issued, secrets: [secret()] });
  const old = await keys.of("acme");
  let stored = "";
  issued.revoke = async (_, keyId) => {
    stored = await keys.of("acme");
    asked.push(`revoke ${keyId}`);
  };
  await keys.rotate("acme");
  assert.notEqual(stored, old);
  assert.equal(await keys.of("acme"), stored);
  assert.equal(asked.at(-1), `revoke ${old.slice(3, 29)}`);
});

test("a stolen store opens nothing, and rows cannot be exchanged", async () => {
  const folder = await store();
  const { issued } = played();
  const keys = new Keys({ store: folder, issuer: issued, secrets: [secret()] });
  const mine = await keys.of("acme");
  const theirs = await keys.of("globex");
  for (const name of await readdir(folder.path)) {
    const text = await readFile(join(folder.path, name), "utf8");
    assert.ok(!text.includes(mine.slice(30)) && !text.includes(theirs.slice(30)));
  }
  await assert.rejects(new Keys({ store: folder, issuer: issued, secrets: [secret()] }).of("acme"), /no secret opens/);
  const row = await folder.get("globex");
  await folder.replace({ ...row, tenantId: "acme" });
  await assert.rejects(keys.of("acme"), /no secret opens/);
  for (const part of [row.sealed.slice(0, 40), row.sealed.slice(0, 60), ""]) {
    await folder.replace({ ...row, sealed: part });
    await assert.rejects(keys.of("globex"), /no secret opens/);
  }
});

test("a new secret in front seals again, and then the old one may go", async () => {
  const folder = await store();
  const { issued } = played();
  const [old, fresh] = [secret(), secret()];
  const key = await new Keys({ store: folder, issuer: issued, secrets: [old] }).of("acme");
  const both = new Keys({ store: folder, issuer: issued, secrets: [fresh, old] });
  assert.equal(await both.of("acme"), key);
  await both.reseal("acme");
  assert.equal(await new Keys({ store: folder, issuer: issued, secrets: [fresh] }).of("acme"), key);
});

test("names of tenants are no paths", async () => {
  const folder = await store();
  const keys = new Keys({ store: folder, issuer: played().issued, secrets: [secret()] });
  const names = ["..", "../../x", "__proto__", "a/b", "a\0b"];
  const all = await Promise.all(names.map((name) => keys.of(name)));
  assert.equal(new Set(all).size, names.length);
  assert.equal((await readdir(folder.path)).length, names.length);
});

test("what apikeys refuses, or answers by mistake, is no key", async () => {
  const refused = '{"error":{"code":"invalid_field"}}';
  for (const answer of [refused, "{}", '{"key_id":"a","api_key":"hk_\\n"}', "hk_secret", ""]) {
    const keys = new Keys({ store: await store(), issuer: issuer(async () => answer, "tests"), secrets: [secret()] });
    await assert.rejects(keys.of("acme"));
  }
  await assert.rejects(async () => new Keys({ store: await store(), issuer: played().issued, secrets: [] }));
});
