// What happens, live: one event stream for the whole page. It reconnects where it ended, says when the page is stale,
// and wakes the views that are on screen. While the page is hidden nothing is asked for.
import { computed, signal } from "@preact/signals";
import { session } from "./session";

export interface LiveEvent {
  event: string;
  id: number;
  at: string;
  flow: string;
  caller?: string;
  reason?: string;
  environment?: string;
  action: string;
  variant: string;
  fields: Record<string, unknown>;
}

// A second of the page's clock; everything that says "ago" follows it.
export const now = signal(Date.now());
setInterval(() => (now.value = Date.now()), 1000);

// When Sluice last said anything, be it only that it is there.
export const heardAt = signal(Date.now());
export const connected = signal(false);
export const tries = signal(0);
// The frame reads its views every two seconds: after three times without an answer nobody should trust what is shown.
const kTrusted_ms = 7_000;
export const stale = computed(() => session.value != null && now.value - heardAt.value > kTrusted_ms);
// While the page was hidden it asked for nothing, which is no reason for alarm.
document.addEventListener("visibilitychange", () => document.hidden || heard());
export const heard = (): void => {
  heardAt.value = Date.now();
};

type Listener = (event: LiveEvent) => void;
const listeners = new Set<Listener>();
export function onEvent(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
// Told after the stream was away: anything may have happened meanwhile.
const returns = new Set<() => void>();
export function onReturn(listener: () => void): () => void {
  returns.add(listener);
  return () => returns.delete(listener);
}

// The newest events first, for lists of what happened while the page was open.
export const recent = signal<LiveEvent[]>([]);
const kRecent = 200;

let source: EventSource | null = null;
let lastId = "";
let again: ReturnType<typeof setTimeout> | undefined;
let types: string[] = [];

async function eventTypes(): Promise<string[]> {
  if (types.length) return types;
  const response = await fetch("/v1/events/types");
  if (!response.ok) throw new Error("no types");
  const body = (await response.json()) as { types: { event: string }[] };
  types = [...new Set(body.types.map((each) => each.event))];
  return types;
}

// When the newest event came.
let eventAt = 0;
export const happenedAt = (): number => eventAt;

function take(message: MessageEvent<string>): void {
  heard();
  eventAt = Date.now();
  lastId = message.lastEventId || lastId;
  const event = JSON.parse(message.data) as LiveEvent;
  recent.value = [event, ...recent.value].slice(0, kRecent);
  for (const listener of listeners) listener(event);
}

export async function connect(): Promise<void> {
  disconnect();
  const known = await eventTypes().catch(() => null);
  if (!session.value) return;
  if (!known) return retry();
  const opened = new EventSource(`/v1/events${lastId ? `?from=${Number(lastId) + 1}` : ""}`);
  source = opened;
  opened.onopen = () => {
    heard();
    connected.value = true;
    if (tries.value > 0) for (const listener of returns) listener();
    tries.value = 0;
  };
  // The browser's own reconnecting gives up on a refusal; this one does not.
  opened.onerror = () => {
    if (source !== opened) return;
    opened.close();
    retry();
  };
  for (const type of known) opened.addEventListener(type, take as EventListener);
}

function retry(): void {
  connected.value = false;
  tries.value += 1;
  clearTimeout(again);
  again = setTimeout(() => void connect(), Math.min(500 * 2 ** Math.min(tries.value, 5), 10_000));
}

export function disconnect(): void {
  clearTimeout(again);
  source?.close();
  source = null;
  connected.value = false;
}
