// Cluster: what was brought into Kubernetes clusters, an instance a row with its newest request.
import type { Document } from "../api/client";
import { useView } from "../api/use";
import { link, query, setQuery } from "../app/router";
import { useCrumbs } from "../app/shell";
import { Card, Empty, Loaded, Segments } from "../parts/basics";
import { Chip } from "../parts/state";
import type { Kind } from "../parts/state";
import { T, When, plural, shortId } from "../parts/text";

type Instance = Document<"cluster">[number];

export const requestKind = (status: string): Kind =>
  ({ accepted: "wait", applying: "run", validated: "ok", deployed: "ok", deleted: "archived", rolledBack: "undone", requiresOverride: "warn", cancelled: "archived", failed: "bad" } as Record<string, Kind>)[status] ?? "idle";
export const requestWord = (status: string): string =>
  ({ accepted: "Accepted", applying: "Applying", validated: "Validated", deployed: "Deployed", deleted: "Removed", rolledBack: "Rolled back", requiresOverride: "Needs an override", cancelled: "Cancelled", failed: "Failed" } as Record<string, string>)[status] ?? status;

const kShown = ["all", "changing", "failed"] as const;
const isShown = (each: Instance, which: string): boolean =>
  which === "changing" ? ["accepted", "applying"].includes(each.status) : which === "failed" ? ["failed", "requiresOverride", "cancelled"].includes(each.status) : true;

export default function Cluster() {
  useCrumbs([{ text: "Cluster" }]);
  const all = useView("cluster", {}, { everyMs: 3000 });
  const which = kShown.find((each) => each === query.value.get("show")) ?? "all";
  return (
    <>
      <div class="head"><div class="grow"><h1>Cluster</h1><p class="second">What templates say, brought into Kubernetes clusters wave by wave: each instance with its objects, what others have changed, and the way back.</p></div></div>
      <Card title="Instances" note={all.data && plural(all.data.length, "instance")} right={<Segments label="Which" value={which} options={[["all", "All"], ["changing", "Changing"], ["failed", "Failed"]]} onChange={(value) => setQuery("show", value === "all" ? undefined : value)} />} flush>
        <Loaded read={all} what="The instances">
          {(data) => {
            const rows = data.filter((each) => isShown(each, which)).sort((a, b) => b.since.localeCompare(a.since));
            if (!data.length) return <Empty command="sluice cluster deploy local petstore k8s --values values.yaml -n shop">Nothing was brought into a cluster yet. This does, from a folder of templates:</Empty>;
            if (!rows.length) return <Empty>No instance is {which} now.</Empty>;
            return (
              <table class="cards">
                <thead><tr><th>Instance</th><th>Namespace</th><th>State</th><th>Objects done</th><th>Environment</th><th>Newest request</th></tr></thead>
                <tbody>
                  {rows.map((each) => (
                    <tr key={`${each.hostId} ${each.namespace} ${each.instanceId}`} class="open" data-row>
                      <td class="most"><span class="two"><a href={link.cluster(each.requestId)}><strong><T text={each.instanceId} max={50} /></strong></a><span class="note"><T text={`of ${each.hostId}`} max={50} /></span></span></td>
                      <td data-label="Namespace"><T text={each.namespace} max={40} /></td>
                      <td class="whole"><span class="two"><span><Chip kind={requestKind(each.status)}>{requestWord(each.status)}</Chip></span>{each.message && <span class="note"><T text={each.message} max={140} /></span>}</span></td>
                      <td data-label="Objects done"><span class="changing-bar"><span class="progress"><i style={{ width: `${(each.done / Math.max(1, each.objects)) * 100}%` }} /></span><span class="note">{each.done} of {each.objects}</span></span></td>
                      <td data-label="Environment"><a href={link.environment(each.environment)}><T text={each.environment} max={40} /></a></td>
                      <td class="nowrap" data-label="Newest request"><When at={each.since} /> <span class="dim mono">{shortId(each.requestId)}</span></td>
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
