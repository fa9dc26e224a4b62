// Plans: what manifests ask for, before it is done and after.
import { useView } from "../api/use";
import { link } from "../app/router";
import { useCrumbs } from "../app/shell";
import { Card, Empty, Loaded } from "../parts/basics";
import { Chip, sentenceCase } from "../parts/state";
import type { Kind } from "../parts/state";
import { T, When, planName, who } from "../parts/text";

export const phaseKind = (phase: string): Kind =>
  ({ planned: "idle", invalid: "bad", queued: "wait", running: "run", broken: "bad", stopped: "paused", undoing: "undone", complete: "ok", partial: "warn", rolledBack: "undone", stuck: "warn", cancelled: "archived" } as Record<string, Kind>)[phase] ?? "idle";
export const phaseWord = (phase: string): string => (phase === "rolledBack" ? "Rolled back" : sentenceCase(phase));

export default function Plans() {
  useCrumbs([{ text: "Plans" }]);
  const all = useView("plans", {}, { everyMs: 3000, on: (event) => event.event.startsWith("plan.") });
  return (
    <>
      <div class="head"><div class="grow"><h1>Plans</h1><p class="second">What a deploy manifest changes, in waves that run in parallel and are undone together.</p></div></div>
      <Card title="Plans" flush>
        <Loaded read={all} what="The plans">
          {(data) => data.length === 0 ? <Empty command="sluice deploy plan examples/diamond/app.deploy.yaml --env local">Plans stand here. This makes one, and changes nothing:</Empty> : (
            <table class="cards">
              <thead><tr><th>App</th><th>Environment</th><th>State</th><th>Changes</th><th>Progress</th><th>Made</th></tr></thead>
              <tbody>
                {[...data].sort((a, b) => b.created_at.localeCompare(a.created_at)).map((each) => (
                  <tr key={each.plan_id} class="open" data-row>
                    <td class="most"><span class="two"><a href={link.plan(each.plan_id)}><strong><T text={`${each.app} ${each.version}`} max={50} /></strong></a><span class="note mono">{planName(each.plan_id)}</span></span></td>
                    <td data-label="Environment">{each.environment_id}</td>
                    <td><Chip kind={phaseKind(each.phase)}>{phaseWord(each.phase)}</Chip></td>
                    <td class="nowrap" data-label="Changes">+{each.summary.create} ~{each.summary.change} −{each.summary.remove}</td>
                    <td data-label="Progress"><span class="changing-bar"><span class="progress"><i style={{ width: `${(each.done / Math.max(1, each.summary.nodes)) * 100}%` }} /></span><span class="note">{each.done} of {each.summary.nodes}</span></span></td>
                    <td class="nowrap" data-label="Made"><When at={each.created_at} /> {each.created_by && <span class="dim">by {who(each.created_by)}</span>}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          )}
        </Loaded>
      </Card>
    </>
  );
}
