// Deployments: all of them, found by filters that are in the address. The server filters and counts; the page has the rows
// that are in sight and some around them.
import { useEffect, useRef, useState } from "preact/hooks";
import { useView } from "../api/use";
import { bySequence, healthKind, healthWord, servingText, useHome } from "../app/home";
import type { FleetDeployment, Health } from "../app/home";
import { useKey } from "../app/keys";
import { go, href, kBase, link, query, setQuery } from "../app/router";
import { useCrumbs } from "../app/shell";
import { Card, Empty, Failed, Skeleton } from "../parts/basics";
import { Icon } from "../parts/icons";
import { Rows } from "../parts/rows";
import { Chip, markOf } from "../parts/state";
import { Split } from "../parts/traffic";
import { T, count, plural } from "../parts/text";

const kStates: Health[] = ["healthy", "changing", "degraded", "failed", "paused", "idle"];
// Rows are asked for by so many, and the same number before and after them.
const kChunk = 50;

export default function Deployments() {
  useCrumbs([{ text: "Deployments" }]);
  const home = useHome();
  const find = useRef<HTMLInputElement>(null);
  useKey("f", () => find.current?.focus());
  const environment = query.value.get("env") ?? "";
  const state = query.value.get("state") ?? "";
  const text = query.value.get("q") ?? "";
  const [typed, setTyped] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => typed !== text && setQuery("q", typed || undefined), 150);
    return () => clearTimeout(timer);
  }, [typed]);
  const [skip, setSkip] = useState(0);
  const health: Health[] = state === "unwell" ? ["failed", "degraded"] : kStates.filter((each) => each === state);
  const read = useView("fleet", { environment, text, health, skip, limit: 3 * kChunk }, { everyMs: 2000, on: (event) => /^(deployment|revision|traffic|rollout|environment)\./.test(event.event) });
  // What was read before stays while other rows or another filter are on their way.
  const last = useRef<{ skip: number; data: NonNullable<typeof read.data> }>();
  if (read.data) last.current = { skip, data: read.data };
  const shown = last.current;
  useEffect(() => setSkip(0), [environment, state, text]);
  return (
    <>
      <div class="head">
        <div class="grow"><h1>Deployments</h1><p class="second">Bundles that are deployed for customers, with the revisions that serve them.</p></div>
        <div class="actionbar"><a class="button" href={href("/deploy")}><Icon name="upload" /><span>Deploy…</span></a></div>
      </div>
      <Card flush>
        <div class="filters">
          <Icon name="filter" />
          <select class="field" aria-label="Environment" value={environment} onChange={(event) => setQuery("env", event.currentTarget.value || undefined)}>
            <option value="">all environments</option>
            {(home.fleet.data?.environments ?? []).map((each) => <option key={each.environment}>{each.environment}</option>)}
          </select>
          <select class="field" aria-label="State" value={state} onChange={(event) => setQuery("state", event.currentTarget.value || undefined)}>
            <option value="">any state</option>
            <option value="unwell">not healthy</option>
            {kStates.map((each) => <option key={each} value={each}>{healthWord[each].toLowerCase()}</option>)}
          </select>
          <input class="field grow" ref={find} type="search" placeholder="Find by bundle, customer or version" aria-label="Find" value={typed} onInput={(event) => setTyped(event.currentTarget.value)} />
          {shown && <span class="dim" role="status">{count(shown.data.found)} of {count(shown.data.deployments)}</span>}
        </div>
        {!shown ? (read.problem ? <Failed read={read} what="The list" /> : <Skeleton />) : shown.data.found === 0 ? (
          shown.data.deployments ? <Empty>No deployment fits these filters.</Empty> : <Empty command="sluice up hello">Deployments stand here. This makes the first one:</Empty>
        ) : (
          <Rows count={shown.data.found} label="Deployments" height={56} onSight={(first) => setSkip(Math.max(0, Math.floor(first / kChunk) - 1) * kChunk)}>
            {(index) => {
              const each = shown.data.shown[index - shown.skip];
              return each ? <Row key={each.deployment} each={each} /> : <div key={index} class="deployment-row" role="listitem" aria-busy="true"><span class="dim">…</span></div>;
            }}
          </Rows>
        )}
      </Card>
    </>
  );
}

function Row({ each }: { each: FleetDeployment }) {
  const to = link.deployment(each.environment, each.deployment);
  const serving = each.revisions.filter((revision) => revision.weight_asked_bps > 0).sort(bySequence);
  return (
    <div class="deployment-row" role="listitem" data-row onClick={() => go(to.slice(kBase.length))}>
      <span class="two"><a href={to}><strong><T text={each.bundle} max={40} /></strong></a><span class="note"><T text={each.environment} max={20} />, <T text={each.customer} max={30} /></span></span>
      <span><Chip kind={healthKind[each.health]} title={each.said}>{healthWord[each.health]}</Chip></span>
      <span class="hide-small second"><T text={servingText(serving) || "no traffic"} max={60} /></span>
      <span class="hide-small"><Split parts={serving.map((revision, i) => ({ revision: revision.revision, label: revision.version, mark: markOf(i), bps: revision.weight_asked_bps }))} /></span>
      <span class="hide-small right dim">{plural(each.replicas, "replica")}</span>
    </div>
  );
}
