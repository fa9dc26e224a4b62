// The public API, typed. Pages call `view` and `act` and nothing else; there is no private door.
import { Problem } from "./problem";
import { changing, sessionEnded } from "./session";
import type { Actions, Views } from "./types.gen";

export type ViewName = keyof Views;
export type Query<V extends ViewName> = Views[V]["query"];
export type Document<V extends ViewName> = Views[V]["document"];
export type ActionName = keyof Actions;

async function asked(what: string, path: string, init?: RequestInit): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(path, init);
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw Problem.unreachable(what);
  }
  if (response.status === 401) sessionEnded();
  return response;
}

export function viewPath(name: string, query: object): string {
  const search = new URLSearchParams();
  for (const [key, value] of Object.entries(query as Record<string, unknown>)) {
    const text = value === undefined ? "" : Array.isArray(value) ? value.join(",") : String(value);
    if (text) search.set(key, text);
  }
  const text = search.toString();
  return `/v1/views/${name}${text ? `?${text}` : ""}`;
}

export async function view<V extends ViewName>(name: V, query: Query<V>, ends?: AbortSignal): Promise<Document<V>> {
  return (await viewAt(name, query, 0, ends)).data;
}

// With the position of the journal that it was read at. It may be so old: then all pages that look at the same share one
// read.
export async function viewAt<V extends ViewName>(name: V, query: Query<V>, age_s: number, ends?: AbortSignal): Promise<{ data: Document<V>; position: number }> {
  const response = await asked(`read ${name}`, viewPath(name, query), { signal: ends, cache: "no-store", ...(age_s ? { headers: { "cache-control": `max-age=${age_s}` } } : {}) });
  if (!response.ok) throw await Problem.of(response);
  return { data: (await response.json()) as Document<V>, position: Number((response.headers.get("etag") ?? "").replace(/"/g, "")) || 0 };
}

// A question that is too long for an address.
export async function viewOf<V extends ViewName>(name: V, query: Query<V>): Promise<Document<V>> {
  const response = await asked(`read ${name}`, `/v1/views/${name}`, { method: "POST", headers: changing(), body: JSON.stringify(query) });
  if (!response.ok) throw await Problem.of(response);
  return (await response.json()) as Document<V>;
}

export interface Called<A extends ActionName> {
  action: string;
  flow: string;
  variant: string;
  fields: Actions[A]["ok"];
  generation?: number;
  // It goes on, or waits for people.
  waitsFor?: string;
  pending: boolean;
}

export interface How {
  reason?: string;
  // The generation that the caller has seen; another one is refused with 412.
  expect?: number;
  dryRun?: boolean;
  // One call, however often it is sent.
  key?: string;
  wait?: "start" | "answer" | "settled" | "all";
  forMs?: number;
}

// Asks whoever looks at the page whether to go on from this generation, where a change must name the one it has seen.
let goesOn: (action: string, generation: number) => Promise<boolean> = async () => false;
export const whoGoesOn = (asks: typeof goesOn): void => {
  goesOn = asks;
};

export async function act<A extends ActionName>(name: A, input: Actions[A]["input"], how: How = {}): Promise<Called<A>> {
  const search = new URLSearchParams();
  if (how.wait) search.set("wait", how.wait);
  if (how.forMs) search.set("for_ms", String(how.forMs));
  const headers = changing();
  if (how.expect !== undefined) headers["if-match"] = `"${how.expect}"`;
  if (how.key) headers["idempotency-key"] = how.key;
  const body: Record<string, unknown> = { input };
  if (how.reason) body.reason = how.reason;
  if (how.dryRun) body.dryRun = true;
  const response = await asked(name, `/v1/actions/${name}${search.size ? `?${search}` : ""}`, {
    method: "POST",
    headers,
    body: JSON.stringify(body),
  });
  if (response.status === 428) {
    const generation = Number((response.headers.get("etag") ?? "").replace(/"/g, ""));
    if (generation > 0 && (await goesOn(name, generation))) return act(name, input, { ...how, expect: generation });
  }
  if (!response.ok) throw await Problem.of(response);
  const said = (await response.json()) as Record<string, unknown>;
  if (response.status === 202 && said.code === "waiting_for_approval") {
    throw new Problem("waiting_for_approval", 202, String(said.detail ?? "others must agree first"), said.next as string, (said.fields ?? {}) as Record<string, unknown>);
  }
  return { ...(said as unknown as Called<A>), pending: response.status === 202 };
}

// How long an upload may stand still.
const kStill_ms = 30_000;

// Puts bytes under their digest and answers "sha256:…". Sent twice they are kept once.
export async function put(bytes: Blob, onSent: (share: number) => void, ends: AbortSignal): Promise<string> {
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", await bytes.arrayBuffer()));
  const digest = `sha256:${[...hash].map((each) => each.toString(16).padStart(2, "0")).join("")}`;
  const call = new XMLHttpRequest();
  await new Promise<void>((done, failed) => {
    let still: ReturnType<typeof setTimeout> | undefined;
    const wait = () => {
      clearTimeout(still);
      still = setTimeout(() => call.abort(), kStill_ms);
    };
    call.open("PUT", `/v1/blobs/${digest}`);
    for (const [name, value] of Object.entries({ ...changing(), "content-type": "application/octet-stream" })) call.setRequestHeader(name, value);
    call.upload.onprogress = (event) => {
      wait();
      onSent(event.total ? event.loaded / event.total : 1);
    };
    call.onerror = call.onabort = () => failed(Problem.unreachable("Upload"));
    call.onloadend = () => {
      clearTimeout(still);
      done();
    };
    ends.addEventListener("abort", () => call.abort());
    wait();
    call.send(bytes);
  });
  if (call.status === 401) sessionEnded();
  if (call.status !== 201) throw await Problem.of(new Response(call.responseText, { status: call.status || 503 }));
  return digest;
}

// Whoever sends a change twice means it once.
export const newKey = (): string => `console-${crypto.randomUUID()}`;

export interface LogLine {
  time: string;
  replica: string;
  label: string;
  stream: string;
  text: string;
}

// Follows what replicas print until `ends` is aborted.
export async function logs(
  query: { name: string; since?: string; search?: string; follow?: boolean },
  onLines: (lines: LogLine[]) => void,
  ends: AbortSignal,
): Promise<void> {
  const search = new URLSearchParams({ name: query.name });
  if (query.since) search.set("since", query.since);
  if (query.search) search.set("search", query.search);
  if (query.follow) search.set("follow", "true");
  const response = await asked("read logs", `/v1/logs?${search}`, { signal: ends });
  if (!response.ok) throw await Problem.of(response);
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const lines = (rest + value).split("\n");
    rest = lines.pop() ?? "";
    const whole = lines.filter(Boolean).map((line) => JSON.parse(line) as LogLine);
    if (whole.length) onLines(whole);
  }
}
