// Why: what an object waits for, since when, what would end it. The panel is on every object page, with `w`.
import { useState } from "preact/hooks";
import type { ComponentChildren } from "preact";
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

export function useWhy(about: string, { since, ways, itself }: Ways = {}) {
  const [open, setOpen] = useState(false);
  useKey("w", () => setOpen((before) => !before));
  useKey("Escape", () => setOpen(false));
  return {
    show: () => setOpen(true),
    panel: open ? <WhyPanel about={about} since={since} ways={ways} itself={itself} onClose={() => setOpen(false)} /> : null,
  };
}

function WhyPanel({ about, since, ways, itself, onClose }: Ways & { about: string; onClose: () => void }) {
  const why = useView("why", { about }, { everyMs: 3000 });
  return (
    <aside class="panel" aria-label="Why">
      <header><h2 class="grow">Why is it as it is?</h2><button class="ghost" aria-label="Close" onClick={onClose}><Icon name="x" /></button></header>
      <Loaded read={why} what="The explanation">
        {(data) => (
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
            {data.notes.map((note, i) => <p key={`n${i}`} class="note"><T text={note} max={1000} /></p>)}
            {data.flow && <p><a href={link.flow(data.flow)}>Open the flow that changed it last</a></p>}
          </div>
        )}
      </Loaded>
    </aside>
  );
}
