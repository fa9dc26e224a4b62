// Overview: in ten seconds you know whether to act. One sentence, what needs attention, the environments side by side,
// what changes now, what waits for whom, and what happened.
import { Component } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Document } from "../api/client";
import { now } from "../api/live";
import { useView } from "../api/use";
import { underWay, useHome, waitsForMe, planRuns } from "../app/home";
import type { FleetEnvironment, Health } from "../app/home";
import { href, link, query, setQuery } from "../app/router";
import { useCrumbs } from "../app/shell";
import { Bar, Card, Failed, Segments, Skeleton } from "../parts/basics";
import { Spark } from "../parts/chart";
import { Icon } from "../parts/icons";
import { State, rolloutKind } from "../parts/state";
import type { Kind } from "../parts/state";
import { Split } from "../parts/traffic";
import { T, When, clock, count, num, percent, planName, plural, share, span, who } from "../parts/text";
import { FirstRun } from "./first_run";

const kTroubles = 8;
// Changes that people make without a rollout.
const kByHand = /^(Traffic|Deployment|Config|Secret|Env)\//;
// What looks and changes nothing, or what commands do before they begin.
const kNoChange = /^(Env|Trust)\/open$|^Router\/register$|^Cluster\/(diff|status)$|^Env\/doctor$/;
// What the list and the timeline of recent changes are made of.
const kMostTold = 80;

interface Trouble {
  kind: Kind;
  name: string;
  env: string;
  text: string;
  at?: string;
  to: string;
  button: string;
}

export default function Overview() {
  useCrumbs([{ text: "Overview" }]);
  const home = useHome();
  const ended = useView("rollouts", { ended: true }, { on: (event) => event.event.startsWith("rollout.") });
  const fleet = home.fleet.data;
  const sick = fleet ? fleet.environments.reduce((sum, each) => sum + each.failed + each.degraded, 0) : 0;
  const unwell = useView("fleet", sick ? { health: ["failed", "degraded"], limit: kTroubles } : null, { everyMs: 5000, on: (event) => /^(deployment|revision|rollout)\./.test(event.event) });
  if (!fleet) return home.fleet.problem ? <Card><Failed read={home.fleet} what="The overview" /></Card> : <><div class="head"><h1>Overview</h1></div><Skeleton lines={8} /></>;
  const envs = fleet.environments;
  if (fleet.deployments === 0) return <FirstRun />;
  const rollouts = (home.rollouts.data ?? []).filter((each) => underWay(each.status));
  const plans = (home.plans.data ?? []).filter((each) => planRuns(each.phase));
  const approvals = home.approvals.data ?? [];
  const mine = approvals.filter((each) => waitsForMe(each, home.me.data?.caller));

  const troubles: Trouble[] = [];
  for (const each of unwell.data?.shown ?? []) {
    troubles.push({ kind: each.health === "failed" ? "bad" : "warn", name: each.bundle, env: each.environment, text: `${each.said}. `, to: link.deployment(each.environment, each.deployment), button: "See why" });
  }
  for (const each of ended.data ?? []) {
    const recent = each.ended_at && now.value - Date.parse(each.ended_at) < 3_600_000;
    const newer = (ended.data ?? []).find((other) => other.deployment === each.deployment && other.started_at > each.started_at);
    if (each.status === "aborted" && recent && !newer) {
      troubles.push({ kind: "bad", name: each.bundle, env: each.environment, text: `${each.canary.name} was aborted: ${each.reason.replace(/\.$/, "")}. ${each.baseline ? `All traffic is back on ${each.baseline.name}.` : ""}`, at: each.ended_at ?? undefined, to: link.rollout(each.rollout), button: "See verdict" });
    }
    if (each.status === "stuck") troubles.push({ kind: "warn", name: each.bundle, env: each.environment, text: each.waits_for || each.reason, at: each.stepped_at, to: link.rollout(each.rollout), button: "See why" });
  }
  for (const env of envs) {
    for (const router of env.routers) {
      if (!router.running) troubles.push({ kind: "wait", name: `router ${router.name}`, env: env.environment, text: "It does not run on this machine; its last table stays in force when it is back.", to: link.environment(env.environment), button: "Show" });
    }
  }
  if (fleet.clock) troubles.push({ kind: "warn", name: "clock", env: "", text: `${fleet.clock.what}; ${fleet.clock.next}`, to: href("/audit"), button: "Show" });
  const order: Kind[] = ["bad", "warn", "wait"];
  troubles.sort((a, b) => order.indexOf(a.kind) - order.indexOf(b.kind));
  const needed = troubles.length + Math.max(0, sick - (unwell.data?.shown.length ?? sick));
  const changes = rollouts.length + plans.length;
  const verb = (n: number, one: string, many: string) => (n === 1 ? one : many);

  return (
    <>
      <div class="head">
        <div class="grow">
          <h1>Overview</h1>
          <p class="second">
            {plural(fleet.deployments, "deployment")} in {plural(envs.length, "environment")}. <strong>{plural(changes, "change")}</strong> {verb(changes, "is", "are")} under way,{" "}
            <strong>{plural(needed, "thing")}</strong> {verb(needed, "needs", "need")} attention, <strong>{plural(mine.length, "decision")}</strong> {verb(mine.length, "waits", "wait")} for you.
          </p>
        </div>
        <div class="actionbar"><a class="button" href={href("/deploy")}><Icon name="upload" /><span>Deploy…</span></a></div>
      </div>

      <Card title={<>Needs attention {needed > 0 && <span class="badge">{needed}</span>}</>} flush>
        {troubles.length === 0 ? (
          <div class="list"><div class="item one"><State kind="ok" /><span class="second">Nothing. Every replica that gets traffic is healthy, and no rollout was aborted in the last hour.</span></div></div>
        ) : (
          <ul class="list">
            {troubles.slice(0, kTroubles).map((each, i) => (
              <li key={i} data-row>
                <State kind={each.kind} label={each.kind} />
                <span class="two attention-name"><strong><T text={each.name} max={40} /></strong><span class="note"><T text={each.env} max={30} /></span></span>
                <span class="grow"><T text={each.text} max={240} /></span>
                {each.at && <span class="dim nowrap"><When at={each.at} /></span>}
                <a class="button small attention-go" href={each.to}>{each.button}</a>
              </li>
            ))}
            {needed > kTroubles && <li class="note"><a href={href("/deployments?state=unwell")}>{needed - kTroubles} more</a></li>}
          </ul>
        )}
      </Card>

      <div class="grid cols-envs">
        {envs.map((each) => <KeptCard key={each.environment} env={each} />)}
      </div>

      <div class="grid cols-main">
        <Card title={<>Changing now {changes > 0 && <span class="badge">{changes}</span>}</>} right={<a href={href("/rollouts")}>All rollouts</a>} flush>
          {changes === 0 ? <p class="empty">No rollout and no plan is under way.</p> : (
            <ul class="list">
              {rollouts.map((each) => (
                <li key={each.rollout} data-row>
                  <a class="two changing-name" href={link.rollout(each.rollout)}><strong><T text={each.bundle} max={30} /></strong><span class="note"><T text={each.environment} max={20} /></span></a>
                  <span class="two changing-what"><span class="nowrap">{each.baseline ? `${each.baseline.name} → ` : ""}<b>{each.canary.name}</b></span><span class="note">Step {Math.max(1, each.step)} of {each.steps.length}</span></span>
                  <span class="changing-bar">
                    <Split parts={[{ revision: "c", label: each.canary.name, mark: "new", bps: each.weight_asked_bps }, { revision: "b", label: each.baseline?.name ?? "", mark: "old", bps: 10_000 - each.weight_asked_bps }]} />
                    <span class="note">{percent(each.weight_asked_bps)}</span>
                  </span>
                  <span class="grow row"><State kind={each.status === "running" ? "judge" : rolloutKind(each.status)} /><span class="grow"><T text={each.waits_for.split("; ")[0]} max={140} />{each.seconds_left !== null && each.seconds_left > 0 && !/ another /.test(each.waits_for) && <span class="dim"> about {span(each.seconds_left * 1000)} left</span>}</span></span>
                </li>
              ))}
              {plans.map((each) => (
                <li key={each.plan_id} data-row>
                  <a class="two changing-name" href={link.plan(each.plan_id)}><strong><T text={each.app} max={30} /></strong><span class="note">{each.environment_id}</span></a>
                  <span class="two changing-what"><span>Plan {planName(each.plan_id)}</span><span class="note">{each.phase}</span></span>
                  <span class="changing-bar"><span class="progress"><i style={{ width: `${(each.done / Math.max(1, each.summary.nodes)) * 100}%` }} /></span><span class="note">{each.done} of {each.summary.nodes}</span></span>
                  <span class="grow" />
                </li>
              ))}
            </ul>
          )}
        </Card>
        <Card title="Waiting for someone" right={<a href={href("/access")}>All</a>} flush>
          {approvals.length === 0 ? <p class="empty">No call waits for anybody to agree.</p> : (
            <ul class="list">
              {[...approvals].sort((a, b) => Number(mine.includes(b)) - Number(mine.includes(a))).slice(0, 6).map((each) => (
                <li key={each.approval} data-row>
                  {mine.includes(each) ? <Icon name="user" /> : <State kind="wait" />}
                  <span class="two grow"><span><T text={each.action} /> {each.environment && <span class="dim">in {each.environment}</span>}</span><span class="note">{mine.includes(each) ? "You" : "Others"}, {each.yes.length} of {each.needed} agreed; asked by {who(each.requester)}</span></span>
                  <a class="button small" href={href("/access")}>{mine.includes(each) ? "Decide…" : "Show"}</a>
                </li>
              ))}
            </ul>
          )}
        </Card>
      </div>
      <Recent environments={envs.map((each) => each.environment)} ended={ended.data ?? []} />
    </>
  );
}

// Of hundreds each is drawn again only when it has changed itself, not with every second of the page's clock.
class KeptCard extends Component<{ env: FleetEnvironment }> {
  override shouldComponentUpdate(next: { env: FleetEnvironment }) {
    return JSON.stringify(next.env) !== JSON.stringify(this.props.env);
  }
  override render({ env }: { env: FleetEnvironment }) {
    return <EnvironmentCard env={env} />;
  }
}

// Cards out of sight ask for nothing.
function useSight() {
  const box = useRef<HTMLElement>(null);
  const [seen, see] = useState(false);
  useEffect(() => {
    const observer = new IntersectionObserver((all) => see(all[all.length - 1]!.isIntersecting), { rootMargin: "100px" });
    observer.observe(box.current!);
    return () => observer.disconnect();
  }, []);
  return { box, seen };
}

function EnvironmentCard({ env }: { env: FleetEnvironment }) {
  const id = env.environment;
  const { box, seen } = useSight();
  const series = useView("series", seen ? { environment: id, range_s: 900 } : null, { everyMs: 15_000, on: () => false });
  const kinds: [Health, Kind, string][] = [["healthy", "ok", "healthy"], ["changing", "run", "changing"], ["degraded", "warn", "degraded"], ["failed", "bad", "failed"], ["paused", "paused", "paused"], ["idle", "idle", "no traffic"]];
  const shown = kinds.filter(([health]) => env[health]);
  const total = series.data?.total;
  const rate = (total?.last_minute ?? 0) / 60;
  const errors = total?.error_share.filter((each): each is number => each !== null).slice(-12) ?? [];
  const routers = env.routers;
  const newest = Math.max(0, ...routers.map((each) => each.generation));
  const current = routers.filter((each) => each.running && each.generation === newest).length;
  return (
    <section class="card" data-row ref={box}>
      <div class="card-body env-card">
        <div class="row"><h2 class="grow env-name"><a href={link.environment(id)}><T text={id} max={30} /></a></h2><span class="dim">{plural(env.deployments, "deployment")}</span></div>
        <Bar label={shown.map(([health, , word]) => `${env[health]} ${word}`).join(", ") || "nothing deployed"} parts={shown.map(([health, kind, word]) => ({ share: env[health], tone: { ok: "ok", run: "run", warn: "warn", bad: "bad", paused: "idle", idle: "idle" }[kind as "ok"], title: `${env[health]} ${word}` }))} />
        <div class="row wrap env-states">{shown.length ? shown.map(([health, kind, word]) => <span key={health} class="legend"><State kind={kind} /> {env[health]} {word}</span>) : <span class="dim">nothing deployed yet</span>}</div>
        <div class="row env-rate">
          <span class="grow two"><strong class="big value">{num(rate)} /s</strong><span class="dim">errors {errors.length ? share(errors.reduce((a, b) => a + b, 0) / errors.length) : "–"}</span></span>
          {total && <Spark values={total.requests_per_s} label={`Requests of the last 15 minutes, now ${num(rate)} a second`} />}
        </div>
        <div class="env-foot">
          <span class="two"><span class="note">Health</span><a href={link.environment(id)}>Ask the doctor</a></span>
          <span class="two"><span class="note">Routers</span><span class="legend">{routers.length > current && <State kind="wait" />} {routers.length ? `${current} of ${routers.length} current` : "none"}</span></span>
        </div>
      </div>
    </section>
  );
}

type AuditRow = Document<"audit">[number];

const kRanges = [["1h", "1 h"], ["6h", "6 h"], ["24h", "24 h"]] as const;
type Range = (typeof kRanges)[number][0];

function Recent({ environments, ended }: { environments: string[]; ended: Document<"rollouts"> }) {
  const range = (query.value.get("range") as Range | null) ?? "1h";
  const hours = { "1h": 1, "6h": 6, "24h": 24 }[range] ?? 1;
  // Whole hours: all who look at the overview ask the same.
  const since = useMemo(() => new Date((Math.floor(Date.now() / 3_600_000) - hours) * 3_600_000).toISOString(), [hours]);
  const read = useView("audit", { since, limit: kMostTold, newest: true }, { apartMs: 3000 });
  const begin = now.value - hours * 3_600_000;
  const rows = (read.data ?? []).filter((row) => Date.parse(row.at) >= begin);
  // What Sluice notes of itself is in the audit.
  const told = rows.filter((row) => row.action && !row.caller.startsWith("sluice:") && !kNoChange.test(row.action)).reverse();
  return (
    <Card title="Recent changes" right={<><span class="legend note"><State kind="hand" /> by hand</span><Segments label="Range" value={range} options={kRanges} onChange={(value) => setQuery("range", value === "1h" ? undefined : value)} /></>} flush>
      <Timeline environments={lanesOf(environments, hours, ended, told)} hours={hours} rollouts={ended} rows={told} />
      {!read.data ? (read.problem ? <Failed read={read} what="What happened" /> : <Skeleton lines={4} />) : <ul class="list recent">
        {told.slice(0, 8).map((row) => (
          <li key={row.seq} data-row>
            <span class="mono dim">{clock(row.at, true)}</span>
            <State kind={row.step === "denied" ? "wait" : isBad(row) ? "bad" : row.outcome ? "ok" : "run"} label={row.outcome ?? "open"} />
            <span class="grow"><a class="plain" href={row.flow ? link.flow(row.flow) : href("/audit")}><Story row={row} /></a>{row.reason && <span class="dim">: “<T text={row.reason} max={80} />”</span>}</span>
            <span class="dim nowrap">{row.environment && <T text={row.environment} max={20} />}</span>
            <span class="dim nowrap recent-who">{who(row.caller)}</span>
          </li>
        ))}
        {told.length === 0 && <li class="dim">Nobody changed anything in this time.</li>}
        {told.length > 8 && <li class="note"><a href={href("/audit")}>{count(told.length - 8)} more in the audit</a></li>}
      </ul>}
    </Card>
  );
}

// Variants have no code in the audit; those that refuse say so in their name.
export const isBad = (row: AuditRow): boolean => row.step === "denied" || /fail|error|refus|denied|conflict|invalid|notFound|notReady|unhealthy|stale|over$|inactive|engine\./i.test(row.outcome ?? "");

export function subject(row: AuditRow): string {
  const input = (row.input ?? {}) as Record<string, unknown>;
  const list = (value: unknown) => (Array.isArray(value) ? value : []);
  if (row.action === "Pin/promote" && input.toEnv) return `${list(input.components).join(", ") || "all"} from ${input.fromEnv} to ${input.toEnv}`;
  if (/^Pin\/(set|override)$/.test(row.action ?? "")) return list(input.pins).map((each: Record<string, unknown>) => `${each.release} in ${each.environment}`).join(", ");
  return ["environment", "bundle", "name", "deployment", "revision", "rollout", "plan", "approval", "token", "pin", "release", "component", "pipeline", "instanceId", "mesh", "node"].map((key) => input[key]).filter((each): each is string => typeof each === "string").slice(0, 2).map((each) => (/^[0-9A-Z]{26}$/.test(each) ? each.slice(-6) : each)).join(" ");
}

// What people do most, in words; the rest is told by the action's name.
const kDone: Record<string, Record<string, string>> = {
  Access: { apply: "access policy applied", issue: "token made", revoke: "token revoked" },
  Approval: { vote: "voted on" },
  Cluster: { deploy: "brought into the cluster", rollback: "brought back in the cluster", undeploy: "removed from the cluster" },
  Config: { set: "setting changed" },
  Deployment: { down: "taken down", label: "labelled", pause: "paused", resume: "resumed", rollBack: "rolled back", up: "brought up" },
  DeployPlan: { cancel: "plan cancelled", execute: "plan executed", plan: "planned", rollback: "plan undone" },
  Env: { create: "environment made", destroy: "environment destroyed", doctor: "looked at by the doctor", update: "environment changed" },
  Mesh: { enrol: "node enrolled", publish: "mesh published", report: "node reported", revoke: "node revoked" },
  Pin: { promote: "promoted", rollback: "brought back", set: "pinned" },
  Pipeline: { resume: "promotions let through", stop: "promotions stopped" },
  Release: { create: "release cut", reject: "release rejected" },
  Revision: { archive: "archived", drain: "drained", stage: "staged", warm: "warmed" },
  Rollout: { abort: "rollout aborted", advance: "rollout advanced", begin: "rollout started", pause: "rollout paused", resume: "rollout resumed", retry: "rollout retried" },
  Secret: { put: "secret put", remove: "secret removed", rotate: "secret rotated" },
  Session: { end: "session ended" },
  Traffic: { forward: "traffic rolled forward", rollback: "traffic rolled back", set: "traffic set by hand" },
  Trust: { bootstrap: "trusts its operator's key" },
};

function wordsOf(action: string): string {
  const [concept = "", name = ""] = action.split("/");
  return kDone[concept]?.[name] ?? action;
}

function Story({ row }: { row: AuditRow }) {
  const action = row.action ?? row.step;
  const named = subject(row);
  // The environment stands at the line's end; it is the subject of what is done to itself alone.
  const about = row.about ?? (/^Env\//.test(action) || !`${named} `.startsWith(`${row.environment} `) ? named : named.slice(row.environment!.length + 1));
  const said = row.step === "denied" ? `${action} was denied` : isBad(row) ? `${action} ended in ${row.outcome}` : row.outcome ? wordsOf(action) : `${action} goes on`;
  return about ? <><strong><T text={about} max={60} /></strong> <span class="second"><T text={said} max={100} /></span></> : <T text={said} max={100} />;
}

// Few environments have a lane each; of many, those in which something happened.
const kMostLanes = 8;
function lanesOf(environments: string[], hours: number, rollouts: Document<"rollouts">, rows: AuditRow[]): string[] {
  if (environments.length <= kMostLanes) return environments;
  const from = now.value - hours * 3_600_000;
  const busy = new Set([...rollouts.filter((each) => !each.ended_at || Date.parse(each.ended_at) > from).map((each) => each.environment), ...rows.map((row) => row.environment)]);
  return environments.filter((each) => busy.has(each)).slice(0, kMostLanes);
}

function Timeline({ environments, hours, rollouts, rows }: { environments: string[]; hours: number; rollouts: Document<"rollouts">; rows: AuditRow[] }) {
  const width = 1040;
  const left = 90;
  const lane = 24;
  const to = now.value;
  const from = to - hours * 3_600_000;
  const x = (at: number) => left + ((at - from) / (to - from)) * (width - left - 24);
  const height = environments.length * lane + 26;
  const ticks = Array.from({ length: 7 }, (_, i) => from + ((to - from) * i) / 6);
  const tone: Record<string, string> = { complete: "ok", aborted: "bad", stuck: "warn", superseded: "idle" };
  return (
    <div class="card-flush timeline-box hide-small">
      <svg class="timeline" viewBox={`0 0 ${width} ${height}`} width="100%" role="img" aria-label={`Rollouts and changes of the last ${hours} hours, by environment`}>
        {ticks.map((at, i) => <g key={i}><line x1={x(at)} x2={x(at)} y1="4" y2={height - 22} /><text class="axis" x={x(at)} y={height - 6} text-anchor={i === 6 ? "end" : "middle"}>{clock(at)}</text></g>)}
        {environments.map((env, i) => {
          const y = 6 + i * lane;
          return (
            <g key={env}>
              <text x="16" y={y + 15}>{env.slice(0, 12)}</text>
              {rows.filter((row) => row.environment === env && kByHand.test(row.action ?? "")).slice(0, 50).map((row) => (
                <path key={row.seq} d="M0 -5 5 0 0 5 -5 0z" transform={`translate(${x(Date.parse(row.at))} ${y + 11})`} fill="var(--surface)" stroke="var(--text-2)"><title>{`${clock(row.at, true)} ${row.action} by ${who(row.caller)}`}</title></path>
              ))}
              {rollouts.filter((each) => each.environment === env && Date.parse(each.ended_at ?? new Date(to).toISOString()) > from).map((each) => {
                const begin = Math.max(from, Date.parse(each.started_at));
                const end = each.ended_at ? Date.parse(each.ended_at) : to;
                const color = tone[each.status] ?? "run";
                // To the right of its bar; at the edge to the left of it. Not where something else is drawn.
                const atEdge = x(end) > width - 120;
                const long = 12 + 7 * each.canary.name.length;
                const [least, most] = atEdge ? [x(begin) - long, x(begin)] : [x(end) + 1, x(end) + long];
                const there = (at: number) => x(at) > least && x(at) < most;
                const taken = rows.some((row) => row.environment === env && kByHand.test(row.action ?? "") && there(Date.parse(row.at))) || rollouts.some((other) => other !== each && other.environment === env && (there(Date.parse(other.started_at)) || (other.ended_at !== null && there(Date.parse(other.ended_at)))));
                return (
                  <a key={each.rollout} href={link.rollout(each.rollout)}>
                    <title>{`${each.canary.name}: ${each.status}`}</title>
                    <rect x={x(begin)} y={y + 4} width={Math.max(4, x(end) - x(begin))} height="14" rx="3" fill={`var(--${color}-bg)`} stroke={`var(--${color}-solid)`} />
                    {!taken && <text class="over" x={atEdge ? x(begin) - 5 : Math.max(4, x(end) - x(begin)) + x(begin) + 5} y={y + 15} text-anchor={atEdge ? "end" : "start"}>{each.canary.name}</text>}
                  </a>
                );
              })}
            </g>
          );
        })}
        <line x1={x(to)} x2={x(to)} y1="2" y2={height - 20} class="now" />
      </svg>
    </div>
  );
}
