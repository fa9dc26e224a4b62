// Environment: its health, routers, deployments and packs.
import { act, newKey } from "../api/client";
import { useCan, useView } from "../api/use";
import { healthKind, healthWord, servingText, useHome } from "../app/home";
import { href, link } from "../app/router";
import { useCrumbs } from "../app/shell";
import { toast, toastProblem } from "../app/toasts";
import type { PageProps } from "../pages";
import { Button, Card, Empty, Fact, Loaded, WhyOff } from "../parts/basics";
import { ask } from "../parts/dialog";
import { Chip, State } from "../parts/state";
import { T, When, count, plural } from "../parts/text";
import { useWhy } from "../parts/why";
import { doctorKind } from "./environments";

export default function EnvironmentPage({ params }: PageProps) {
  const id = params.env!;
  useCrumbs([{ text: "Environments", to: href("/environments") }, { text: id }]);
  const home = useHome();
  const read = useView("environment", { environment: id }, { everyMs: 10_000, on: (event) => event.environment === id });
  const routers = useView("routers", { environment: id }, { on: (event) => event.event.startsWith("router.") });
  const can = useCan("Env/doctor", id);
  const status = home.fleet.data?.environments.find((each) => each.environment === id);
  const fleet = useView("fleet", { environment: id, limit: 50 }, { everyMs: 5000, on: (event) => event.environment === id });
  const doctor = async (reason = "") => {
    try {
      await act("Env/doctor", { environment: id }, { reason, key: newKey(), forMs: 60_000 });
      toast("ok", `The doctor has looked at ${id}.`);
      read.again();
    } catch (error) {
      toastProblem("The doctor's look", error, "Nothing was changed.");
    }
  };
  const askDoctor = () => (can.reason ? ask({ title: `Have the doctor look at ${id}?`, will: [{ icon: "check", text: "It checks packs, routers and what they need. Nothing is changed." }], can, yes: "Ask the doctor", no: "Not now", run: doctor }) : void doctor());
  const doctors = <Button can={can} onClick={askDoctor}>Ask the doctor</Button>;
  const why = useWhy(id, { since: read.data?.health.last_checked_at ?? read.data?.created_at, ways: doctors });
  return (
    <Loaded read={read} what="The environment" lines={7}>
      {(env) => (
        <>
          <div class="head">
            <div class="grow">
              <h1><T text={id} /> <Chip kind={doctorKind(env.health.last_doctor_status)}>{env.health.last_doctor_status === "pending" ? "Doctor not asked yet" : `Doctor says ${env.health.last_doctor_status}`}</Chip></h1>
              <div class="facts"><Fact name="Name"><T text={env.name} /></Fact>{env.extends && <Fact name="Extends"><a href={link.environment(env.extends)}>{env.extends}</a></Fact>}<Fact name="Made"><When at={env.created_at} /></Fact><Fact name="Generation">{env.generation}</Fact></div>
            </div>
            <div class="actionbar">{doctors}<button class="button" onClick={why.show}>Why <kbd class="hide-small">w</kbd></button></div>
          </div>
          <WhyOff can={can} what="Asking the doctor" />
          {env.health.message && <div class={`strip ${env.health.last_doctor_status === "red" ? "bad" : "warn"}`}><State kind={doctorKind(env.health.last_doctor_status)} /><span><T text={env.health.message} max={500} /></span></div>}
          <div class="grid cols-main">
            <Card title="Deployments" note={plural(status?.deployments ?? 0, "deployment")} right={<a href={href(`/deployments?env=${encodeURIComponent(id)}`)}>All</a>} flush>
              <Loaded read={fleet} what="The deployments">{({ shown, found }) => shown.length === 0 ? <Empty command={`sluice up hello${id === "local" ? "" : ` --env ${id}`}`}>Nothing is deployed here. This deploys a folder:</Empty> : (
                <><ul class="list">{shown.map((each) => <li key={each.deployment} data-row><span class="two grow"><a href={link.deployment(id, each.deployment)}><strong><T text={each.bundle} max={60} /></strong></a><span class="note"><T text={each.customer} max={60} /></span></span><span class="second hide-small"><T text={servingText(each.revisions)} max={80} /></span><Chip kind={healthKind[each.health]} title={each.said}>{healthWord[each.health]}</Chip></li>)}</ul>{found > shown.length && <div class="card-foot note">{shown.length} of {count(found)} are shown; <a href={href(`/deployments?env=${encodeURIComponent(id)}`)}>find the others</a></div>}</>
              )}</Loaded>
            </Card>
            <div class="stack">
              <Card title="Routers" flush>
                <Loaded read={routers} what="The routers">{({ members, generation }) => members.length === 0 ? <Empty>No router serves this environment yet.</Empty> : <ul class="list">{members.map((each) => <li key={each.name}><State kind={each.obeys ? "ok" : "wait"} /><span class="two grow"><strong>{each.name}</strong><span class="note">{each.obeys ? `obeys table ${each.acknowledged}` : <T text={each.trouble || `at table ${each.acknowledged} of ${generation}`} />}</span></span><span class="mono dim">{status?.routers.find((one) => one.name === each.name)?.listen.join(", ")}</span></li>)}</ul>}</Loaded>
              </Card>
              <Card title="Packs" flush><ul class="list">{env.packs.map((each) => <li key={each.slot}><span class="two grow"><strong>{each.slot}</strong><span class="note mono"><T text={each.pack_ref} max={50} /></span></span><span class="dim">generation {each.generation}</span></li>)}</ul></Card>
            </div>
          </div>
          {why.panel}
        </>
      )}
    </Loaded>
  );
}
