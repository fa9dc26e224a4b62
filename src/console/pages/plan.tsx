// Plan: what will change, in which order, and how far it has come. The graph is layered by wave; below 760 px it is a list.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { act, newKey } from "../api/client";
import type { Document } from "../api/client";
import { now } from "../api/live";
import { useCan, useView } from "../api/use";
import { useHome } from "../app/home";
import { useKey } from "../app/keys";
import { href, link, query, setQuery } from "../app/router";
import { useCrumbs } from "../app/shell";
import { toast, toastProblem } from "../app/toasts";
import type { PageProps } from "../pages";
import { Waiting } from "../parts/approval";
import { Button, Card, Empty, Fact, Loaded, Segments, WhyOff } from "../parts/basics";
import { ask } from "../parts/dialog";
import { Chip, State, sentenceCase } from "../parts/state";
import type { Kind } from "../parts/state";
import { T, When, middle, planName, plural, span, visible, who } from "../parts/text";
import { useWhy } from "../parts/why";
import { phaseKind, phaseWord } from "./plans";

type Plan = Document<"plan">;
type PlanNode = Plan["nodes"][number];

const nodeKind = (status: string): Kind =>
  ({ waiting: "idle", running: "run", done: "ok", failed: "bad", unknown: "warn", undoing: "run", undone: "undone", stuck: "wait", skipped: "skipped" } as Record<string, Kind>)[status] ?? "idle";
const nodeClass = (status: string): string => ({ done: "ok", running: "run", undoing: "run", failed: "bad", stuck: "wait", unknown: "wait", undone: "undone", skipped: "skipped" } as Record<string, string>)[status] ?? "";
const kindWord = (kind: string): string => sentenceCase(({ "deploy-concept": "deploy", "configure-transport": "transport", "traffic-split": "traffic" } as Record<string, string>)[kind] ?? kind.replace(/-/g, " "));

export default function PlanPage({ params }: PageProps) {
  const read = useView("plan", { plan: params.id! }, { everyMs: 1500, on: (event) => /^(plan|deployment|revision|rollout)\./.test(event.event) });
  useCrumbs([{ text: "Plans", to: href("/plans") }, ...(read.data ? [{ text: read.data.environment_id, to: link.environment(read.data.environment_id) }, { text: `plan ${read.data.app} ${planName(read.data.plan_id)}` }] : [{ text: params.id! }])]);
  return <Loaded read={read} what="The plan" lines={8}>{(data) => <Known plan={data} />}</Loaded>;
}

function Known({ plan }: { plan: Plan }) {
  const env = plan.environment_id;
  const home = useHome();
  const can = { execute: useCan("DeployPlan/execute", env), cancel: useCan("DeployPlan/cancel", env), rollback: useCan("DeployPlan/rollback", env) };
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
  const key = useMemo(newKey, [plan.phase]);
  const will = `${plan.summary.create} to create, ${plan.summary.change} to change, ${plan.summary.remove} to remove`;
  const execute = () => ask({ title: `Execute the plan for ${plan.app} in ${env}?`, will: [{ icon: "plan", text: `${will}, in ${plural(plan.summary.waves, "wave")}${plan.estimated_ms ? `; about ${span(plan.estimated_ms)}` : ""}.` }, { icon: "undo", text: plan.on_failure === "rollback" ? "If a part fails, all that was done is undone, newest first." : `If a part fails: ${plan.on_failure}.` }], reason: "asked", can: can.execute, yes: "Execute plan", no: "Not now", run: call("Execute", "The plan is executed.", (reason) => act("DeployPlan/execute", { plan: plan.plan_id }, { reason, key, wait: "start" })) });
  const cancel = () => ask({ title: `Cancel the plan for ${plan.app}?`, will: [{ icon: "abort", text: "What runs now is finished, nothing more is begun, and what was done is undone." }], reason: "asked", can: can.cancel, yes: "Cancel plan", no: "Let it run", danger: true, run: call("Cancel", "The plan is cancelled.", (reason) => act("DeployPlan/cancel", { plan: plan.plan_id }, { reason, key })) });
  const rollback = () => ask({ title: `Undo the plan for ${plan.app}?`, will: [{ icon: "undo", text: `${plural(counts(["done"]), "node")} ${counts(["done"]) === 1 ? "is" : "are"} undone, newest first.` }], reason: "asked", can: can.rollback, yes: "Undo plan", no: "Keep it", danger: true, run: call("Undo", "The plan is undone.", (reason) => act("DeployPlan/rollback", { plan: plan.plan_id }, { reason, key, wait: "start" })) });
  const open = (home.approvals.data ?? []).filter((each) => (each.input as { plan?: string } | null)?.plan === plan.plan_id);
  const runs = ["running", "queued", "undoing"].includes(plan.phase);
  const buttons = (
    <>
      <Button kind="primary" can={can.execute} off={plan.phase === "planned" ? (plan.stale ? "It is stale: plan again." : undefined) : `It is ${phaseWord(plan.phase).toLowerCase()}.`} onClick={execute}>Execute…</Button>
      {runs ? <Button icon="abort" kind="danger" can={can.cancel} onClick={cancel}>Cancel…</Button> : <Button icon="undo" can={can.rollback} off={["complete", "partial", "broken", "stopped"].includes(plan.phase) ? undefined : "Nothing of it was done."} onClick={rollback}>Undo…</Button>}
    </>
  );
  const why = useWhy(plan.plan_id, { since: plan.ended_at ?? plan.started_at ?? plan.created_at, ways: buttons, itself: runs ? "Its nodes end." : undefined });
  return (
    <>
      <div class="head">
        <div class="grow">
          <h1>Plan <T text={plan.app} max={40} /> <span class="mono dim">{planName(plan.plan_id)}</span> <Chip kind={phaseKind(plan.phase)}>{phaseWord(plan.phase)}{plan.phase === "running" ? `, ${plan.done} of ${plan.summary.nodes} nodes done` : ""}</Chip></h1>
          <div class="facts">
            <Fact name="Environment"><a href={link.environment(env)}>{env}</a></Fact>
            <Fact name="Version">{plan.version}</Fact>
            <Fact name="Made"><When at={plan.created_at} />{plan.created_by && ` by ${who(plan.created_by)}`}</Fact>
            {plan.started_at && <Fact name={plan.ended_at ? "Took" : "Executes for"}>{span((plan.ended_at ? Date.parse(plan.ended_at) : now.value) - Date.parse(plan.started_at))}</Fact>}
          </div>
        </div>
        <div class="actionbar fixed">
          {buttons}
          <button class="button" onClick={why.show}>Why <kbd class="hide-small">w</kbd></button>
        </div>
      </div>
      <WhyOff can={can.execute} what="Executing" />
      {(plan.reason || plan.waits_for) && <div class={`strip ${["broken", "stuck", "invalid"].includes(plan.phase) ? "bad" : "run"}`}><State kind={phaseKind(plan.phase)} /><span class="grow"><T text={plan.waits_for ?? plan.reason} max={400} /></span></div>}
      {open.length > 0 && <Card title="Approvals" note="it runs when they agree" flush><ul class="list">{open.map((each) => <Waiting key={each.approval} approval={each} me={home.me.data?.caller} />)}</ul></Card>}
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
                  <td class="whole" data-label="Value"><T text={field.name} /></td>
                  <td class="dim half" data-label="Now"><T text={field.before || "not set"} max={36} /></td>
                  <td class="half" data-label="After"><b><T text={field.after || "none"} max={36} /></b></td>
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

// A node is as wide as there is room for, and its text never smaller.
const kWidest = 128;
const kNarrowest = 96;
const kHigh = 48;
const kGapY = 16;

const kFolded = 76;
// Plans with more nodes fold what is done, and have a map.
const kMany = 60;
const kOver = new Set(["done", "undone", "skipped"]);

interface Place {
  x: number;
  y: number;
  wide: number;
}

function Graph({ plan, chosen }: { plan: Plan; chosen: PlanNode | undefined }) {
  const [zoom, setZoom] = useState(100);
  const [room, setRoom] = useState(0);
  const [text, setText] = useState("");
  const [unfolded, setUnfolded] = useState<ReadonlySet<number>>(new Set());
  const [sight, setSight] = useState({ left: 0, top: 0, wide: 0, high: 0 });
  const box = useRef<HTMLDivElement>(null);
  const moved = useRef(false);
  const find = useRef<HTMLInputElement>(null);
  useKey("f", () => find.current?.focus());
  const waves = useMemo(() => layers(plan.nodes), [plan.nodes.length]);
  const byPlace = new Map(plan.nodes.map((each) => [each.place, each]));
  const many = plan.nodes.length > kMany;
  const folded = waves.map((wave, i) => many && wave.length > 1 && !unfolded.has(i) && wave.every((place) => kOver.has(byPlace.get(place)!.status)));
  const foldedKey = folded.join();
  const { at, left, width, height, wide } = useMemo(() => {
    const at = new Map<number, Place>();
    const open = waves.filter((_, i) => !folded[i]);
    const gap = open.length > 7 ? 16 : 28;
    const wide = Math.max(kNarrowest, Math.min(kWidest, Math.floor((room - 40 + gap - (waves.length - open.length) * (kFolded + gap)) / Math.max(1, open.length)) - gap));
    const tallest = Math.max(1, ...open.map((wave) => wave.length));
    const left: number[] = [];
    let x = 16;
    waves.forEach((wave, column) => {
      left.push(x);
      const middle = 36 + ((tallest - 1) / 2) * (kHigh + kGapY);
      wave.forEach((place, row) => at.set(place, folded[column] ? { x, y: middle, wide: kFolded } : { x, y: 36 + (row + (tallest - wave.length) / 2) * (kHigh + kGapY), wide }));
      x += (folded[column] ? kFolded : wide) + gap;
    });
    return { at, left, width: x + 16 - gap, height: 52 + tallest * (kHigh + kGapY), wide };
  }, [waves, foldedKey, room]);
  const long = useMemo(() => longest(plan.nodes), [plan.nodes.length]);
  const edges = useMemo(() => {
    const seen = new Set<string>();
    return plan.nodes.flatMap((node) => node.after.flatMap((next) => {
      const a = at.get(node.place);
      const b = at.get(next);
      if (!a || !b || a === b || (a.x === b.x && a.y === b.y)) return [];
      const x1 = a.x + a.wide, y1 = a.y + kHigh / 2, x2 = b.x, y2 = b.y + kHigh / 2;
      const bend = Math.max(12, (x2 - x1) / 2);
      const d = `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`;
      if (seen.has(d)) return [];
      seen.add(d);
      return [{ from: node.place, next, d }];
    }));
  }, [at]);
  const changed = new Map(plan.changes.map((each) => [each.component, each.sign]));
  const signs = new Map(plan.changes.map((each) => [each.component, { create: "+", change: "~", remove: "−", keep: "" }[each.sign]]));
  const done = (status: string) => plan.nodes.filter((each) => each.status === status).length;
  const wanted = text.toLowerCase();
  const isHit = (node: PlanNode) => wanted !== "" && `${node.target} ${node.kind}`.toLowerCase().includes(wanted);
  const select = (node: PlanNode) => setQuery("node", node.node);
  const scale = zoom / 100;
  const look = () => {
    const element = box.current;
    if (element) setSight({ left: element.scrollLeft / scale, top: element.scrollTop / scale, wide: element.clientWidth / scale, high: element.clientHeight / scale });
  };
  const goTo = (place: Place | undefined) => {
    const element = box.current;
    if (!element || !place) return;
    element.scrollTo({ left: (place.x + place.wide / 2) * scale - element.clientWidth / 2, top: (place.y + kHigh / 2) * scale - element.clientHeight / 2 });
  };
  const fit = () => {
    const element = box.current;
    if (element) setZoom(Math.max(15, Math.min(100, Math.floor((100 * element.clientWidth) / width))));
  };
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const observer = new ResizeObserver(() => setRoom(element.clientWidth));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  // A graph that is a little too wide begins small enough to be seen whole, as long as it can be read.
  useEffect(() => {
    if (!room || many) return;
    setZoom(Math.max(90, Math.min(100, Math.floor((100 * room) / width))));
  }, [width, room]);
  useEffect(look, [zoom, width, height]);
  // The view follows what runs, unless somebody has moved it; what is looked for comes into sight.
  const running = plan.nodes.find((each) => each.status === "running" || each.status === "failed")?.place;
  useEffect(() => {
    if (!moved.current && running !== undefined && many) goTo(at.get(running));
  }, [running, at]);
  useEffect(() => {
    const hit = plan.nodes.find(isHit);
    if (hit) goTo(at.get(hit.place));
  }, [wanted]);
  return (
    <Card
      title="Graph"
      note={<span class="row wrap"><span class="legend"><State kind="ok" /> {done("done")} done</span><span class="legend"><State kind="run" /> {done("running")} running</span><span class="legend"><State kind="idle" /> {done("waiting")} to come</span>{done("failed") > 0 && <span class="legend"><State kind="bad" /> {done("failed")} failed</span>}</span>}
      right={<span class="row hide-small"><input ref={find} class="field small" type="search" placeholder="Find node" aria-label="Find node" value={text} onInput={(event) => setText(event.currentTarget.value)} /><div class="segments"><button aria-label="Smaller" onClick={() => setZoom(Math.max(15, zoom - (zoom > 40 ? 20 : 10)))}>−</button><button title="Back to 100 %" onClick={() => setZoom(100)}>{zoom} %</button><button aria-label="Larger" onClick={() => setZoom(Math.min(160, zoom + 20))}>+</button><button onClick={fit}>Fit</button></div></span>}
      flush
    >
      <div class="graph-box hide-small">
        <div
          class="graph" ref={box} tabIndex={0} role="group" aria-label="The plan as a graph" onScroll={look}
          onWheel={(event) => { moved.current = true; if (event.ctrlKey) { event.preventDefault(); setZoom(Math.max(15, Math.min(160, zoom - Math.sign(event.deltaY) * 10))); } }}
          onPointerDown={() => (moved.current = true)}
        >
          <svg width={width * scale} height={height * scale} viewBox={`0 0 ${width} ${height}`}>
            {waves.map((wave, i) => {
              const took = Math.max(0, ...wave.map((place) => byPlace.get(place)!.took_ms ?? 0));
              return <g key={i}><text class="wave" x={left[i]} y="22">{folded[i] ? i + 1 : `Wave ${i + 1}`}</text>{took > 0 && <text class="wave-time" x={left[i]! + (folded[i] ? kFolded : wide)} y="22" text-anchor="end">{span(took)}</text>}</g>;
            })}
            {edges.map((edge) => <path key={`${edge.from}-${edge.next}`} class={`edge ${byPlace.get(edge.from)!.status === "done" ? "done" : "coming"} ${long.has(edge.next) && long.has(edge.from) ? "long" : ""}`} d={edge.d} />)}
            {waves.flatMap((wave, column) => {
              if (folded[column]) {
                const p = at.get(wave[0]!)!;
                const unfold = () => setUnfolded(new Set([...unfolded, column]));
                return [
                  <g key={`f${column}`} class="node ok folded" transform={`translate(${p.x} ${p.y})`} tabIndex={0} role="button" aria-label={`Wave ${column + 1}, ${wave.length} nodes are done; unfold`} onClick={unfold} onKeyDown={(event) => event.key === "Enter" && unfold()}>
                    <rect x="4" y="-4" width={kFolded - 4} height={kHigh} rx="8" /><rect width={kFolded - 4} height={kHigh} rx="8" />
                    <g transform="translate(10 17)"><State kind="ok" /></g>
                    <text x="30" y="29">{wave.length}</text>
                  </g>,
                ];
              }
              return wave.map((place) => {
                const node = byPlace.get(place)!;
                const p = at.get(place)!;
                return (
                  <g key={place} class={`node ${nodeClass(node.status)} ${node === chosen || isHit(node) ? "chosen" : ""}`} transform={`translate(${p.x} ${p.y})`} tabIndex={0} role="button" aria-label={`${visible(node.target).slice(0, 80)}, ${kindWord(node.kind)}, ${node.status}`} onClick={() => select(node)} onKeyDown={(event) => event.key === "Enter" && select(node)}>
                    <title>{`${node.kind} ${visible(node.node)}`}</title>
                    <rect width={wide} height={kHigh} rx="8" />
                    <g transform="translate(9 9)"><State kind={nodeKind(node.status)} /></g>
                    <text x="29" y="20">{middle(visible(node.target), Math.floor((wide - 33) / 7.3))}</text>
                    <text class="kind" x="29" y="36">{kindWord(node.kind).slice(0, Math.floor((wide - 31) / 6.4))}</text>
                    <text class={`sign-${changed.get(node.target) ?? "keep"}`} x="16" y="37" text-anchor="middle">{signs.get(node.target) ?? ""}</text>
                  </g>
                );
              });
            })}
          </svg>
        </div>
        {many && (
          <svg class="graph-map" viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="xMinYMin meet" aria-hidden="true"
            onClick={(event) => { const rect = event.currentTarget.getBoundingClientRect(); const by = Math.max(width / rect.width, height / rect.height); moved.current = true; goTo({ x: (event.clientX - rect.left) * by, y: (event.clientY - rect.top) * by, wide: 0 }); }}>
            {plan.nodes.map((node) => { const p = at.get(node.place)!; return <rect key={node.place} class={`tiny ${nodeClass(node.status)}`} x={p.x} y={p.y} width={p.wide} height={kHigh} />; })}
            <rect class="sight" x={sight.left} y={sight.top} width={sight.wide} height={sight.high} />
          </svg>
        )}
      </div>
      <ul class="list small-only">
        {waves.flatMap((wave, i) => [<li key={`w${i}`} class="note">Wave {i + 1}</li>, ...wave.map((place) => { const node = byPlace.get(place)!; return <li key={place} onClick={() => select(node)}><State kind={nodeKind(node.status)} /><span class="two grow"><strong><T text={node.target} max={60} /></strong><span class="note">{kindWord(node.kind)}, {node.status}</span></span></li>; })])}
      </ul>
      {chosen && (
        <div class="card-foot">
          <State kind={nodeKind(chosen.status)} />
          <span class="two grow"><span><strong><T text={chosen.target} max={60} /></strong> <span class="second">{kindWord(chosen.kind)}</span> <span class="dim">{chosen.status}{chosen.took_ms !== null ? `, ${span(chosen.took_ms)}` : chosen.began_at ? ` for ${span(now.value - Date.parse(chosen.began_at))}` : ""}</span></span><span class="mono second"><T text={chosen.trouble ?? chosen.note ?? ""} max={200} /></span></span>
          <span class="note">{chosen.after.length ? <>Then: <T text={chosen.after.map((place) => `${byPlace.get(place)?.target} ${kindWord(byPlace.get(place)?.kind ?? "")}`).join(", ")} max={160} /></> : "Nothing waits for it"}</span>
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

