// State has a shape, a word and a colour: never a colour alone.
import type { ComponentChildren } from "preact";

export type Kind = "ok" | "bad" | "warn" | "wait" | "run" | "idle" | "paused" | "drain" | "archived" | "judge" | "hand" | "undone" | "skipped" | "nofire";

// The colour that a shape has.
export const tone: Record<Kind, "ok" | "bad" | "warn" | "run" | "idle"> = {
  ok: "ok", bad: "bad", warn: "warn", wait: "warn", run: "run", judge: "run", idle: "idle", paused: "idle", drain: "idle",
  archived: "idle", hand: "idle", undone: "idle", skipped: "idle", nofire: "idle",
};

export function State({ kind, label }: { kind: Kind; label?: string }) {
  const said = label ? { role: "img" as const, "aria-label": label } : { "aria-hidden": true as const };
  return (
    <svg class={`state tone-${tone[kind]} state-${kind}`} width="14" height="14" viewBox="0 0 14 14" {...said}>
      {shape(kind)}
    </svg>
  );
}

function shape(kind: Kind) {
  const line = { fill: "none", stroke: "currentColor", "stroke-width": 1.6, "stroke-linecap": "round", "stroke-linejoin": "round" } as const;
  const onFill = { ...line, stroke: "var(--surface)" };
  switch (kind) {
    case "ok":
      return <><circle cx="7" cy="7" r="6.500" fill="currentColor" /><path d="M4.200 7.200 6.200 9.200 9.800 5" {...onFill} /></>;
    case "bad":
      return <><path d="M4.300.5h5.400l3.800 3.800v5.400l-3.800 3.800H4.300L.5 9.700V4.300z" fill="currentColor" /><path d="M5 5l4 4M9 5 5 9" {...onFill} /></>;
    case "warn":
      return <><path d="M7 .8 13.500 12.800H.5z" fill="currentColor" stroke="currentColor" stroke-linejoin="round" /><path d="M7 5v3.300M7 10.600v.1" {...onFill} /></>;
    case "wait":
      return <><circle cx="7" cy="7" r="5.700" {...line} /><path d="M7 3.900V7l2 1.400" {...line} /></>;
    case "run":
      return <><circle cx="7" cy="7" r="5.500" {...line} opacity="0.300" /><path class="spin" d="M7 1.500A5.500 5.500 0 0 1 12.500 7" {...line} stroke-width="2" /></>;
    case "judge":
      return <><circle cx="7" cy="7" r="5.700" {...line} /><path d="M7 7V3.200A3.800 3.800 0 1 1 3.400 8.300z" fill="currentColor" /></>;
    case "paused":
      return <><circle cx="7" cy="7" r="5.700" {...line} /><path d="M5.600 5v4M8.400 5v4" {...line} /></>;
    case "drain":
      return <><circle cx="7" cy="7" r="5.700" {...line} /><path d="M7 4v5M5 7.200 7 9.200 9 7.200" {...line} /></>;
    case "archived":
    case "skipped":
      return <><circle cx="7" cy="7" r="5.700" {...line} /><path d="M3.200 10.800 10.800 3.200" {...line} /></>;
    case "hand":
      return <path d="M7 1.300 12.700 7 7 12.700 1.300 7z" {...line} />;
    case "undone":
      return <><circle cx="7" cy="7" r="5.700" {...line} /><path d="M5.600 4.800 4.200 6.200 5.600 7.600M4.300 6.200h3.200a1.500 1.500 0 0 1 0 3H6" {...line} stroke-width="1.300" /></>;
    case "nofire":
      return <circle cx="7" cy="7" r="5.500" {...line} stroke-dasharray="2.200 2.600" />;
    default:
      return <circle cx="7" cy="7" r="5.500" {...line} />;
  }
}

export function Chip({ kind, children, title }: { kind: Kind; children: ComponentChildren; title?: string }) {
  return (
    <span class={`chip chip-${tone[kind]}`} title={title}>
      <State kind={kind} />
      {children}
    </span>
  );
}

export const lifecycleKind = (lifecycle: string): Kind =>
  ({ staged: "idle", warming: "run", ready: "ok", draining: "drain", inactive: "paused", failed: "bad", archived: "archived" } as Record<string, Kind>)[lifecycle] ?? "idle";

export const rolloutKind = (status: string): Kind =>
  ({ queued: "wait", due: "run", running: "run", paused: "paused", returning: "undone", watching: "judge", complete: "ok", aborted: "bad", superseded: "archived", stuck: "warn" } as Record<string, Kind>)[status] ?? "idle";

export const verdictKind = (verdict: string | undefined): Kind =>
  verdict === "healthy" ? "ok" : verdict === "unhealthy" ? "bad" : "judge";

export const verdictWord = (verdict: string | undefined): string =>
  verdict === "healthy" ? "Healthy" : verdict === "unhealthy" ? "Unhealthy" : "Insufficient data";

export const sentenceCase = (text: string): string => (text ? text[0]!.toUpperCase() + text.slice(1) : text);

// The mark of a revision: the newest a square, the one before a circle, then diamond and triangle.
export type RevisionMark = "new" | "old" | "third" | "fourth";
export function Mark({ as }: { as: RevisionMark }) {
  const fill = { class: `mark mark-${as}`, width: 10, height: 10, viewBox: "0 0 10 10", "aria-hidden": true as const };
  if (as === "new") return <svg {...fill}><rect x="1" y="1" width="8" height="8" rx="1.500" /></svg>;
  if (as === "old") return <svg {...fill}><circle cx="5" cy="5" r="4" /></svg>;
  if (as === "third") return <svg {...fill}><path d="M5 .3 9.700 5 5 9.700.3 5z" /></svg>;
  return <svg {...fill}><path d="M5 .8 9.600 9H.4z" /></svg>;
}
export const markOf = (place: number): RevisionMark => (["new", "old", "third", "fourth"] as const)[Math.min(place, 3)]!;
