// Rollout: what it waits for, what the judge says, both revisions on one scale, the steps, and the four ways to steer it.
import { useMemo } from "preact/hooks";
import { act, newKey } from "../api/client";
import type { Document } from "../api/client";
import { now, recent } from "../api/live";
import { useCan, useView } from "../api/use";
import type { Can } from "../api/use";
import { underWay } from "../app/home";
import type { Rollout } from "../app/home";
import { href, link } from "../app/router";
import { useCrumbs } from "../app/shell";
import { toast, toastProblem } from "../app/toasts";
import type { PageProps } from "../pages";
import { Button, Card, Fact, Loaded, WhyOff } from "../parts/basics";
import { Chart } from "../parts/chart";
import type { StepMark } from "../parts/chart";
import { ask } from "../parts/dialog";
import { Icon } from "../parts/icons";
import { Chip, Mark, State, rolloutKind, sentenceCase, verdictKind, verdictWord } from "../parts/state";
import { Split, Versions } from "../parts/traffic";
import { T, When, clock, count, millis, num, percent, plural, rough, share, span, who } from "../parts/text";
import { useWhy } from "../parts/why";

type Verdict = NonNullable<Rollout["verdict"]>;
type Metric = Verdict["metrics"][number];

// As a sentence.
const asSentence = (text: string): string => (/[.!?]$/.test(text) || !text ? text : `${text}.`);

export default function RolloutPage({ params }: PageProps) {
  const read = useView("rollout", { rollout: params.id! }, { everyMs: 1000, on: (event) => /^(rollout|traffic|router)\./.test(event.event) });
  useCrumbs([
    { text: "Rollouts", to: href("/rollouts") },
    ...(read.data ? [{ text: read.data.environment, to: link.environment(read.data.environment) }, { text: read.data.bundle, to: link.deployment(read.data.environment, read.data.deployment) }, { text: `rollout ${read.data.canary.name}` }] : [{ text: params.id! }]),
  ]);
  return <Loaded read={read} what="The rollout" lines={9}>{(data) => <Known rollout={data} />}</Loaded>;
}

function Known({ rollout }: { rollout: Rollout }) {
  const { canary, baseline, environment } = rollout;
  const can = { pause: useCan("Rollout/pause", environment), advance: useCan("Rollout/advance", environment), abort: useCan("Rollout/abort", environment), retry: useCan("Rollout/retry", environment) };
  const open = underWay(rollout.status);
  const why = useWhy(rollout.rollout, {
    since: open ? rollout.stepped_at : rollout.ended_at,
    itself: rollout.status === "running" ? "The judge decides: healthy goes on with the next step, unhealthy aborts." : rollout.status === "watching" ? "The watch ends, or the judge takes traffic back." : undefined,
    ways: <Actions rollout={rollout} can={can} inPanel />,
  });
  const ended = rollout.ended_at ? Date.parse(rollout.ended_at) / 1000 : undefined;
  const from = Date.parse(rollout.started_at) / 1000;
  // Seconds while they are kept, then minutes.
  const passed = Date.parse(rollout.now) / 1000 - from;
  const range = passed < 500 ? 600 : passed < 880 ? 900 : Math.min(86_400, Math.ceil((passed * 1.1) / 600) * 600);
  const series = useView("series", { environment, deployment: rollout.deployment, range_s: range }, { everyMs: open ? 2000 : 30_000, on: () => false });
  const history = useView("traffic-history", { environment, deployment: rollout.deployment }, { on: (event) => event.event.startsWith("traffic.") });
  const group = useView("rollouts", rollout.group ? { environment, ended: true } : null, { everyMs: 2000, on: (event) => event.event.startsWith("rollout.") });
  const siblings = rollout.group ? (group.data ?? []).filter((each) => each.group === rollout.group) : [];
  const chip = open ? (rollout.status === "running" ? `Judging, step ${Math.max(1, rollout.step)} of ${rollout.steps.length}` : `${sentenceCase(rollout.status)}, step ${Math.max(1, rollout.step)} of ${rollout.steps.length}`) : sentenceCase(rollout.status);
  const took = rollout.ended_at ? Date.parse(rollout.ended_at) - Date.parse(rollout.started_at) : now.value - Date.parse(rollout.started_at);
  return (
    <>
      <div class="head">
        <div class="grow">
          <h1>
            <a class="plain" href={link.deployment(environment, rollout.deployment)}><T text={rollout.bundle} max={40} /></a>
            <span class="thin">{baseline && <><Mark as="old" /> {baseline.name} <Icon name="arrow" /></>} <Mark as="new" /> {canary.name}</span>
            <Chip kind={rollout.status === "running" ? "run" : rolloutKind(rollout.status)}>{chip}</Chip>
          </h1>
          <div class="facts">
            <Fact name="Environment"><a href={link.environment(environment)}>{environment}</a></Fact>
            <Fact name="Strategy">{rollout.strategy}</Fact>
            <Fact name="Started"><When at={rollout.started_at} /></Fact>
            <Fact name={open ? "Runs for" : "Took"}>{span(took)}</Fact>
            {rollout.attempt > 1 && <Fact name="Attempt">{rollout.attempt}</Fact>}
          </div>
        </div>
        <Actions rollout={rollout} can={can} />
      </div>

      <div class={`strip ${rollout.status === "aborted" ? "bad" : rollout.status === "stuck" || rollout.status === "paused" || rollout.status === "returning" ? "warn" : open ? "run" : ""}`} role={rollout.status === "aborted" ? "alert" : undefined}>
        <State kind={rollout.status === "running" ? "judge" : rolloutKind(rollout.status)} />
        <span class="grow">
          {rollout.status === "aborted" ? <><strong>Aborted {rollout.ended_at && <When at={rollout.ended_at} />}.</strong> <T text={asSentence(rollout.reason)} max={300} /> {baseline && <>All traffic is on {baseline.name}.</>}</>
            : rollout.status === "complete" ? <><strong>Complete.</strong> {canary.name} has all traffic since <When at={rollout.ended_at} />.</>
            : !open ? <><strong>{sentenceCase(rollout.status)}.</strong> <T text={rollout.reason} max={300} /></>
            : <><strong>{rollout.status === "running" ? "Waits for the judge: " : `${sentenceCase(rollout.status)}: `}</strong>{rollout.waits_for === rollout.verdict?.sentence ? "it is undecided. " : <><T text={asSentence(rollout.waits_for)} max={300} /> </>}{rollout.verdict?.seconds_needed !== undefined && rollout.verdict.requests_needed !== undefined && <>It needs {count(rollout.verdict.requests_needed)} more requests, about {rough(rollout.verdict.seconds_needed * 1000)} at this rate. </>}{rollout.status === "running" && "Unhealthy: it aborts itself."}</>}
        </span>
        <button class="button small" onClick={why.show}>Why <kbd class="hide-small">w</kbd></button>
      </div>
      <WhyOff can={can.abort} what="Steering this rollout" />

      <div class="grid cols-main">
        <div class="stack">
          <VerdictCard rollout={rollout} />
          <Card title="Traffic and quality" right={<Versions parts={[{ mark: "new", label: canary.name }, ...(baseline ? [{ mark: "old" as const, label: baseline.name }] : [])]} />} flush>
            <Charts rollout={rollout} series={series.data} history={history.data ?? []} ended={ended} />
          </Card>
        </div>
        <div class="stack">
          <Steps rollout={rollout} history={history.data ?? []} />
          <Card title={open ? "If it is unhealthy" : "What is kept"}>
            <ul class="will plainlist">
              {open && <li><Icon name="undo" /><span>Traffic goes back to {baseline?.name ?? "what served before"} in one change{rollout.group ? `, with all of ${rollout.group}` : ""}.</span></li>}
              {baseline && <li><Icon name="split" /><span>{baseline.name} is {baseline.lifecycle} with {plural(baseline.replicas, "replica")}{baseline.lifecycle === "ready" ? ", so it can take 100 % at once" : ""}.</span></li>}
              {rollout.routers.map((each) => <li key={each.name}><State kind={each.obeys ? "ok" : "wait"} /><span>Router {each.name} {each.obeys ? "obeys the newest table" : <T text={each.trouble || "has not acknowledged yet"} />}.</span></li>)}
            </ul>
          </Card>
          <Events rollout={rollout} history={history.data ?? []} />
        </div>
      </div>
      {siblings.length > 1 && (
        <Card title={<>Group <T text={rollout.group} max={40} /></>} note={`${plural(siblings.length, "service")} advance in step; one bad verdict takes all of them back`}>
          <div class="side-by-side">
            {siblings.map((each) => (
              <a key={each.rollout} href={link.rollout(each.rollout)} data-row aria-current={each.rollout === rollout.rollout ? "page" : undefined}>
                <span class="row"><strong class="grow"><T text={each.bundle} max={30} /></strong><Chip kind={verdictKind(each.verdict?.verdict)}>{verdictWord(each.verdict?.verdict)}</Chip></span>
                <Split parts={[{ revision: "c", label: each.canary.name, mark: "new", bps: each.weight_asked_bps }, { revision: "b", label: each.baseline?.name ?? "", mark: "old", bps: 10_000 - each.weight_asked_bps }]} />
                <span class="note">{percent(each.weight_asked_bps)} to {each.canary.name}, step {Math.max(1, each.step)} of {each.steps.length}, {each.status}</span>
                <dl class="kv"><dt>Errors</dt><dd>{share(each.canary.error_share)}{each.baseline && <span class="dim"> against {share(each.baseline.error_share)}</span>}</dd><dt>p99</dt><dd>{millis(each.canary.p99_ms)}{each.baseline && <span class="dim"> against {millis(each.baseline.p99_ms)}</span>}</dd></dl>
              </a>
            ))}
          </div>
        </Card>
      )}
      {why.panel}
    </>
  );
}

function Actions({ rollout, can, inPanel }: { rollout: Rollout; can: Record<"pause" | "advance" | "abort" | "retry", Can>; inPanel?: boolean }) {
  const { canary, baseline } = rollout;
  const next = rollout.steps.find((each) => each.state === "coming");
  const here = rollout.steps.find((each) => each.state === "current");
  const id = rollout.rollout;
  const against = rollout.verdict && rollout.verdict.verdict !== "healthy" ? `Against the judge's advice: ${verdictWord(rollout.verdict.verdict).toLowerCase()}.` : undefined;
  const call = (what: string, done: string, run: (reason: string, key: string) => Promise<unknown>) => {
    const key = newKey();
    return async (reason: string) => {
      try {
        await run(reason, key);
        toast("ok", done);
      } catch (error) {
        toastProblem(what, error, "Traffic is as it was.");
      }
    };
  };
  const pause = () => ask({ title: `Pause the rollout of ${canary.name}?`, will: [{ icon: "pause", text: `Traffic stays at ${percent(rollout.weight_asked_bps)}; judging goes on, and it still aborts if ${canary.name} turns bad.` }, { icon: "undo", text: "To undo: resume it." }], reason: "needed", can: can.pause, yes: "Pause rollout", no: "Keep going", run: call("Pause", `${canary.name} stays at ${percent(rollout.weight_asked_bps)}.`, (reason, key) => act("Rollout/pause", { rollout: id, reason }, { reason, key })) });
  const resume = () => ask({ title: `Resume the rollout of ${canary.name}?`, will: [{ icon: "play", text: `It goes on at ${percent(rollout.weight_asked_bps)} with step ${Math.max(1, rollout.step)} of ${rollout.steps.length}.` }], reason: "asked", can: can.pause, yes: "Resume rollout", no: "Keep paused", run: call("Resume", `${canary.name} goes on.`, (reason, key) => act("Rollout/resume", { rollout: id }, { reason, key })) });
  const advance = () => next && ask({
    title: `Advance ${rollout.bundle} to ${percent(next.weight_bps)}?`,
    against,
    will: [{ icon: "split", text: `${canary.name} goes from ${percent(rollout.weight_asked_bps)} to ${percent(next.weight_bps)} without waiting for the rest of this step.` }, { icon: "swap", text: `${plural(rollout.routers.length, "router")} must acknowledge; then the judge looks at the new step.` }, { icon: "undo", text: "To undo: abort, which takes all traffic back." }],
    reason: "asked", can: can.advance, yes: `Advance to ${percent(next.weight_bps)}`, no: `Keep ${percent(rollout.weight_asked_bps)}`,
    run: call("Advance", `${canary.name} goes to ${percent(next.weight_bps)}.`, (reason, key) => act("Rollout/advance", { rollout: id, ...(here ? { step: rollout.step } : {}) }, { reason, key })),
  });
  const abort = () => ask({ title: `Abort the rollout of ${canary.name}?`, will: [{ icon: "undo", text: `All traffic goes back to ${baseline?.name ?? "what served before"}: ${percent(rollout.weight_asked_bps)} of the requests move at once.` }, { icon: "swap", text: `It is done when ${plural(rollout.routers.length, "router")} ${rollout.routers.length === 1 ? "has" : "have"} acknowledged.` }, { icon: "retry", text: "Retry begins again from the first step." }], reason: "asked", can: can.abort, yes: "Abort rollout", no: "Keep going", danger: true, run: call("Abort", `Traffic goes back to ${baseline?.name ?? "what served before"}.`, (reason, key) => act("Rollout/abort", { rollout: id, ...(reason ? { reason } : {}) }, { reason, key })) });
  const retry = () => ask({ title: `Retry the rollout of ${canary.name}?`, against: rollout.verdict?.verdict === "unhealthy" ? "Against the judge's advice: it was unhealthy." : undefined, will: [{ icon: "retry", text: `It begins again at ${percent(rollout.steps[0]?.weight_bps ?? 0)}, with fresh evidence.` }], reason: "asked", can: can.retry, yes: "Retry rollout", no: "Leave it ended", run: call("Retry", `The rollout of ${canary.name} begins again.`, (reason, key) => act("Rollout/retry", { rollout: id }, { reason, key })) });
  if (!underWay(rollout.status)) {
    return (
      <div class={inPanel ? "actionbar" : "actionbar fixed"}>
        {["aborted", "stuck"].includes(rollout.status) && <Button icon="retry" can={can.retry} onClick={retry}>Retry…</Button>}
        <a class="button" href={link.deployment(rollout.environment, rollout.deployment)}>Open deployment</a>
      </div>
    );
  }
  return (
    <div class={inPanel ? "actionbar" : "actionbar fixed"}>
      {rollout.status === "paused" ? <Button icon="play" can={can.pause} onClick={resume}>Resume…</Button> : <Button icon="pause" can={can.pause} off={rollout.status === "running" ? undefined : `It is ${rollout.status}.`} onClick={pause}>Pause…</Button>}
      <Button icon="advance" can={can.advance} off={next ? undefined : "This is the last step."} onClick={advance}>{next ? `Advance to ${percent(next.weight_bps)}…` : "Advance…"}</Button>
      {rollout.status === "stuck" && <Button icon="retry" can={can.retry} onClick={retry}>Retry…</Button>}
      <Button icon="abort" kind="danger" can={can.abort} off={rollout.status === "returning" ? "Traffic is on its way back already." : undefined} onClick={abort}>Abort…</Button>
    </div>
  );
}

// --- the judge

const kMetricNames: Record<string, string> = { errors: "Errors", p50: "p50", p90: "p90", p99: "p99", max_error_rate: "Error limit", max_latency_p99: "p99 limit" };

function VerdictCard({ rollout }: { rollout: Rollout }) {
  const verdict = rollout.verdict;
  if (!verdict) {
    // What the judge knew is kept for a while; why a rollout ended, for ever.
    const [kind, word, said] = underWay(rollout.status)
      ? (["judge", "No verdict yet", "The judge has not looked yet. It looks when the routers have acknowledged the step."] as const)
      : rollout.status === "complete"
        ? (["ok", "Passed", `Every step of ${rollout.canary.name} was judged healthy, or led on by a person.`] as const)
        : ([rolloutKind(rollout.status), sentenceCase(rollout.status), asSentence(rollout.reason) || "No reason was given."] as const);
    return <Card title={<span class="row">Verdict <Chip kind={kind}>{word}</Chip></span>}><p class="sentence"><T text={said} max={2000} /></p></Card>;
  }
  return (
    <Card title={<span class="row">Verdict <Chip kind={verdictKind(verdict.verdict)}>{verdictWord(verdict.verdict)}</Chip></span>} right={<span class="note">{plural(verdict.windows, "look")} compared{verdict.dropped_windows ? `, ${verdict.dropped_windows} left out` : ""}</span>} flush>
      <p class="sentence card-body"><T text={verdict.sentence} max={2000} /></p>
      <table class="cards verdict-table">
        <thead><tr><th>Metric</th>{rollout.baseline && <th class="n"><Mark as="old" /> {rollout.baseline.name}</th>}<th class="n"><Mark as="new" /> {rollout.canary.name}</th><th class="n">Difference</th><th>Evidence</th><th>Result</th></tr></thead>
        <tbody>{verdict.metrics.map((metric) => <MetricRow key={metric.name} metric={metric} verdict={verdict} two={!!rollout.baseline} />)}</tbody>
      </table>
    </Card>
  );
}

function MetricRow({ metric, verdict, two }: { metric: Metric; verdict: Verdict; two: boolean }) {
  const canary = metric.canary_requests ? metric.canary_bad / metric.canary_requests : null;
  const baseline = metric.baseline_requests ? metric.baseline_bad / metric.baseline_requests : metric.limit ?? null;
  const difference = canary !== null && baseline !== null ? (canary - baseline) * 100 : null;
  const kind = metric.against >= 1 / verdict.alpha ? "bad" : metric.for >= 1 / verdict.beta ? "ok" : "judge";
  return (
    <tr>
      <td class="whole"><span class="two"><strong>{kMetricNames[metric.name] ?? <T text={metric.name} />}</strong>{metric.over_ms !== undefined && <span class="note">slower than <span class="nowrap">{num(metric.over_ms)} ms</span></span>}{metric.limit !== undefined && <span class="note">at most {share(metric.limit)}</span>}</span></td>
      {two && <td class="n value" data-label="old">{share(baseline)}</td>}
      <td class="n value" data-label="new">{share(canary)}</td>
      <td class="n value half" data-label="Difference">{difference === null ? "–" : `${difference > 0 ? "+" : difference < 0 ? "−" : ""}${num(Math.abs(difference))} points`}</td>
      <td class="half"><Evidence metric={metric} verdict={verdict} /></td>
      <td class="half"><span class="row"><State kind={kind} /> <span>{kind === "ok" ? "Healthy" : kind === "bad" ? "Unhealthy" : metric.requests_needed ? `${count(metric.requests_needed)} more needed` : "Not decided"}</span></span></td>
    </tr>
  );
}

// What the judge's bets have come to, on a scale of factors: at the left mark it is healthy, at the right one unhealthy;
// the worse side is hatched.
function Evidence({ metric, verdict }: { metric: Metric; verdict: Verdict }) {
  const pro = Math.min(1, Math.max(0, Math.log(Math.max(1, metric.for)) / Math.log(1 / verdict.beta)));
  const con = Math.min(1.15, Math.max(0, Math.log(Math.max(1, metric.against)) / Math.log(1 / verdict.alpha)));
  const mid = 74;
  const left = 16;
  const right = 124;
  const tone = metric.against >= 1 / verdict.alpha ? "bad" : pro >= 1 ? "ok" : "run";
  const from = mid - pro * (mid - left);
  const to = mid + con * (right - mid);
  return (
    <svg class="interval" viewBox="0 0 148 20" role="img" aria-label={`evidence for it ${Math.round(pro * 100)} percent of what is needed, against it ${Math.round(con * 100)} percent`}>
      <defs><pattern id="worse" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect width="1.500" height="6" fill="var(--line-2)" /></pattern></defs>
      <rect x="0" y="3" width="148" height="14" rx="3" fill="var(--sunken)" />
      <rect x={right} y="3" width={148 - right} height="14" fill="url(#worse)" />
      <line x1={mid} x2={mid} y1="1" y2="19" stroke="var(--control)" />
      <line x1={left} x2={left} y1="1" y2="19" stroke="var(--ok-solid)" stroke-width="1.500" />
      <line x1={right} x2={right} y1="1" y2="19" stroke="var(--bad-solid)" stroke-width="1.500" stroke-dasharray="3 2" />
      <line x1={from} x2={to} y1="10" y2="10" stroke={`var(--${tone}-solid)`} stroke-width="3" stroke-linecap="round" />
      <circle cx={con > pro ? to : from} cy="10" r="3.500" fill="var(--surface)" stroke={`var(--${tone}-solid)`} stroke-width="2" />
    </svg>
  );
}

// --- charts

function Charts({ rollout, series, history, ended }: { rollout: Rollout; series: Document<"series"> | undefined; history: Document<"traffic-history">; ended: number | undefined }) {
  const step = series?.step_s ?? 1;
  // Its own time, and a little of what was before; of one that has ended, its own time alone.
  const began = Date.parse(rollout.started_at) / 1000;
  const before = ended !== undefined ? 2 * step : Math.max(60, 0.3 * (Date.parse(rollout.now) / 1000 - began));
  const first = !series ? 0 : Math.max(0, Math.floor((began - before - series.from_s) / step));
  const last = ended === undefined || !series ? undefined : Math.max(0, Math.ceil((ended + 2 * step - series.from_s) / step));
  const cut = (line: Document<"series">["revisions"][number] | undefined) =>
    line && { requests_per_s: line.requests_per_s.slice(first, last), error_share: line.error_share.slice(first, last), p99_ms: line.p99_ms.slice(first, last) };
  const newLine = cut(series?.revisions.find((each) => each.revision === rollout.canary.revision));
  const oldLine = cut(series?.revisions.find((each) => each.revision === rollout.baseline?.revision));
  const from = (series?.from_s ?? 0) + first * step;
  const marks = useMemo<StepMark[]>(() => {
    const begun = Date.parse(rollout.started_at) / 1000 - 1;
    const past = [...history].reverse().flatMap((each) => {
      const at = Date.parse(each.updated_at) / 1000;
      if (at < begun || (ended !== undefined && at > ended + 2)) return [];
      const weight = each.entries.find((entry) => entry.revision_id === rollout.canary.revision)?.weight_bps ?? 0;
      return [{ at, label: percent(weight) }];
    });
    const coming = rollout.steps.find((each) => each.state === "coming");
    if (rollout.status === "running" && coming && rollout.seconds_left) past.push({ at: Date.parse(rollout.now) / 1000 + rollout.seconds_left, label: percent(coming.weight_bps), planned: true } as StepMark);
    return past;
  }, [history, rollout.seconds_left, rollout.status]);
  const until = marks.some((each) => each.planned) ? Math.max(...marks.map((each) => each.at)) + step : undefined;
  const both = (pick: (line: NonNullable<typeof newLine>) => (number | null)[], times = 1) =>
    [oldLine && { label: rollout.baseline!.name, mark: "old" as const, values: pick(oldLine).map((value) => (value === null ? null : value * times)) }, newLine && { label: rollout.canary.name, mark: "new" as const, values: pick(newLine).map((value) => (value === null ? null : value * times)) }].filter((each) => each !== undefined);
  // The share of errors since the step began, with what it may be in truth: anew at each step, as the judge does.
  const banded = (mark: "old" | "new", label: string, line: NonNullable<typeof newLine>) => ({ label, mark, values: line.error_share.map((value) => (value === null ? null : value * 100)), band: intervals(line, step, marks.filter((each) => !each.planned).map((each) => Math.floor((each.at - from) / step))) });
  const lines = useMemo(() => {
    const actual = (newLine?.requests_per_s ?? []).map((value, i) => {
      const old = oldLine?.requests_per_s[i] ?? 0;
      return value === null || value + old === 0 ? null : (value / (value + old)) * 100;
    });
    return { weight: newLine ? [{ label: rollout.canary.name, mark: "new" as const, values: actual }] : [], errors: [oldLine && banded("old", rollout.baseline!.name, oldLine), newLine && banded("new", rollout.canary.name, newLine)].filter((each) => each !== undefined), p99: both((line) => line.p99_ms), rate: both((line) => line.requests_per_s) };
  }, [series, marks]);
  const limit = rollout.verdict?.metrics.find((each) => each.name === "max_error_rate")?.limit;
  const slow = rollout.verdict?.metrics.find((each) => each.name === "max_latency_p99")?.over_ms;
  if (!series) return <div class="chart-empty">Loading…</div>;
  const common = { from, step, marks, until };
  return (
    <>
      <Chart title={`Weight of ${rollout.canary.name}`} unit="% actual; lines mark what was asked" suffix=" %" lines={lines.weight} height={120} most={100} {...common} />
      <Chart title="Errors" unit="% of requests; band: 95 % interval of this step" suffix=" %" lines={lines.errors} labelMarks={false} limit={limit !== undefined ? { value: limit * 100, label: `limit ${share(limit)}` } : undefined} {...common} />
      <Chart title="Latency p99" unit="ms" suffix=" ms" lines={lines.p99} labelMarks={false} limit={slow !== undefined ? { value: slow, label: `limit ${num(slow)} ms` } : undefined} {...common} />
      <Chart title="Requests" unit="per second" suffix=" /s" lines={lines.rate} height={130} labelMarks={false} {...common} />
    </>
  );
}

// Wilson's interval of the errors since the last step, in percent, after each value.
function intervals(line: { requests_per_s: (number | null)[]; error_share: (number | null)[] }, step_s: number, steps: number[]): ([number, number] | null)[] {
  const z = 1.96;
  let all = 0;
  let bad = 0;
  return line.requests_per_s.map((rate, i) => {
    if (steps.includes(i)) all = bad = 0;
    if (rate !== null) {
      all += rate * step_s;
      bad += rate * step_s * (line.error_share[i] ?? 0);
    }
    if (all < 1) return null;
    const p = bad / all;
    const middle = (p + (z * z) / (2 * all)) / (1 + (z * z) / all);
    const half = (z / (1 + (z * z) / all)) * Math.sqrt((p * (1 - p)) / all + (z * z) / (4 * all * all));
    return [Math.max(0, middle - half) * 100, Math.min(1, middle + half) * 100];
  });
}

// --- steps and events

function Steps({ rollout, history }: { rollout: Rollout; history: Document<"traffic-history"> }) {
  const open = underWay(rollout.status);
  // How far one came that was aborted: it stands at no step any more, and its splits tell.
  const during = (at: string) => at >= rollout.started_at && (!rollout.ended_at || at <= rollout.ended_at);
  const reached = rollout.status === "aborted" ? Math.max(0, ...history.filter((each) => during(each.updated_at)).flatMap((each) => each.entries.filter((entry) => entry.revision_id === rollout.canary.revision).map((entry) => entry.weight_bps))) : 0;
  return (
    <Card title="Steps" note={`${rollout.strategy}, ${rollout.steps.length} steps`}>
      <ol class="steps">
        {rollout.steps.map((each, i) => {
          const here = each.state === "current" && open;
          const done = each.state === "passed" || rollout.status === "complete" || rollout.status === "watching" || each.weight_bps < reached;
          const failed = each.weight_bps === reached;
          const left = here && rollout.seconds_left !== null ? rollout.seconds_left : null;
          return (
            <li key={i} class={done ? "done" : ""} aria-current={here ? "step" : undefined}>
              <State kind={failed ? "bad" : done ? "ok" : here ? (rollout.status === "paused" ? "paused" : "run") : "idle"} />
              <div>
                <strong>{percent(each.weight_bps)}</strong>&ensp;
                <span class="second">{failed ? "Aborted" : done ? "Passed" : here ? (rollout.status === "paused" ? "Paused" : rollout.status === "returning" ? "Returning" : "Judging") : each.manual ? "Then a person decides" : ""}</span>
                <div class="note">{here ? <>since {clock(rollout.stepped_at, true)} ({rough(now.value - Date.parse(rollout.stepped_at))})</> : each.weight_bps === 10_000 ? "all traffic" : each.manual ? "waits for somebody to resume it" : each.pause_s ? `stays at least ${span(each.pause_s * 1000)}` : ""}</div>
                {here && rollout.verdict && <div class="note">{count(rollout.verdict.canary_requests)} requests judged{rollout.verdict.requests_needed ? ` of about ${count(rollout.verdict.canary_requests + rollout.verdict.requests_needed)}` : ""}</div>}
                {left !== null && each.pause_s > 0 && <div class="progress"><i style={{ width: `${Math.min(100, Math.max(0, (1 - left / each.pause_s) * 100))}%` }} /></div>}
              </div>
            </li>
          );
        })}
        {rollout.status === "watching" && <li aria-current="step"><State kind="judge" /><div><strong>Watch</strong><div class="note">{rollout.seconds_left !== null ? `another ${span(rollout.seconds_left * 1000)}; ` : ""}reverts by itself if it turns unhealthy</div></div></li>}
      </ol>
    </Card>
  );
}

function Events({ rollout, history }: { rollout: Rollout; history: Document<"traffic-history"> }) {
  const begun = Date.parse(rollout.started_at) - 1000;
  const until = rollout.ended_at ? Date.parse(rollout.ended_at) + 3000 : Infinity;
  const live = recent.value.filter((event) => JSON.stringify(event.fields).includes(rollout.rollout)).map((event) => ({ at: event.at, by: event.caller ? who(event.caller) : event.action.split("/")[0]!, text: event.event.replace(/^rollout\./, "rollout ").replace("-", " "), flow: event.flow }));
  const splits = history.filter((each) => Date.parse(each.updated_at) >= begun && Date.parse(each.updated_at) <= until).map((each) => ({ at: each.updated_at, by: "Traffic", text: `Asked for ${percent(each.entries.find((entry) => entry.revision_id === rollout.canary.revision)?.weight_bps ?? 0)}, generation ${each.generation}`, flow: "" }));
  const all = [...live, ...splits, { at: rollout.started_at, by: "Rollout", text: `Began with ${rollout.canary.name}`, flow: "" }].sort((a, b) => b.at.localeCompare(a.at)).slice(0, 10);
  const flow = live.find((each) => each.flow)?.flow;
  return (
    <Card title="Events" right={<a href={flow ? link.flow(flow) : href("/flows")}>{flow ? "Open flow" : "Flows"}</a>}>
      <div class="event-grid">
        {all.map((each, i) => <div key={i}><div class="row"><span class="at">{clock(each.at, true)}</span><span class="tag">{each.by}</span></div><div>{sentenceCase(each.text)}</div></div>)}
      </div>
    </Card>
  );
}
