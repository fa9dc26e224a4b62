// What replicas print, live. The search runs on the server; what was found is marked. The newest line stays in sight
// unless somebody scrolls up.
import { Component } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { logs } from "../api/client";
import type { LogLine } from "../api/client";
import { Problem } from "../api/problem";
import { useKey } from "../app/keys";
import { query, setQuery } from "../app/router";
import { Failed } from "./basics";
import { Icon } from "./icons";
import { T, clock, visible } from "./text";

const kKept = 500;
const kDraw_ms = 250;
// Without a search the last minute is enough to begin with.
const kBehind_ms = 60_000;
const kSearched_ms = 15 * 60_000;

interface Numbered {
  line: LogLine;
  number: number;
}

// A line never changes.
class Row extends Component<{ line: LogLine; search: string }> {
  override shouldComponentUpdate() {
    return false;
  }
  override render({ line, search }: { line: LogLine; search: string }) {
    return (
      <div>
        <span class="at" title={line.time}>{clock(line.time, true)}</span>
        <span class="from">{line.label}</span>
        <span class={`said${line.stream === "err" ? " err" : line.stream === "sluice" ? " dim" : ""}`}><Marked text={line.text} search={search} /></span>
      </div>
    );
  }
}

export function Logs({ name, tall }: { name: string; tall?: boolean }) {
  const search = query.value.get("log") ?? "";
  const [typed, setTyped] = useState(search);
  const [lines, setLines] = useState<Numbered[]>([]);
  const [following, follow] = useState(true);
  const [problem, setProblem] = useState<Problem>();
  const [round, setRound] = useState(0);
  const box = useRef<HTMLDivElement>(null);
  const find = useRef<HTMLInputElement>(null);
  const atEnd = useRef(true);
  useKey("f", () => find.current?.focus());
  useEffect(() => {
    const timer = setTimeout(() => typed !== search && setQuery("log", typed || undefined), 300);
    return () => clearTimeout(timer);
  }, [typed]);
  useEffect(() => {
    if (!following) return;
    const ends = new AbortController();
    let again: ReturnType<typeof setTimeout> | undefined;
    // Lines come one by one, by the hundred a second; they are drawn four times a second, and each only once.
    let waiting: Numbered[] = [];
    let number = 0;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const draw = () => {
      timer = undefined;
      const more = waiting;
      waiting = [];
      setLines((before) => [...before, ...more].slice(-kKept));
    };
    setLines([]);
    setProblem(undefined);
    const since = new Date(Date.now() - (search ? kSearched_ms : kBehind_ms)).toISOString();
    logs({ name, since, search, follow: true }, (more) => {
      for (const line of more) waiting.push({ line, number: number++ });
      if (waiting.length > kKept) waiting.splice(0, waiting.length - kKept);
      timer ??= setTimeout(draw, kDraw_ms);
    }, ends.signal).then(
      () => { if (!ends.signal.aborted) again = setTimeout(() => setRound((n) => n + 1), 2000); },
      (error) => { if (ends.signal.aborted) return; again = setTimeout(() => setRound((n) => n + 1), 5000); setProblem(error instanceof Problem ? error : new Problem("fault", 0, "the connection ended", undefined, {})); },
    );
    return () => {
      ends.abort();
      clearTimeout(again);
      clearTimeout(timer);
    };
  }, [name, search, following, round]);
  useEffect(() => {
    if (atEnd.current && box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [lines]);
  return (
    <>
      <div class="filters">
        <span class="row grow"><Icon name="search" /><input ref={find} class="field small grow" type="search" placeholder="Search in the logs" aria-label="Search in the logs" value={typed} onInput={(event) => setTyped(event.currentTarget.value)} />
          <span class="note nowrap">{lines.length} lines</span></span>
        <button class="button small" onClick={() => follow(!following)}><Icon name={following ? "pause" : "play"} size={14} /> {following ? "Stop" : "Follow"}</button>
      </div>
      {problem ? <Failed read={{ problem, again: () => setRound((n) => n + 1) }} what="Logs" /> : (
        <div class="log" ref={box} tabIndex={0} role="log" aria-label="Log lines" aria-live="off" style={tall ? { height: "60vh" } : undefined}
          onScroll={(event) => { const at = event.currentTarget; atEnd.current = at.scrollHeight - at.scrollTop - at.clientHeight < 30; }}>
          {lines.map((each) => <Row key={each.number} line={each.line} search={search} />)}
          {lines.length === 0 && <span class="dim">{search ? `No line of the last 15 minutes contains “${visible(search)}”.` : "Nothing was printed in the last minute. New lines appear here."}</span>}
        </div>
      )}
    </>
  );
}

function Marked({ text, search }: { text: string; search: string }) {
  const at = search ? text.indexOf(search) : -1;
  if (at < 0) return <T text={text} max={4000} />;
  return <><T text={text.slice(0, at)} max={2000} /><mark><T text={search} /></mark><T text={text.slice(at + search.length)} max={2000} /></>;
}
