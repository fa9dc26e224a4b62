// The keyboard. No single key changes anything; what a page adds is gone with the page.
import { useLayoutEffect, useRef } from "preact/hooks";
import { go } from "./router";
import { pages, plainPath } from "../pages";

type Handler = () => void;
// By key; whoever came last has it.
const handlers = new Map<string, Handler[]>();
const handlerOf = (key: string): Handler | undefined => handlers.get(key)?.at(-1);

// It works as soon as what it belongs to can be seen: people type ahead.
export function useKey(key: string, handler: Handler): void {
  const latest = useRef(handler);
  latest.current = handler;
  useLayoutEffect(() => {
    const mine = () => latest.current();
    handlers.set(key, [...(handlers.get(key) ?? []), mine]);
    return () => {
      handlers.set(key, (handlers.get(key) ?? []).filter((each) => each !== mine));
    };
  }, [key]);
}

// When `g` was pressed, by the clock of events: how busy the page is does not count.
let gAt = 0;

// Moves the focus through the rows of the page's first list: [data-row].
function move(by: number): void {
  const rows = [...document.querySelectorAll<HTMLElement>("main [data-row]")].filter((row) => row.offsetParent !== null);
  const at = rows.findIndex((row) => row === document.activeElement || row.contains(document.activeElement));
  const next = rows[Math.min(rows.length - 1, Math.max(0, at + by))];
  (next?.querySelector<HTMLElement>("a[href]") ?? next)?.focus();
}

addEventListener("keydown", (event) => {
  if (event.metaKey || event.ctrlKey || event.altKey || event.defaultPrevented) return;
  const target = event.target as HTMLElement;
  if (event.key === "Escape") {
    if (target.matches("input, textarea, select")) target.blur();
    handlerOf("Escape")?.();
    return;
  }
  if (target.matches("input, textarea, select, [contenteditable]") || document.querySelector(".veil")) return;
  if (gAt && event.timeStamp - gAt < 1500) {
    gAt = 0;
    const page = pages.find((each) => each.nav?.key === event.key);
    if (page) go(plainPath(page));
    return;
  }
  gAt = 0;
  if (event.key === "g") gAt = event.timeStamp;
  else if (event.key === "j") move(1);
  else if (event.key === "k") move(-1);
  else {
    const handler = handlerOf(event.key);
    if (!handler) return;
    event.preventDefault();
    handler();
  }
});
