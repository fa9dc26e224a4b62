// A client of the Model Context Protocol that a test drives: a line of JSON on standard input is one thing to do, a line
// on standard output what came of it. The argument says which of the official clients, and how it reaches the server.
import readline from "node:readline";
import * as core from "@modelcontextprotocol/core/internal";

const how = JSON.parse(process.argv[2]);
const modern = how.client === "client";
const { Client, StreamableHTTPClientTransport } = modern
  ? await import("@modelcontextprotocol/client")
  : { ...(await import("@modelcontextprotocol/sdk/client/index.js")),
      ...(await import("@modelcontextprotocol/sdk/client/streamableHttp.js")) };
const { StdioClientTransport } = modern
  ? await import("@modelcontextprotocol/client/stdio")
  : await import("@modelcontextprotocol/sdk/client/stdio.js");

const transport = how.command
  ? new StdioClientTransport({ command: how.command[0], args: how.command.slice(1), env: how.env, stderr: "ignore" })
  : new StreamableHTTPClientTransport(new URL(how.url), { requestInit: { headers: how.headers ?? {} } });

// Every message that comes in is judged by the schemas of the protocol, whatever the client makes of it.
const strays = [];
const start = transport.start.bind(transport);
transport.start = async () => {
  await start();
  const given = transport.onmessage;
  transport.onmessage = (message, extra) => {
    const judged = core.JSONRPCMessageSchema.safeParse(message);
    if (!judged.success) strays.push({ message, why: String(judged.error) });
    given?.(message, extra);
  };
};

const options = modern && how.era === "modern" ? { versionNegotiation: { mode: { pin: "2026-07-28" } } } : {};
const client = new Client({ name: "a-test", version: "1" }, options);
const updated = [];
const schemas = modern ? null : await import("@modelcontextprotocol/sdk/types.js");
const onUpdated = (notification) => { updated.push(notification.params.uri); };
if (modern) client.setNotificationHandler("notifications/resources/updated", onUpdated);
else client.setNotificationHandler(schemas.ResourceUpdatedNotificationSchema, onUpdated);

const checked = (schema, value) => core[schema].parse(value);

async function call(step) {
  const progress = [];
  const abort = new AbortController();
  const settings = { timeout: 60_000, signal: abort.signal };
  if (step.progress) {
    settings.onprogress = (each) => {
      progress.push(each);
      if (step.cancelOn && each.message?.includes(step.cancelOn)) abort.abort("enough");
    };
  }
  const asked = { name: step.name, arguments: step.arguments ?? {} };
  const result = await (modern ? client.callTool(asked, settings) : client.callTool(asked, undefined, settings));
  return { ...checked("CallToolResultSchema", result), progress };
}

const doings = {
  connect: async () => {
    await client.connect(transport);
    return { server: client.getServerVersion(), capabilities: client.getServerCapabilities(),
             instructions: client.getInstructions(),
             version: modern ? client.getNegotiatedProtocolVersion?.() : transport.protocolVersion ?? null };
  },
  tools: async () => checked("ListToolsResultSchema", await client.listTools()),
  call,
  resources: async () => checked("ListResourcesResultSchema", await client.listResources()),
  templates: async () => checked("ListResourceTemplatesResultSchema", await client.listResourceTemplates()),
  read: async (step) => checked("ReadResourceResultSchema", await client.readResource({ uri: step.uri })),
  prompts: async () => checked("ListPromptsResultSchema", await client.listPrompts()),
  prompt: async (step) => checked("GetPromptResultSchema", await client.getPrompt({ name: step.name, arguments: step.arguments })),
  subscribe: async (step) => (modern && how.era === "modern"
    ? (await client.listen({ resourceSubscriptions: [step.uri] })).honoredFilter
    : await client.subscribeResource({ uri: step.uri })),
  updated: async () => updated,
  strays: async () => strays,
};

for await (const line of readline.createInterface({ input: process.stdin })) {
  const step = JSON.parse(line);
  let said;
  try {
    said = { ok: await doings[step.do](step) };
  } catch (error) {
    said = { error: String(error.message ?? error), code: error.code ?? null };
  }
  process.stdout.write(JSON.stringify(said) + "\n");
}
await client.close();
process.exit(0);
