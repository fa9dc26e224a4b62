// Why: what an object waits for, since when, what would end it. The panel is on every object page, with `w`.
import { useState } from "preact/hooks";
import { useView } from "../api/use";
import { link } from "../app/router";
import { useKey } from "../app/keys";
import { Loaded } from "./basics";
import { Icon } from "./icons";
import { T } from "./text";

export function useWhy(about: string, customer?: string) {
  const [open, setOpen] = useState(false);
  useKey("w", () => setOpen((before) => !before));
  useKey("Escape", () => setOpen(false));
  return {
    show: () => setOpen(true),
    panel: open ? <WhyPanel about={about} customer={customer} onClose={() => setOpen(false)} /> : null,
  };
}

function WhyPanel({ about, customer, onClose }: { about: string; customer?: string; onClose: () => void }) {
  const why = useView("why", { about, ...(customer ? { customer } : {}) }, { everyMs: 3000 });
  return (
    <aside class="panel" aria-label="Why">
      <header><h2 class="grow">Why is it as it is?</h2><button class="ghost" aria-label="Close" onClick={onClose}><Icon name="x" /></button></header>
      <Loaded read={why} what="The explanation">
        {(data) => (
          <div class="card-body stack">
            <div class="row wrap"><span class="tag">{data.kind}</span><strong><T text={data.name ?? data.id} /></strong></div>
            {data.said.map((said, i) => <p key={i} class={i === 0 ? "sentence" : "second"}><T text={said} max={1000} /></p>)}
            {data.notes.map((note, i) => <p key={`n${i}`} class="note"><T text={note} max={1000} /></p>)}
            {data.flow && <p><a href={link.flow(data.flow)}>Open the flow that changed it last</a></p>}
          </div>
        )}
      </Loaded>
    </aside>
  );
}
