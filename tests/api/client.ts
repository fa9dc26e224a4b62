// A program against the API with types that are generated from its description: what is misspelt does not compile.
import createClient from "openapi-fetch";
import type { paths } from "./schema.js";

declare const process: { argv: string[] };
const [url, token, archive, signature] = process.argv.slice(2);
const client = createClient<paths>({ baseUrl: url, headers: { Authorization: `Bearer ${token}` } });

const made = await client.POST("/v1/actions/Env/create", { body: { input: { environment: "typed" }, reason: "a client" } });
if (made.error) throw new Error(made.error.detail);

const up = await client.POST("/v1/actions/Deployment/up", {
  params: { query: { wait: "answer", for_ms: 60_000 } },
  body: { input: { environment: "local", archive, signature } },
});
if (up.error) throw new Error(up.error.detail);

const shown = await client.GET("/v1/views/deployments", { params: { query: { environment: "local" } } });
if (shown.error) throw new Error(shown.error.detail);

const refused = await client.POST("/v1/actions/Env/create", { body: { input: { environment: "typed" } } });
console.log(JSON.stringify({
  generation: "variant" in made.data ? made.data.fields.generation : null,
  bundles: shown.data.map((each) => each.bundle_id),
  refused: refused.error?.code,
}));
