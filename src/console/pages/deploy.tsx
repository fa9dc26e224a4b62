// Deploy: a folder or a bundle that somebody drops on the page becomes a plan, which says what will change before anybody
// executes it. Bytes are put under their digests, so sending them twice is harmless.
import { useEffect, useRef, useState } from "preact/hooks";
import { act, newKey, put } from "../api/client";
import { Problem } from "../api/problem";
import { useCan } from "../api/use";
import { useHome } from "../app/home";
import { go, kBase, link, query, setQuery } from "../app/router";
import { useCrumbs } from "../app/shell";
import { Button, Card, Command, WhyOff } from "../parts/basics";
import { Icon } from "../parts/icons";
import { NotABundle, dropped, readInput, recognise, tarOf } from "../parts/pack";
import type { Dropped, Parcel } from "../parts/pack";
import { State } from "../parts/state";
import { T, bytes, plural } from "../parts/text";

const kCanary = { strategy: "canary", steps: [{ weight: 5, pause: 300 }, { weight: 25, pause: 600 }, { weight: 50, pause: 900 }] };

export default function Deploy() {
  useCrumbs([{ text: "Deploy" }]);
  const home = useHome();
  const envs = home.fleet.data?.environments ?? [];
  const env = query.value.get("env") ?? envs.find((each) => each.environment === "local")?.environment ?? envs[0]?.environment ?? "";
  const can = useCan("DeployPlan/plan", env);
  const [parcel, setParcel] = useState<Parcel>();
  const [trouble, setTrouble] = useState<string[]>([]);
  const [name, setName] = useState("");
  const [customer, setCustomer] = useState("");
  const [traffic, setTraffic] = useState<"immediate" | "canary">("immediate");
  const [reason, setReason] = useState("");
  const [sent, setSent] = useState<{ what: string; share: number }>();
  const ends = useRef<AbortController>();
  useEffect(() => () => ends.current?.abort(), []);

  const take = async (files: Dropped[]) => {
    setTrouble([]);
    setParcel(undefined);
    try {
      const found = await recognise(files);
      setParcel(found);
      setName(found.name);
    } catch (error) {
      if (!(error instanceof NotABundle)) throw error;
      setTrouble([error.message]);
    }
  };
  useEffect(() => {
    if (!dropped.value) return;
    void take(dropped.value);
    dropped.value = null;
  }, [dropped.value]);

  const plan = async () => {
    if (!parcel || sent) return;
    setTrouble([]);
    ends.current = new AbortController();
    const signal = ends.current.signal;
    const send = async (what: string, blob: Blob | undefined) => (blob ? put(blob, (share) => setSent({ what, share }), signal) : "");
    try {
      setSent({ what: parcel.name, share: 0 });
      const bundles: { component: string; archive: string; signature: string }[] = [];
      const parts = parcel.kind === "app" ? parcel.parts : parcel.kind === "folder" ? [parcel.part] : [];
      for (const part of parts) bundles.push({ component: part.component, archive: await send(part.component, await tarOf(part.files)), signature: "" });
      const archives = parcel.kind === "app" ? parcel.archives : parcel.kind === "archive" ? [{ component: name, archive: parcel.archive, sidecar: parcel.sidecar }] : [];
      for (const each of archives) bundles.push({ component: each.component, archive: await send(each.component, each.archive), signature: await send(`${each.component}, its signatures`, each.sidecar) });
      setSent({ what: "making the plan", share: 1 });
      // JSON is YAML, too.
      const manifest = parcel.kind === "app" ? parcel.manifest : JSON.stringify({
        app: { name, version: parcel.kind === "folder" ? parcel.version : "1" },
        components: { [bundles[0]!.component]: { folder: ".", ...(customer ? { customer } : {}) } },
        ...(traffic === "canary" ? { rollout: kCanary } : {}),
      });
      const made = await act("DeployPlan/plan", { manifest, environment: env, bundles }, { reason: reason.trim(), key: newKey(), forMs: 120_000 });
      go((made.pending ? link.flow(made.flow) : link.plan(made.fields.plan)).slice(kBase.length));
    } catch (error) {
      if (signal.aborted) return;
      const problem = error instanceof Problem ? error : new Problem("fault", 0, String(error), undefined, {});
      const all = [problem.fields.errors, problem.fields.missing, problem.fields.details, problem.fields.cycle].flatMap((each) => (Array.isArray(each) ? each.map(String) : []));
      setTrouble([`${problem.code === "unreachable" ? "The connection was lost before everything was sent" : problem.detail}. Nothing was changed${problem.nextText ? `; next: ${problem.nextText}` : ""}.`, ...all]);
    }
    setSent(undefined);
  };

  const parts = parcel?.kind === "app" ? parcel.parts : parcel?.kind === "folder" ? [parcel.part] : [];
  const leftOut = parts.flatMap((part) => part.leftOut.map((path) => (parts.length > 1 ? `${part.folder}/${path}` : path)));
  return (
    <>
      <div class="head"><div class="grow"><h1>Deploy</h1><p class="second">Drop a bundle or a folder. You see the plan before anything changes.</p></div></div>
      <Card>
        <div class="dropzone">
          <Icon name="upload" size={24} />
          <div class="grow">
            <strong>Drop it anywhere on this page</strong>
            <div class="note">A folder with a bundle.yaml or an app.deploy.yaml, or an archive with its .sig.json.</div>
          </div>
          <label class="button"><span>Choose folder…</span><input class="sr" type="file" name="folder" {...{ webkitdirectory: true }} onChange={(event) => void take(readInput(event.currentTarget.files!))} /></label>
          <label class="button"><span>Choose archive…</span><input class="sr" type="file" name="archive" multiple onChange={(event) => void take(readInput(event.currentTarget.files!))} /></label>
        </div>
      </Card>
      {trouble.length > 0 && <div class="strip bad" role="alert"><State kind="bad" /><span class="grow">{trouble.slice(0, 20).map((each, i) => <div key={i}><T text={each} max={600} /></div>)}</span></div>}
      {parcel && (
        <Card title={<T text={parcel.name || "archive"} max={60} />} note={parcel.kind === "archive" ? `archive, ${bytes(parcel.archive.size)}` : `version ${parcel.version}`} flush>
          <ul class="list">
            {parts.map((part) => <li key={part.component}><Icon name="box" /><span class="two grow"><strong><T text={part.component} max={60} /></strong><span class="note"><T text={part.folder} max={80} /></span></span><span class="dim">{plural(part.files.length, "file")}, {bytes(part.bytes)}</span></li>)}
            {parcel.kind === "app" && parcel.archives.map((each) => <li key={each.component}><Icon name="box" /><span class="two grow"><strong><T text={each.component} max={60} /></strong><span class="note">archive{each.sidecar ? ", signed" : ""}</span></span><span class="dim">{bytes(each.archive.size)}</span></li>)}
            {parcel.kind === "archive" && <li><Icon name="key" /><span class="grow">{parcel.sidecar ? "With its signatures." : "Without signatures: local runs it, every other environment refuses it. Choose the .sig.json together with it."}</span></li>}
            {parcel.kind !== "archive" && <li><Icon name="key" /><span class="grow">A folder that is packed here is not signed: local runs it, other environments refuse it unless their policy allows that. <code>sluice bundles build</code> signs.</span></li>}
            {leftOut.length > 0 && <li><Icon name="lock" /><span class="grow">Left out, as it is hidden or looks like a secret: <T text={leftOut.slice(0, 12).join(", ")} max={400} />{leftOut.length > 12 ? ` and ${leftOut.length - 12} more` : ""}.</span></li>}
          </ul>
          <form class="card-body deploy-form" onSubmit={(event) => { event.preventDefault(); void plan(); }}>
            <label class="form-row"><span>Environment</span><select class="field" name="environment" value={env} onChange={(event) => setQuery("env", event.currentTarget.value)}>{envs.map((each) => <option key={each.environment}>{each.environment}</option>)}</select></label>
            {parcel.kind !== "app" && <label class="form-row"><span>App</span><input class="field" name="app" required value={name} readOnly={parcel.kind === "folder"} onInput={(event) => setName(event.currentTarget.value)} /></label>}
            {parcel.kind !== "app" && <label class="form-row"><span>Customer</span><input class="field" name="customer" placeholder={env === "local" ? "local-dev" : "needed outside local"} value={customer} onInput={(event) => setCustomer(event.currentTarget.value)} /></label>}
            {parcel.kind !== "app" && <label class="form-row"><span>Traffic</span><select class="field" name="traffic" value={traffic} onChange={(event) => setTraffic(event.currentTarget.value as typeof traffic)}><option value="immediate">all at once</option><option value="canary">canary: 5, 25, 50, then 100 %</option></select></label>}
            {can.reason && <label class="form-row"><span>Reason <span class="dim">(needed)</span></span><input class="field" name="reason" required maxLength={500} value={reason} onInput={(event) => setReason(event.currentTarget.value)} /></label>}
            <Button kind="primary" can={can} off={sent ? "It is being sent." : can.reason && !reason.trim() ? "Say why." : !name ? "Say what the app is called." : undefined} onClick={() => void plan()}>See the plan</Button>
          </form>
          <WhyOff can={can} what="Planning" />
          {sent && <div class="card-foot" role="status"><State kind="run" /><span class="grow"><T text={sent.what} max={80} /><div class="progress"><i style={{ width: `${Math.round(sent.share * 100)}%` }} /></div></span><button class="button small" onClick={() => { ends.current?.abort(); setSent(undefined); }}>Stop</button></div>}
        </Card>
      )}
      {!parcel && <Card title="From a terminal"><div class="stack"><Command text="sluice up ." /><Command text={`sluice deploy . --env ${env || "local"}`} /></div></Card>}
    </>
  );
}
