// Environments: each with its health, its packs and how much is deployed there.
import { useView } from "../api/use";
import { link } from "../app/router";
import { useCrumbs } from "../app/shell";
import { Card, Empty, Loaded } from "../parts/basics";
import { Chip } from "../parts/state";
import { T } from "../parts/text";

export const doctorKind = (status: string) => (({ green: "ok", yellow: "warn", red: "bad" }) as const)[status as "green"] ?? "idle";

export default function Environments() {
  useCrumbs([{ text: "Environments" }]);
  const all = useView("environments", {}, { everyMs: 10_000 });
  return (
    <>
      <div class="head"><div class="grow"><h1>Environments</h1><p class="second">Where bundles run: packs, settings, secrets and routers of their own.</p></div></div>
      <Card title="Environments" flush>
        <Loaded read={all} what="The environments">
          {(data) => data.length === 0 ? <Empty command="sluice env create staging">Environments stand here. This makes one:</Empty> : (
            <table class="cards">
              <thead><tr><th>Environment</th><th>Health</th><th>Doctor</th><th class="n">Deployments</th><th class="n">Packs</th><th class="n">Generation</th></tr></thead>
              <tbody>{data.map((each) => (
                <tr key={each.environment_id} class="open" data-row>
                  <td class="most"><span class="two"><a href={link.environment(each.environment_id)}><strong><T text={each.environment_id} /></strong></a><span class="note"><T text={each.name} max={60} /></span></span></td>
                  <td>{each.packs === 0 ? <Chip kind="idle" title="Nothing can run here until packs are bound.">No packs yet</Chip> : <Chip kind={doctorKind(each.health)}>{({ green: "Healthy", yellow: "Degraded", red: "Failed" } as Record<string, string>)[each.health] ?? each.health}</Chip>}</td>
                  <td data-label="Doctor">{each.last_doctor_status === "pending" ? "not asked yet" : each.last_doctor_status}</td>
                  <td class="n" data-label="Deployments">{each.deployments}</td><td class="n" data-label="Packs">{each.packs}</td><td class="n" data-label="Generation">{each.generation}</td>
                </tr>
              ))}</tbody>
            </table>
          )}
        </Loaded>
      </Card>
    </>
  );
}
