// Deployments: all of them, found by filters that are in the address.
import { healthKind, healthOf, healthWord, underWay, useHome, bySequence } from "../app/home";
import type { Health } from "../app/home";
import { go, kBase, link, query, setQuery } from "../app/router";
import { useCrumbs } from "../app/shell";
import { Card, Empty, Failed, Skeleton } from "../parts/basics";
import { Icon } from "../parts/icons";
import { Rows } from "../parts/rows";
import { Chip, markOf } from "../parts/state";
import { Split } from "../parts/traffic";
import { T, count, percent, plural } from "../parts/text";
import { useKey } from "../app/keys";
import { useRef } from "preact/hooks";

export default function Deployments() {
  useCrumbs([{ text: "Deployments" }]);
  const home = useHome();
  const find = useRef<HTMLInputElement>(null);
  useKey("f", () => find.current?.focus());
  const env = query.value.get("env") ?? "";
  const state = query.value.get("state") ?? "";
  const text = (query.value.get("q") ?? "").toLowerCase();
  const changing = new Set((home.rollouts.data ?? []).filter((each) => underWay(each.status)).map((each) => each.deployment));
  const envs = home.status.data?.environments ?? [];
  const all = envs.flatMap((each) => each.deployments.map((deployment) => ({ env: each.environment, deployment, ...healthOf(deployment, changing.has(deployment.deployment)) })));
  const found = all.filter(
    (each) =>
      (!env || each.env === env) &&
      (!state || each.health === state || (state === "unwell" && (each.health === "failed" || each.health === "degraded"))) &&
      (!text || `${each.deployment.bundle} ${each.deployment.customer} ${each.deployment.revisions.map((revision) => revision.version).join(" ")}`.toLowerCase().includes(text)),
  );
  const states: Health[] = ["healthy", "changing", "degraded", "failed", "paused", "idle"];
  return (
    <>
      <div class="head"><div class="grow"><h1>Deployments</h1><p class="second">Bundles that are deployed for customers, with the revisions that serve them.</p></div></div>
      <Card flush>
        <div class="filters">
          <Icon name="filter" />
          <select class="field" aria-label="Environment" value={env} onChange={(event) => setQuery("env", event.currentTarget.value || undefined)}>
            <option value="">all environments</option>
            {envs.map((each) => <option key={each.environment}>{each.environment}</option>)}
          </select>
          <select class="field" aria-label="State" value={state} onChange={(event) => setQuery("state", event.currentTarget.value || undefined)}>
            <option value="">any state</option>
            <option value="unwell">not healthy</option>
            {states.map((each) => <option key={each} value={each}>{healthWord[each].toLowerCase()}</option>)}
          </select>
          <input class="field grow" ref={find} type="search" placeholder="Find by bundle, customer or version" aria-label="Find" value={query.value.get("q") ?? ""} onInput={(event) => setQuery("q", event.currentTarget.value || undefined)} />
          <span class="dim">{count(found.length)} of {count(all.length)}</span>
        </div>
        {home.status.data === undefined ? (home.status.problem ? <Failed read={home.status} what="The list" /> : <Skeleton />) : found.length === 0 ? (
          all.length ? <Empty>No deployment fits these filters.</Empty> : <Empty command="sluice up hello">Deployments stand here. This makes the first one:</Empty>
        ) : (
          <Rows items={found} label="Deployments" height={56}>
            {(each) => {
              const to = link.deployment(each.env, each.deployment.deployment);
              const revisions = [...each.deployment.revisions].sort(bySequence);
              const serving = revisions.filter((revision) => revision.weight_asked_bps > 0);
              return (
                <div key={each.deployment.deployment} class="deployment-row" role="listitem" data-row onClick={() => go(to.slice(kBase.length))}>
                  <span class="two"><a href={to}><strong><T text={each.deployment.bundle} max={40} /></strong></a><span class="note"><T text={each.env} max={20} />, <T text={each.deployment.customer} max={30} /></span></span>
                  <span><Chip kind={healthKind[each.health]} title={each.said}>{healthWord[each.health]}</Chip></span>
                  <span class="hide-small second"><T text={serving.map((revision) => `${revision.version} ${percent(revision.weight_asked_bps)}`).join(", ") || "no traffic"} max={60} /></span>
                  <span class="hide-small"><Split parts={revisions.map((revision, i) => ({ revision: revision.revision, label: revision.version, mark: markOf(i), bps: revision.weight_asked_bps }))} /></span>
                  <span class="hide-small right dim">{plural(revisions.flatMap((revision) => revision.replicas).length, "replica")}</span>
                </div>
              );
            }}
          </Rows>
        )}
      </Card>
    </>
  );
}
