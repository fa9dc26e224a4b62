// Why: what an object waits for, since when, what would end it. The panel is on every object page, with `w`.
import { useState } from "preact/hooks";
import type { ComponentChildren } from "preact";
import type { Document } from "../api/client";
import { useView } from "../api/use";
import { link } from "../app/router";
import { useKey } from "../app/keys";
import { Loaded } from "./basics";
import { Icon } from "./icons";
import { T, When } from "./text";

// What the page knows of the wait: since when it lasts, and what the caller can do about it.
export interface Ways {
  since?: string | null;
  ways?: ComponentChildren;
  // What ends it without anybody.
  itself?: string;
}

// What is said of an object: read from the view, or what the page itself knows of one that the view does not.
type Told = Pick<Document<"why">, "kind" | "name" | "said"> & Partial<Document<"why">>;

export function useWhy(about: string | Told, { since, ways, itself }: Ways = {}) {
  const [open, setOpen] = useState(false);
  useKey("w", () => setOpen((before) => !before));
  useKey("Escape", () => setOpen(false));
  const close = () => setOpen(false);
  const more = { since, ways, itself };
  return {
    show: () => setOpen(true),
    panel: !open ? null : typeof about === "string" ? <WhyAsked about={about} {...more} onClose={close} /> : <Panel onClose={close}><Said data={about} {...more} /></Panel>,
  };
}

function WhyAsked({ about, onClose, ...more }: Ways & { about: string; onClose: () => void }) {
  const why = useView("why", { about }, { everyMs: 3000 });
  return <Panel onClose={onClose}><Loaded read={why} what="The explanation">{(data) => <Said data={data} {...more} />}</Loaded></Panel>;
}

function Panel({ children, onClose }: { children: ComponentChildren; onClose: () => void }) {
  return (
    <aside class="panel" aria-label="Why">
      <header><h2 class="grow">Why is it as it is?</h2><button class="ghost" aria-label="Close" onClick={onClose}><Icon name="x" /></button></header>
      {children}
    </aside>
  );
}

function Said({ data, since, ways, itself }: Ways & { data: Told }) {
  return (
    <div class="card-body stack">
      <div class="row wrap"><span class="tag">{data.kind}</span><strong><T text={data.name ?? data.id} /></strong></div>
      {data.said.map((said, i) => <p key={i} class={i === 0 ? "sentence" : "second"}><T text={said} max={1000} /></p>)}
      {since && <p class="second">Since <When at={since} seconds />.</p>}
      {(ways || itself) && (
        <div class="stack ends">
          <h3>What ends it</h3>
          {itself && <p class="row"><Icon name="check" /><span class="grow"><T text={itself} max={300} /></span><span class="note">happens by itself</span></p>}
          {ways && <div class="row wrap">{ways}</div>}
        </div>
      )}
      {(data.notes ?? []).map((note, i) => <p key={`n${i}`} class="note"><T text={note} max={1000} /></p>)}
      {data.flow && <p><a href={link.flow(data.flow)}>Open the flow that changed it last</a></p>}
    </div>
  );
}
