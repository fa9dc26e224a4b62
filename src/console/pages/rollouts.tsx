// Rollouts: those under way first, then those that have ended.
import { useView } from "../api/use";
import { underWay } from "../app/home";
import { link, query, setQuery } from "../app/router";
import { useCrumbs } from "../app/shell";
import { Card, Empty, Loaded, Segments } from "../parts/basics";
import { Chip, rolloutKind, sentenceCase } from "../parts/state";
import { Split } from "../parts/traffic";
import { T, When, percent } from "../parts/text";

export default function Rollouts() {
  useCrumbs([{ text: "Rollouts" }]);
  const which = query.value.get("show") ?? "all";
  const all = useView("rollouts", { ended: true }, { everyMs: 2000, on: (event) => event.event.startsWith("rollout.") });
  return (
    <>
      <div class="head"><div class="grow"><h1>Rollouts</h1><p class="second">Traffic that moves to a new revision in judged steps.</p></div></div>
      <Card title="Rollouts" right={<Segments label="Which" value={which} options={[["all", "All"], ["open", "Under way"], ["bad", "Aborted"]]} onChange={(value) => setQuery("show", value === "all" ? undefined : value)} />} flush>
        <Loaded read={all} what="The rollouts">
          {(data) => {
            const rows = data.filter((each) => (which === "open" ? underWay(each.status) : which === "bad" ? each.status === "aborted" : true)).sort((a, b) => Number(underWay(b.status)) - Number(underWay(a.status)) || b.started_at.localeCompare(a.started_at));
            if (!rows.length) return <Empty command="sluice rollout start local hello@2 --steps 10%,50%">{data.length ? "No rollout fits." : "Rollouts stand here. This starts one:"}</Empty>;
            return (
              <table class="cards">
                <thead><tr><th>Deployment</th><th>To</th><th>State</th><th>Step</th><th>Weight</th><th>Waits for</th><th>Began</th></tr></thead>
                <tbody>
                  {rows.map((each) => (
                    <tr key={each.rollout} class="open" data-row>
                      <td class="most"><span class="two"><a href={link.rollout(each.rollout)}><strong><T text={each.bundle} max={40} /></strong></a><span class="note">{each.environment}</span></span></td>
                      <td class="nowrap" data-label="To">{each.canary.name}</td>
                      <td><Chip kind={rolloutKind(each.status)}>{sentenceCase(each.status)}</Chip></td>
                      <td class="nowrap" data-label="Step">{Math.min(Math.max(1, each.step), each.steps.length)} of {each.steps.length}</td>
                      <td data-label="Weight"><span class="changing-bar"><Split parts={[{ revision: "c", label: each.canary.name, mark: "new", bps: each.weight_asked_bps }, { revision: "b", label: each.baseline?.name ?? "", mark: "old", bps: 10_000 - each.weight_asked_bps }]} /><span class="note">{percent(each.weight_asked_bps)}</span></span></td>
                      <td class="whole"><T text={(each.waits_for || each.reason).split("; ")[0]} max={200} /></td>
                      <td class="nowrap" data-label="Began"><When at={each.started_at} /></td>
                    </tr>
                  ))}
                </tbody>
              </table>
            );
          }}
        </Loaded>
      </Card>
    </>
  );
}
