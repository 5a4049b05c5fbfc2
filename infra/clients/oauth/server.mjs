// A token server for the test of OAuth 2.0 client credentials: oidc-provider with two clients, one for each method.
// It prints its address, and ends when its standard input does.
import { createServer } from "node:https";
import { readFileSync } from "node:fs";
import { Provider } from "oidc-provider";

const [cert, key] = process.argv.slice(2);
const client = (method) => ({
  client_id: method,
  client_secret: `s3cret of ${method}: %&+=`,
  grant_types: ["client_credentials"],
  redirect_uris: [],
  response_types: [],
  token_endpoint_auth_method: method,
});

const server = createServer({ cert: readFileSync(cert), key: readFileSync(key) });
server.listen(0, "127.0.0.1", () => {
  const address = `https://127.0.0.1:${server.address().port}`;
  const provider = new Provider(address, {
    clients: [client("client_secret_basic"), client("client_secret_post")],
    features: {
      clientCredentials: { enabled: true },
      introspection: { enabled: true },
      devInteractions: { enabled: false },
    },
    scopes: ["webhooks.write"],
    ttl: { ClientCredentials: 60 },
  });
  server.on("request", provider.callback());
  console.log(address);
});
process.stdin.on("end", () => process.exit()).resume();
