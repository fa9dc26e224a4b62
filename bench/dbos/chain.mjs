// The benchmark's chain on DBOS: workflows of ten durable steps with empty bodies, many at once, on a PostgreSQL that runs.
//
//   node chain.mjs FOLDER URL FLOWS AT_ONCE
//
// installs the packages beside this file into FOLDER, and prints the version of the SDK and steps a second. Exit 3 and a
// line on stderr: it cannot be installed or does not reach the server.
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const kSteps = 10;
const [folder, url, flows, atOnce] = [process.argv[2], process.argv[3], Number(process.argv[4]), Number(process.argv[5])];

function skip(why) {
  console.error(String(why).split("\n")[0]);
  process.exit(3);
}

const here = dirname(fileURLToPath(import.meta.url));
const root = join(folder, "packages");
mkdirSync(root, { recursive: true });
for (const name of ["package.json", "package-lock.json"]) copyFileSync(join(here, name), join(root, name));
try {
  execFileSync("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"], { cwd: root, stdio: "ignore", timeout: 300_000 });
} catch {
  skip("npm cannot install its packages");
}
const require = createRequire(join(root, "package.json"));
const { DBOS } = require("@dbos-inc/dbos-sdk");

DBOS.setConfig({
  name: "chain",
  systemDatabaseUrl: url,
  systemDatabasePoolSize: 32,
  runAdminServer: false,
  logLevel: "error",
});
const chain = DBOS.registerWorkflow(
  async () => {
    for (let n = 0; n < kSteps; ++n) await DBOS.runStep(async () => n, { name: `step${n}` });
  },
  { name: "chain" },
);
await DBOS.launch().catch(skip);

async function runAll(count) {
  let next = 0;
  const caller = async () => {
    while (next++ < count) await chain();
  };
  await Promise.all(Array.from({ length: atOnce }, caller));
}

await runAll(atOnce);
const began = performance.now();
await runAll(flows);
const seconds = (performance.now() - began) / 1000;
const version = JSON.parse(readFileSync(join(root, "node_modules/@dbos-inc/dbos-sdk/package.json"))).version;
console.log(`${version} ${(flows * kSteps) / seconds}`);
process.exit(0);
