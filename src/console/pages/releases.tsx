// Releases: a pipeline from left to right, with what runs in each environment and what it has proved there; what a step
// would change, and the rules that hold it back; and all releases, the newest first.
import { act, newKey } from "../api/client";
import type { Document } from "../api/client";
import { useCan, useView } from "../api/use";
import { useHome } from "../app/home";
import { link, query, setQuery } from "../app/router";
import { useCrumbs } from "../app/shell";
import { toast, toastProblem } from "../app/toasts";
import { Waiting } from "../parts/approval";
import { Button, Card, Empty, Loaded, Segments, WhyOff } from "../parts/basics";
import { ask } from "../parts/dialog";
import { Icon } from "../parts/icons";
import { Step, goesOn, pinOf, readySince, soakLeft_ms } from "../parts/promote";
import type { Path } from "../parts/promote";
import { Chip, State, sentenceCase } from "../parts/state";
import type { Kind } from "../parts/state";
import { T, When, count, plural, rough, shortDigest } from "../parts/text";

type Release = Document<"releases">[number];
type Pin = Document<"pins">[number];
type Pipeline = Document<"pipelines">[number];

export const releaseKind = (release: Release): Kind => (release.rejected ? "bad" : release.ready ? "ok" : "wait");
export const releaseWord = (release: Release): string => (release.rejected ? "Rejected" : release.ready ? "Ready" : "Not resolved");

export default function Releases() {
  useCrumbs([{ text: "Releases" }]);
  const home = useHome();
  const pipelines = useView("pipelines", {}, { everyMs: 10_000 });
  const defined = useView("definitions", { kind: "DeploymentPipeline" }, { everyMs: 30_000 });
  const pins = useView("pins", {}, { everyMs: 3000 });
  const releases = useView("releases", {}, { everyMs: 10_000 });
  const waiting = (home.approvals.data ?? []).filter((each) => /^Pin\//.test(each.action));
  return (
    <Loaded read={pipelines} what="The pipelines" lines={7}>
      {(all) => {
        const at = all.find((each) => each.pipeline === query.value.get("pipeline")) ?? all[0];
        const paths = at ? pathsOf(at, defined.data) : [];
        return (
          <>
            <div class="head">
              <div class="grow"><h1>Releases</h1><p class="second">{at && pins.data && releases.data ? summary(pins.data, releases.data, paths) : "What goes from one environment to the next, as one thing that never changes."}</p></div>
              <div class="actionbar">
                {all.length > 1 && <Segments label="Pipeline" value={at!.pipeline} options={all.map((each) => [each.pipeline, each.pipeline] as const)} onChange={(value) => setQuery("pipeline", value)} />}
                {at && <Brake pipeline={at} />}
              </div>
            </div>
            {at?.stopped && <div class="strip bad"><State kind="paused" /><span class="grow"><strong>{at.pipeline} is stopped:</strong> <T text={at.reason || "no reason was given"} max={300} />. Nothing is promoted until it is resumed; what runs goes on.</span></div>}
            {waiting.length > 0 && <Card title="Waiting for agreement" note="it moves when they agree" flush><ul class="list">{waiting.map((each) => <Waiting key={each.approval} approval={each} me={home.me.data?.caller} />)}</ul></Card>}
            {!at ? <NoPipeline /> : <Loaded read={pins} what="What runs where">{(data) => <Along pipeline={at} paths={paths} pins={data} releases={releases.data ?? []} />}</Loaded>}
            <Loaded read={releases} what="The releases">{(data) => <List releases={data} />}</Loaded>
          </>
        );
      }}
    </Loaded>
  );
}

function pathsOf(pipeline: Pipeline, defined: Document<"definitions"> | undefined): Path[] {
  const record = (value: unknown): Record<string, unknown> => (value && typeof value === "object" ? (value as Record<string, unknown>) : {});
  const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
  const spec = record(record(defined?.find((each) => each.name === pipeline.pipeline)?.document).spec);
  const rules = list(spec.promotionPaths).flatMap((path) => list(record(path).targetEnvironmentRefs).map((target) => ({ from: record(record(path).sourceEnvironmentRef).name, ...record(target) }) as Record<string, unknown>));
  return pipeline.paths.map((text) => {
    const [from = "", to = ""] = text.split(" -> ");
    const rule = rules.find((each) => each.from === from && each.name === to) ?? {};
    return { from, to, soak_s: Number(rule.soakSeconds ?? 0), approvals: Number(rule.approvals ?? 0) };
  });
}

// From left to right: an environment stands behind all that lead to it.
function stagesOf(paths: Path[]): string[] {
  const names = [...new Set(paths.flatMap((each) => [each.from, each.to]))];
  const depth = new Map(names.map((each) => [each, 0]));
  for (let round = 0; round < names.length; round++) {
    for (const { from, to } of paths) depth.set(to, Math.min(names.length, Math.max(depth.get(to)!, depth.get(from)! + 1)));
  }
  return names.sort((a, b) => depth.get(a)! - depth.get(b)!);
}

function summary(pins: Pin[], releases: Release[], paths: Path[]): string {
  const ahead = paths.flatMap((path) => pins.filter((each) => each.environment === path.from && goesOn(pins, releases, each, path)).map((each) => soakLeft_ms(each, path) > 0));
  const soak = ahead.filter(Boolean).length;
  const free = ahead.length - soak;
  const bad = pins.filter((each) => kindOf(each) === "bad").length;
  return `${plural(new Set(releases.map((each) => each.component)).size, "component")}, ${plural(releases.length, "release")}. ${free ? `${plural(free, "promotion")} could be made now` : "Nothing could be promoted now"}${soak ? `, ${count(soak)} ${soak === 1 ? "has" : "have"} to soak` : ""}${bad ? `; ${plural(bad, "pin")} failed` : ""}.`;
}

function NoPipeline() {
  return <Card><Empty command="sluice apply -f examples/promotion">No pipeline is kept here. It says which environment a release may go to next, and under which rules. This keeps one, with a component:</Empty></Card>;
}

// --- the brake

function Brake({ pipeline }: { pipeline: Pipeline }) {
  const can = useCan(pipeline.stopped ? "Pipeline/resume" : "Pipeline/stop", "");
  const name = pipeline.pipeline;
  const turn = () => {
    const key = newKey();
    ask({
      title: pipeline.stopped ? `Let promotions along ${name} through again?` : `Stop all promotions along ${name}?`,
      will: pipeline.stopped
        ? [{ icon: "play", text: "What its other rules let through can be promoted again. Nothing is promoted by itself." }]
        : [{ icon: "pause", text: "Nothing is promoted along it until somebody resumes it. What runs goes on." }, { icon: "undo", text: "Going back to what ran before stays possible." }],
      reason: pipeline.stopped ? "asked" : "needed",
      can,
      yes: pipeline.stopped ? `Resume ${name}` : `Stop ${name}`,
      no: "Leave it",
      danger: !pipeline.stopped,
      run: async (reason) => {
        try {
          if (pipeline.stopped) await act("Pipeline/resume", { pipeline: name }, { reason, key });
          else await act("Pipeline/stop", { pipeline: name, reason }, { reason, key });
          toast("ok", pipeline.stopped ? `${name} lets promotions through.` : `${name} is stopped.`);
        } catch (error) {
          toastProblem(pipeline.stopped ? "Resume" : "Stop", error, `${name} is as it was.`);
        }
      },
    });
  };
  return <Button icon={pipeline.stopped ? "play" : "pause"} can={can} onClick={turn}>{pipeline.stopped ? "Resume…" : "Stop promotions…"}</Button>;
}

// --- what runs where

function kindOf(pin: Pin): Kind {
  if (pin.state !== "Active") return "archived";
  if (pin.ready && pin.observed_generation === pin.generation) return "ok";
  return pin.reason === "ReconcileFailed" ? "bad" : pin.reason === "ConnectionsPending" ? "wait" : "run";
}

const rulesOf = (path: Path): string => [path.soak_s ? `soaks ${rough(path.soak_s * 1000)} in ${path.from}` : "", path.approvals ? `${path.approvals === 1 ? "1 person agrees" : `${path.approvals} people agree`}` : ""].filter(Boolean).join(", ");

function Along({ pipeline, paths, pins, releases }: { pipeline: Pipeline; paths: Path[]; pins: Pin[]; releases: Release[] }) {
  const stages = stagesOf(paths);
  const mine = pins.filter((each) => each.pipeline === pipeline.pipeline && stages.includes(each.environment));
  const components = [...new Set(mine.map((each) => each.component))].sort();
  const from = query.value.get("from");
  const to = query.value.get("to");
  const step = paths.find((each) => each.from === from && each.to === to);
  const chosen = mine.find((each) => each.pin === query.value.get("pin"));
  const choose = (path: Path | undefined) => {
    setQuery("from", path?.from);
    setQuery("to", path?.to);
  };
  return (
    <>
      <Card title={<T text={pipeline.pipeline} max={40} />} note={pipeline.paths.join(", ").replaceAll("->", "→")} flush>
        {!components.length ? <Empty command={`sluice pins set shop ${stages[0] ?? "dev"} shop-1`}>No component runs along it yet. This pins a release where the pipeline begins:</Empty> : (
          <table class="cards stages">
            <thead>
              <tr>
                <th>Component</th>
                {stages.map((stage) => {
                  const ways = paths.filter((each) => each.to === stage);
                  return (
                    <th key={stage}>
                      <div class="stage"><a class="plain" href={link.environment(stage)}><strong><T text={stage} max={30} /></strong></a>
                        {ways.length === 0 ? <span class="note">begins here</span> : ways.map((path) => (
                          <span key={path.from} class="row wrap"><span class="note">from <T text={path.from} max={24} />{rulesOf(path) && `; ${rulesOf(path)}`}</span>
                            <button class="button small" aria-pressed={path === step} aria-label={`What would change from ${path.from} to ${path.to}?`} onClick={() => choose(path === step ? undefined : path)}>What would change?</button></span>
                        ))}
                      </div>
                    </th>
                  );
                })}
              </tr>
            </thead>
            <tbody>
              {components.map((component) => (
                <tr key={component} data-row>
                  <td class="whole"><strong><T text={component} max={40} /></strong></td>
                  {stages.map((stage) => {
                    const pin = pinOf(mine, component, stage);
                    return <td key={stage} class={`half${pin && pin === chosen ? " chosen" : ""}`} data-label={stage}>{pin ? <Pinned pin={pin} paths={paths} pins={mine} releases={releases} chosen={pin === chosen} /> : <span class="dim">nothing yet</span>}</td>;
                  })}
                </tr>
              ))}
            </tbody>
          </table>
        )}
        <div class="stage-ways small-only">{paths.map((path) => <button key={`${path.from} ${path.to}`} class="button" aria-pressed={path === step} onClick={() => choose(path === step ? undefined : path)}>{path.from} → {path.to}: what would change?</button>)}</div>
        {chosen && <History key={chosen.pin} pin={chosen} />}
      </Card>
      {step && <Step key={`${step.from} ${step.to}`} path={step} pipeline={pipeline} pins={mine} releases={releases} onClose={() => choose(undefined)} />}
    </>
  );
}

function Pinned({ pin, paths, pins, releases, chosen }: { pin: Pin; paths: Path[]; pins: Pin[]; releases: Release[]; chosen: boolean }) {
  const kind = kindOf(pin);
  const next = paths.filter((path) => path.from === pin.environment && goesOn(pins, releases, pin, path));
  const soaks = next.map((path) => soakLeft_ms(pin, path)).filter((left) => left > 0);
  return (
    <div class="pinned">
      <span class="row"><State kind={kind} label={kind === "ok" ? "ready" : pin.reason} /><a href={link.release(pin.release)}><strong><T text={pin.release} max={40} /></strong></a>
        <button class="ghost" aria-label={`History of ${pin.component} in ${pin.environment}`} title="What it ran before" aria-pressed={chosen} onClick={() => setQuery("pin", chosen ? undefined : pin.pin)}><Icon name="more" size={14} /></button></span>
      <span class="note">{kind === "ok" ? <>ready for {readySince(pin)}{pin.held !== null && ", went back to it"}</> : kind === "archived" ? "is not to run" : <T text={`${pin.applied_release && pin.applied_release !== pin.release ? `${pin.applied_release} runs; ` : ""}${pin.message || sentenceCase(pin.reason)}`} max={120} />}</span>
      {kind === "ok" && next.length > 0 && <span class="note">{soaks.length === next.length ? `soaks for another ${rough(Math.min(...soaks))}` : `may go to ${next.filter((path) => soakLeft_ms(pin, path) <= 0).map((path) => path.to).join(", ")}`}</span>}
      {pin.rejected.length > 0 && <span class="note text-bad"><T text={pin.rejected.join(", ")} max={60} /> failed here</span>}
    </div>
  );
}

function History({ pin }: { pin: Pin }) {
  const read = useView("pin-history", { pin: pin.pin }, { everyMs: 5000 });
  const can = useCan("Pin/rollback", pin.environment);
  const rollBack = (number: number, release: string) => {
    const key = newKey();
    ask({
      title: `Bring ${pin.component} in ${pin.environment} back to ${release}?`,
      will: [
        { icon: "undo", text: `Exactly what entry ${number} applied is applied again, with the settings of that time. Neither Git nor a registry is asked.` },
        { icon: "lock", text: `It stays so until it is promoted or pinned again. Now it is ${pin.release}.` },
      ],
      reason: "asked",
      can,
      yes: `Roll back to ${release}`,
      no: `Keep ${pin.release}`,
      run: async (reason) => {
        try {
          const called = await act("Pin/rollback", { pin: pin.pin, to: number }, { reason, key, wait: "answer", forMs: 60_000 });
          toast(called.pending ? "wait" : "ok", called.pending ? `${pin.component} goes back to ${release}; this page shows when it is ready.` : `${pin.component} in ${pin.environment} is back at ${release}.`);
        } catch (error) {
          toastProblem("Roll back", error, `${pin.component} is as it was.`);
        }
      },
    });
  };
  return (
    <div class="card-section">
      <div class="card-head"><h2><T text={pin.component} max={40} /> in <T text={pin.environment} max={30} /></h2><span class="note">what it ran, the newest first</span><span class="grow" />{pin.deployment && <a href={link.deployment(pin.environment, pin.deployment)}>Open deployment</a>}<button class="ghost" aria-label="Close" onClick={() => setQuery("pin", undefined)}><Icon name="x" /></button></div>
      <Loaded read={read} what="The history">
        {(locks) => locks.length === 0 ? <Empty>It was never ready here, so there is nothing to go back to.</Empty> : (
          <table class="cards">
            <thead><tr><th>Entry</th><th>Release</th><th>Ready since</th><th>Settings</th><th>Applied objects</th><th /></tr></thead>
            <tbody>{locks.map((each, i) => (
              <tr key={each.number} class={each.number === pin.held || (pin.held === null && i === 0) ? "chosen" : ""}>
                <td data-label="Entry">{each.number} {(each.number === pin.held || (pin.held === null && i === 0)) && <span class="tag">current</span>}</td>
                <td class="most"><a href={link.release(each.release)}><strong><T text={each.release} max={40} /></strong></a></td>
                <td data-label="Ready since"><When at={each.at} /></td>
                <td data-label="Settings" class="mono">{each.settings_digest ? shortDigest(each.settings_digest) : <span class="dim">none</span>}</td>
                <td data-label="Applied objects" class="mono">{shortDigest(each.rendered_digest)}</td>
                <td class="right"><Button small icon="undo" can={can} off={each.number === pin.held || (pin.held === null && i === 0) ? "It runs now." : undefined} onClick={() => rollBack(each.number, each.release)}>Roll back…</Button></td>
              </tr>
            ))}</tbody>
          </table>
        )}
      </Loaded>
      {!can.allowed && <div class="card-foot"><WhyOff can={can} what="Rolling back" /></div>}
    </div>
  );
}

// --- all releases

function List({ releases }: { releases: Release[] }) {
  const kMost = 100;
  const text = (query.value.get("q") ?? "").toLowerCase();
  const found = releases.filter((each) => `${each.release} ${each.component} ${each.by}`.toLowerCase().includes(text));
  return (
    <Card title="All releases" note="the newest first" right={releases.length > 0 && <input class="field small" type="search" aria-label="Find a release" placeholder="Find a release" value={query.value.get("q") ?? ""} onInput={(event) => setQuery("q", event.currentTarget.value || undefined)} />} flush>
      {releases.length === 0 ? <Empty command="sluice releases create hello --bundle hello.bundle">Releases stand here. This cuts one of what is defined of a component:</Empty> : found.length === 0 ? <Empty>No release fits.</Empty> : (
        <table class="cards">
          <thead><tr><th>Release</th><th>State</th><th>Runs in</th><th>Image</th><th>Cut</th></tr></thead>
          <tbody>{found.slice(0, kMost).map((each) => (
            <tr key={each.release} class="open" data-row>
              <td class="most"><span class="two"><a href={link.release(each.release)}><strong><T text={each.release} max={60} /></strong></a><span class="note">of <T text={each.component} max={40} /></span></span></td>
              <td><Chip kind={releaseKind(each)} title={each.rejected || each.message}>{releaseWord(each)}</Chip></td>
              <td class="half" data-label="Runs in">{each.pinned.length ? <span class="tags">{each.pinned.map((one) => <span key={one.environment} class="legend"><State kind={one.ready ? "ok" : "run"} /> <T text={one.environment} max={24} /></span>)}</span> : <span class="dim">nowhere</span>}</td>
              <td class="mono" data-label="Image"><T text={shortImage(each.image)} max={40} /></td>
              <td data-label="Cut"><When at={each.created_at} /></td>
            </tr>
          ))}</tbody>
        </table>
      )}
      {found.length > kMost && <div class="card-foot note">{count(found.length - kMost)} older ones are found by their names.</div>}
    </Card>
  );
}

// A bundle is named by two digests, an image by a name and one.
export const shortImage = (image: string): string => image.split(",")[0]!.replace(/sha256:([0-9a-f]{10})[0-9a-f]*/, "sha256:$1…");
