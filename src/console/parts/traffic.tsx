// Traffic: one bar in lanes that are exactly aligned (draft, asked, obeyed, actual), and sliders that always sum to 100 %.
import { useRef, useState } from "preact/hooks";
import type { ComponentChildren } from "preact";
import { Icon } from "./icons";
import { Mark } from "./state";
import type { RevisionMark } from "./state";
import { T, percent } from "./text";

export const kAll = 10_000;

export interface Part {
  revision: string;
  label: string;
  mark: RevisionMark;
  bps: number;
}

// The oldest on the left, so that a new revision grows from the right.
export function Split({ parts, tall, draftOf }: { parts: Part[]; tall?: boolean; draftOf?: Part[] }) {
  const all = parts.reduce((sum, part) => sum + part.bps, 0);
  const shown = [...parts].reverse();
  const pieces: ComponentChildren[] = [];
  for (const part of shown) {
    if (part.bps <= 0) continue;
    const before = draftOf?.find((each) => each.revision === part.revision)?.bps;
    const grown = before === undefined ? 0 : Math.max(0, part.bps - before);
    const width = (bps: number) => ({ flexBasis: `${(bps / Math.max(all, 1)) * 100}%` });
    if (grown > 0) {
      pieces.push(
        <span key={`${part.revision}+`} class={`fill-${part.mark} hatched`} style={width(grown)}>
          {tall && grown >= 300 && <b>+{Number((grown / 100).toFixed(2))}</b>}
        </span>,
      );
    }
    const rest = part.bps - grown;
    if (rest > 0) {
      pieces.push(
        <span key={part.revision} class={`fill-${part.mark}`} style={width(rest)} title={`${part.label}: ${percent(part.bps)}`}>
          {tall && rest / Math.max(all, 1) > 0.16 ? <b>{part.label}&ensp;{percent(part.bps)}</b> : tall && rest / Math.max(all, 1) > 0.07 ? <b>{percent(part.bps)}</b> : null}
        </span>,
      );
    }
  }
  const said = parts.map((part) => `${part.label} ${percent(all ? (part.bps / all) * kAll : 0)}`).join(", ");
  return <div class={`split${tall ? " tall" : ""}`} role="img" aria-label={said || "no traffic"}>{pieces.length ? pieces : <span class="none" />}</div>;
}

export function Lane({ name, parts, tall, worth, said, draftOf }: { name: string; parts: Part[]; tall?: boolean; worth: string; said: ComponentChildren; draftOf?: Part[] }) {
  return (
    <div class="lane">
      <span class="name">{name}</span>
      <Split parts={parts} tall={tall} draftOf={draftOf} />
      <span class="worth value">{worth}</span>
      <span class="said">{said}</span>
    </div>
  );
}

// Moves one weight to `to` and takes the difference from the unlocked others, in proportion to their asked weight (all
// zero: from or to the largest); what rounding leaves goes to the largest. The sum is 10,000 whatever is asked.
export function shifted(weights: Record<string, number>, moved: string, to: number, locked: ReadonlySet<string>, asked: Record<string, number>): Record<string, number> {
  const others = Object.keys(weights).filter((each) => each !== moved && !locked.has(each));
  const held = Object.keys(weights).filter((each) => each !== moved && locked.has(each)).reduce((sum, each) => sum + weights[each]!, 0);
  const room = kAll - held;
  const mine = others.length ? Math.min(Math.max(0, Math.round(to)), room) : room;
  const rest = room - mine;
  const result: Record<string, number> = { ...weights, [moved]: mine };
  if (!others.length) return result;
  const largest = others.reduce((best, each) => ((asked[each] ?? 0) > (asked[best] ?? 0) ? each : best), others[0]!);
  const base = others.reduce((sum, each) => sum + (asked[each] ?? 0), 0);
  let given = 0;
  for (const each of others) {
    const part = base ? Math.floor((rest * (asked[each] ?? 0)) / base) : 0;
    result[each] = part;
    given += part;
  }
  result[largest]! += rest - given;
  return result;
}

export function Slider({ label, mark, bps, asked, locked, off, onMove, onLock, inputRef }: {
  label: string; mark: RevisionMark; bps: number; asked: number; locked: boolean; off?: string; onMove: (bps: number) => void; onLock: () => void; inputRef?: (input: HTMLInputElement | null) => void;
}) {
  const [typed, setTyped] = useState<string | null>(null);
  const held = useRef(false);
  const keys = (event: KeyboardEvent) => {
    const by = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key];
    if (by === undefined || off || locked) return;
    event.preventDefault();
    onMove(Math.min(kAll, Math.max(0, bps + by * (event.shiftKey ? 1000 : event.altKey ? 10 : 100))));
  };
  const take = (text: string) => {
    setTyped(null);
    const value = Number(text.replace(",", "."));
    if (Number.isFinite(value)) onMove(Math.min(kAll, Math.max(0, Math.round(value * 100))));
  };
  const said = `${label}, ${Number((bps / 100).toFixed(2))} percent, asked ${Number((asked / 100).toFixed(2))}`;
  return (
    <div class={`slider mine-${mark}`}>
      <button class="ghost" aria-pressed={locked} aria-label={locked ? `Unlock ${label}` : `Lock ${label}`} title={locked ? "Locked: keeps its weight" : "Lock: keep its weight while others move"} onClick={onLock} disabled={!!off}>
        <Icon name={locked ? "lock" : "unlock"} size={14} />
      </button>
      <div class={`track${off || locked ? " off" : ""}`}>
        <div class="rail" />
        <div class={`fill fill-${mark}`} style={{ width: `${bps / 100}%` }} />
        {asked !== bps && <div class="tick" style={{ left: `${asked / 100}%` }} />}
        <input
          type="range" min={0} max={kAll} step={100} value={bps} disabled={!!off || locked} title={off}
          aria-label={`Weight of ${label}`} aria-valuetext={said} ref={inputRef}
          onPointerDown={() => (held.current = true)} onPointerUp={() => (held.current = false)}
          onInput={(event) => onMove(Number(event.currentTarget.value))} onKeyDown={keys}
        />
      </div>
      <span class="weight">
        <input
          class="field" inputMode="decimal" aria-label={`Weight of ${label} in percent`} disabled={!!off || locked}
          value={typed ?? String(Number((bps / 100).toFixed(2)))}
          onInput={(event) => setTyped(event.currentTarget.value)}
          onBlur={(event) => typed !== null && take(event.currentTarget.value)}
          onKeyDown={(event) => event.key === "Enter" && take(event.currentTarget.value)}
        />
        <span>%</span>
      </span>
    </div>
  );
}

export function Versions({ parts }: { parts: { mark: RevisionMark; label: string }[] }) {
  return <>{parts.map((each) => <span class="legend" key={each.label}><Mark as={each.mark} /> <T text={each.label} max={40} /></span>)}</>;
}
