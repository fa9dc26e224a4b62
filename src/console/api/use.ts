// Views as hooks: read once, again when something happened that may concern them, and every so often for what leaves no
// record, such as counts. The last document stays while a new one is on its way, so nothing jumps.
import { useEffect, useRef, useState } from "preact/hooks";
import { viewAt } from "./client";
import type { Document, Query, ViewName } from "./client";
import { happenedAt, heard, onEvent, onReturn } from "./live";
import type { LiveEvent } from "./live";
import { Problem } from "./problem";

export interface Read<T> {
  data: T | undefined;
  problem: Problem | undefined;
  loading: boolean;
  // When `data` was read.
  at: number;
  again: () => void;
}

// However much happens, a view is read at most once in this time, and reading takes at most a twentieth of the time: many
// open pages and large homes cost the server little.
const kApart_ms = 1000;
const kShare = 20;
// What is read again by itself may be so old, and then all pages share one read of the server.
const kShared_s = 1;

interface Options {
  everyMs?: number;
  // However much happens, not more often than this.
  apartMs?: number;
  on?: (event: LiveEvent) => boolean;
}

// A query that is null is not asked.
export function useView<V extends ViewName>(name: V, query: Query<V> | null, options: Options = {}): Read<Document<V>> {
  const key = query === null ? "" : JSON.stringify(query);
  const [state, setState] = useState<{ key: string; data?: Document<V>; problem?: Problem; at: number }>({ key, at: 0 });
  const trigger = useRef<() => void>(() => undefined);
  const wants = useRef(options.on);
  wants.current = options.on;
  useEffect(() => {
    if (query === null) return;
    const ends = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    let busy = false;
    let due = false;
    let began = 0;
    let took = 0;
    let needed = 0; // the newest event that may have changed it
    let fresh = false; // somebody has just changed something, or asked to look again
    const read = async () => {
      clearTimeout(timer);
      if (busy) {
        due = true; // its answer may be older than what is asked for now
        return;
      }
      busy = true;
      due = false;
      began = Date.now();
      const age_s = fresh ? 0 : kShared_s;
      fresh = false;
      try {
        const { data, position } = await viewAt(name, query, age_s, ends.signal);
        heard();
        setState({ key, data, at: Date.now() });
        if (position && position < needed) due = true;
      } catch (error) {
        if (ends.signal.aborted) return;
        const problem = error instanceof Problem ? error : new Problem("fault", 0, String(error), undefined, {});
        setState((before) => ({ ...(before.key === key ? before : { at: 0 }), key, problem }));
      }
      busy = false;
      took = Date.now() - began;
      if (ends.signal.aborted) return;
      if (due) wake();
      else if (options.everyMs) timer = setTimeout(tick, Math.max(options.everyMs, kShare * took));
    };
    // Nobody looks at a hidden page.
    const tick = () => {
      if (document.hidden) timer = setTimeout(tick, 1000);
      else void read();
    };
    // Something happened while nobody looked.
    let hidden = false;
    let soon: ReturnType<typeof setTimeout> | undefined;
    const wake = () => {
      if (document.hidden) {
        hidden = true;
        return;
      }
      soon ??= setTimeout(() => {
        soon = undefined;
        void read();
      }, Math.max(80, began + Math.max(options.apartMs ?? kApart_ms, kShare * took) - Date.now()));
    };
    const seen = () => {
      if (!document.hidden && hidden) wake();
      hidden = document.hidden && hidden;
    };
    document.addEventListener("visibilitychange", seen);
    trigger.current = () => {
      fresh = true;
      void read();
    };
    fresh = Date.now() - happenedAt() < 2000 * kShared_s;
    void read();
    const offEvent = onEvent((event) => {
      if (wants.current && !wants.current(event)) return;
      needed = event.id;
      wake();
    });
    const offReturn = onReturn(wake);
    return () => {
      ends.abort();
      clearTimeout(timer);
      clearTimeout(soon);
      document.removeEventListener("visibilitychange", seen);
      offEvent();
      offReturn();
    };
  }, [name, key, options.everyMs]);
  const mine = state.key === key;
  return {
    data: mine ? state.data : undefined,
    problem: mine ? state.problem : undefined,
    loading: query !== null && (!mine || (state.data === undefined && state.problem === undefined)),
    at: state.at,
    again: () => trigger.current(),
  };
}

export interface Can {
  allowed: boolean;
  why: string;
  // The policy wants such a call to say why.
  reason?: boolean;
}

// Whether the caller may do it, and why not. Until it is known: no.
export function useCan(action: string, environment: string | undefined): Can {
  const read = useView("access-can", environment === undefined ? null : { action, ...(environment ? { environment } : {}) }, {
    on: (event) => event.event === "access.policy-applied",
  });
  if (read.data) return { allowed: read.data.allowed, why: read.data.why, reason: read.data.reason_needed };
  return { allowed: false, why: read.problem?.detail ?? "not known yet" };
}
