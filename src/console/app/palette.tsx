// The palette: what can be done, then where one can go. It only leads to pages; nothing is changed from here.
import { useMemo, useRef, useState } from "preact/hooks";
import { useView } from "../api/use";
import { Veil } from "../parts/dialog";
import { Icon } from "../parts/icons";
import type { IconName } from "../parts/icons";
import { T, percent } from "../parts/text";
import { pages, plainPath } from "../pages";
import { underWay, useHome, waitsForMe } from "./home";
import { go, href, kBase, link } from "./router";

interface Item {
  group: "Do" | "Go to";
  text: string;
  aside: string;
  icon: IconName;
  to: string;
}

const kMost = 40;

const keyOf = (item: Item): string => `${item.to} ${item.text}`;

export function Palette({ onClose }: { onClose: () => void }) {
  const home = useHome();
  const [text, setText] = useState("");
  const [chosen, choose] = useState("");
  const list = useRef<HTMLDivElement>(null);
  const near = useView("fleet", { text: text.trim(), limit: kMost }, { on: () => false });
  const items = useMemo<Item[]>(() => {
    const all: Item[] = [];
    for (const rollout of (home.rollouts.data ?? []).filter((each) => underWay(each.status))) {
      const next = rollout.steps[rollout.step + 1] ?? rollout.steps[rollout.steps.length - 1];
      const to = link.rollout(rollout.rollout);
      if (next) all.push({ group: "Do", text: `Advance ${rollout.bundle} to ${percent(next.weight_bps)}…`, aside: rollout.environment, icon: "advance", to });
      all.push({ group: "Do", text: `Pause ${rollout.bundle}…`, aside: rollout.environment, icon: "pause", to });
      all.push({ group: "Do", text: `Abort ${rollout.bundle}…`, aside: rollout.environment, icon: "abort", to });
    }
    for (const approval of (home.approvals.data ?? []).filter((each) => waitsForMe(each, home.me.data?.caller))) {
      all.push({ group: "Do", text: `Decide on ${approval.action}…`, aside: approval.environment ?? "", icon: "key", to: href("/access") });
    }
    for (const page of pages) {
      if (page.nav) all.push({ group: "Go to", text: page.nav.label, aside: `g ${page.nav.key}`, icon: page.nav.icon, to: href(plainPath(page)) });
    }
    for (const env of home.fleet.data?.environments ?? []) {
      all.push({ group: "Go to", text: env.environment, aside: "environment", icon: "env", to: link.environment(env.environment) });
    }
    for (const each of near.data?.shown ?? []) {
      all.push({ group: "Go to", text: each.bundle, aside: `${each.environment}, ${each.customer}`, icon: "box", to: link.deployment(each.environment, each.deployment) });
      if (each.revisions.length > 1) all.push({ group: "Do", text: `Shift traffic of ${each.bundle}…`, aside: each.environment, icon: "split", to: link.deployment(each.environment, each.deployment) });
    }
    all.push({ group: "Do", text: "Deploy a folder or a bundle…", aside: "", icon: "upload", to: href("/deploy") });
    return all;
  }, [home.fleet.data, near.data, home.rollouts.data, home.approvals.data]);
  const wanted = text.trim().toLowerCase();
  const found = (wanted ? items.filter((each) => `${each.text} ${each.aside}`.toLowerCase().includes(wanted)) : items)
    .sort((a, b) => (a.group === b.group ? 0 : a.group === "Do" ? -1 : 1))
    .slice(0, kMost);
  // By what it is, not by its place: what comes and goes while somebody looks moves no choice.
  const at = Math.max(0, found.findIndex((each) => keyOf(each) === chosen));
  const setAt = (place: number) => choose(found[place] ? keyOf(found[place]!) : "");
  const open = (item: Item | undefined) => {
    if (!item) return;
    onClose();
    go(item.to.slice(kBase.length));
  };
  const keys = (event: KeyboardEvent) => {
    const by = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (by) {
      event.preventDefault();
      const next = Math.max(0, Math.min(found.length - 1, at + by));
      setAt(next);
      list.current?.querySelectorAll("a")[next]?.scrollIntoView({ block: "nearest" });
    }
    if (event.key === "Enter") {
      event.preventDefault();
      open(found[at]);
    }
  };
  return (
    <Veil onClose={onClose} label="Search or run a command" class="palette">
      <div class="ask">
        <Icon name="search" />
        <input
          data-focus
          role="combobox"
          aria-expanded="true"
          aria-controls="found"
          aria-activedescendant={found.length ? `found-${at}` : undefined}
          aria-label="Search or run a command"
          placeholder="Search or run a command"
          value={text}
          onInput={(event) => { setText(event.currentTarget.value); choose(""); }}
          onKeyDown={keys}
        />
        <kbd>esc</kbd>
      </div>
      <div class="found" id="found" role="listbox" aria-label="Found" ref={list}>
        {found.map((item, i) => [
          (i === 0 || found[i - 1]!.group !== item.group) && <h3 key={item.group} role="presentation">{item.group}</h3>,
          <a key={i} id={`found-${i}`} role="option" aria-selected={i === at} href={item.to} onMouseMove={() => setAt(i)} onClick={(event) => { event.preventDefault(); open(item); }}>
            <Icon name={item.icon} />
            <span class="grow"><Found text={item.text} wanted={wanted} /></span>
            <span class="note"><T text={item.aside} max={40} /></span>
          </a>,
        ])}
        {!found.length && <div class="empty">Nothing is called “{text}”.</div>}
      </div>
    </Veil>
  );
}

function Found({ text, wanted }: { text: string; wanted: string }) {
  const at = wanted ? text.toLowerCase().indexOf(wanted) : -1;
  if (at < 0) return <T text={text} max={80} />;
  return <><T text={text.slice(0, at)} /><u><T text={text.slice(at, at + wanted.length)} /></u><T text={text.slice(at + wanted.length)} max={80} /></>;
}
