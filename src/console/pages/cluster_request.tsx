// A request to a cluster: how far each object came, what happened, how the objects are now, and what templates would
// change: the diff, what others have changed since, and what would be pruned.
import { useState } from "preact/hooks";
import { act, newKey } from "../api/client";
import type { Actions } from "../api/types.gen";
import type { Document } from "../api/client";
import { Problem } from "../api/problem";
import { useCan, useView } from "../api/use";
import { go, href, link } from "../app/router";
import { useCrumbs } from "../app/shell";
import { toast, toastProblem } from "../app/toasts";
import type { PageProps } from "../pages";
import { Button, Card, Empty, Fact, Loaded, Segments, WhyOff } from "../parts/basics";
import { ask } from "../parts/dialog";
import { Icon } from "../parts/icons";
import { Chip, State, sentenceCase } from "../parts/state";
import type { Kind } from "../parts/state";
import { T, When, clock, full, plural, shortId } from "../parts/text";
import { useWhy } from "../parts/why";
import { requestKind, requestWord } from "./cluster";

type Request = Document<"cluster-request">;
type Seen = Request["resources"][number];
type Status = Actions["Cluster/status"]["ok"];
type Diff = Actions["Cluster/diff"]["ok"];

// Whose instance it is: what every action on it takes.
const instanceOf = (request: Request) => ({ environment: request.environment, hostId: request.hostId, instanceId: request.instanceId, clusterId: request.clusterId, namespace: request.namespace });

const objectKind = (state: string): Kind =>
  ({ ready: "ok", gone: "archived", applied: "run", pending: "wait", failed: "bad" } as Record<string, Kind>)[state] ?? "idle";
const objectWord = (state: string): string =>
  ({ ready: "Ready", gone: "Gone", applied: "Not ready yet", pending: "Waits", failed: "Failed" } as Record<string, string>)[state] ?? (sentenceCase(state) || "Not touched");

export default function ClusterRequest({ params }: PageProps) {
  const id = params.id!;
  const [over, setOver] = useState(false);
  const read = useView("cluster-request", { requestId: id }, { everyMs: over ? 10_000 : 1000 });
  const all = useView("cluster", {}, { everyMs: 5000 });
  const request = read.data;
  useCrumbs([{ text: "Cluster", to: href("/cluster") }, { text: request ? `${request.instanceId} in ${request.namespace}` : id }]);
  if (request && request.ended !== over) setOver(request.ended);
  const instance = all.data?.find((each) => request && each.hostId === request.hostId && each.namespace === request.namespace && each.instanceId === request.instanceId);
  return (
    <Loaded read={read} what="The request" lines={7}>
      {(data) => <Shown request={data} newest={instance?.requestId} holds={instance?.snapshotId ?? undefined} kept={instance?.snapshots ?? []} />}
    </Loaded>
  );
}

function Shown({ request, newest, holds, kept }: { request: Request; newest: string | undefined; holds: string | undefined; kept: string[] }) {
  const isNewest = newest === undefined || newest === request.requestId;
  return (
    <>
      <div class="head">
        <div class="grow">
          <h1><T text={request.instanceId} max={60} /> <Chip kind={requestKind(request.status)}>{requestWord(request.status)}</Chip></h1>
          <div class="facts">
            <Fact name="Action">{sentenceCase(request.action)}</Fact>
            <Fact name="Environment"><a href={link.environment(request.environment)}><T text={request.environment} max={40} /></a></Fact>
            <Fact name="Namespace"><T text={request.namespace} max={40} /></Fact>
            <Fact name="Host"><T text={request.hostId} max={40} /></Fact>
            {request.clusterId && <Fact name="Cluster"><T text={request.clusterId} max={40} /></Fact>}
            <Fact name="Templates"><T text={`${request.repoUrl === "local" ? "sent along" : request.repoUrl} ${request.templateCommitSha ? request.templateCommitSha.slice(0, 10) : request.repoUrl === "local" ? "" : request.ref}`.trim() || "none"} max={80} /></Fact>
            <Fact name="Began"><When at={request.begunAt} /></Fact>
            {request.endedAt && <Fact name="Ended"><When at={request.endedAt} /></Fact>}
          </div>
        </div>
        <Steer request={request} holds={holds} kept={kept} isNewest={isNewest} />
      </div>
      {!isNewest && <div class="strip"><State kind="archived" /><span class="grow">The instance has a newer request.</span><a href={link.cluster(newest!)}>Open it</a></div>}
      {request.message && <div class={`strip ${requestKind(request.status) === "bad" ? "bad" : "warn"}`}><State kind={requestKind(request.status)} /><span><T text={`${request.why ? `${sentenceCase(request.why.replace(/([A-Z])/g, " $1").toLowerCase())}: ` : ""}${request.message}`} max={800} /></span></div>}
      {request.noop && <div class="strip warn"><State kind="warn" /><span>No cluster was asked: the deployer is in noop mode.</span></div>}
      <div class="grid cols-main">
        <Objects request={request} />
        <Events request={request} />
      </div>
      <Compare request={request} />
    </>
  );
}

// --- what can be done about it

function Steer({ request, holds, kept, isNewest }: { request: Request; holds: string | undefined; kept: string[]; isNewest: boolean }) {
  const canBack = useCan("Cluster/rollback", request.environment);
  const canEnd = useCan("Cluster/cancel", request.environment);
  const canRemove = useCan("Cluster/undeploy", request.environment);
  const before = kept.filter((each) => each !== holds);
  const to = kept.includes(request.requestId) && request.requestId !== holds ? request.requestId : before[before.length - 1];
  // A request of its own, whose page opens at once.
  const begin = async (what: string, run: (requestId: string, how: { reason: string; key: string; wait: "start" }) => Promise<unknown>, reason: string) => {
    const requestId = newKey();
    try {
      await run(requestId, { reason, key: requestId, wait: "start" });
      go(`/cluster/${encodeURIComponent(requestId)}`);
    } catch (error) {
      toastProblem(what, error, "The instance is as it was.");
    }
  };
  const rollBack = () =>
    ask({
      title: `Bring ${request.instanceId} back to request ${to!.slice(-12)}?`,
      will: [
        { icon: "undo", text: `Exactly what request ${to} applied is applied again, and objects that it did not have are removed.` },
        { icon: "retry", text: "The request that holds now stays kept: going back to it undoes this." },
      ],
      reason: "asked",
      can: canBack,
      yes: "Roll back",
      no: "Keep it",
      run: (reason) => begin("The rollback", (requestId, how) => act("Cluster/rollback", { ...instanceOf(request), requestId, rollbackSnapshotId: to! }, how), reason),
    });
  const remove = () =>
    ask({
      title: `Remove ${request.instanceId} from ${request.namespace}?`,
      will: [
        { icon: "abort", text: `Every object that the instance’s inventory in the cluster lists is removed: ${plural(request.resources.filter((each) => each.state !== "gone").length, "object")} of this request.` },
        { icon: "undo", text: "To bring it back, deploy it again. What its programs stored in volumes that go with it is gone." },
      ],
      reason: "needed",
      yes: `Remove ${request.instanceId}`,
      no: "Keep it",
      danger: true,
      run: (reason) => begin("The removal", (requestId, how) => act("Cluster/undeploy", { ...instanceOf(request), requestId }, how), reason),
    });
  const cancel = () => {
    const key = newKey();
    ask({
      title: `Stop this request of ${request.instanceId}?`,
      will: [{ icon: "pause", text: "It stops between two objects. What it has applied stays; the next request of the instance goes on from there." }],
      reason: "asked",
      can: canEnd,
      yes: "Stop it",
      no: "Let it go on",
      danger: true,
      run: async (reason) => {
        try {
          await act("Cluster/cancel", { operation: request.requestId }, { reason, key });
          toast("ok", "It stops after the object that it is at.");
        } catch (error) {
          toastProblem("Stop", error, "It goes on.");
        }
      },
    });
  };
  const busy = request.ended ? undefined : "A request is at work on the instance.";
  const buttons = (
    <>
      {!request.ended && <Button can={canEnd} onClick={cancel} icon="pause">Stop…</Button>}
      <Button can={canBack} onClick={rollBack} icon="undo" off={busy ?? (isNewest || kept.includes(request.requestId) ? (to ? undefined : "There is nothing before it to go back to.") : "What it applied is not kept any more.")}>Roll back…</Button>
      <Button can={canRemove} kind="danger" onClick={remove} off={busy ?? (request.status === "deleted" && isNewest ? "It is removed." : undefined)}>Remove…</Button>
    </>
  );
  const left = request.resources.filter((each) => each.state !== "ready" && each.state !== "gone");
  const why = useWhy({ kind: "request", name: request.requestId, said: [
    `${request.instanceId} in ${request.namespace}: ${requestWord(request.status).toLowerCase()}${request.message ? `. ${sentenceCase(request.message)}` : "."}`,
    request.resources.length && left.length ? `Not done: ${left.slice(0, 8).map((each) => `${each.kind} ${each.name}, ${objectWord(each.state).toLowerCase()}${each.message ? ` (${each.message})` : ""}`).join("; ")}${left.length > 8 ? `; and ${left.length - 8} more` : ""}.` : request.resources.length ? "All its objects are done." : "It has touched no object.",
  ] }, { since: request.endedAt ?? request.begunAt, itself: request.ended ? undefined : "Its objects become ready, or the time that a request has is over.", ways: buttons });
  return (
    <div class="stack">
      <div class="actionbar">
        {buttons}
        <button class="button" onClick={why.show}>Why <kbd class="hide-small">w</kbd></button>
      </div>
      <WhyOff can={canBack} what="Changing it" />
      {why.panel}
    </div>
  );
}

// --- objects

function ObjectRows({ objects }: { objects: Seen[] }) {
  return (
    <table class="cards">
      <thead><tr><th>Object</th><th>Namespace</th><th>Change</th><th>State</th></tr></thead>
      <tbody>
        {objects.map((each) => (
          <tr key={`${each.apiVersion} ${each.kind} ${each.namespace} ${each.name}`} data-row>
            <td class="most"><span class="two"><strong><T text={each.name} max={60} /></strong><span class="note" title={each.apiVersion}><T text={each.kind} max={40} /></span>{each.message && <span class="note"><T text={each.message} max={200} /></span>}</span></td>
            <td data-label="Namespace">{each.namespace ? <T text={each.namespace} max={40} /> : <span class="dim">of the cluster</span>}</td>
            <td class="nowrap" data-label="Change">{each.action || <span class="dim">–</span>}</td>
            <td><Chip kind={objectKind(each.state)}>{objectWord(each.state)}</Chip></td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Objects({ request }: { request: Request }) {
  const can = useCan("Cluster/status", request.environment);
  const [which, show] = useState<"applied" | "now">("applied");
  const [now, setNow] = useState<Status | Problem | "busy">();
  const look = async () => {
    setNow("busy");
    try {
      const said = await act("Cluster/status", instanceOf(request), { key: newKey(), wait: "answer", forMs: 60_000 });
      setNow(said.fields);
    } catch (error) {
      setNow(error instanceof Problem ? error : new Problem("fault", 0, String(error), undefined, {}));
    }
  };
  const choose = (value: "applied" | "now") => {
    show(value);
    if (value === "now") void look();
  };
  const ready = request.resources.filter((each) => each.state === "ready" || each.state === "gone").length;
  return (
    <Card
      title="Objects"
      note={which === "applied" ? (request.resources.length ? `${ready} of ${request.resources.length} done` : undefined) : now && now !== "busy" && !(now instanceof Problem) ? (now.ready ? "all ready now" : "not all ready now") : undefined}
      right={<Segments label="As of" value={which} options={[["applied", "Of this request"], ["now", "In the cluster now"]]} onChange={choose} />}
      flush
    >
      {which === "applied" ? (
        request.resources.length === 0 ? <Empty>{request.ended ? "It changed no object." : "Which objects it has is being found out."}</Empty> : <ObjectRows objects={request.resources} />
      ) : !can.allowed ? <Empty><T text={can.why} /></Empty> : now === "busy" || now === undefined ? <Empty>The cluster is asked…</Empty> : now instanceof Problem ? (
        <div class="failed" role="alert"><State kind="bad" /><div class="grow"><strong>The cluster could not be asked</strong><div class="note"><T text={now.detail} max={400} /> Nothing was changed.</div></div><button type="button" class="button small" onClick={() => void look()}>Try again</button></div>
      ) : now.noop ? <Empty>No cluster was asked: the deployer is in noop mode.</Empty> : (
        <>
          {now.deploying && <div class="strip"><State kind="run" /><span>Request <a href={link.cluster(now.deploying)}>{shortId(now.deploying)}</a> is at work on it.</span></div>}
          <ObjectRows objects={now.resources} />
          <div class="card-foot"><button class="link" onClick={() => void look()}>Look again</button></div>
        </>
      )}
    </Card>
  );
}

// What was under way is over by the next event.
const eventKind = (status: string, last: boolean): Kind => (["accepted", "applying"].includes(status) && !last ? "idle" : requestKind(status));

function Events({ request }: { request: Request }) {
  return (
    <Card title="Events" note={plural(request.events.length, "event")} flush>
      {request.events.length === 0 ? <Empty>Nothing happened yet.</Empty> : (
        <ul class="list">
          {[...request.events].reverse().map((each, i) => (
            <li key={each.id}>
              <State kind={eventKind(each.status, i === 0 && !request.ended)} label={requestWord(each.status)} />
              <span class="two grow"><span><T text={each.message} max={300} /></span>{each.resource && <span class="note"><T text={`${each.resource.kind}/${each.resource.name}`} max={80} /></span>}</span>
              <time class="dim" dateTime={each.timestamp} title={full(each.timestamp)}>{clock(each.timestamp, true)}</time>
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}

// --- what a deployment would change

const isTemplate = (path: string): boolean => /\.(ya?ml)$/.test(path);

// As JSON, which is what the API takes.
async function valuesIn(file: File): Promise<string> {
  const yaml = await import("js-yaml");
  try {
    return JSON.stringify(yaml.load(await file.text(), { schema: yaml.CORE_SCHEMA }) ?? {});
  } catch (error) {
    throw new Problem("invalid", 0, `${file.name} cannot be read: ${String((error as Error).message).split("\n")[0]}`, undefined, {});
  }
}

function Compare({ request }: { request: Request }) {
  const can = useCan("Cluster/diff", request.environment);
  const [said, say] = useState<Diff | Problem | "busy">();
  const [from, setFrom] = useState("");
  const [templates, setTemplates] = useState<File[]>([]);
  const [values, setValues] = useState<File>();
  const compare = async (files: File[], given: File | undefined) => {
    setTemplates(files);
    setValues(given);
    if (!files.length) return;
    setFrom(files[0]!.webkitRelativePath.split("/")[0] ?? "");
    say("busy");
    try {
      const named = files.map((file) => ({ file, path: file.webkitRelativePath.split("/").slice(1).join("/") || file.name }));
      const wanted = named.filter((each) => isTemplate(each.path) && !each.path.split("/").some((part) => part.startsWith(".")));
      if (!wanted.length) throw new Problem("invalid", 0, "this folder has no templates: files that end in .yaml or .yml", undefined, {});
      const texts = await Promise.all(wanted.map(async ({ file, path }) => ({ path, text: await file.text() })));
      const input = { ...instanceOf(request), template: { repoUrl: "local" }, files: JSON.stringify(texts), ...(given ? { values: await valuesIn(given) } : {}) };
      say((await act("Cluster/diff", input, { key: newKey(), wait: "answer", forMs: 120_000 })).fields);
    } catch (error) {
      say(error instanceof Problem ? error : new Problem("fault", 0, String(error), undefined, {}));
    }
  };
  return (
    <Card title="What would change" note="compares templates with what was applied last and with the cluster; nothing is changed">
      <div class="stack">
        <div class="dropzone">
          <Icon name="upload" />
          <span class="grow">What would deploying these templates change and prune, and what have others changed?</span>
          <span class="row wrap">
            {can.allowed && <label class="button">{values ? values.name : "Choose values…"}<input class="sr" type="file" name="values" accept=".yaml,.yml,.json" onChange={(event) => { void compare(templates, event.currentTarget.files?.[0]); event.currentTarget.value = ""; }} /></label>}
            {can.allowed && <label class="button">Choose the templates’ folder…<input class="sr" type="file" name="templates" {...{ webkitdirectory: true }} onChange={(event) => { void compare([...(event.currentTarget.files ?? [])], values); event.currentTarget.value = ""; }} /></label>}
          </span>
        </div>
        <WhyOff can={can} what="Comparing" />
        <p class="note">The values are a file of YAML or JSON, if the templates need any. Values of secrets are not shown.</p>
        {said === "busy" && <p class="second">The cluster is asked…</p>}
        {said instanceof Problem && <div class="failed" role="alert"><State kind="bad" /><div class="grow"><strong>They could not be compared</strong><div class="note"><T text={said.detail} max={800} /> Nothing was changed.</div></div></div>}
        {said && said !== "busy" && !(said instanceof Problem) && <Compared diff={said} from={from} />}
      </div>
    </Card>
  );
}

const lineClass = (line: string): string => (/^(\+\+\+|---)/.test(line) ? "diff-file" : line.startsWith("+") ? "diff-add" : line.startsWith("-") ? "diff-gone" : line.startsWith("@@") ? "diff-at" : "");

function Compared({ diff, from }: { diff: Diff; from: string }) {
  const pruned = diff.resources.filter((each) => each.action === "pruned");
  const kept = diff.resources.filter((each) => each.action === "orphaned");
  const lines = diff.unifiedDiff.split("\n").slice(0, 5000);
  return (
    <>
      {diff.noop && <div class="strip warn"><State kind="warn" /><span>No cluster was asked: the deployer is in noop mode.</span></div>}
      <p><strong>Deploying {from || "them"} would add {diff.added}, modify {diff.modified}, prune {diff.pruned}</strong> and leave {plural(diff.unchanged, "object")} as {diff.unchanged === 1 ? "it is" : "they are"}.</p>
      {diff.overrideNeeded && <div class="strip warn"><State kind="warn" /><span><T text={`It needs an override: ${diff.overrideNeeded}`} max={400} /></span></div>}
      <h3>Drift</h3>
      {diff.drift.length === 0 ? <p class="row"><State kind="ok" /><span>Nobody else has changed what was applied last.</span></p> : (
        <table class="cards"><thead><tr><th>Object</th><th>Field</th><th>Changed by</th></tr></thead><tbody>{diff.drift.map((each, i) => <tr key={i}><td class="whole"><T text={`${each.kind}/${each.name}`} max={80} /></td><td class="mono half" data-label="Field"><T text={each.field} max={120} /></td><td class="half" data-label="Changed by"><T text={each.manager} max={60} /></td></tr>)}</tbody></table>
      )}
      <h3>Prune</h3>
      {pruned.length === 0 ? <p class="row"><State kind="ok" /><span>Nothing would be removed.</span></p> : (
        <ul class="list">{pruned.map((each, i) => <li key={i}><span class="sign remove">−</span><span class="grow"><T text={`${each.kind}/${each.name}`} max={100} /></span><span class="dim"><T text={each.namespace} max={40} /></span></li>)}</ul>
      )}
      {kept.length > 0 && <p class="note">{plural(kept.length, "object")} would stay though no template has {kept.length === 1 ? "it" : "them"}: <T text={kept.map((each) => `${each.kind}/${each.name}`).join(", ")} max={300} />.</p>}
      <h3>Changes</h3>
      {diff.unifiedDiff ? <pre class="diff">{lines.map((line, i) => <span key={i} class={lineClass(line)}><T text={line} max={1000} />{"\n"}</span>)}</pre> : <p class="row"><State kind="ok" /><span>What is in the cluster is what these templates say.</span></p>}
    </>
  );
}
