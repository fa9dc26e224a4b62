// The frame of every page: sidebar (tabs at the bottom of a phone), top bar with path, search, Live, theme and help.
import { signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import type { ComponentChildren } from "preact";
import { heardAt, now, stale, tries, connected } from "../api/live";
import { logOut } from "../api/session";
import { Veil } from "../parts/dialog";
import { Icon, Logo } from "../parts/icons";
import { State } from "../parts/state";
import { T, clock, rough, who } from "../parts/text";
import { pages, plainPath } from "../pages";
import type { Page } from "../pages";
import { underWay, useHome, waitsForMe, planRuns } from "./home";
import { DropHere } from "./drop";
import { useKey } from "./keys";
import { Palette } from "./palette";
import { href, match, path } from "./router";
import { isDark, toggleTheme } from "./theme";

export interface Crumb {
  text: string;
  to?: string;
}
const crumbs = signal<Crumb[]>([]);

// The path in the top bar and the title of the tab.
export function useCrumbs(list: Crumb[]): void {
  const key = JSON.stringify(list);
  useEffect(() => {
    crumbs.value = list;
    document.title = [...list.map((each) => each.text)].reverse().concat("Sluice").join(" · ");
  }, [key]);
}

// What a screen reader hears of live changes: one polite sentence, at most one every 5 seconds.
const spoken = signal("");
let spokeAt = 0;
export function speak(text: string): void {
  if (Date.now() - spokeAt < 5000) return;
  spokeAt = Date.now();
  spoken.value = text;
}

function useCounts(): Record<string, { count: number; mine: boolean }> {
  const home = useHome();
  const rollouts = (home.rollouts.data ?? []).filter((each) => underWay(each.status)).length;
  const plans = (home.plans.data ?? []).filter((each) => planRuns(each.phase)).length;
  const approvals = (home.approvals.data ?? []).filter((each) => waitsForMe(each, home.me.data?.caller)).length;
  return { rollouts: { count: rollouts, mine: false }, plans: { count: plans, mine: false }, approvals: { count: approvals, mine: true } };
}

function isAt(page: Page): boolean {
  const first = page.path.split("/")[1] ?? "";
  return first === "" ? path.value === "/" : match(page.path, path.value) !== undefined || path.value.startsWith(`/${first}/`);
}

export function Shell({ children }: { children: ComponentChildren }) {
  const home = useHome();
  const counts = useCounts();
  const [palette, showPalette] = useState(false);
  const [help, showHelp] = useState(false);
  const [menu, showMenu] = useState(false);
  useKey("/", () => showPalette(true));
  useKey("?", () => showHelp(true));
  const items = pages.filter((page) => page.nav);
  const me = home.me.data;
  const role = me?.owner ? "owner" : me?.grants.map((grant) => grant.role).filter(Boolean).join(", ") || "no role";
  const entry = (page: Page) => {
    const nav = page.nav!;
    const number = nav.count ? counts[nav.count] : undefined;
    return (
      <a key={page.path} class="nav" href={href(plainPath(page))} aria-current={isAt(page) ? "page" : undefined} title={nav.label} onClick={() => showMenu(false)}>
        <Icon name={nav.icon} />
        <span class="label grow">{nav.label}</span>
        {number && number.count > 0 && <span class={`badge${number.mine ? " you" : ""}`}>{number.count}</span>}
      </a>
    );
  };
  const groups = [...new Set(items.map((page) => page.nav!.group))];
  const tab = (at: string, label: string) => {
    const page = items.find((each) => each.path.startsWith(at === "/" ? "/" : at) && (at !== "/" || each.path === "/"))!;
    const number = page.nav!.count ? counts[page.nav!.count] : undefined;
    return (
      <a href={href(plainPath(page))} aria-current={isAt(page) ? "page" : undefined}>
        <Icon name={page.nav!.icon} size={20} />
        {label}
        {number && number.count > 0 && <span class={`badge${number.mine ? " you" : ""}`}>{number.count}</span>}
      </a>
    );
  };
  return (
    <div class={`frame${stale.value ? " is-stale" : ""}`}>
      <div class="sidebar">
        <a class="brand" href={href("/")}>
          <Logo />
          <span class="label"><span class="name">Sluice</span><br /><span class="note">{location.hostname}</span></span>
        </a>
        <nav aria-label="Pages">
          {groups.map((group) => (
            <div key={group ?? ""}>
              {group && <div class="group">{group}</div>}
              {items.filter((page) => page.nav!.group === group).map(entry)}
            </div>
          ))}
        </nav>
        <div class="me">
          <Icon name="user" />
          <span class="grow two"><span title={me?.caller}><T text={who(me?.caller)} max={24} /></span><span class="note">{role}</span></span>
          <button class="ghost" aria-label="Log out" title="Log out" onClick={() => void logOut()}><Icon name="logout" /></button>
        </div>
      </div>
      <div>
        <header class="topbar">
          <nav class="crumbs" aria-label="Where this page is">
            {crumbs.value.map((each, i) => {
              const last = i === crumbs.value.length - 1;
              return [
                i > 0 && <Icon key={`i${i}`} name="right" size={12} />,
                last || !each.to ? <span key={i} aria-current={last ? "page" : undefined}><T text={each.text} max={60} /></span> : <a key={i} href={each.to}><T text={each.text} max={40} /></a>,
              ];
            })}
          </nav>
          <button class="searchbox" onClick={() => showPalette(true)} aria-label="Search or run a command">
            <Icon name="search" /><span class="grow">Search or run a command</span><kbd>/</kbd>
          </button>
          <span class={`live${connected.value ? "" : " off"}`} title={connected.value ? "Events arrive as they happen" : "Reconnecting"}><i />{connected.value ? "Live" : "Away"}</span>
          <button class="ghost" aria-label={isDark() ? "Light theme" : "Dark theme"} title={isDark() ? "Light theme" : "Dark theme"} onClick={toggleTheme}><Icon name={isDark() ? "sun" : "moon"} /></button>
          <button class="ghost wide-only" aria-label="Keys" title="Keys" onClick={() => showHelp(true)}><Icon name="help" /></button>
        </header>
        <main class="content" id="content">
          {stale.value && (
            <div class="stale-banner" role="alert">
              <State kind="wait" />
              <span class="grow">No news for {rough(now.value - heardAt.value)}. You see {clock(heardAt.value, true)}. Reconnecting; changes are off.</span>
              {tries.value > 0 && <span>try {tries.value}</span>}
            </div>
          )}
          {children}
        </main>
      </div>
      <nav class="tabbar" aria-label="Pages">
        {tab("/", "Overview")}
        {tab("/deployments", "Deployments")}
        {tab("/rollouts", "Rollouts")}
        {tab("/access", "Approvals")}
        <button onClick={() => showMenu(true)}><Icon name="menu" size={20} />More</button>
      </nav>
      <div class="sr" role="status" aria-live="polite">{spoken.value}</div>
      <DropHere />
      {palette && <Palette onClose={() => showPalette(false)} />}
      {help && <Help onClose={() => showHelp(false)} />}
      {menu && (
        <Veil onClose={() => showMenu(false)} label="All pages">
          <div class="in">
            {items.map(entry)}
            <button class="nav" onClick={() => void logOut()}><Icon name="logout" /><span>Log out {who(me?.caller)}</span></button>
          </div>
        </Veil>
      )}
    </div>
  );
}

function Help({ onClose }: { onClose: () => void }) {
  const rows: [string[], string][] = [
    [["/"], "search or run a command"],
    [["g", ...pages.flatMap((page) => (page.nav ? [page.nav.key] : []))], "go to a page: " + pages.flatMap((page) => (page.nav ? [page.nav.label.toLowerCase()] : [])).join(", ")],
    [["j", "k", "↵"], "move, open"],
    [["w"], "why is it waiting?"],
    [["[", "]"], "previous, next object"],
    [["t"], "edit traffic"],
    [["f"], "find on this page"],
    [["?"], "all keys"],
    [["Esc"], "back out"],
  ];
  return (
    <Veil onClose={onClose} label="Keys">
      <div class="in">
        <h2>Keys</h2>
        <dl class="keys">
          {rows.map(([keys, what]) => [
            <dt key={what}>{keys.map((key, i) => [i === 1 && keys[0] === "g" && <span key="then" class="note">then</span>, <kbd key={key}>{key}</kbd>])}</dt>,
            <dd key={`${what}d`} class="second">{what}</dd>,
          ])}
        </dl>
      </div>
      <div class="foot"><button class="button" data-focus onClick={onClose}>Close</button></div>
    </Veil>
  );
}
