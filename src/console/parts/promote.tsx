// A step of a pipeline: what each component has proved where it comes from, the rules that hold it back, what would change
// where it goes, and the button that promotes.
import { useState } from "preact/hooks";
import { act, newKey } from "../api/client";
import type { Document } from "../api/client";
import { now } from "../api/live";
import { useCan, useView } from "../api/use";
import { link } from "../app/router";
import { toast, toastProblem } from "../app/toasts";
import { Button, Card, Empty, Loaded, WhyOff } from "./basics";
import { ask } from "./dialog";
import { Icon } from "./icons";
import { State } from "./state";
import type { Kind } from "./state";
import { T, count, plural, rough } from "./text";

type Release = Document<"releases">[number];
type Pin = Document<"pins">[number];
type Pipeline = Document<"pipelines">[number];

// A way from one environment to the next, with its rules.
export interface Path {
  from: string;
  to: string;
  soak_s: number;
  approvals: number;
}

export const pinOf = (pins: Pin[], component: string, environment: string): Pin | undefined => pins.find((each) => each.component === component && each.environment === environment);
export const soakLeft_ms = (pin: Pin, path: Path): number => (pin.ready_at ? Date.parse(pin.ready_at) + path.soak_s * 1000 - now.value : path.soak_s * 1000);

// Whether what the source runs could go on, and is not there already.
export const goesOn = (pins: Pin[], releases: Release[], source: Pin, path: Path): boolean =>
  source.state === "Active" && source.ready && pinOf(pins, source.component, path.to)?.release !== source.release && !releases.find((each) => each.release === source.release)?.rejected && !pinOf(pins, source.component, path.to)?.rejected.includes(source.release);

export const readySince = (pin: Pin): string => (pin.ready_at ? rough(now.value - Date.parse(pin.ready_at)) : "a while");

interface Proof {
  kind: Kind;
  text: string;
}

function proofs(component: string, planned: Document<"promotion-plan">[number], path: Path, pins: Pin[], releases: Release[]): Proof[] {
  const source = pinOf(pins, component, path.from);
  const target = pinOf(pins, component, path.to);
  const rejected = releases.find((each) => each.release === planned.release)?.rejected;
  const all: Proof[] = [];
  if (!source?.ready) all.push({ kind: "bad", text: `not ready in ${path.from}${source?.message ? `: ${source.message}` : ""}` });
  else {
    const left = soakLeft_ms(source, path);
    const since = readySince(source);
    all.push(left > 0 ? { kind: "wait", text: `ready in ${path.from} for ${since}; soaks for another ${rough(left)}` } : { kind: "ok", text: `ready in ${path.from} for ${since}${path.soak_s ? `, soaked ${rough(path.soak_s * 1000)}` : ""}` });
  }
  if (rejected) all.push({ kind: "bad", text: `rejected: ${rejected}` });
  if (target?.rejected.includes(planned.release)) all.push({ kind: "bad", text: `did not become ready in ${path.to} before` });
  if (planned.fault) all.push({ kind: "bad", text: `does not render in ${path.to}: ${planned.fault}` });
  return all;
}

export function Step({ path, pipeline, pins, releases, onClose }: { path: Path; pipeline: Pipeline; pins: Pin[]; releases: Release[]; onClose: () => void }) {
  const plan = useView("promotion-plan", { fromEnv: path.from, toEnv: path.to }, { everyMs: 10_000 });
  const can = useCan("Pin/promote", path.to);
  const [left, leave] = useState<ReadonlySet<string>>(new Set());
  return (
    <Card title={<>Promote <T text={path.from} max={30} /> to <T text={path.to} max={30} /></>} note="what would change" right={<button class="ghost" aria-label="Close" onClick={onClose}><Icon name="x" /></button>} flush>
      <Loaded read={plan} what="The plan">
        {(planned) => {
          const rows = planned.filter((each) => pinOf(pins, each.component, path.from)).map((each) => {
            const proof = proofs(each.component, each, path, pins, releases);
            const same = each.before === each.release && each.differences.length === 0;
            return { each, proof, same, may: !same && proof.every((one) => one.kind === "ok") };
          });
          const going = rows.filter(({ each, may }) => may && !left.has(each.component));
          const promote = () => {
            const key = newKey();
            ask({
              title: `Promote ${going.length === 1 ? going[0]!.each.component : plural(going.length, "component")} from ${path.from} to ${path.to}?`,
              will: [
                ...going.slice(0, 8).map(({ each }) => ({ icon: "arrow" as const, text: `${each.component}: ${each.before || "nothing"} → ${each.release}, ${plural(each.differences.length, "change")} of its objects.` })),
                ...(path.approvals ? [{ icon: "user" as const, text: `${path.approvals === 1 ? "Another person" : `${path.approvals} other people`} must agree first; it waits until then.` }] : []),
                { icon: "undo", text: `${going.length === 1 ? "If it does not become ready, it goes back" : "They move together: if one does not become ready, all go back"}, and the release that failed is rejected in ${path.to}.` },
              ],
              reason: "asked",
              can,
              yes: `Promote to ${path.to}`,
              no: "Not now",
              run: async (reason) => {
                try {
                  const called = await act("Pin/promote", { components: going.map(({ each }) => each.component), fromEnv: path.from, toEnv: path.to }, { reason, key, wait: "answer", forMs: 60_000 });
                  toast(called.pending ? "wait" : "ok", called.pending ? `The promotion to ${path.to} is under way; this page shows when it is ready.` : `${path.to} runs ${called.fields.pins.map((each) => each.release).join(", ")}.`);
                  plan.again();
                } catch (error) {
                  toastProblem("The promotion", error, `${path.to} runs what it ran.`);
                  plan.again();
                }
              },
            });
          };
          const off = pipeline.stopped ? `${pipeline.pipeline} is stopped.` : going.length ? undefined : rows.some(({ may }) => may) ? "No component is chosen." : "Nothing may go on now; each line says why.";
          if (!rows.length) return <Empty>{path.from} runs nothing that takes this pipeline.</Empty>;
          return (
            <>
              <table class="cards">
                <thead><tr><th>Component</th><th>Release</th><th>Evidence</th><th>What would change in {path.to}</th></tr></thead>
                <tbody>{rows.map(({ each, proof, same, may }) => (
                  <tr key={each.component} data-row class="top">
                    <td class="whole"><label class="row"><input type="checkbox" checked={may && !left.has(each.component)} disabled={!may} onChange={(event) => { const next = new Set(left); if (event.currentTarget.checked) next.delete(each.component); else next.add(each.component); leave(next); }} /> <strong><T text={each.component} max={40} /></strong></label></td>
                    <td class="half" data-label="Release">{each.before && each.before !== each.release && <><a class="plain" href={link.release(each.before)}><T text={each.before} max={40} /></a> → </>}<a href={link.release(each.release)}><strong><T text={each.release} max={40} /></strong></a>{!each.before && <span class="dim"> (new here)</span>}{each.before && each.before !== each.release && <div class="note"><a href={`${link.release(each.release)}?with=${encodeURIComponent(each.before)}`}>Compare</a></div>}</td>
                    <td class="whole"><ul class="plainlist">{proof.map((one) => <li key={one.text}><State kind={one.kind} /><span><T text={one.text} max={200} /></span></li>)}</ul></td>
                    <td class="whole">{same ? <span class="dim">Nothing: {path.to} runs it already.</span> : <Differences all={each.differences} />}</td>
                  </tr>
                ))}</tbody>
              </table>
              <div class="card-foot"><span class="grow note">{path.approvals > 0 && `${path.approvals === 1 ? "1 other person" : `${path.approvals} other people`} must agree. `}What moves together goes back together.</span><Button kind="primary" can={can} off={off} onClick={promote}>{`Promote ${going.length > 1 ? plural(going.length, "component") : going[0]?.each.component ?? ""} to ${path.to}…`}</Button></div>
              {(!can.allowed || (off && !pipeline.stopped)) && <div class="card-foot">{can.allowed ? <p class="why-off"><Icon name="lock" size={14} /> <span>{off}</span></p> : <WhyOff can={can} what="Promoting" />}</div>}
            </>
          );
        }}
      </Loaded>
    </Card>
  );
}

// Of digests the beginning is enough to tell them apart.
const said = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value)).replace(/(sha256:[0-9a-f]{10})[0-9a-f]{54}/g, "$1…");

export function Differences({ all }: { all: { object?: string; part?: string; pointer: string; now?: unknown; then?: unknown; left?: unknown; right?: unknown }[] }) {
  const kMost = 12;
  const [open, setOpen] = useState(false);
  if (!all.length) return <span class="dim">Its objects stay as they are.</span>;
  return (
    <>
      <ul class="differences">
        {all.slice(0, open ? all.length : kMost).map((each, i) => {
          const before = each.now ?? each.left ?? null;
          const after = each.then ?? each.right ?? null;
          const sign = before === null ? "create" : after === null ? "remove" : "change";
          const whole = each.pointer === "";
          return (
            <li key={i}>
              <span class={`sign ${sign}`}>{{ create: "+", change: "~", remove: "−" }[sign]}</span>
              <span class="grow"><span><T text={each.object ?? each.part} max={80} /> <code><T text={each.pointer} max={120} /></code></span>
                {!whole && <div class="note">{before !== null && <del><T text={said(before)} max={90} /></del>} {after !== null && <><span aria-hidden="true">→ </span><ins><T text={said(after)} max={90} /></ins></>}</div>}</span>
            </li>
          );
        })}
      </ul>
      {all.length > kMost && !open && <button class="link" onClick={() => setOpen(true)}>{count(all.length - kMost)} more</button>}
    </>
  );
}
