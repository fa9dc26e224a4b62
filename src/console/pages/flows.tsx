// Flows: what was asked of Sluice, and what followed from it; newest first.
import { useEffect, useState } from "preact/hooks";
import { view } from "../api/client";
import type { Document } from "../api/client";
import { useView } from "../api/use";
import { link, query, setQuery } from "../app/router";
import { useCrumbs } from "../app/shell";
import { Card, Empty, Loaded, Segments } from "../parts/basics";
import { State } from "../parts/state";
import type { Kind } from "../parts/state";
import { T, When, shortId, span, who } from "../parts/text";

type Listed = Document<"flows">[number];

export const flowKind = (state: string): Kind => (state === "settled" ? "ok" : state === "failed" || state === "dead" ? "bad" : state === "waiting" ? "wait" : "run");

const kPage = 100;

export default function Flows() {
  useCrumbs([{ text: "Flows" }]);
  const which = query.value.get("show") ?? "people";
  const failed = which === "failed";
  const first = useView("flows", { limit: kPage, ...(failed ? { failed: true } : {}) }, { everyMs: 10_000 });
  const [older, setOlder] = useState<Listed[]>([]);
  useEffect(() => setOlder([]), [failed]);
  return (
    <>
      <div class="head"><div class="grow"><h1>Flows</h1><p class="second">Each call, with every step that followed from it and the sync that made it.</p></div></div>
      <Card title="Flows" right={<Segments label="Which" value={which} options={[["people", "By callers"], ["all", "All"], ["failed", "Failed"]]} onChange={(value) => setQuery("show", value === "people" ? undefined : value)} />} flush>
        <Loaded read={first} what="The flows">
          {(data) => {
            const all = [...data, ...older.filter((each) => !data.some((other) => other.flow === each.flow))];
            const rows = which === "people" ? all.filter((each) => each.action.includes("/") && !each.caller.startsWith("sluice:")) : all;
            if (!rows.length) return <Empty>{failed ? "No flow has failed." : "No flow yet: everything that is asked of Sluice stands here."}</Empty>;
            const last = all[all.length - 1];
            return (
              <>
                <table class="cards">
                  <thead><tr><th>What was asked</th><th>By</th><th>Began</th><th class="n">Took</th><th>Flow</th></tr></thead>
                  <tbody>
                    {rows.map((each) => (
                      <tr key={each.flow} class="open" data-row>
                        <td class="whole"><span class="row"><State kind={flowKind(each.state)} label={each.state} /><span class="two"><a href={link.flow(each.flow)}><span class="mono"><T text={each.action} /></span></a>{each.failure && <span class="note text-bad"><T text={each.failure} max={140} /></span>}</span></span></td>
                        <td data-label="By"><T text={who(each.caller)} max={40} /></td>
                        <td class="nowrap" data-label="Began"><When at={each.beganAt} seconds /></td>
                        <td class="n" data-label="Took">{each.settledAt ? span(Date.parse(each.settledAt) - Date.parse(each.beganAt)) : each.state}</td>
                        <td class="mono dim">{shortId(each.flow)}</td>
                      </tr>
                    ))}
                  </tbody>
                </table>
                {last && all.length >= kPage && <div class="card-foot"><button class="link" onClick={() => void view("flows", { limit: kPage, before: last.flow, ...(failed ? { failed: true } : {}) }).then((more) => setOlder([...older, ...more]))}>Show older flows</button></div>}
              </>
            );
          }}
        </Loaded>
      </Card>
    </>
  );
}
