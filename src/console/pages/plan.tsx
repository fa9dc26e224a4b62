// Plan: what will change, in which order, and how far it has come. The graph is layered by wave; below 760 px it is a list.
import { useMemo, useRef, useState } from "preact/hooks";
import { act, newKey } from "../api/client";
import type { Document } from "../api/client";
import { now } from "../api/live";
import { useCan, useView } from "../api/use";
import { useKey } from "../app/keys";
import { href, link, query, setQuery } from "../app/router";
import { useCrumbs } from "../app/shell";
import { toast, toastProblem } from "../app/toasts";
import type { PageProps } from "../pages";
import { Button, Card, Empty, Fact, Loaded, Segments, WhyOff } from "../parts/basics";
import { ask } from "../parts/dialog";
import { Chip, State } from "../parts/state";
import type { Kind } from "../parts/state";
import { T, When, plural, shortId, span, visible, who } from "../parts/text";
import { useWhy } from "../parts/why";
import { phaseKind, phaseWord } from "./plans";

type Plan = Document<"plan">;
type PlanNode = Plan["nodes"][number];

const nodeKind = (status: string): Kind =>
  ({ waiting: "idle", running: "run", done: "ok", failed: "bad", unknown: "warn", undoing: "run", undone: "undone", stuck: "wait", skipped: "skipped" } as Record<string, Kind>)[status] ?? "idle";
const nodeClass = (status: string): string => ({ done: "ok", running: "run", undoing: "run", failed: "bad", stuck: "wait", unknown: "wait", undone: "undone", skipped: "skipped" } as Record<string, string>)[status] ?? "";
const kindWord = (kind: string): string => ({ "deploy-concept": "deploy", "configure-transport": "transport", "traffic-split": "traffic" } as Record<string, string>)[kind] ?? kind.replace(/-/g, " ");

export default function PlanPage({ params }: PageProps) {
  const read = useView("plan", { plan: params.id! }, { everyMs: 1500, on: (event) => /^(plan|deployment|revision|rollout)\./.test(event.event) });
  useCrumbs([{ text: "Plans", to: href("/plans") }, ...(read.data ? [{ text: read.data.environment_id, to: link.environment(read.data.environment_id) }, { text: `plan ${read.data.app} ${shortId(read.data.plan_id)}` }] : [{ text: params.id! }])]);
  return <Loaded read={read} what="The plan" lines={8}>{(data) => <Known plan={data} />}</Loaded>;
}

function Known({ plan }: { plan: Plan }) {
  const env = plan.environment_id;
  const can = { execute: useCan("DeployPlan/execute", env), cancel: useCan("DeployPlan/cancel", env), rollback: useCan("DeployPlan/rollback", env) };
  const why = useWhy(plan.plan_id);
  const chosen = plan.nodes.find((each) => each.node === query.value.get("node")) ?? plan.nodes.find((each) => each.status === "running") ?? plan.nodes[0];
  const [tab, setTab] = useState<"changes" | "json">("changes");
  const counts = (status: string[]) => plan.nodes.filter((each) => status.includes(each.status)).length;
  const call = (what: string, done: string, run: (reason: string) => Promise<unknown>) => async (reason: string) => {
    try {
      await run(reason);
      toast("ok", done);
    } catch (error) {
      toastProblem(what, error, "Nothing more was changed.");
    }
  };
  const key = newKey();
  const will = `${plan.summary.create} to create, ${plan.summary.change} to change, ${plan.summary.remove} to remove`;
  const execute = () => ask({ title: `Execute the plan for ${plan.app} in ${env}?`, will: [{ icon: "plan", text: `${will}, in ${plural(plan.summary.waves, "wave")}${plan.estimated_ms ? `; about ${span(plan.estimated_ms)}` : ""}.` }, { icon: "undo", text: plan.on_failure === "rollback" ? "If a part fails, all that was done is undone, newest first." : `If a part fails: ${plan.on_failure}.` }], reason: "asked", yes: "Execute plan", no: "Not now", run: call("Execute", "The plan is executed.", (reason) => act("DeployPlan/execute", { plan: plan.plan_id }, { reason, key, wait: "start" })) });
  const cancel = () => ask({ title: `Cancel the plan for ${plan.app}?`, will: [{ icon: "abort", text: "What runs now is finished, nothing more is begun, and what was done is undone." }], reason: "asked", yes: "Cancel plan", no: "Let it run", danger: true, run: call("Cancel", "The plan is cancelled.", (reason) => act("DeployPlan/cancel", { plan: plan.plan_id }, { reason, key })) });
  const rollback = () => ask({ title: `Undo the plan for ${plan.app}?`, will: [{ icon: "undo", text: `${plural(counts(["done"]), "node")} ${counts(["done"]) === 1 ? "is" : "are"} undone, newest first.` }], reason: "asked", yes: "Undo plan", no: "Keep it", danger: true, run: call("Undo", "The plan is undone.", (reason) => act("DeployPlan/rollback", { plan: plan.plan_id }, { reason, key, wait: "start" })) });
  const runs = ["running", "queued", "undoing"].includes(plan.phase);
  return (
    <>
      <div class="head">
        <div class="grow">
          <h1>Plan <T text={plan.app} max={40} /> <span class="mono dim">{shortId(plan.plan_id)}</span> <Chip kind={phaseKind(plan.phase)}>{phaseWord(plan.phase)}{plan.phase === "running" ? `, ${plan.done} of ${plan.summary.nodes} nodes done` : ""}</Chip></h1>
          <div class="facts">
            <Fact name="Environment"><a href={link.environment(env)}>{env}</a></Fact>
            <Fact name="Version">{plan.version}</Fact>
            <Fact name="Made"><When at={plan.created_at} /> by {who(plan.created_by)}</Fact>
            {plan.started_at && <Fact name={plan.ended_at ? "Took" : "Executes for"}>{span((plan.ended_at ? Date.parse(plan.ended_at) : now.value) - Date.parse(plan.started_at))}</Fact>}
          </div>
        </div>
        <div class="actionbar fixed">
          <Button kind="primary" can={can.execute} off={plan.phase === "planned" ? (plan.stale ? "It is stale: plan again." : undefined) : `It is ${phaseWord(plan.phase).toLowerCase()}.`} onClick={execute}>Execute…</Button>
          {runs ? <Button icon="abort" kind="danger" can={can.cancel} onClick={cancel}>Cancel…</Button> : <Button icon="undo" can={can.rollback} off={["complete", "partial", "broken", "stopped"].includes(plan.phase) ? undefined : "Nothing of it was done."} onClick={rollback}>Undo…</Button>}
          <button class="button" onClick={why.show}>Why <kbd class="hide-small">w</kbd></button>
        </div>
      </div>
      <WhyOff can={can.execute} what="Executing" />
      {(plan.reason || plan.waits_for) && <div class={`strip ${["broken", "stuck", "invalid"].includes(plan.phase) ? "bad" : "run"}`}><State kind={phaseKind(plan.phase)} /><span class="grow"><T text={plan.waits_for ?? plan.reason} max={400} /></span></div>}
      <div class="strip wrap">
        <span class="legend"><span class="sign create">+</span> <strong>{plan.summary.create}</strong> to create</span>
        <span class="legend"><span class="sign change">~</span> <strong>{plan.summary.change}</strong> to change</span>
        <span class="legend"><span class="sign remove">−</span> <strong>{plan.summary.remove}</strong> to remove</span>
        <span class="sep" /><span class="second">{plan.summary.keep} unchanged</span><span class="sep" /><span class="second grow">{plan.estimated_ms ? `about ${span(plan.estimated_ms)}` : `${plural(plan.summary.waves, "wave")}`}</span>
        <span class="legend"><State kind={plan.stale ? "warn" : "ok"} /> {plan.stale ? <T text={plan.stale} max={120} /> : "Still current"}</span>
      </div>
      {plan.warnings.map((each, i) => <div key={i} class="strip warn"><State kind="warn" /><span><T text={each} max={400} /></span></div>)}
      <Graph plan={plan} chosen={chosen} />
      <Card title="Changes" note={plural(plan.changes.filter((each) => each.sign !== "keep").length, "component")} right={<Segments label="As" value={tab} options={[["changes", "Changes"], ["json", "JSON"]]} onChange={setTab} />} flush>
        {tab === "json" ? <pre class="card-body">{visible(JSON.stringify(plan.changes, null, 2))}</pre> : plan.changes.every((each) => each.sign === "keep") ? <Empty>Nothing changes: everything is as the manifest says.</Empty> : (
          <table class="cards">
            <thead><tr><th /><th>Component</th><th>Value</th><th>Now</th><th>After</th></tr></thead>
            <tbody>
              {plan.changes.filter((each) => each.sign !== "keep").flatMap((each) => (each.fields.length ? each.fields : [{ name: "", before: "", after: "" }]).map((field, i) => (
                <tr key={`${each.component}${field.name}`} class={i ? "same" : ""}>
                  <td>{i === 0 && <span class={`sign ${each.sign}`}>{{ create: "+", change: "~", remove: "−", keep: "" }[each.sign]}</span>}</td>
                  <td class="most">{i === 0 && <strong><T text={each.component} max={60} /></strong>}</td>
                  <td data-label="Value"><T text={field.name} /></td>
                  <td class="dim" data-label="Now"><T text={field.before || "not set"} max={36} /></td>
                  <td data-label="After"><b><T text={field.after || "none"} max={36} /></b></td>
                </tr>
              )))}
            </tbody>
          </table>
        )}
      </Card>
      {why.panel}
    </>
  );
}

const kWide = 128;
const kHigh = 48;
const kGapX = 28;
const kGapY = 16;

function Graph({ plan, chosen }: { plan: Plan; chosen: PlanNode | undefined }) {
  const [zoom, setZoom] = useState(100);
  const [text, setText] = useState("");
  const find = useRef<HTMLInputElement>(null);
  useKey("f", () => find.current?.focus());
  const waves = useMemo(() => layers(plan.nodes), [plan.nodes.length]);
  const at = useMemo(() => {
    const places = new Map<number, { x: number; y: number }>();
    const tallest = Math.max(1, ...waves.map((wave) => wave.length));
    waves.forEach((wave, column) => wave.forEach((place, row) => places.set(place, { x: 16 + column * (kWide + kGapX), y: 36 + (row + (tallest - wave.length) / 2) * (kHigh + kGapY) })));
    return places;
  }, [waves]);
  const byPlace = new Map(plan.nodes.map((each) => [each.place, each]));
  const long = useMemo(() => longest(plan.nodes), [plan.nodes.length]);
  const width = 32 + waves.length * (kWide + kGapX);
  const height = 52 + Math.max(1, ...waves.map((wave) => wave.length)) * (kHigh + kGapY);
  const signs = new Map(plan.changes.map((each) => [each.component, { create: "+", change: "~", remove: "−", keep: "" }[each.sign]]));
  const done = (status: string) => plan.nodes.filter((each) => each.status === status).length;
  const wanted = text.toLowerCase();
  const select = (node: PlanNode) => setQuery("node", node.node);
  return (
    <Card
      title="Graph"
      note={<span class="row wrap"><span class="legend"><State kind="ok" /> {done("done")} done</span><span class="legend"><State kind="run" /> {done("running")} running</span><span class="legend"><State kind="idle" /> {done("waiting")} to come</span>{done("failed") > 0 && <span class="legend"><State kind="bad" /> {done("failed")} failed</span>}</span>}
      right={<span class="row hide-small"><input ref={find} class="field small" type="search" placeholder="Find node" aria-label="Find node" value={text} onInput={(event) => setText(event.currentTarget.value)} /><div class="segments"><button aria-label="Smaller" onClick={() => setZoom(Math.max(40, zoom - 20))}>−</button><button onClick={() => setZoom(100)}>{zoom} %</button><button aria-label="Larger" onClick={() => setZoom(Math.min(160, zoom + 20))}>+</button></div></span>}
      flush
    >
      <div class="graph hide-small" tabIndex={0} role="group" aria-label="The plan as a graph">
        <svg width={(width * zoom) / 100} height={(height * zoom) / 100} viewBox={`0 0 ${width} ${height}`}>
          {waves.map((wave, i) => {
            const nodes = wave.map((place) => byPlace.get(place)!);
            const took = Math.max(0, ...nodes.map((each) => each.took_ms ?? 0));
            return <g key={i}><text class="wave" x={16 + i * (kWide + kGapX)} y="22">Wave {i + 1}</text>{took > 0 && <text class="wave-time" x={16 + i * (kWide + kGapX) + kWide} y="22" text-anchor="end">{span(took)}</text>}</g>;
          })}
          {plan.nodes.flatMap((node) => node.after.map((next) => {
            const a = at.get(node.place);
            const b = at.get(next);
            if (!a || !b) return null;
            const x1 = a.x + kWide, y1 = a.y + kHigh / 2, x2 = b.x, y2 = b.y + kHigh / 2;
            const bend = Math.max(12, (x2 - x1) / 2);
            const ready = node.status === "done";
            return <path key={`${node.place}-${next}`} class={`edge ${ready ? "done" : "coming"} ${long.has(next) && long.has(node.place) ? "long" : ""}`} d={`M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`} />;
          }))}
          {plan.nodes.map((node) => {
            const p = at.get(node.place);
            if (!p) return null;
            const hit = wanted && `${node.target} ${node.kind}`.toLowerCase().includes(wanted);
            return (
              <g key={node.place} class={`node ${nodeClass(node.status)} ${node === chosen || hit ? "chosen" : ""}`} transform={`translate(${p.x} ${p.y})`} tabIndex={0} role="button" aria-label={`${node.target}, ${kindWord(node.kind)}, ${node.status}`} onClick={() => select(node)} onKeyDown={(event) => event.key === "Enter" && select(node)}>
                <title>{`${node.kind} ${node.node}`}</title>
                <rect width={kWide} height={kHigh} rx="8" />
                <g transform="translate(10 9)"><State kind={nodeKind(node.status)} /></g>
                <text x="30" y="20">{visible(node.target).slice(0, 12)}</text>
                <text class="kind" x="30" y="36">{kindWord(node.kind).slice(0, 13)}</text>
                <text x={kWide - 12} y="36" text-anchor="middle">{signs.get(node.target) ?? ""}</text>
              </g>
            );
          })}
        </svg>
      </div>
      <ul class="list small-only">
        {waves.flatMap((wave, i) => [<li key={`w${i}`} class="note">Wave {i + 1}</li>, ...wave.map((place) => { const node = byPlace.get(place)!; return <li key={place} onClick={() => select(node)}><State kind={nodeKind(node.status)} /><span class="two grow"><strong><T text={node.target} /></strong><span class="note">{kindWord(node.kind)}, {node.status}</span></span></li>; })])}
      </ul>
      {chosen && (
        <div class="card-foot">
          <State kind={nodeKind(chosen.status)} />
          <span class="two grow"><span><strong><T text={chosen.target} /></strong> <span class="second">{kindWord(chosen.kind)}</span> <span class="dim">{chosen.status}{chosen.took_ms !== null ? `, ${span(chosen.took_ms)}` : chosen.began_at ? ` for ${span(now.value - Date.parse(chosen.began_at))}` : ""}</span></span><span class="mono second"><T text={chosen.trouble ?? chosen.note ?? ""} max={200} /></span></span>
          <span class="note">{chosen.after.length ? <>Then: {chosen.after.map((place) => `${byPlace.get(place)?.target} ${kindWord(byPlace.get(place)?.kind ?? "")}`).join(", ")}</> : "Nothing waits for it"}</span>
        </div>
      )}
    </Card>
  );
}

// By node: those that must be done before it. A plan says it the other way round.
function befores(nodes: PlanNode[]): Map<number, number[]> {
  const all = new Map<number, number[]>();
  for (const node of nodes) for (const next of node.after) all.set(next, [...(all.get(next) ?? []), node.place]);
  return all;
}

// Waves as the plan has them, each sorted by where its predecessors stand, so that few edges cross.
function layers(nodes: PlanNode[]): number[][] {
  const waves: number[][] = [];
  const row = new Map<number, number>();
  const first = Math.min(...nodes.map((node) => node.wave), 1);
  for (const node of [...nodes].sort((a, b) => a.wave - b.wave || a.place - b.place)) (waves[node.wave - first] ??= []).push(node.place);
  const before = befores(nodes);
  for (const wave of waves) {
    if (!wave) continue;
    const weight = (place: number) => {
      const above = (before.get(place) ?? []).map((each) => row.get(each) ?? 0);
      return above.length ? above.reduce((a, b) => a + b, 0) / above.length : 0;
    };
    wave.sort((a, b) => weight(a) - weight(b));
    wave.forEach((place, i) => row.set(place, i));
  }
  return waves.filter(Boolean);
}

// The nodes of the longest path, by the time that nodes took or, before that, by their number.
function longest(nodes: PlanNode[]): Set<number> {
  const best = new Map<number, { length: number; from?: number }>();
  const before = befores(nodes);
  for (const node of [...nodes].sort((a, b) => a.wave - b.wave)) {
    let length = 0;
    let from: number | undefined;
    for (const each of before.get(node.place) ?? []) {
      const known = best.get(each)?.length ?? 0;
      if (known >= length) {
        length = known;
        from = each;
      }
    }
    best.set(node.place, { length: length + Math.max(1, node.took_ms ?? 1), ...(from !== undefined ? { from } : {}) });
  }
  let at = [...best].sort((a, b) => b[1].length - a[1].length)[0]?.[0];
  const path = new Set<number>();
  while (at !== undefined) {
    path.add(at);
    at = best.get(at)?.from;
  }
  return path;
}

