// Builds the pages and makes of them a C++ source, compressed: `node build_pages.mjs OUT CACHE`. The result is kept in
// CACHE under the hash of everything that it is made of, so release, sanitizer and fuzz builds share one run; npm installs
// only when the lock file has changed. Runs on Node 18 and later.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const here = dirname(fileURLToPath(import.meta.url));
const [out, cache] = process.argv.slice(2);
const made = new Set(["node_modules", "dist"]);

const files = (folder, keep = () => true) =>
  readdirSync(folder, { withFileTypes: true })
    .flatMap((each) => (each.isDirectory() ? (made.has(each.name) ? [] : files(join(folder, each.name), keep)) : [join(folder, each.name)]))
    .filter(keep)
    .sort();

const hash = (bytes, length) => createHash("sha256").update(bytes).digest("hex").slice(0, length);

function run(program, words) {
  const done = spawnSync(program, words, { cwd: here, encoding: "utf8" });
  if (done.status === 0) return;
  process.stderr.write(`${done.stdout ?? ""}${done.stderr ?? ""}\n${program} ${words.join(" ")} failed${done.error ? `: ${done.error.message}` : ""}\n`);
  process.exit(1);
}

const sources = files(here, (path) => /\.(ts|tsx|css|html|svg|json|mjs)$/.test(path));
const key = hash(sources.map((path) => `${relative(here, path)}\0${hash(readFileSync(path), 64)}`).join("\n"), 32);
const kept = join(cache, `${key}.cc`);

if (!existsSync(kept)) {
  const lock = readFileSync(join(here, "package-lock.json"));
  const installed = join(here, "node_modules/.lock");
  if (!existsSync(installed) || !readFileSync(installed).equals(lock)) {
    run("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"]);
    writeFileSync(installed, lock);
  }
  const dist = join(cache, `${key}.dist.${process.pid}`);
  run(process.execPath, ["node_modules/typescript/bin/tsc", "--noEmit"]);
  run(process.execPath, ["node_modules/vite/bin/vite.js", "build", "--outDir", dist, "--logLevel", "error"]);
  mkdirSync(cache, { recursive: true });
  writeFileSync(`${kept}.${process.pid}`, source(dist));
  renameSync(`${kept}.${process.pid}`, kept);
  rmSync(dist, { recursive: true });
}
mkdirSync(dirname(out), { recursive: true });
copyFileSync(kept, out);

function source(dist) {
  const types = { html: "text/html; charset=utf-8", js: "text/javascript; charset=utf-8", css: "text/css; charset=utf-8", svg: "image/svg+xml" };
  const pages = files(dist).map((path) => {
    const name = relative(dist, path);
    const type = types[name.split(".").pop()];
    if (!type) throw new Error(`${name}: no content type is known for it`);
    const bytes = readFileSync(path);
    const gzip = gzipSync(bytes, { level: 9 });
    // Bytes in octal: an escape of three digits ends by itself, whatever follows.
    const text = [...gzip].map((byte) => `\\${byte.toString(8).padStart(3, "0")}`).join("");
    const lines = text.match(/.{1,400}/g).map((line) => `    "${line}"`).join("\n");
    const hashed = /-[\w-]{8}\.\w+$/.test(name);
    return `    {.name = "${name}",\n     .content_type = "${type}",\n     .etag = "${hash(bytes, 16)}",\n     .gzip = std::string_view(\n${lines},\n    ${gzip.length}),\n     .hashed = ${hashed}},\n`;
  });
  return (
    "// The pages of the console. Made by src/console/build_pages.mjs.\n#include \"console/console_files.h\"\n\n" +
    `namespace sluice::console {\nnamespace {\n\nusing std::string_view;\nconstexpr api::Page kPages[] = {\n${pages.join("")}};\n\n}  // namespace\n\n` +
    "std::span<const api::Page> console_files() { return kPages; }\n\n}  // namespace sluice::console\n"
  );
}
