// API text is shown as text: control and direction marks become visible, long text is cut in the middle and can be copied.
// Numbers have units and at most three significant digits; times are relative with the absolute one in the tip.
import { now } from "../api/live";
import { Icon } from "./icons";

// Direction marks, zero-width characters and line separators would change what the eye reads.
const kInvisible = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]/g;

export const visible = (text: string): string =>
  text.replace(kInvisible, (mark) => {
    const code = mark.codePointAt(0)!;
    if (code < 0x20) return String.fromCodePoint(0x2400 + code);
    return `⟨${code.toString(16).toUpperCase().padStart(4, "0")}⟩`;
  });

export const middle = (text: string, max: number): string =>
  text.length <= max ? text : `${text.slice(0, Math.ceil(max * 0.6))}…${text.slice(-Math.floor(max * 0.3))}`;

export function T({ text, max = 200 }: { text: string | null | undefined; max?: number }) {
  const shown = visible(text ?? "");
  if (shown.length <= max) return <bdi>{shown}</bdi>;
  return <bdi title={shown.slice(0, 2000)} class="cut">{middle(shown, max)}</bdi>;
}

// "dp-2026-11-19-001": the first plan of that day.
export const planName = (id: string): string => id.replace(/^dp-/, "");
export const shortDigest = (digest: string): string => digest.replace(/^sha256:/, "").slice(0, 10);
export const shortId = (id: string): string => id.slice(-6);

export function Copy({ text, label }: { text: string; label: string }) {
  return (
    <button class="ghost" aria-label={label} title={label} onClick={() => void navigator.clipboard?.writeText(text)}>
      <Icon name="copy" size={14} />
    </button>
  );
}

// --- numbers

export function num(value: number): string {
  if (!Number.isFinite(value)) return "–";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 100) return Math.round(value).toLocaleString("en-US");
  return Number(value.toPrecision(size >= 10 ? 3 : size >= 1 ? 3 : 2)).toLocaleString("en-US", { maximumFractionDigits: 4 });
}

export const percent = (bps: number): string => `${Number((bps / 100).toFixed(2))} %`;
export const share = (of: number | null | undefined): string => (of == null ? "–" : `${num(of * 100)} %`);
export const millis = (ms: number | null | undefined): string =>
  ms == null ? "–" : ms >= 1000 ? `${num(ms / 1000)} s` : `${num(ms)} ms`;
export const count = (value: number): string => Math.round(value).toLocaleString("en-US");
export const plural = (value: number, one: string, many = `${one}s`): string => `${count(value)} ${value === 1 ? one : many}`;

export function bytes(value: number): string {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let unit = 0;
  while (value >= 1000 && unit < 4) {
    value /= 1000;
    unit += 1;
  }
  return `${num(value)} ${units[unit]}`;
}

// --- time

export function span(ms: number): string {
  const s = Math.max(0, Math.round(ms / 1000));
  if (ms > 0 && ms < 1) return "< 1 ms";
  if (ms < 1000) return `${Math.max(0, Math.round(ms))} ms`;
  if (s < 60) return `${s} s`;
  const min = Math.floor(s / 60);
  if (min < 10) return s % 60 ? `${min} min ${s % 60} s` : `${min} min`;
  if (min < 60) return `${min} min`;
  const h = Math.floor(min / 60);
  if (h < 48) return min % 60 && h < 10 ? `${h} h ${min % 60} min` : `${h} h`;
  return `${Math.floor(h / 24)} d`;
}

export const rough = (ms: number): string => {
  const s = Math.max(0, Math.floor(ms / 1000));
  if (s < 60) return `${s} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min`;
  if (s < 172_800) return `${Math.floor(s / 3600)} h`;
  return `${Math.floor(s / 86_400)} d`;
};

const two = (value: number) => String(value).padStart(2, "0");
export function clock(at: string | number | Date, seconds = false): string {
  const date = new Date(at);
  return `${two(date.getHours())}:${two(date.getMinutes())}${seconds ? `:${two(date.getSeconds())}` : ""}`;
}
export const full = (at: string | number): string =>
  new Date(at).toLocaleString("en-GB", { dateStyle: "full", timeStyle: "long" });
export const day = (at: string | number): string => {
  const date = new Date(at);
  return `${date.getDate()} ${date.toLocaleString("en-GB", { month: "short" })}`;
};

// What the API says of times within a sentence, as a reader's clock has it.
export const plainTimes = (text: string): string => text.replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, (at) => `${day(at)} ${clock(at, true)}`);

// "14:18 (42 s ago)"; `bare`: "42 s ago".
export function When({ at, bare, seconds }: { at: string | null | undefined; bare?: boolean; seconds?: boolean }) {
  if (!at) return <>–</>;
  const past = now.value - Date.parse(at);
  const ago = past < 0 ? `in ${rough(-past)}` : `${rough(past)} ago`;
  const when = past > 86_400_000 ? `${day(at)} ${clock(at)}` : clock(at, seconds);
  return <time dateTime={at} title={full(at)}>{bare ? ago : `${when} (${ago})`}</time>;
}

// How people and programs are called: without how they were known.
export const who = (caller: string | null | undefined): string => (caller ?? "").replace(/^(user|service|group):/, "");
