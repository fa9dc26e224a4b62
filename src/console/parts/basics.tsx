// The small parts that every page is made of: cards, buttons, tabs, segments, loading, errors, emptiness.
import { useEffect, useState } from "preact/hooks";
import type { ComponentChildren } from "preact";
import type { Can, Read } from "../api/use";
import { stale } from "../api/live";
import { Icon } from "./icons";
import type { IconName } from "./icons";
import { State } from "./state";
import { Copy, T } from "./text";

export function Card({ title, note, right, children, flush, class: more = "", id }: {
  title?: ComponentChildren; note?: ComponentChildren; right?: ComponentChildren; children?: ComponentChildren; flush?: boolean; class?: string; id?: string;
}) {
  return (
    <section class={`card ${more}`} id={id}>
      {title !== undefined && (
        <header class="card-head">
          <h2>{title}</h2>
          {note !== undefined && <span class="note">{note}</span>}
          <span class="grow" />
          {right}
        </header>
      )}
      {children !== undefined && <div class={flush ? "card-flush" : "card-body"}>{children}</div>}
    </section>
  );
}

// Off, with the reason, when the caller may not, or when the page does not know what is true now.
export function Button({ children, onClick, icon, kind = "plain", can, off, small, title }: {
  children: ComponentChildren; onClick: () => void; icon?: IconName; kind?: "plain" | "primary" | "danger"; can?: Can; off?: string; small?: boolean; title?: string;
}) {
  const why = can && !can.allowed ? can.why : stale.value ? "The page is stale; changes are off until it is live again." : off;
  return (
    <button
      type="button"
      class={`button ${kind}${small ? " small" : ""}`}
      aria-disabled={why ? "true" : undefined}
      title={why ?? title}
      onClick={() => !why && onClick()}
    >
      {icon && <Icon name={icon} />}
      <span>{children}</span>
    </button>
  );
}

// What a viewer reads below buttons that are off.
export function WhyOff({ can, what }: { can: Can; what: string }) {
  if (can.allowed || can.why === "not known yet") return null;
  return <p class="why-off"><Icon name="lock" size={14} /> <span>{what} is off: <T text={can.why} /></span></p>;
}

export function Segments<K extends string>({ value, options, onChange, label }: {
  value: K; options: readonly (readonly [K, string])[]; onChange: (value: K) => void; label: string;
}) {
  return (
    <div class="segments" role="radiogroup" aria-label={label}>
      {options.map(([key, text]) => (
        <button key={key} type="button" role="radio" aria-checked={key === value} onClick={() => onChange(key)}>{text}</button>
      ))}
    </div>
  );
}

export function Tabs({ tabs, at, to }: { tabs: { key: string; label: string; number?: number }[]; at: string; to: (key: string) => string }) {
  return (
    <nav class="tabs" aria-label="Parts of this page">
      {tabs.map((tab) => (
        <a key={tab.key} href={to(tab.key)} aria-current={tab.key === at ? "page" : undefined}>
          {tab.label}
          {tab.number !== undefined && <span class="badge">{tab.number}</span>}
        </a>
      ))}
    </nav>
  );
}

// The shape of what comes, after 200 ms.
export function Skeleton({ lines = 3 }: { lines?: number }) {
  const [shown, show] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => show(true), 200);
    return () => clearTimeout(timer);
  }, []);
  if (!shown) return <div class="skeleton-space" />;
  return (
    <div class="skeleton" aria-busy="true" aria-label="Loading">
      {Array.from({ length: lines }, (_, i) => <div key={i} class={i % 3 === 1 ? "tall" : ""} />)}
    </div>
  );
}

// What failed, what is not affected, Try again.
export function Failed({ read, what }: { read: Pick<Read<unknown>, "problem" | "again">; what: string }) {
  if (!read.problem) return null;
  return (
    <div class="failed" role="alert">
      <State kind="bad" />
      <div class="grow">
        <strong>{what} could not be read</strong>
        <div class="note"><T text={`${read.problem.code}: ${read.problem.detail}`} max={400} /> Nothing was changed.</div>
      </div>
      <button type="button" class="button small" onClick={read.again}>Try again</button>
    </div>
  );
}

// What belongs here, and the command that makes it.
export function Empty({ children, command }: { children: ComponentChildren; command?: string }) {
  return (
    <div class="empty">
      <p>{children}</p>
      {command && <Command text={command} />}
    </div>
  );
}

export function Command({ text }: { text: string }) {
  return <div class="command"><code>{text}</code><Copy text={text} label={`Copy ${text}`} /></div>;
}

// A document that is read: loading, failed, or there.
export function Loaded<D>({ read, what, lines, children }: { read: Read<D>; what: string; lines?: number; children: (data: D) => ComponentChildren }) {
  if (read.data !== undefined) return <>{children(read.data)}</>;
  if (read.problem) return <Failed read={read} what={what} />;
  return <Skeleton lines={lines} />;
}

export function Fact({ name, children }: { name: string; children: ComponentChildren }) {
  return <span class="fact"><span class="fact-name">{name}</span> {children}</span>;
}

export function Bar({ parts, label }: { parts: { share: number; tone: string; title: string }[]; label: string }) {
  return (
    <div class="bar" role="img" aria-label={label}>
      {parts.filter((each) => each.share > 0).map((each, i) => (
        <span key={i} class={`bar-part fill-${each.tone}`} style={{ flexGrow: each.share }} title={each.title} />
      ))}
    </div>
  );
}
