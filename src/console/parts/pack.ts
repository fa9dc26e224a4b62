// From what a person drops on the page to what a plan is made of: archives, folders with a bundle.yaml, and apps with an
// app.deploy.yaml. A folder becomes a tar, which has the same identity as the archive that `sluice bundles build` makes of
// the same files; nothing is signed here. What looks like a secret is left out and named.
import { signal } from "@preact/signals";

export interface Dropped {
  path: string; // within what was dropped, "hello/app.py"
  file: File;
}

// What was dropped anywhere on the page, until the deploy page takes it.
export const dropped = signal<Dropped[] | null>(null);

export interface Part {
  component: string;
  folder: string;
  files: Dropped[];
  leftOut: string[];
  bytes: number;
}

export type Parcel =
  | { kind: "archive"; name: string; archive: File; sidecar: File | undefined }
  | { kind: "folder"; name: string; version: string; part: Part }
  | { kind: "app"; name: string; version: string; manifest: string; parts: Part[]; archives: { component: string; archive: File; sidecar: File | undefined }[] };

// A sentence for the person who dropped it.
export class NotABundle extends Error {}

const kMost_bytes = 1 << 30;

// Folders that were dropped are read entry by entry.
export async function readDrop(transfer: DataTransfer): Promise<Dropped[]> {
  const all: Dropped[] = [];
  const walk = async (entry: FileSystemEntry): Promise<void> => {
    if (entry.isFile) {
      const file = await new Promise<File>((done, failed) => (entry as FileSystemFileEntry).file(done, failed));
      all.push({ path: entry.fullPath.replace(/^\//, ""), file });
      return;
    }
    const reader = (entry as FileSystemDirectoryEntry).createReader();
    for (;;) {
      const some = await new Promise<FileSystemEntry[]>((done, failed) => reader.readEntries(done, failed));
      if (!some.length) return;
      for (const each of some) await walk(each);
    }
  };
  // Entries are gone once the handler of the event has returned, so they are all taken first.
  const files = [...transfer.files];
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry?.() ?? null).filter((each) => each !== null);
  if (!entries.length) return files.map((file) => ({ path: file.name, file }));
  for (const each of entries) await walk(each);
  return all;
}

export const readInput = (files: FileList): Dropped[] => [...files].map((file) => ({ path: file.webkitRelativePath || file.name, file }));

// --- what it is

const kLeftOut = /^(\..*|.*\.env|.*\.(key|p8|pk8|p12|pfx|jks|keystore|ppk|kdbx|kubeconfig|tfvars)|.*[-_]key\.pem|privkey.*\.pem|id_(rsa|dsa|ecdsa|ed25519)(_sk)?|secrets\.(json|ya?ml)|_netrc|kubeconfig(\.ya?ml)?|credentials\.json|.*\.tfvars\.json|.*\.bundle|.*\.sig\.json|__pycache__)$/i;

const record = (value: unknown): Record<string, unknown> => (value && typeof value === "object" && !Array.isArray(value) ? (value as Record<string, unknown>) : {});
const text = (value: unknown): string => (typeof value === "string" || typeof value === "number" ? String(value) : "");

async function parseYaml(what: string, source: string): Promise<Record<string, unknown>> {
  const yaml = await import("js-yaml");
  try {
    // As the server reads it: 1.10 is a text, not a number.
    return record(yaml.load(source, { schema: yaml.FAILSAFE_SCHEMA }));
  } catch (error) {
    throw new NotABundle(`${what} cannot be read: ${String((error as Error).message).split("\n")[0]}`);
  }
}

const below = (files: Dropped[], folder: string): Dropped[] =>
  files.filter((each) => !folder || each.path.startsWith(`${folder}/`)).map((each) => ({ path: folder ? each.path.slice(folder.length + 1) : each.path, file: each.file }));

async function folderOf(component: string, folder: string, files: Dropped[]): Promise<{ part: Part; name: string; version: string }> {
  const manifest = files.find((each) => each.path === "bundle.yaml");
  if (!manifest) throw new NotABundle(`${folder || "the folder"} has no bundle.yaml; sluice init makes one`);
  const said = await parseYaml(`${folder ? `${folder}/` : ""}bundle.yaml`, await manifest.file.text());
  const name = text(said.name);
  if (!name) throw new NotABundle(`${folder ? `${folder}/` : ""}bundle.yaml names no bundle`);
  const only = said.build !== undefined ? "has build steps" : said.image !== undefined ? "names an image" : said.include !== undefined ? "says what to include" : files.some((each) => each.path === ".sluiceignore") ? "has a .sluiceignore" : "";
  if (only) throw new NotABundle(`${name} ${only}, which a browser cannot obey: run sluice bundles build ${folder || name}, and drop the archive with its .sig.json here`);
  const hidden = (path: string) => path.split("/").some((each) => kLeftOut.test(each));
  const kept = files.filter((each) => !hidden(each.path)).sort((a, b) => (a.path < b.path ? -1 : 1));
  const bytes = kept.reduce((sum, each) => sum + each.file.size, 0);
  if (bytes > kMost_bytes) throw new NotABundle(`${name} has more than 1 GB, which a browser cannot send at once: use sluice up or sluice deploy`);
  return { part: { component: component || name, folder: folder || name, files: kept, leftOut: files.filter((each) => hidden(each.path)).map((each) => each.path), bytes }, name, version: text(said.version) || "0" };
}

const plainPath = (path: string): string => path.replace(/^\.\//, "").replace(/\/+$/, "").replace(/^\.$/, "");

export async function recognise(all: Dropped[]): Promise<Parcel> {
  if (!all.length) throw new NotABundle("nothing was dropped, or the folder is empty");
  const sidecarOf = (path: string) => all.find((each) => each.path === `${path}.sig.json`)?.file;
  const archives = all.filter((each) => !each.path.endsWith(".sig.json"));
  if (archives.length === 1 && !archives[0]!.path.includes("/") && archives[0]!.path !== "bundle.yaml") {
    const { path, file } = archives[0]!;
    if (file.size > kMost_bytes) throw new NotABundle(`${path} has more than 1 GB, which a browser cannot send at once: use sluice revisions stage`);
    return { kind: "archive", name: path.replace(/(\.(bundle|tar|tgz|zip|sqfs|squashfs|gz|zst))+$/i, "").replace(/[-_]v?\d[\w.]*$/, ""), archive: file, sidecar: sidecarOf(path) };
  }
  const tops = new Set(all.map((each) => each.path.split("/")[0]));
  const files = tops.size === 1 && all.every((each) => each.path.includes("/")) ? below(all, [...tops][0]!) : all;
  const app = files.find((each) => each.path === "app.deploy.yaml");
  if (!app) {
    const { part, name, version } = await folderOf("", "", files);
    return { kind: "folder", name, version, part };
  }
  const manifest = await app.file.text();
  const said = await parseYaml("app.deploy.yaml", manifest);
  const parcel: Extract<Parcel, { kind: "app" }> = { kind: "app", name: text(record(said.app).name), version: text(record(said.app).version), manifest, parts: [], archives: [] };
  for (const [component, value] of Object.entries({ ...record(said.components), ...record(said.concepts) })) {
    const where = text(record(value).folder);
    const archive = plainPath(text(record(value).bundle));
    if (archive) {
      const found = files.find((each) => each.path === archive);
      if (!found) throw new NotABundle(`${component}: there is no ${archive} in what was dropped`);
      parcel.archives.push({ component, archive: found.file, sidecar: files.find((each) => each.path === `${archive}.sig.json`)?.file });
    } else if (where) {
      if (where.includes("..")) throw new NotABundle(`${component}: ${where} is outside of what was dropped`);
      const { part } = await folderOf(component, plainPath(where), below(files, plainPath(where)));
      parcel.parts.push(part);
    }
  }
  return parcel;
}

// --- a tar of a folder

const kBlock = 512;
const utf8 = new TextEncoder();

function header(name: Uint8Array, size: number, mode: number, type: string): Uint8Array<ArrayBuffer> {
  const block = new Uint8Array(kBlock);
  const put = (at: number, value: string) => block.set(utf8.encode(value), at);
  block.set(name.subarray(0, 100), 0);
  put(100, `${mode.toString(8).padStart(7, "0")}\0`);
  put(108, "0000000\0");
  put(116, "0000000\0");
  put(124, `${size.toString(8).padStart(11, "0")}\0`);
  put(136, "00000000000\0");
  put(148, "        ");
  put(156, type);
  put(257, "ustar\x0000");
  put(148, `${block.reduce((sum, byte) => sum + byte, 0).toString(8).padStart(6, "0")}\0 `);
  return block;
}

const padding = (size: number): Uint8Array<ArrayBuffer> => new Uint8Array((kBlock - (size % kBlock)) % kBlock);

// A name that is too long for the header stands in a record before it: "LENGTH path=NAME\n", the length with its own digits.
function longName(name: Uint8Array): BlobPart[] {
  const rest = name.length + " path=\n".length;
  let length = rest + String(rest).length;
  if (String(length).length > String(rest).length) length = rest + String(length).length;
  const head = utf8.encode(`${length} path=`);
  const body = new Uint8Array(length);
  body.set(head, 0);
  body.set(name, head.length);
  body[length - 1] = 10;
  return [header(utf8.encode("path"), length, 0o644, "x"), body, padding(length)];
}

// Browsers do not tell whether a file may be executed: programs and scripts may.
async function isProgram(file: File): Promise<boolean> {
  const first = new Uint8Array(await file.slice(0, 4).arrayBuffer());
  return (first[0] === 0x23 && first[1] === 0x21) || (first[0] === 0x7f && first[1] === 0x45 && first[2] === 0x4c && first[3] === 0x46);
}

export async function tarOf(files: Dropped[]): Promise<Blob> {
  const parts: BlobPart[] = [];
  for (const { path, file } of files) {
    const name = utf8.encode(path);
    if (name.length > 100) parts.push(...longName(name));
    parts.push(header(name, file.size, (await isProgram(file)) ? 0o755 : 0o644, "0"), file, padding(file.size));
  }
  parts.push(new Uint8Array(2 * kBlock));
  return new Blob(parts);
}
