// Mesh: the nodes of a mesh and the links between them, which version each may have and has confirmed, the way that a
// pair takes, and what signing the operator's sources would change.
import { useMemo, useState } from "preact/hooks";
import { act, newKey, viewOf } from "../api/client";
import type { Document } from "../api/client";
import { Problem } from "../api/problem";
import { useCan, useView } from "../api/use";
import { query, setQuery } from "../app/router";
import { useCrumbs } from "../app/shell";
import { toast, toastProblem } from "../app/toasts";
import { Button, Card, Command, Empty, Loaded, Segments, WhyOff } from "../parts/basics";
import { ask } from "../parts/dialog";
import { Icon } from "../parts/icons";
import { MeshGraph, nodeKind, nodeWord } from "../parts/mesh_graph";
import { Chip, State } from "../parts/state";
import { T, When, plural } from "../parts/text";

type Node = Document<"mesh">[number];
type Map_ = Document<"mesh-map">;
type Plan = Document<"mesh-plan">;
type Way = Map_["ways"][number];

// "service/api" of "spiffe://acme/service/api".
const brief = (id: string): string => id.replace(/^spiffe:\/\/[^/]+\//, "");

export default function Mesh() {
  useCrumbs([{ text: "Mesh" }]);
  const all = useView("mesh", {}, { everyMs: 10_000, on: (event) => event.event.startsWith("mesh.") });
  return (
    <Loaded read={all} what="The mesh" lines={7}>
      {(nodes) => {
        const meshes = [...new Set(nodes.map((each) => each.mesh))].sort();
        const at = meshes.find((each) => each === query.value.get("mesh")) ?? meshes[0];
        return (
          <>
            <div class="head">
              <div class="grow"><h1>Mesh</h1><p class="second">{at ? summary(nodes.filter((each) => each.mesh === at), at) : "Hosts that obey signed artifacts: who may reach what, and over which links."}</p></div>
              <div class="actionbar">{meshes.length > 1 && <Segments label="Mesh" value={at!} options={meshes.map((each) => [each, each] as const)} onChange={(value) => setQuery("mesh", value)} />}</div>
            </div>
            {at ? <Known mesh={at} nodes={nodes.filter((each) => each.mesh === at)} /> : <NoMesh />}
            <PlanCard />
          </>
        );
      }}
    </Loaded>
  );
}

function summary(nodes: Node[], mesh: string): string {
  const count = (state: string) => nodes.filter((each) => each.state === state).length;
  const said = ["current", "unconfirmed", "behind", "rejected", "unseen", "revoked"].filter(count).map((state) => `${count(state)} ${nodeWord(state).toLowerCase()}`);
  const held = nodes.filter((each) => each.waits_for.length).length;
  return `${plural(nodes.length, "node")} of ${mesh}: ${said.join(", ")}.${held ? ` ${plural(held, "node")} ${held === 1 ? "waits" : "wait"} until others have confirmed.` : ""}`;
}

function NoMesh() {
  return (
    <Card>
      <Empty>No mesh is published here. An operator describes one in a folder, signs it, and publishes it into this home:</Empty>
      <div class="stack"><Command text="sluice mesh init acme" /><Command text="sluice mesh ca acme" /><Command text="sluice mesh sign acme" /><Command text="sluice mesh publish acme" /></div>
    </Card>
  );
}

function Known({ mesh, nodes }: { mesh: string; nodes: Node[] }) {
  const initiator = query.value.get("from") ?? "";
  const target = query.value.get("to") ?? "";
  const map = useView("mesh-map", { mesh, ...(initiator && target ? { initiator, target } : {}) }, { on: (event) => event.event.startsWith("mesh.") });
  const [kept, keep] = useState<Map_>();
  if (map.data && map.data !== kept) keep(map.data);
  const shown = map.data ?? kept;
  const chosen = nodes.find((each) => each.node === query.value.get("node"));
  const ways = shown && initiator && target ? shown.ways : [];
  return (
    <>
      <div class="grid cols-main">
        <Card title="Nodes and links" note={shown && `${plural(shown.nodes.length, "node")}, ${plural(shown.links.length, "link")}`} flush>
          {shown ? (
            shown.links.length === 0 && shown.nodes.length < 2 ? <Empty>Nothing is linked yet.</Empty> : <MeshGraph nodes={nodes} links={shown.links} ways={ways} chosen={chosen?.node} onChoose={(node) => setQuery("node", node === chosen?.node ? undefined : node)} />
          ) : <Loaded read={map} what="The map">{() => null}</Loaded>}
          {chosen && <Chosen node={chosen} known={shown?.nodes.find((each) => each.node === chosen.node)} />}
        </Card>
        <Trace map={shown} initiator={initiator} target={target} ways={ways} />
      </div>
      <Card title="Versions" note="what each node may have, and what it has confirmed" flush>
        <table class="cards">
          <thead><tr><th>Node</th><th>State</th><th class="n">May have</th><th class="n">Obeys</th><th>Reported</th><th>Waits for</th><th>Trouble</th></tr></thead>
          <tbody>
            {nodes.map((each) => (
              <tr key={each.node} data-row class={each === chosen ? "open chosen" : "open"} onClick={() => setQuery("node", each.node)}>
                <td class="most"><button class="link plain"><strong><T text={each.node} max={40} /></strong></button></td>
                <td><Chip kind={nodeKind(each)}>{nodeWord(each.state)}</Chip></td>
                <td class="n" data-label="May have">{each.version || "nothing"}{each.held_version !== null && <span class="dim">, then {each.held_version}</span>}</td>
                <td class="n" data-label="Obeys">{each.reported_version ?? "–"}</td>
                <td data-label="Reported">{each.reported_at ? <When at={each.reported_at} bare /> : "never"}</td>
                <td data-label="Waits for">{each.waits_for.length ? <T text={each.waits_for.join(", ")} max={60} /> : <span class="dim">–</span>}</td>
                <td class="half" data-label="Trouble">{each.trouble ? <T text={each.trouble} max={120} /> : <span class="dim">none</span>}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Card>
    </>
  );
}

function Chosen({ node, known }: { node: Node; known: Map_["nodes"][number] | undefined }) {
  const can = useCan("Mesh/revoke", "");
  const revoke = () => {
    const key = newKey();
    ask({
      title: `Give ${node.node} nothing any more?`,
      will: [
        { icon: "key", text: "The config server refuses it from now on. What it has goes on until it expires." },
        { icon: "undo", text: "To take its access away at the other nodes, remove it from the sources, sign, and publish." },
      ],
      reason: "needed",
      yes: `Revoke ${node.node}`,
      no: "Keep it",
      danger: true,
      run: async (reason) => {
        try {
          await act("Mesh/revoke", { mesh: node.mesh, node: node.node, reason }, { reason, key });
          toast("ok", `${node.node} gets nothing any more.`);
        } catch (error) {
          toastProblem("Revoke", error, "It is served as before.");
        }
      },
    });
  };
  return (
    <div class="card-foot mesh-node">
      <div class="row grow"><State kind={nodeKind(node)} /><strong><T text={node.node} /></strong><span class="second">{said(node)}</span></div>
      <Button small kind="danger" can={can} off={node.state === "revoked" ? "It is revoked." : undefined} onClick={revoke}>Revoke…</Button>
      <dl class="kv">
        <dt>Vertices</dt><dd>{known?.vertices.map((each) => `${each.name} (${each.kind})`).join(", ") || "–"}</dd>
        <dt>Serves</dt><dd><T text={known?.serves.map(brief).join(", ") || "nobody"} max={300} /></dd>
        <dt>Signed by</dt><dd><T text={known?.signers.map(brief).join(", ") || "–"} max={300} /></dd>
        {node.ctrl_version > 0 && <><dt>Routes</dt><dd>version {node.ctrl_version}{node.reported_ctrl_version !== null && node.reported_ctrl_version !== node.ctrl_version && `, it obeys ${node.reported_ctrl_version}`}</dd></>}
      </dl>
      <WhyOff can={can} what="Revoking" />
    </div>
  );
}

// Why a node is as it is, and what ends it.
function said(node: Node): string {
  switch (node.state) {
    case "current": return `has confirmed version ${node.reported_version}.`;
    case "behind": return `obeys version ${node.reported_version} and may have ${node.version}. It fetches it when its agent asks.`;
    case "unconfirmed": return `has switched to version ${node.reported_version} and goes back by itself unless it reaches the config server over it.`;
    case "rejected": return `went back from version ${node.reported_version}${node.trouble ? `: ${node.trouble}` : "."}`;
    case "revoked": return "is given nothing any more.";
    default: return "has never asked. Its agent must be enrolled and run.";
  }
}

// --- the way of a pair

function Trace({ map, initiator, target, ways }: { map: Map_ | undefined; initiator: string; target: string; ways: Way[] }) {
  const pairs = map?.pairs ?? [];
  const initiators = [...new Set(pairs.map((each) => each.initiator))].sort();
  const targets = [...new Set(pairs.filter((each) => each.initiator === initiator).map((each) => each.target))].sort();
  return (
    <Card title="Trace a path" note={map && `${plural(map.pairs_in_all, "allowed pair")}`} flush>
      <div class="mesh-ask">
        <label class="form-row">Who dials<select class="field" value={initiator} onChange={(event) => { setQuery("to", undefined); setQuery("from", event.currentTarget.value || undefined); }}><option value="">choose…</option>{initiators.map((each) => <option key={each} value={each}>{brief(each)}</option>)}</select></label>
        <label class="form-row">What is dialled<select class="field" value={target} disabled={!initiator} onChange={(event) => setQuery("to", event.currentTarget.value || undefined)}><option value="">choose…</option>{targets.map((each) => <option key={each} value={each}>{brief(each)}</option>)}</select></label>
      </div>
      {!initiator || !target ? <p class="empty">Choose a pair to see each hop, link and label. Only allowed pairs have a way.</p> : ways.length === 0 ? <p class="empty">{map ? "This pair has no way any more." : "…"}</p> : (
        <ol class="list">{ways.map((way, i) => <li key={i}><WayShown way={way} place={ways.length > 1 ? i + 1 : 0} /></li>)}</ol>
      )}
    </Card>
  );
}

function WayShown({ way, place }: { way: Way; place: number }) {
  const hops = (word: string, all: Way["there"], end: string) => all.length > 0 && (
    <div class="mesh-hops"><span class="note">{word}</span><span>{all.map((each) => <span key={`${each.node}${each.link}`}><strong>{each.node}</strong> <span class="dim mono">{each.link} {each.label}</span> <Icon name="arrow" size={12} /> </span>)}<strong>{end}</strong></span></div>
  );
  return (
    <div class="stack grow">
      <div class="row"><State kind={way.fault ? "bad" : "ok"} label={way.fault ? "does not arrive" : "arrives and returns"} /><span class="grow">{place > 0 && `${place}. `}{way.fault ? <T text={`${way.from}: ${way.fault}.`} max={300} /> : way.there.length === 0 ? (way.from === way.to ? `On the same node, ${way.from}.` : `${way.from} dials ${way.to} directly.`) : `${plural(way.there.length, "hop")} from ${way.from} to ${way.to}.`}</span></div>
      {hops("there", way.there, way.to)}
      {hops("back", way.back, way.from)}
    </div>
  );
}

// --- the plan before signing

// What a plan is made from. Keys never leave the operator's machine.
const isWanted = (path: string): boolean => /\.(ya?ml)$/.test(path) || /^(certs|compiled|drafts)\//.test(path) || path === "ledger.json";

function PlanCard() {
  const [plan, setPlan] = useState<Plan | Problem | "busy">();
  const [folder, setFolder] = useState("");
  const read = async (list: FileList | null) => {
    const files = [...(list ?? [])];
    if (!files.length) return;
    setFolder(files[0]!.webkitRelativePath.split("/")[0] ?? "");
    setPlan("busy");
    try {
      const named = files.map((file) => ({ file, path: file.webkitRelativePath.split("/").slice(1).join("/") })).filter((each) => isWanted(each.path) && !each.path.startsWith("keys/"));
      if (!named.some((each) => each.path === "rete.yaml")) throw new Problem("invalid", 0, "this folder has no rete.yaml, which every mesh has", undefined, {});
      setPlan(await viewOf("mesh-plan", { files: await Promise.all(named.map(async ({ file, path }) => ({ path, text: await file.text() }))) }));
    } catch (error) {
      setPlan(error instanceof Problem ? error : new Problem("fault", 0, String(error), undefined, {}));
    }
  };
  return (
    <Card title="Plan before signing" note="reads an operator's folder, without its keys; nothing is kept">
      <div class="stack">
        <div class="dropzone"><Icon name="upload" /><span class="grow">What would signing change: access, links, restarts?</span><label class="button">Choose the mesh’s folder…<input class="sr" type="file" name="mesh" {...{ webkitdirectory: true }} onChange={(event) => { void read(event.currentTarget.files); event.currentTarget.value = ""; }} /></label></div>
        {plan === "busy" && <p class="second">The sources are compiled…</p>}
        {plan instanceof Problem && <div class="failed" role="alert"><State kind="bad" /><div class="grow"><strong>The folder could not be read</strong><div class="note"><T text={plan.detail} max={600} /> Nothing was kept.</div></div></div>}
        {plan && plan !== "busy" && !(plan instanceof Problem) && <Planned plan={plan} folder={folder} />}
      </div>
    </Card>
  );
}

function Planned({ plan, folder }: { plan: Plan; folder: string }) {
  const { gains, loses, links_added, links_removed, changes, nodes } = plan.plan;
  const rows = useMemo(() => [
    ...gains.map((each) => ["create", "+", `${brief(each.initiator)} at ${each.node}`, `may reach ${brief(each.target)}`] as const),
    ...loses.map((each) => ["remove", "−", `${brief(each.initiator)} at ${each.node}`, `may no longer reach ${brief(each.target)}`] as const),
    ...links_added.map((each) => ["create", "+", `${each.node}/${each.vertex}`, `link ${each.link} to ${brief(each.peer)}`] as const),
    ...links_removed.map((each) => ["remove", "−", `${each.node}/${each.vertex}`, `no link ${each.link} to ${brief(each.peer)}`] as const),
    ...changes.map((each) => ["change", each.restarts ? "!" : "~", `${each.node}/${each.vertex}`, `${each.restarts ? "restarts: " : ""}${each.parts.join(", ")}`] as const),
  ], [plan]);
  if (plan.faults.length) {
    return <div class="failed" role="alert"><State kind="bad" /><div class="grow"><strong>{plural(plan.faults.length, "fault")} in the sources</strong>{plan.faults.map((each, i) => <pre key={i}><T text={each} max={2000} /></pre>)}</div></div>;
  }
  return (
    <>
      {plan.warnings.map((each, i) => <div key={i} class="strip warn"><State kind="warn" /><span><T text={each} max={400} /></span></div>)}
      {rows.length === 0 ? <p class="row"><State kind="ok" /><span>Nothing: what is signed for {plan.mesh} says what the sources say.</span></p> : (
        <>
          <p><strong>{plural(nodes.length, "node")} {nodes.length === 1 ? "gets" : "get"} a new version:</strong> <T text={nodes.join(", ")} max={300} />. {gains.length ? `${plural(gains.length, "pair")} gain access, ` : "Nobody gains access, "}{loses.length ? `${loses.length} lose it.` : "nobody loses it."}</p>
          <table class="cards"><thead><tr><th /><th>Who or where</th><th>What</th></tr></thead><tbody>{rows.map((row, i) => <tr key={i}><td><span class={`sign ${row[0]}`}>{row[1]}</span></td><td class="most"><T text={row[2]} max={80} /></td><td class="whole"><T text={row[3]} max={160} /></td></tr>)}</tbody></table>
          <p class="note">If this is what you want, sign it where the keys are:</p>
          <Command text={`sluice mesh sign ${folder || plan.mesh}`} />
        </>
      )}
    </>
  );
}
