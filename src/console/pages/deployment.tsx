// Deployment: what serves, in which shares, how well, and the way to change it. The traffic card holds three facts that
// are never shown as one another: what is asked, what the routers obey, what actually came.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { act, newKey, view } from "../api/client";
import type { Document } from "../api/client";
import { now } from "../api/live";
import { Problem } from "../api/problem";
import { useCan, useView } from "../api/use";
import { bySequence, healthKind, healthOf, healthWord, underWay, useHome } from "../app/home";
import type { Deployment, Environment, Revision, Rollout } from "../app/home";
import { useKey } from "../app/keys";
import { go, href, kBase, link, query, setQuery } from "../app/router";
import { useCrumbs } from "../app/shell";
import { toast, toastProblem } from "../app/toasts";
import type { PageProps } from "../pages";
import { Button, Card, Empty, Fact, Failed, Loaded, Segments, Skeleton, Tabs, WhyOff } from "../parts/basics";
import { Chart } from "../parts/chart";
import type { StepMark } from "../parts/chart";
import { ask } from "../parts/dialog";
import { Icon } from "../parts/icons";
import { Logs } from "../parts/logs";
import { Chip, Mark, State, lifecycleKind, markOf, sentenceCase } from "../parts/state";
import type { RevisionMark } from "../parts/state";
import { Copy, T, When, bytes, count, full, millis, num, percent, plural, rough, share, shortId, who } from "../parts/text";
import { Lane, Slider, Versions, kAll, shifted } from "../parts/traffic";
import type { Part } from "../parts/traffic";
import { useWhy } from "../parts/why";

type Series = Document<"series">;
type History = Document<"traffic-history">;

interface Shown {
  env: Environment;
  deployment: Deployment;
  revisions: Revision[];
  marks: Map<string, RevisionMark>;
  rollout: Rollout | undefined;
}

export default function DeploymentPage({ params }: PageProps) {
  const home = useHome();
  const known = /^[0-9A-Z]{26}$/.test(params.id!);
  const status = useView("status", { environment: params.env!, ...(known ? { deployment: params.id! } : {}) }, { everyMs: 2000, on: (event) => /^(deployment|revision|traffic|rollout|router)\./.test(event.event) });
  const env = status.data?.environments?.find((each) => each.environment === params.env);
  const deployment = env?.deployments.find((each) => each.deployment === params.id || each.bundle === params.id);
  useCrumbs([{ text: "Deployments", to: href("/deployments") }, { text: params.env!, to: link.environment(params.env!) }, { text: deployment?.bundle ?? params.id! }]);
  const step = async (by: number) => {
    const { shown } = await view("fleet", { environment: params.env!, limit: 500 });
    const next = shown[shown.findIndex((each) => each.deployment === deployment?.deployment) + by];
    if (next) go(link.deployment(params.env!, next.deployment).slice(kBase.length));
  };
  useKey("[", () => void step(-1));
  useKey("]", () => void step(1));
  if (!status.data) return status.problem ? <Card><Failed read={status} what="The deployment" /></Card> : <Skeleton lines={8} />;
  if (!env || !deployment) return <Card><Empty command="sluice status">There is no deployment <T text={params.id} max={60} /> in <T text={params.env} max={60} />, or you may not see it.</Empty></Card>;
  const revisions = [...deployment.revisions].sort(bySequence);
  // Those with traffic have the first marks, the newest first; the rest follow.
  const marked = [...revisions].sort((a, b) => Number(b.weight_asked_bps > 0) - Number(a.weight_asked_bps > 0) || bySequence(a, b));
  const marks = new Map(marked.map((each, i) => [each.revision, marked.length === 1 ? ("new" as const) : markOf(i)]));
  const rollout = (home.rollouts.data ?? []).find((each) => each.deployment === deployment.deployment && underWay(each.status));
  return <Known key={deployment.deployment} shown={{ env, deployment, revisions, marks, rollout }} tab={params.tab ?? "traffic"} />;
}

function Known({ shown, tab }: { shown: Shown; tab: string }) {
  const { env, deployment, revisions, rollout } = shown;
  const about = useView("deployment", { environment: env.environment, deployment: deployment.deployment });
  const history = useView("traffic-history", { environment: env.environment, deployment: deployment.deployment }, { on: (event) => /^(traffic|deployment|rollout)\./.test(event.event) });
  const canBack = useCan("Deployment/rollBack", env.environment);
  const canPause = useCan("Deployment/pause", env.environment);
  const { health, said } = healthOf(deployment, !!rollout);
  const routes = about.data?.deployment.route_binding;
  const listen = env.routers.find((each) => each.running)?.listen[0];
  const url = routes?.hosts[0] ? `http://${routes.hosts[0]}${routes.path_prefixes[0] ?? "/"}` : listen ? `http://${listen}${routes?.path_prefixes[0] ?? "/"}` : undefined;
  const versionOf = (id: string) => revisions.find((each) => each.revision === id)?.name ?? shortId(id);
  const past = (history.data ?? []).find((each) => each.place === "past");
  const current = (history.data ?? []).find((each) => each.place === "current");
  const splitText = (entries: { revision_id: string; weight_bps: number }[]) => entries.filter((each) => each.weight_bps > 0).map((each) => `${versionOf(each.revision_id)} ${percent(each.weight_bps)}`).join(", ");

  const rollBack = () =>
    past &&
    ask({
      title: `Roll ${deployment.bundle} back?`,
      will: [
        { icon: "split", text: `Traffic goes back to ${splitText(past.entries)}, as it was before generation ${current?.generation ?? "?"}.` },
        { icon: "swap", text: `${plural(env.routers.length, "router")} ${env.routers.length === 1 ? "is" : "are"} told at once; it is done when every one has acknowledged.` },
        { icon: "undo", text: "To undo: roll forward again on the History tab." },
      ],
      reason: "asked",
      can: canBack,
      yes: "Roll back",
      no: "Keep as it is",
      run: async (reason) => {
        try {
          await act("Deployment/rollBack", { deployment: deployment.deployment, steps: 1, ...(current ? { trafficGeneration: current.generation } : {}) }, { reason, key: newKey(), wait: "all", forMs: 20_000 });
          toast("ok", `${deployment.bundle} is back at ${splitText(past.entries)}; the routers obey.`);
        } catch (error) {
          toastProblem("Roll back", error, "Traffic is as it was.");
        }
      },
    });

  const pause = () => {
    const paused = deployment.status === "paused";
    ask({
      title: paused ? `Let traffic to ${deployment.bundle} again?` : `Pause ${deployment.bundle}?`,
      will: [{ icon: paused ? "play" : "pause", text: paused ? "Requests reach its revisions again, in the shares that are asked." : "No request reaches any of its revisions; visitors see that it is paused. Replicas keep running." }],
      reason: "asked",
      can: canPause,
      yes: paused ? "Resume" : "Pause",
      no: paused ? "Keep paused" : "Keep serving",
      danger: !paused,
      run: async (reason) => {
        try {
          await act(paused ? "Deployment/resume" : "Deployment/pause", { deployment: deployment.deployment }, { reason, key: newKey(), wait: "all", forMs: 20_000 });
          toast("ok", `${deployment.bundle} is ${paused ? "serving again" : "paused"}.`);
        } catch (error) {
          toastProblem(paused ? "Resume" : "Pause", error, "Nothing was changed.");
        }
      },
    });
  };

  const buttons = (
    <>
      <Button icon="undo" can={canBack} off={past ? (rollout ? "A rollout is under way: abort it instead." : undefined) : "There is nothing before this split."} onClick={() => rollBack()}>
        {past ? `Roll back to ${middleName(splitText(past.entries))}…` : "Roll back…"}
      </Button>
      <Button icon={deployment.status === "paused" ? "play" : "pause"} can={canPause} onClick={pause}>{deployment.status === "paused" ? "Resume…" : "Pause…"}</Button>
    </>
  );
  const why = useWhy(deployment.deployment, {
    since: current?.updated_at,
    itself: rollout && `The rollout of ${rollout.canary.name} ends.`,
    ways: <>{rollout && <a class="button" href={link.rollout(rollout.rollout)}>Open rollout</a>}{buttons}</>,
  });

  return (
    <>
      <div class="head">
        <div class="grow">
          <h1><T text={deployment.bundle} max={60} /> <Chip kind={healthKind[health]} title={said}>{healthWord[health]}</Chip></h1>
          <div class="facts">
            <Fact name="Environment"><a href={link.environment(env.environment)}>{env.environment}</a></Fact>
            <Fact name="Customer"><T text={deployment.customer} max={40} /></Fact>
            {url && <Fact name="Route"><a href={url} target="_blank" rel="noreferrer noopener">{url.replace(/^http:\/\//, "")}</a></Fact>}
            <Fact name="Id"><span class="mono">{shortId(deployment.deployment)}</span></Fact>
          </div>
        </div>
        <div class="actionbar">
          {buttons}
          <a class="button" href={href("/deploy")}><Icon name="upload" /><span>Deploy…</span></a>
          <button class="button" onClick={why.show}>Why <kbd class="hide-small">w</kbd></button>
        </div>
      </div>
      <Tabs
        at={tab}
        to={(key) => link.deployment(env.environment, deployment.deployment, key === "traffic" ? "" : key)}
        tabs={[
          { key: "traffic", label: "Traffic" },
          { key: "revisions", label: "Revisions", number: revisions.length },
          { key: "logs", label: "Logs" },
          { key: "settings", label: "Settings" },
          { key: "secrets", label: "Secrets" },
          { key: "routes", label: "Routes" },
          { key: "usage", label: "Usage" },
          { key: "history", label: "History" },
        ]}
      />
      {tab === "traffic" && <TrafficTab shown={shown} history={history.data ?? []} />}
      {tab === "revisions" && <RevisionsTab shown={shown} />}
      {tab === "logs" && <Card title="Logs" flush><Logs name={deployment.deployment} tall /></Card>}
      {tab === "settings" && <SettingsTab shown={shown} />}
      {tab === "secrets" && <SecretsTab shown={shown} />}
      {tab === "routes" && (
        <Card title="Routes" note="which requests come here">
          <Loaded read={about} what="The routes">
            {(data) => (
              <dl class="kv">
                <dt>Hosts</dt><dd>{data.deployment.route_binding.hosts.length ? data.deployment.route_binding.hosts.map((each) => <div key={each}><T text={each} /></div>) : "any"}</dd>
                <dt>Paths below</dt><dd>{data.deployment.route_binding.path_prefixes.join(", ") || "/"}</dd>
                <dt>Tenant</dt><dd>{data.deployment.route_binding.tenant_selector.tenant ?? "any"}</dd>
                <dt>Routers</dt><dd>{env.routers.map((each) => <div key={each.name}>{each.name} at {each.listen.join(", ") || "–"}, table {each.generation}</div>)}</dd>
              </dl>
            )}
          </Loaded>
        </Card>
      )}
      {tab === "usage" && <UsageTab shown={shown} />}
      {tab === "history" && <HistoryTab shown={shown} history={history.data ?? []} versionOf={versionOf} />}
      {why.panel}
    </>
  );
}

const middleName = (text: string): string => (text.length > 24 ? "the split before" : text);

// --- traffic

const kRanges = [["900", "15 min"], ["2700", "45 min"], ["21600", "6 h"], ["86400", "24 h"]] as const;

function TrafficTab({ shown, history }: { shown: Shown; history: History }) {
  const { env, deployment, revisions, marks } = shown;
  const range = query.value.get("range") ?? "900";
  const series = useView("series", { environment: env.environment, deployment: deployment.deployment, range_s: Number(range) }, { everyMs: Number(range) > 3000 ? 15_000 : 2000, on: () => false });
  const steps = useMemo<StepMark[]>(() => {
    const since = series.data?.from_s ?? 0;
    const newest = revisions.find((each) => marks.get(each.revision) === "new")?.revision;
    return [...history].reverse().flatMap((each) => {
      const at = Date.parse(each.updated_at) / 1000;
      const weight = each.entries.find((entry) => entry.revision_id === newest)?.weight_bps;
      return at > since && weight !== undefined ? [{ at, label: percent(weight) }] : [];
    });
  }, [history, series.data?.from_s]);
  const lines = (pick: (line: Series["revisions"][number]) => (number | null)[], times = 1) =>
    (series.data?.revisions ?? [])
      .filter((line) => marks.has(line.revision))
      .slice(0, 4)
      .map((line) => ({ label: versionText(revisions, line.revision), mark: marks.get(line.revision)!, values: pick(line).map((value) => (value === null ? null : value * times)) }))
      .sort((a, b) => Number(a.mark === "new") - Number(b.mark === "new"));
  const charts = useMemo(
    () => ({
      rate: lines((line) => line.requests_per_s),
      errors: lines((line) => line.error_share, 100),
      p50: lines((line) => line.p50_ms),
      p99: lines((line) => line.p99_ms),
    }),
    [series.data],
  );
  const common = { from: series.data?.from_s ?? 0, step: series.data?.step_s ?? 1, marks: steps };
  return (
    <>
      <WhyStrip shown={shown} history={history} />
      <TrafficCard shown={shown} history={history} series={series.data} />
      <div class="row wrap">
        <Versions parts={[...marks].filter(([id]) => revisions.some((each) => each.revision === id && each.weight_asked_bps > 0)).map(([id, mark]) => ({ mark, label: versionText(revisions, id) }))} />
        <span class="note grow">On one scale. Lines mark a change of the asked weight. Drag to zoom, Esc to reset.</span>
        <Segments label="Range" value={range} options={kRanges} onChange={(value) => setQuery("range", value === "900" ? undefined : value)} />
      </div>
      {series.problem && !series.data ? (
        <Card><Failed read={series} what="The history" /></Card>
      ) : (
        <div class="grid cols-2">
          <Card flush><Chart title="Requests" unit="per second" suffix=" /s" lines={charts.rate} {...common} /></Card>
          <Card flush><Chart title="Errors" unit="% of requests" suffix=" %" lines={charts.errors} {...common} /></Card>
          <Card flush><Chart title="Latency p50" unit="ms" suffix=" ms" lines={charts.p50} {...common} /></Card>
          <Card flush><Chart title="Latency p99" unit="ms" suffix=" ms" lines={charts.p99} {...common} /></Card>
        </div>
      )}
      <div class="grid cols-main">
        <Card title="Logs" note={`following ${plural(revisions.flatMap((each) => each.replicas).length, "replica")}`} flush><Logs name={deployment.deployment} /></Card>
        <Replicas shown={shown} />
      </div>
    </>
  );
}

const versionText = (revisions: Revision[], id: string): string => {
  const found = revisions.find((each) => each.revision === id);
  if (!found) return shortId(id);
  // Versions that several revisions share are told apart by their number.
  return revisions.filter((each) => each.version === found.version).length > 1 ? found.name : found.version;
};

function WhyStrip({ shown, history }: { shown: Shown; history: History }) {
  const { env, deployment, revisions, rollout } = shown;
  const can = useCan("Rollout/begin", env.environment);
  const current = history.find((each) => each.place === "current");
  const serving = revisions.filter((each) => each.weight_asked_bps > 0);
  const newest = serving[0];
  if (rollout) {
    return (
      <div class="strip run">
        <State kind="judge" />
        <span class="grow"><strong>A rollout moves traffic to {rollout.canary.name}:</strong> <T text={rollout.waits_for.replace(/\.$/, "")} max={200} />.</span>
        <a class="button small" href={link.rollout(rollout.rollout)}>Open rollout</a>
      </div>
    );
  }
  if (deployment.status === "paused") return <div class="strip warn"><State kind="paused" /><span class="grow"><strong>Paused:</strong> no request reaches it until somebody resumes it.</span></div>;
  if (serving.length > 1 && newest) {
    const start = () =>
      ask({
        title: `Roll ${deployment.bundle} out to ${newest.name}?`,
        will: [
          { icon: "advance", text: "Canary: 5 % for 5 min, 25 % for 10 min, 50 % for 15 min, then all. Each step is acknowledged by the routers and judged on its own traffic." },
          { icon: "undo", text: `If ${newest.name} is worse, traffic goes back by itself.` },
        ],
        reason: "asked",
        can,
        yes: "Start rollout",
        no: "Keep as it is",
        run: async (reason) => {
          try {
            await act("Rollout/begin", { deployment: deployment.deployment, revision: newest.revision, strategy: "canary" }, { reason, key: newKey(), wait: "answer" });
            toast("ok", `The rollout of ${newest.name} has begun.`);
          } catch (error) {
            toastProblem("Start rollout", error, "Traffic is as it was.");
          }
        },
      });
    return (
      <div class="strip">
        <State kind="paused" />
        <span class="grow"><strong>Held at {percent(newest.weight_asked_bps)} by hand</strong> {current && <>since <When at={current.updated_at} /></>}. No rollout is running, so nothing moves until somebody moves it.</span>
        <Button small can={can} onClick={start}>Start rollout to {newest.version}…</Button>
      </div>
    );
  }
  return <div class="strip"><State kind={newest ? "ok" : "idle"} /><span class="grow">{newest ? <>Nothing waits. <strong>{newest.name}</strong> gets all traffic{current && <> since <When at={current.updated_at} /></>}.</> : "No revision gets traffic."}</span></div>;
}

function TrafficCard({ shown, history, series }: { shown: Shown; history: History; series: Series | undefined }) {
  const { env, deployment, revisions, marks, rollout } = shown;
  const can = useCan("Traffic/set", env.environment);
  const current = history.find((each) => each.place === "current");
  const generation = current?.generation;
  // Weights and generation come from one answer, so that nobody reviews the one against the other.
  const asked = Object.fromEntries(revisions.map((each) => [each.revision, current ? current.entries.find((entry) => entry.revision_id === each.revision)?.weight_bps ?? 0 : each.weight_asked_bps]));
  const movable = revisions.filter((each) => each.lifecycle === "ready");
  const [draft, setDraft] = useState<Record<string, number> | null>(null);
  const [base, setBase] = useState<{ generation: number | undefined; asked: Record<string, number> } | null>(null);
  const [locked, setLocked] = useState<ReadonlySet<string>>(new Set());
  const firstSlider = useRef<HTMLInputElement | null>(null);
  useKey("t", () => firstSlider.current?.focus());
  const weights = draft ?? asked;
  const askedKey = JSON.stringify(asked);
  // Whose draft equals what is asked has none.
  useEffect(() => {
    if (draft && JSON.stringify(pick(draft, revisions)) === JSON.stringify(pick(asked, revisions))) setDraft(null);
  }, [askedKey, draft]);
  const overtaken = draft !== null && base !== null && generation !== undefined && base.generation !== generation;
  const off = rollout ? `The rollout of ${rollout.canary.name} sets these weights. Pause or abort it to move them.` : !can.allowed ? can.why : movable.length < 2 ? "Only one revision is ready." : undefined;

  const parts = (of: (revision: Revision) => number): Part[] => revisions.map((each) => ({ revision: each.revision, label: versionText(revisions, each.revision), mark: marks.get(each.revision)!, bps: of(each) }));
  const obeyed = revisions.some((each) => each.weight_obeyed_bps !== null);
  const obeyedParts = parts((each) => each.weight_obeyed_bps ?? 0);
  const minute = (id: string) => series?.revisions.find((each) => each.revision === id)?.last_minute ?? 0;
  const requests = revisions.reduce((sum, each) => sum + minute(each.revision), 0);
  const actualParts = parts((each) => (requests ? (minute(each.revision) / requests) * kAll : 0));
  const led = revisions.find((each) => marks.get(each.revision) === "new") ?? revisions[0];
  const worth = (of: Part[]) => percent(Math.round(of.find((each) => each.revision === led?.revision)?.bps ?? 0));
  const running = env.routers.filter((each) => each.running);
  const newest = Math.max(0, ...env.routers.map((each) => each.generation));
  const behind = env.routers.filter((each) => !each.running || each.generation < newest);
  const actualWorth = led && requests ? `${num((minute(led.revision) / requests) * 100)} %` : "–";
  const apart = led && requests ? Math.abs(minute(led.revision) / requests - asked[led.revision]! / kAll) * 100 : 0;
  const noise = led && requests ? 300 * Math.sqrt(((asked[led.revision]! / kAll) * (1 - asked[led.revision]! / kAll)) / requests) : 0;
  const fresh = current ? now.value - Date.parse(current.updated_at) < 70_000 : false;

  const move = (id: string, to: number) => {
    if (!draft) setBase({ generation, asked });
    const moving = Object.fromEntries(movable.map((each) => [each.revision, weights[each.revision] ?? 0]));
    const fixed = revisions.filter((each) => each.lifecycle !== "ready").reduce((sum, each) => sum + (weights[each.revision] ?? 0), 0);
    const made = shifted(moving, id, Math.min(to, kAll - fixed), locked, base?.asked ?? asked);
    setDraft({ ...asked, ...made });
  };
  const discard = () => {
    setDraft(null);
    setBase(null);
  };
  const changed = draft ? revisions.filter((each) => draft[each.revision] !== asked[each.revision]) : [];
  const growing = changed.filter((each) => (draft![each.revision] ?? 0) > asked[each.revision]!).sort((a, b) => draft![b.revision]! - asked[b.revision]! - (draft![a.revision]! - asked[a.revision]!))[0];
  const rate = requests / 60;
  const forecast = (each: Revision) => {
    const more = ((draft![each.revision]! - asked[each.revision]!) / kAll) * rate;
    const replicas = Math.max(1, each.replicas.length);
    return `about ${num(Math.abs(more))} ${more >= 0 ? "more" : "fewer"} requests/s for ${plural(each.replicas.length, "replica")}: ${num(((asked[each.revision]! / kAll) * rate) / replicas)} to ${num(((draft![each.revision]! / kAll) * rate) / replicas)} each`;
  };

  const review = () => {
    if (!draft || !growing) return;
    const to = percent(draft[growing.revision]!);
    const key = newKey();
    ask({
      title: `Send ${to} of ${deployment.bundle} to ${growing.version}?`,
      will: [
        ...changed.map((each) => ({ icon: "split" as const, text: `${each.name} goes from ${percent(asked[each.revision]!)} to ${percent(draft[each.revision]!)}: ${forecast(each)}.` })),
        { icon: "swap", text: `${plural(running.length, "router")} ${running.length === 1 ? "is" : "are"} told at once. It is done when every one has acknowledged.` },
        { icon: "undo", text: `To undo: roll back to generation ${generation}.` },
      ],
      reason: "asked",
      can,
      yes: `Send ${to} to ${growing.version}`,
      no: `Keep ${percent(asked[growing.revision]!)}`,
      run: async (reason) => {
        const began = performance.now();
        try {
          const entries = revisions.filter((each) => draft[each.revision]! > 0).map((each) => ({ revision: each.revision, weightBps: draft[each.revision]! }));
          await act("Traffic/set", { deployment: deployment.deployment, entries }, { reason, expect: generation, key, wait: "all", forMs: 20_000 });
          toast("ok", `${growing.version} gets ${to}. ${plural(running.length, "router")} obey${running.length === 1 ? "s" : ""}, ${millis(performance.now() - began)}.`);
          discard();
        } catch (error) {
          if (error instanceof Problem && error.status === 412) {
            toast("bad", `Somebody else was first: ${who(String(error.fields.by ?? ""))} has changed the split. Your draft is kept; look at the change and review again.`);
          } else {
            if (error instanceof Problem && error.code === "waiting_for_approval") discard();
            toastProblem(`Send ${to} to ${growing.version}`, error, "Traffic is as it was.");
          }
        }
      },
    });
  };

  return (
    <Card title="Traffic" note={`${num(rate)} requests/s`} right={draft ? <span class="note legend"><Icon name="check" size={14} /> Draft sums to 100 %</span> : undefined} flush>
      <div class="lanes">
        {draft && <Lane name="Draft" tall parts={parts((each) => draft[each.revision] ?? 0)} draftOf={parts((each) => asked[each.revision]!)} worth={worth(parts((each) => draft[each.revision] ?? 0))} said="not sent yet" />}
        <Lane name="Asked" tall parts={parts((each) => asked[each.revision]!)} worth={worth(parts((each) => asked[each.revision]!))} said={current ? <>generation {current.generation}, {who(current.updated_by) || current.why}, <When at={current.updated_at} bare /></> : "never set"} />
        <Lane name="Obeyed" parts={obeyedParts} worth={obeyed ? worth(obeyedParts) : "–"} said={env.routers.length ? `${env.routers.length - behind.length} of ${plural(env.routers.length, "router")} at table ${newest}` : "no router runs"} />
        <Lane name="Actual" parts={actualParts} worth={actualWorth} said={led && requests ? `last 60 s, ${count(minute(led.revision))} of ${plural(requests, "request")}` : "no requests in the last 60 s"} />
        {behind.length > 0 && <div class="lane-why"><State kind="wait" /><span>Router {behind.map((each) => each.name).join(", ")} {behind.every((each) => !each.running) ? "does not run" : "has not acknowledged the newest table"}. {behind.length === 1 ? "It" : "They"} must fetch it before serving again.</span></div>}
        {behind.length === 0 && requests > 0 && apart > Math.max(0.5, noise) && (
          <div class="lane-why"><State kind="wait" /><span>{fresh ? `The split changed ${rough(now.value - Date.parse(current!.updated_at))} ago; requests from before still count in the last 60 s.` : requests < 500 ? `Few requests: with ${count(requests)} a minute, chance alone moves the actual share.` : `Sessions that stay on their revision keep ${num(apart)} points of the traffic where it was.`}</span></div>
        )}
      </div>
      <table class="cards revisions-table">
        <thead><tr><th>Revision</th><th>State</th><th>Weight asked</th><th class="n">Requests/s</th><th class="n">Errors</th><th class="n">p50</th><th class="n">p99</th><th class="n">Replicas</th><th>Deployed</th></tr></thead>
        <tbody>
          {revisions.map((each) => {
            const first = [...history].reverse().find((split) => split.entries.some((entry) => entry.revision_id === each.revision && entry.weight_bps > 0));
            const line = series?.revisions.find((one) => one.revision === each.revision);
            const last = (values: (number | null)[] | undefined) => values?.slice(-6).reverse().find((value) => value !== null) ?? null;
            const well = each.replicas.filter((one) => one.healthy).length;
            const mark = marks.get(each.revision)!;
            const slot = movable.findIndex((one) => one.revision === each.revision);
            return (
              <tr key={each.revision} data-row>
                <td class="most"><span class="row"><Mark as={mark} /><strong class="nowrap"><T text={each.version} max={24} /></strong> <span class="mono dim" title={each.revision}>{each.name.split("@").length > 1 ? `@${each.name.split("@").pop()}` : shortId(each.revision)}</span></span></td>
                <td><Chip kind={lifecycleKind(each.lifecycle)}>{sentenceCase(each.lifecycle)}</Chip></td>
                <td class="whole">
                  {each.lifecycle === "ready" ? (
                    <Slider label={each.version} mark={mark} bps={weights[each.revision] ?? 0} asked={asked[each.revision]!} locked={locked.has(each.revision)} off={off} onMove={(to) => move(each.revision, to)} onLock={() => setLocked(toggled(locked, each.revision))} inputRef={slot === 0 ? (input) => (firstSlider.current = input) : undefined} />
                  ) : <span class="dim">only ready revisions take traffic</span>}
                </td>
                <td class="n value" data-label="Rate">{line ? num(line.last_minute / 60) : "0"}</td>
                <td class="n value" data-label="Errors">{share(last(line?.error_share))}</td>
                <td class="n value hide-small" data-label="p50">{millis(last(line?.p50_ms))}</td>
                <td class="n value" data-label="p99">{millis(last(line?.p99_ms))}</td>
                <td class="n value" data-label="Replicas">{each.replicas.length ? `${well} / ${each.replicas.length}` : "–"}</td>
                <td class="hide-small">{first ? <span class="two"><span class="nowrap"><When at={first.updated_at} bare /></span><span class="note">by {who(first.updated_by) || first.why}</span></span> : <span class="dim">not yet</span>}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
      {rollout && <div class="card-foot"><Icon name="lock" size={14} /><span class="grow">The rollout of {rollout.canary.name} sets these weights. Pause it to move them.</span><a class="button small" href={link.rollout(rollout.rollout)}>Pause…</a></div>}
      {!rollout && !can.allowed && <div class="card-foot"><WhyOff can={can} what="Moving traffic" /></div>}
      {draft && overtaken && (
        <div class="card-foot" role="alert">
          <State kind="warn" />
          <span class="grow">{who(current?.updated_by) || "Somebody"} set {Object.keys(asked).map((id) => `${versionText(revisions, id)} ${percent(asked[id]!)}`).join(", ")} {current && <When at={current.updated_at} bare />}. Your draft is kept.</span>
          <button class="button small" onClick={discard}>Use theirs</button>
          <Button small onClick={() => { setBase({ generation, asked }); review(); }}>Review…</Button>
        </div>
      )}
      {draft && !overtaken && growing && (
        <div class="card-foot draft-foot">
          <span class="grow"><strong>Draft:</strong> {growing.version} from {percent(asked[growing.revision]!)} to {percent(draft[growing.revision]!)}. {sentenceCase(forecast(growing))}.</span>
          <button class="button small" onClick={discard}>Discard</button>
          <Button small kind="primary" can={can} onClick={review}>Review change…</Button>
        </div>
      )}
    </Card>
  );
}

const pick = (weights: Record<string, number>, revisions: Revision[]) => revisions.map((each) => weights[each.revision] ?? 0);
function toggled(all: ReadonlySet<string>, one: string): ReadonlySet<string> {
  const next = new Set(all);
  if (!next.delete(one)) next.add(one);
  return next;
}

function Replicas({ shown }: { shown: Shown }) {
  return (
    <Card title="Replicas" note="filled: healthy" flush>
      <ul class="list">
        {shown.revisions.map((each) => {
          const well = each.replicas.filter((one) => one.healthy).length;
          const restarts = each.replicas.reduce((sum, one) => sum + one.restarts, 0);
          return (
            <li key={each.revision}>
              <Mark as={shown.marks.get(each.revision)!} /><strong class="replica-name"><T text={each.version} max={20} /></strong>
              <span class="replica-bars grow">{each.replicas.slice(0, 60).map((one) => <i key={one.name} class={one.healthy ? "" : "bad"} title={`${one.name} at ${one.address}`} />)}</span>
              <span class="second nowrap">{each.replicas.length ? `${well} of ${each.replicas.length}` : "none"}{restarts ? `, ${plural(restarts, "restart")}` : ""}</span>
            </li>
          );
        })}
      </ul>
    </Card>
  );
}

// --- the other tabs

function RevisionsTab({ shown }: { shown: Shown }) {
  const { env, deployment, marks } = shown;
  const all = useView("revisions", { environment: env.environment, deployment: deployment.deployment, archived: true }, { on: (event) => /^(revision|deployment|traffic)\./.test(event.event) });
  const [folded, setFolded] = useState(true);
  const can = useCan("Revision/drain", env.environment);
  const weight = (id: string) => shown.revisions.find((each) => each.revision === id)?.weight_asked_bps ?? 0;
  const drain = (id: string, name: string) =>
    ask({
      title: `Drain ${name}?`,
      will: [{ icon: "pause", text: "Requests under way finish, then its replicas stop. It gets no new requests." }, { icon: "undo", text: "To undo: warm it again with sluice revisions warm." }],
      reason: "asked",
      can,
      yes: `Drain ${name}`,
      no: "Keep it warm",
      run: async (reason) => {
        try {
          await act("Revision/drain", { revision: id }, { reason, key: newKey(), wait: "start" });
          toast("ok", `${name} drains.`);
        } catch (error) {
          toastProblem(`Drain ${name}`, error, "It runs as before.");
        }
      },
    });
  return (
    <Card title="Revisions" note="newest first" flush>
      <Loaded read={all} what="The revisions">
        {(data) => {
          const sorted = [...data].sort((a, b) => b.sequence - a.sequence);
          const live = sorted.filter((each) => each.lifecycle !== "archived");
          const rows = folded ? live : sorted;
          return (
            <>
              <table class="cards">
                <thead><tr><th>Revision</th><th>State</th><th class="n">Weight</th><th>Bundle</th><th>Signature</th><th>Made</th><th>Warm since</th><th /></tr></thead>
                <tbody>
                  {rows.map((each) => {
                    const name = `${each.bundle_id}@${each.sequence}`;
                    return (
                      <tr key={each.revision_id} data-row>
                        <td class="most"><span class="row">{marks.has(each.revision_id) ? <Mark as={marks.get(each.revision_id)!} /> : <State kind="archived" />}<span class="two"><strong><T text={each.pack_list[0]?.version ?? name} max={30} /></strong><span class="note mono">{name} {shortId(each.revision_id)}</span></span></span></td>
                        <td><span title={each.failure?.message}><Chip kind={lifecycleKind(each.lifecycle)}>{sentenceCase(each.lifecycle)}</Chip></span></td>
                        <td class="n" data-label="Weight">{percent(weight(each.revision_id))}</td>
                        <td class="mono" data-label="Bundle" title={each.bundle_digest ?? ""}>{(each.bundle_digest ?? "–").replace("sha256:", "").slice(0, 10)}</td>
                        <td data-label="Signature">{each.signature ?? "none"}</td>
                        <td data-label="Made"><When at={each.created_at} /></td>
                        <td class="hide-small">{each.warmed_at ? <When at={each.warmed_at} bare /> : "–"}</td>
                        <td class="right">{each.lifecycle === "ready" && weight(each.revision_id) === 0 && <Button small can={can} onClick={() => drain(each.revision_id, name)}>Drain…</Button>}</td>
                      </tr>
                    );
                  })}
                </tbody>
              </table>
              {rows.filter((each) => each.failure).map((each) => <div class="failed" key={each.revision_id}><State kind="bad" /><div class="grow"><strong>{each.bundle_id}@{each.sequence} failed {each.failure!.check}</strong><div class="note"><T text={each.failure!.message} max={600} /></div></div></div>)}
              {sorted.length > live.length && <div class="card-foot"><button class="link" onClick={() => setFolded(!folded)}>{folded ? `Show ${plural(sorted.length - live.length, "archived revision")}` : "Fold archived revisions"}</button></div>}
            </>
          );
        }}
      </Loaded>
    </Card>
  );
}

function SettingsTab({ shown }: { shown: Shown }) {
  const read = useView("settings", { environment: shown.env.environment, deployment: shown.deployment.deployment });
  return (
    <Card title="Settings" note="each value with its owner" flush>
      <Loaded read={read} what="The settings">
        {(data) => {
          const mine = data[0];
          if (!mine || mine.settings.length === 0) return <Empty>This bundle asks no questions, so it has no settings.</Empty>;
          return (
            <>
              {mine.pending && <div class="card-foot"><State kind="wait" /> Values have changed and are not running yet{mine.staged_as ? `; they are staged as ${mine.staged_as}` : ""}.</div>}
              <table class="cards">
                <thead><tr><th>Setting</th><th>Value</th><th>Running</th><th>Owner</th><th>From</th></tr></thead>
                <tbody>{mine.settings.map((each) => <tr key={each.name}><td class="whole"><strong><T text={each.name} /></strong></td><td data-label="Value"><T text={JSON.stringify(each.value)} /></td><td data-label="Running"><T text={JSON.stringify(each.running)} /></td><td data-label="Owner">{each.owner}</td><td data-label="From"><T text={each.from} /></td></tr>)}</tbody>
              </table>
            </>
          );
        }}
      </Loaded>
    </Card>
  );
}

function SecretsTab({ shown }: { shown: Shown }) {
  const read = useView("secrets", { environment: shown.env.environment }, { on: (event) => event.event.startsWith("secret.") });
  return (
    <Card title="Secrets" note={`of ${shown.env.environment}, as versions; values are never shown`} flush>
      <Loaded read={read} what="The secrets">
        {(data) => data.length === 0 ? <Empty command={`sluice secrets put ${shown.env.environment} db/password`}>Secrets of this environment stand here. This keeps one:</Empty> : (
          <table class="cards"><thead><tr><th>Secret</th><th>Version</th><th>Provider</th><th>Wanted by</th></tr></thead><tbody>{data.map((each) => <tr key={each.name}><td class="whole"><strong><T text={each.name} /></strong></td><td data-label="Version" class="mono">{each.version ?? "not set"}</td><td data-label="Provider">{each.provider}</td><td data-label="Wanted by"><T text={each.wanted.join(", ") || "nobody"} /></td></tr>)}</tbody></table>
        )}
      </Loaded>
    </Card>
  );
}

function UsageTab({ shown }: { shown: Shown }) {
  const read = useView("usage", { by: ["deployment", "revision"] }, { everyMs: 10_000, on: () => false });
  return (
    <Card title="Usage" note="since the deployment began; counted every five minutes" flush>
      <Loaded read={read} what="The usage">
        {(data) => {
          const mine = data.filter((each) => each.deployment === shown.deployment.deployment);
          if (!mine.length) return <Empty>No request was counted yet.</Empty>;
          return <table class="cards"><thead><tr><th>Revision</th><th class="n">Requests</th><th class="n">Received</th><th class="n">Sent</th><th class="n">Warm</th></tr></thead><tbody>{mine.map((each) => <tr key={each.revision}><td class="whole"><strong>{versionText(shown.revisions, each.revision ?? "")}</strong></td><td class="n" data-label="Requests">{count(each.requests)}</td><td class="n" data-label="Received">{bytes(each.bytes_in)}</td><td class="n" data-label="Sent">{bytes(each.bytes_out)}</td><td class="n" data-label="Warm">{rough(each.warm_seconds * 1000)}</td></tr>)}</tbody></table>;
        }}
      </Loaded>
    </Card>
  );
}

function HistoryTab({ shown, history, versionOf }: { shown: Shown; history: History; versionOf: (id: string) => string }) {
  const can = useCan("Traffic/forward", shown.env.environment);
  const ahead = history.some((each) => each.place === "ahead");
  const forward = () =>
    ask({
      title: `Undo the last rollback of ${shown.deployment.bundle}?`,
      will: [{ icon: "split", text: "Traffic goes to the split that was rolled back." }],
      reason: "asked",
      can,
      yes: "Roll forward",
      no: "Keep as it is",
      run: async (reason) => {
        try {
          await act("Traffic/forward", { deployment: shown.deployment.deployment, steps: 1 }, { reason, key: newKey(), wait: "all", forMs: 20_000 });
          toast("ok", "Rolled forward; the routers obey.");
        } catch (error) {
          toastProblem("Roll forward", error, "Traffic is as it was.");
        }
      },
    });
  return (
    <Card title="History" note="every split, newest first" right={ahead ? <Button small can={can} onClick={forward}>Roll forward…</Button> : undefined} flush>
      <table class="cards">
        <thead><tr><th>Generation</th><th>Split</th><th>Why</th><th>By</th><th>When</th><th /></tr></thead>
        <tbody>
          {history.map((each, i) => (
            <tr key={`${each.generation}-${i}`} class={each.place === "current" ? "chosen" : ""} data-row>
              <td data-label="Generation">{each.generation} {each.place === "current" && <span class="tag">current</span>}{each.place === "ahead" && <span class="tag">rolled back</span>}</td>
              <td class="most"><T text={each.entries.filter((one) => one.weight_bps > 0).map((one) => `${versionOf(one.revision_id)} ${percent(one.weight_bps)}`).join(", ") || "no traffic"} /></td>
              <td class="whole" data-label="Why"><T text={each.why} max={300} /></td>
              <td data-label="By">{who(each.updated_by) || "–"}</td>
              <td class="nowrap" data-label="When" title={full(each.updated_at)}><When at={each.updated_at} /></td>
              <td>{each.authorization_ref && <Copy text={each.authorization_ref} label="Copy the audit reference" />}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Card>
  );
}
