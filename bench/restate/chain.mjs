// The benchmark's chain on Restate: flows of ten durable steps with empty bodies, many at once, on the same disk.
//
//   node chain.mjs FOLDER FLOWS AT_ONCE
//
// installs the packages beside this file into FOLDER, runs the server there with its defaults, and prints its version
// and steps a second. Exit 3 and a line on stderr: it cannot be installed or started here.
import { execFileSync, spawn } from "node:child_process";
import { copyFileSync, mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const kSteps = 10;
const [folder, flows, atOnce] = [process.argv[2], Number(process.argv[3]), Number(process.argv[4])];

process.env.RESTATE_LOGGING = "ERROR"; // of the SDK
// The SDK needs it; Node 20 does not have it.
Promise.withResolvers ??= function () {
  const all = {};
  all.promise = new Promise((resolve, reject) => Object.assign(all, { resolve, reject }));
  return all;
};

let server;
process.on("exit", () => server?.kill("SIGKILL"));

function skip(why) {
  console.error(String(why).split("\n")[0]);
  process.exit(3);
}

function install() {
  const here = dirname(fileURLToPath(import.meta.url));
  const root = join(folder, "packages");
  mkdirSync(root, { recursive: true });
  for (const name of ["package.json", "package-lock.json"]) copyFileSync(join(here, name), join(root, name));
  try {
    execFileSync("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"], { cwd: root, stdio: "ignore", timeout: 300_000 });
  } catch {
    skip("npm cannot install its packages");
  }
  return root;
}

async function freePort() {
  const { promise, resolve } = Promise.withResolvers();
  const probe = createServer().listen(0, "127.0.0.1", () => {
    const { port } = probe.address();
    probe.close(() => resolve(port));
  });
  return promise;
}

async function answers(url, seconds) {
  const deadline = Date.now() + seconds * 1000;
  while (Date.now() < deadline) {
    const answer = await fetch(url).catch(() => undefined);
    if (answer?.ok) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  skip("its server does not come up");
}

const root = install();
const require = createRequire(join(root, "package.json"));
const restate = require("@restatedev/restate-sdk");
const [ingress, admin, fabric, service] = await Promise.all([freePort(), freePort(), freePort(), freePort()]);
// The program itself: the script of that name starts it as a child, which would outlive the script's end.
const program = require.resolve(`@restatedev/restate-server-${process.platform}-${process.arch}/bin/restate-server`);
server = spawn(program, ["--base-dir", join(folder, "data")], {
  stdio: "ignore",
  env: {
    ...process.env,
    RESTATE_INGRESS__BIND_ADDRESS: `127.0.0.1:${ingress}`,
    RESTATE_ADMIN__BIND_ADDRESS: `127.0.0.1:${admin}`,
    RESTATE_BIND_ADDRESS: `127.0.0.1:${fabric}`,
    RESTATE_DISABLE_TELEMETRY: "true",
    DO_NOT_TRACK: "1",
  },
});
server.on("error", skip);
server.on("exit", (code) => skip(`its server ended with ${code}`));

const chain = restate.service({
  name: "chain",
  handlers: {
    run: async (context) => {
      for (let n = 0; n < kSteps; ++n) await context.run(`step${n}`, () => n);
    },
  },
});
await restate.serve({ services: [chain], port: service });
await answers(`http://127.0.0.1:${admin}/health`, 60);
const registered = await fetch(`http://127.0.0.1:${admin}/deployments`, {
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify({ uri: `http://127.0.0.1:${service}` }),
});
if (!registered.ok) skip(`it does not take the service: ${registered.status}`);
await answers(`http://127.0.0.1:${ingress}/restate/health`, 60);

async function runAll(count) {
  let next = 0;
  const caller = async () => {
    while (next++ < count) {
      const done = await fetch(`http://127.0.0.1:${ingress}/chain/run`, { method: "POST" });
      if (!done.ok) skip(`a flow failed: ${done.status}`);
      await done.arrayBuffer();
    }
  };
  await Promise.all(Array.from({ length: atOnce }, caller));
}

await runAll(atOnce);
const began = performance.now();
await runAll(flows);
const seconds = (performance.now() - began) / 1000;
const version = JSON.parse(readFileSync(join(root, "node_modules/@restatedev/restate-server/package.json"))).version;
console.log(`${version} ${(flows * kSteps) / seconds}`);
process.exit(0);
