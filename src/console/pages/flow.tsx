// Flow: the trace as a tree with times beside it, the syncs that did not fire and what they miss, the record that is
// selected, and every object that was touched.
import { useState } from "preact/hooks";
import type { Document } from "../api/client";
import { now } from "../api/live";
import { useView } from "../api/use";
import { href, link, query, setQuery } from "../app/router";
import { useCrumbs } from "../app/shell";
import type { PageProps } from "../pages";
import { Card, Fact, Loaded, Segments } from "../parts/basics";
import { Chip, State, sentenceCase } from "../parts/state";
import type { Kind } from "../parts/state";
import { Copy, T, When, clock, planName, plainTimes, plural, shortId, span, who } from "../parts/text";
import { useWhy } from "../parts/why";
import { flowKind } from "./flows";

type Flow = Document<"flow">;
type Invocation = Flow["invocations"][number];

interface Node {
  it: Invocation;
  depth: number;
}

export default function FlowPage({ params }: PageProps) {
  // Of what waits or failed people ask what is missing; of what is over, seldom.
  const [asked, showMisses] = useState<boolean>();
  const read = useView("flow", { flow: params.id!, misses: true }, { everyMs: 5000, on: (event) => event.flow === params.id });
  useCrumbs([{ text: "Flows", to: href("/flows") }, { text: `flow ${shortId(params.id!)}` }]);
  return (
    <Loaded read={read} what="The flow" lines={9}>
      {(flow) => <Known flow={flow} misses={asked ?? flow.state !== "settled"} showMisses={showMisses} />}
    </Loaded>
  );
}

// In the order of the journal, beneath whoever asked.
function tree(flow: Flow): Node[] {
  const children = new Map<string, Invocation[]>();
  const ids = new Set(flow.invocations.map((each) => each.id));
  const roots: Invocation[] = [];
  for (const each of flow.invocations) {
    const above = each.beneath && ids.has(each.beneath) ? each.beneath : undefined;
    if (above) children.set(above, [...(children.get(above) ?? []), each]);
    else roots.push(each);
  }
  const all: Node[] = [];
  const walk = (it: Invocation, depth: number) => {
    all.push({ it, depth });
    for (const child of children.get(it.id) ?? []) walk(child, depth + 1);
  };
  for (const root of roots) walk(root, 0);
  return all;
}

function kindOf(it: Invocation): Kind {
  if (!it.end) return it.state === "waiting" || it.beganAt ? "wait" : "run";
  if (it.end.variant === "engine.cancelled") return "skipped";
  return /^(ok|fresh|current|counted|withdrawn|staged)/.test(it.end.variant) || !/fail|error|refus|denied|conflict|unhealthy|engine\./i.test(it.end.variant) ? "ok" : "bad";
}

function Known({ flow, misses, showMisses }: { flow: Flow; misses: boolean; showMisses: (on: boolean) => void }) {
  const nodes = tree(flow);
  const mode = query.value.get("view") ?? "both";
  const chosenId = query.value.get("step");
  const chosen = nodes.find(({ it }) => it.id === chosenId)?.it ?? nodes.find(({ it }) => !it.end)?.it ?? nodes[0]?.it;
  const begin = Date.parse(flow.beganAt);
  const end = flow.settledAt ? Date.parse(flow.settledAt) : now.value;
  const whole = Math.max(1, end - begin);
  const failed = flow.didNotFire ?? [];
  const left = (at: string | undefined) => `${(((at ? Date.parse(at) : end) - begin) / whole) * 100}%`;
  const width = (from: string | undefined, to: string | undefined) => `${Math.max(0, (((to ? Date.parse(to) : end) - (from ? Date.parse(from) : begin)) / whole) * 100)}%`;
  const rows = mode === "time" ? [...nodes].sort((a, b) => (a.it.beganAt ?? a.it.askedAt ?? "").localeCompare(b.it.beganAt ?? b.it.askedAt ?? "")) : nodes;
  // What the calls that it waits for are about has the buttons.
  const why = useWhy(flow.flow, { since: flow.settledAt ?? flow.beganAt, ways: flow.waits.length > 0 && touched(flow).filter((each) => each.to).slice(0, 6).map((each) => <a key={each.label} class="button" href={each.to}>Open {each.label}</a>) });
  return (
    <>
      <div class="head">
        <div class="grow">
          <h1><span class="mono big-mono"><T text={flow.action ?? "flow"} /></span> <Chip kind={flowKind(flow.state)}>{sentenceCase(flow.stateText)}</Chip></h1>
          <div class="facts">
            <Fact name="Flow"><span class="mono">{shortId(flow.flow)}</span> <Copy text={flow.flow} label="Copy the flow's id" /></Fact>
            <Fact name="Began"><When at={flow.beganAt} seconds /></Fact>
            {flow.caller && <Fact name="By"><T text={who(flow.caller)} /></Fact>}
            <Fact name="Took">{span(end - begin)}</Fact>
            <Fact name="Steps">{flow.steps}</Fact>
            {flow.follows && <Fact name="Follows"><a href={link.flow(flow.follows.flow)}>{flow.follows.sync}</a></Fact>}
          </div>
          {flow.reason && <p class="second">“<T text={flow.reason} max={300} />”</p>}
        </div>
        <div class="actionbar"><button class="button" onClick={() => void navigator.clipboard?.writeText(location.href)}>Copy link</button><button class="button" onClick={why.show}>Why <kbd class="hide-small">w</kbd></button></div>
      </div>

      {(flow.waits.length > 0 || flow.failure) && (
        <Card>
          <div class="stack">
            {flow.failure && <p class="sentence row"><State kind="bad" /><span><T text={`${flow.failure.action} ended in ${flow.failure.end?.variant ?? "nothing"}${messageOf(flow.failure) ? `: ${messageOf(flow.failure)}` : ""}`} max={600} /></span></p>}
            {flow.waits.map((wait) => (
              <div key={wait.id}>
                <p class="sentence row"><State kind="wait" /><span><T text={plainTimes(wait.text)} max={600} /></span></p>
                {(wait.awaitedBy ?? []).length > 0 && <p class="note">Then: {(wait.awaitedBy ?? []).map((each) => each.sync).join(", ")}</p>}
              </div>
            ))}
          </div>
        </Card>
      )}

      <div class="grid cols-main">
        <Card
          title="Flow trace"
          right={<>
            <Segments label="How" value={mode} options={[["both", "Tree and time"], ["tree", "Tree"], ["time", "Time line"]]} onChange={(value) => setQuery("view", value === "both" ? undefined : value)} />
            <label class="row note"><input type="checkbox" checked={misses} onChange={(event) => showMisses(event.currentTarget.checked)} /> Syncs that did not fire ({failed.length})</label>
          </>}
          flush
        >
          <table class="trace">
            <thead><tr><th>What happened, and by which sync</th>{mode !== "tree" && <th class="trace-time hide-small"><span class="row"><span class="grow">{clock(begin, true)}</span><span>{clock(end, true)}</span></span></th>}<th class="n">Took</th></tr></thead>
            <tbody>
              {rows.map(({ it, depth }) => {
                const kind = kindOf(it);
                return (
                  <tr key={it.id} class={it === chosen ? "chosen" : ""} data-row tabIndex={0} onClick={() => setQuery("step", it.id)} onKeyDown={(event) => event.key === "Enter" && setQuery("step", it.id)}>
                    <td>
                      <div class="what">
                        {mode !== "time" && Array.from({ length: Math.min(depth, 6) }, (_, i) => <span key={i} class="nest" />)}
                        <State kind={kind} label={it.end?.variant ?? it.state ?? "open"} />
                        <div class="grow">
                          <div class="act"><T text={it.action} /> {it.end ? <span class="dim">{"=> "}{it.end.variant}</span> : <span class="text-warn">{it.state ?? "open"}</span>} <span class="second plain-font"><T text={said(it)} max={70} /></span></div>
                          <div class="note">{it.askedBy ? `by ${it.askedBy.sync}` : it.undoes ? "undoes an earlier step" : `asked by ${who(flow.caller)}`}{it.note ? <>; <T text={it.note} max={80} /></> : null}</div>
                        </div>
                      </div>
                    </td>
                    {mode !== "tree" && <td class="trace-time hide-small"><div class="timebar"><i class={it.end ? `fill-${kind === "bad" ? "bad" : "ok"}` : "open"} style={{ left: left(it.beganAt ?? it.askedAt), width: width(it.beganAt ?? it.askedAt, it.endedAt) }} /></div></td>}
                    <td class="n">{it.endedAt && (it.beganAt ?? it.askedAt) ? span(Date.parse(it.endedAt) - Date.parse((it.beganAt ?? it.askedAt)!) || 0.5) : it.beganAt ? span(now.value - Date.parse(it.beganAt)) : "–"}</td>
                  </tr>
                );
              })}
              {misses && failed.map((each, i) => (
                <tr key={`m${i}`} class="missed">
                  <td colSpan={2}><div class="what"><span class="nest" /><State kind="nofire" label="did not fire" /><div class="grow"><div class="act dim"><T text={each.sync} /> <span class="plain-font">did not fire</span></div><div class="note">misses <code class="text-bad"><T text={each.missing} max={160} /></code></div></div></div></td>
                  {mode !== "tree" && <td class="hide-small" />}
                </tr>
              ))}
            </tbody>
          </table>
          <div class="card-foot note">{plural(flow.invocations.length, "step")} shown{flow.followUps.length ? <>, and {plural(flow.followUps.length, "flow")} that followed: {flow.followUps.slice(0, 6).map((each) => <a key={each.flow} class="tag" href={link.flow(each.flow)}>{shortId(each.flow)} {each.state}</a>)}</> : ""}</div>
        </Card>
        <div class="stack">
          {chosen && <Chosen it={chosen} />}
          <Touched flow={flow} />
          {flow.lastLines.length > 0 && <Card title="Last lines"><pre>{flow.lastLines.map((line, i) => <div key={i}><T text={line} max={400} /></div>)}</pre></Card>}
          {flow.notes.map((note, i) => <p key={i} class="note"><T text={note} max={600} /></p>)}
        </div>
      </div>
      {why.panel}
    </>
  );
}

const record = (value: unknown): Record<string, unknown> => (value && typeof value === "object" && !Array.isArray(value) ? (value as Record<string, unknown>) : {});
const messageOf = (it: Invocation): string => { const message = record(it.end?.fields).message; return typeof message === "string" ? message : ""; };

// The shortest that says what it was about.
function said(it: Invocation): string {
  const fields = { ...record(it.input), ...record(it.end?.fields) };
  return ["message", "bundle", "environment", "version", "generation", "weightBps", "step", "status", "router", "name"].map((key) => (typeof fields[key] === "string" || typeof fields[key] === "number" ? `${key === "message" ? "" : `${key} `}${String(fields[key])}` : "")).filter(Boolean).slice(0, 2).join(", ");
}

function Chosen({ it }: { it: Invocation }) {
  const rows = (value: unknown) => Object.entries(record(value)).slice(0, 14).map(([key, each]) => [<dt key={key}>{key}</dt>, <dd key={`${key}d`} class="mono"><T text={typeof each === "string" ? each : JSON.stringify(each)} max={160} /></dd>]);
  return (
    <Card title={<code><T text={it.action} /></code>} right={<Chip kind={kindOf(it)}>{it.end?.variant ?? it.state ?? "open"}</Chip>}>
      <dl class="kv">
        <dt>Asked by</dt><dd>{it.askedBy ? `sync ${it.askedBy.sync}` : "the caller"}</dd>
        {it.kind && <><dt>Kind</dt><dd>{it.kind}</dd></>}
        {it.beganAt && <><dt>Began</dt><dd><When at={it.beganAt} seconds /></dd></>}
        {it.dueAt && <><dt>Due</dt><dd><When at={it.dueAt} seconds /></dd></>}
        {it.attempts !== undefined && <><dt>Attempts</dt><dd>{it.attempts}</dd></>}
        {it.answeredBy && <><dt>Answered by</dt><dd>{/^flow [0-9A-Z]{26}$/.test(it.answeredBy) ? <a href={link.flow(it.answeredBy.slice(5))}>flow {shortId(it.answeredBy)}</a> : <T text={it.answeredBy} />}</dd></>}
        {(it.guards ?? []).length > 0 && <><dt>Guards</dt><dd>{it.guards!.join(", ")}</dd></>}
      </dl>
      <details class="more" open><summary>Input</summary><dl class="kv">{rows(it.input)}</dl></details>
      {it.end && <details class="more"><summary>Result: {it.end.variant}</summary><dl class="kv">{rows(it.end.fields)}</dl></details>}
    </Card>
  );
}

interface Thing {
  label: string;
  to?: string;
}

function touched(flow: Flow): Thing[] {
  const found = new Map<string, Thing>();
  for (const it of flow.invocations) {
    const fields = { ...record(it.input), ...record(it.end?.fields) };
    const text = (key: string) => (typeof fields[key] === "string" ? (fields[key] as string) : undefined);
    const env = text("environment");
    if (env) found.set(`e${env}`, { label: env, to: link.environment(env) });
    const deployment = text("deployment");
    if (deployment && deployment.length === 26) found.set(deployment, { label: `deployment ${shortId(deployment)}`, ...(env ? { to: link.deployment(env, deployment) } : {}) });
    const rollout = text("rollout");
    if (rollout) found.set(rollout, { label: `rollout ${shortId(rollout)}`, to: link.rollout(rollout) });
    const plan = text("plan");
    if (plan) found.set(plan, { label: `plan ${planName(plan)}`, to: link.plan(plan) });
    const revision = text("revision");
    if (revision && revision.length === 26) found.set(revision, { label: `revision ${shortId(revision)}` });
    const router = text("router");
    if (router) found.set(router, { label: `router ${shortId(router)}` });
  }
  return [...found.values()];
}

function Touched({ flow }: { flow: Flow }) {
  const all = touched(flow);
  if (!all.length) return null;
  return <Card title="Touched"><div class="tags">{all.slice(0, 30).map((each) => each.to ? <a key={each.label} class="tag" href={each.to}>{each.label}</a> : <span key={each.label} class="tag">{each.label}</span>)}</div></Card>;
}
