// Keeps the tenants' API keys. Herald stores a key's hash only, so somebody has to keep its text: it is sealed here,
// and each request opens one.
import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto";
import { link, mkdir, readFile, rename, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";

const KEY = /^hk_[0-9A-HJKMNP-TV-Z]{26}_[A-Za-z0-9_-]{43}$/;

/**
 * A tenant's key as it is stored.
 * @typedef {{ tenantId: string, keyId: string, sealed: string, at: string }} Row
 * @typedef {{ keyId: string, text: string }} Issued
 * @typedef {{
 *   get: (tenantId: string) => Promise<Row | null>,
 *   add: (row: Row) => Promise<boolean>, // false where the tenant has one
 *   replace: (row: Row) => Promise<void>,
 * }} Store
 * @typedef {{
 *   issue: (tenantId: string) => Promise<Issued>,
 *   revoke: (tenantId: string, keyId: string) => Promise<void>,
 * }} Issuer
 */

/**
 * Gives each tenant a key at its first use. Of the secrets, each 32 bytes, the first one seals and all open: to change
 * it, put another in front, call reseal for each tenant, and take the last one away.
 */
export class Keys {
  /** @param {{ store: Store, issuer: Issuer, secrets: Buffer[] }} options */
  constructor({ store, issuer, secrets }) {
    if (secrets.length === 0 || secrets.some((s) => s.length !== 32)) throw new Error("a secret has 32 bytes");
    this.store = store;
    this.issuer = issuer;
    this.secrets = secrets;
    /** @type {Map<string, Promise<string>>} */
    this.first = new Map(); // uses of keys that are being issued
  }

  /**
   * Is the tenant's key. Two processes may issue one at once: the key that is stored wins, the other is revoked.
   * @param {string} tenantId
   */
  async of(tenantId) {
    const row = await this.store.get(tenantId);
    if (row) return this.open(row);
    let first = this.first.get(tenantId);
    if (!first) {
      first = this.issue(tenantId).finally(() => this.first.delete(tenantId));
      this.first.set(tenantId, first);
    }
    return first;
  }

  /** @param {string} tenantId */
  async issue(tenantId) {
    const issued = await this.issuer.issue(tenantId);
    if (await this.store.add(this.seal(tenantId, issued))) return issued.text;
    await this.issuer.revoke(tenantId, issued.keyId);
    return this.of(tenantId);
  }

  /**
   * Replaces the tenant's key: the new one is stored before the old one is revoked, so that no request fails. If it
   * breaks off in between, `herald keys list` shows the key that is left.
   * @param {string} tenantId
   */
  async rotate(tenantId) {
    const old = await this.store.get(tenantId);
    if (!old) return;
    await this.store.replace(this.seal(tenantId, await this.issuer.issue(tenantId)));
    await this.issuer.revoke(tenantId, old.keyId);
  }

  /** @param {string} tenantId */
  async reseal(tenantId) {
    const row = await this.store.get(tenantId);
    if (row) await this.store.replace(this.seal(tenantId, { keyId: row.keyId, text: this.open(row) }));
  }

  /**
   * A row opens for its own tenant and key id alone, so that rows cannot be exchanged.
   * @param {string} tenantId @param {Issued} issued
   * @returns {Row}
   */
  seal(tenantId, { keyId, text }) {
    if (!KEY.test(text)) throw new Error("that is no API key");
    const nonce = randomBytes(12);
    const cipher = createCipheriv("aes-256-gcm", this.secrets[0], nonce).setAAD(bound(tenantId, keyId));
    const sealed = Buffer.concat([nonce, cipher.update(text), cipher.final(), cipher.getAuthTag()]);
    return { tenantId, keyId, sealed: sealed.toString("base64"), at: new Date().toISOString() };
  }

  /** @param {Row} row */
  open({ tenantId, keyId, sealed }) {
    const raw = Buffer.from(sealed, "base64");
    for (const secret of this.secrets) {
      try {
        const decipher = createDecipheriv("aes-256-gcm", secret, raw.subarray(0, 12), { authTagLength: 16 });
        decipher.setAAD(bound(tenantId, keyId)).setAuthTag(raw.subarray(-16));
        return decipher.update(raw.subarray(12, -16), undefined, "utf8") + decipher.final("utf8");
      } catch {
        continue; // another secret may have sealed it
      }
    }
    throw new Error(`no secret opens the key of ${JSON.stringify(tenantId)}`);
  }
}

/** @param {string} tenantId @param {string} keyId */
function bound(tenantId, keyId) {
  return Buffer.from(JSON.stringify(["herald settings", tenantId, keyId]));
}

/**
 * Issues keys by Herald's operator function apikeys. Whoever may invoke it (policy KeyIssuers) can act as any tenant.
 * @param {(payload: string) => Promise<string>} invoke
 * @param {string} operator for Herald's audit log
 * @returns {Issuer}
 */
export function issuer(invoke, operator) {
  /** @param {object} request */
  async function ask(request) {
    const answer = JSON.parse(await invoke(JSON.stringify({ operator, ...request })));
    if (answer.error || !answer.key_id) throw new Error(`apikeys refused: ${answer.error?.code}`);
    return answer;
  }
  return {
    async issue(tenantId) {
      const answer = await ask({ action: "issue", tenant_id: tenantId, description: "settings page" });
      return { keyId: answer.key_id, text: answer.api_key };
    },
    async revoke(tenantId, keyId) {
      await ask({ action: "revoke", tenant_id: tenantId, key_id: keyId });
    },
  };
}

/**
 * A sample store: a file for each tenant in a folder of the server's user alone. In yours, it is a table with the
 * tenant as its key.
 * @implements {Store}
 */
export class Folder {
  /** @param {string} path */
  constructor(path) {
    this.path = path;
  }

  /** @param {string} tenantId */
  file(tenantId) {
    return join(this.path, createHash("sha256").update(tenantId).digest("hex") + ".json");
  }

  /** @param {string} tenantId @returns {Promise<Row | null>} */
  async get(tenantId) {
    try {
      const row = JSON.parse(await readFile(this.file(tenantId), "utf8"));
      return { ...row, tenantId }; // the name of the file decides, not what is in it
    } catch (error) {
      if (/** @type {{ code?: string }} */ (error).code === "ENOENT") return null;
      throw error;
    }
  }

  /** @param {Row} row */
  async add(row) {
    const part = await this.write(row);
    try {
      await link(part, this.file(row.tenantId)); // fails where there is one
      return true;
    } catch (error) {
      if (/** @type {{ code?: string }} */ (error).code === "EEXIST") return false;
      throw error;
    } finally {
      await unlink(part);
    }
  }

  /** @param {Row} row */
  async replace(row) {
    await rename(await this.write(row), this.file(row.tenantId));
  }

  /** @param {Row} row */
  async write(row) {
    await mkdir(this.path, { recursive: true, mode: 0o700 });
    const part = join(this.path, `.${randomBytes(8).toString("hex")}.part`);
    await writeFile(part, JSON.stringify(row), { mode: 0o600, flag: "wx" });
    return part;
  }
}
