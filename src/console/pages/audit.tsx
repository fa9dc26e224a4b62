// Audit: who did what, when, why and from where; filters in the address; a button that proves the journal, and an export.
import { useState } from "preact/hooks";
import { view } from "../api/client";
import type { Document } from "../api/client";
import { Problem } from "../api/problem";
import { useCan, useView } from "../api/use";
import { link, query, setQuery } from "../app/router";
import { useCrumbs } from "../app/shell";
import { toastProblem } from "../app/toasts";
import { Button, Card, Empty, Loaded, Segments } from "../parts/basics";
import { Icon } from "../parts/icons";
import { State } from "../parts/state";
import { T, bytes, clock, count, day, full, plural, shortId, who } from "../parts/text";
import { isBad, subject } from "./overview";

const kMost = 1000;
// In place of a caller: what Sluice notes of itself is shown as well.
const kEverything = "*";
const kRanges = [["1", "1 h"], ["24", "24 h"], ["168", "7 d"], ["all", "All"]] as const;

export default function Audit() {
  useCrumbs([{ text: "Audit" }]);
  const range = query.value.get("range") ?? "24";
  const by = query.value.get("by") ?? "";
  const env = query.value.get("env") ?? "";
  const text = (query.value.get("q") ?? "").toLowerCase();
  const [since] = useState(() => Date.now());
  const read = useView("audit", { limit: kMost, newest: true, ...(range === "all" ? {} : { since: new Date(since - Number(range) * 3_600_000).toISOString() }) });
  const can = useCan("Access/list", ""); // what admins may: the proof is about everything
  const [report, setReport] = useState<Document<"audit-report"> | Problem | "busy">();
  const verify = async () => {
    setReport("busy");
    try {
      setReport(await view("audit-report", {}));
    } catch (error) {
      setReport(error instanceof Problem ? error : undefined);
      toastProblem("Verify", error, "The journal is as it was.");
    }
  };
  const save = (rows: Document<"audit">) => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([rows.map((row) => JSON.stringify(row)).join("\n") + "\n"], { type: "application/jsonl" }));
    link.download = "sluice-audit.jsonl";
    link.click();
    URL.revokeObjectURL(link.href);
  };
  return (
    <>
      <div class="head">
        <div class="grow"><h1>Audit</h1><p class="second">What people and programs decided from outside, and how it ended. Every line is a record of the chained journal.</p></div>
        <div class="actionbar"><Button icon="check" can={can} onClick={() => void verify()} off={report === "busy" ? "The journal is read." : undefined}>{report === "busy" ? "Verifying…" : "Verify the journal"}</Button></div>
      </div>
      {report && report !== "busy" && !(report instanceof Problem) && (
        <div class={`strip ${report.holds ? "" : "bad"}`} role="status">
          <State kind={report.holds ? "ok" : "bad"} />
          <span class="grow">{report.holds ? <><strong>The journal holds.</strong> {plural(report.records, "record")} are chained without a gap, {plural(report.heads, "head")} signed, and {plural(report.rows, "row")} of the state agree with it.</> : <><strong>The journal does not hold.</strong> <T text={report.fault?.what ?? report.notProven.join("; ")} max={400} /></>}</span>
        </div>
      )}
      <Card flush>
        <Loaded read={read} what="The audit">
          {(data) => {
            const callers = [...new Set(data.map((row) => row.caller))].sort();
            const rows = [...data].reverse().filter((row) => (by === kEverything || (by ? row.caller === by : !row.caller.startsWith("sluice:"))) && (!env || row.environment === env) && (!text || `${row.action ?? row.step} ${row.reason ?? ""} ${row.outcome ?? ""} ${JSON.stringify(row.input ?? "")}`.toLowerCase().includes(text)));
            return (
              <>
                <div class="filters">
                  <Icon name="filter" />
                  <select class="field" aria-label="Who" value={by} onChange={(event) => setQuery("by", event.currentTarget.value || undefined)}><option value="">people and programs</option><option value={kEverything}>Sluice itself, too</option>{callers.map((each) => <option key={each} value={each}>{who(each)}</option>)}</select>
                  <select class="field" aria-label="Environment" value={env} onChange={(event) => setQuery("env", event.currentTarget.value || undefined)}><option value="">all environments</option>{[...new Set(data.flatMap((row) => row.environment ?? []))].sort().map((each) => <option key={each}>{each}</option>)}</select>
                  <input class="field grow" type="search" placeholder="Find by action, reason, outcome or object" aria-label="Find" value={query.value.get("q") ?? ""} onInput={(event) => setQuery("q", event.currentTarget.value || undefined)} />
                  <Segments label="Range" value={range} options={kRanges} onChange={(value) => setQuery("range", value === "24" ? undefined : value)} />
                  <span class="dim">{count(rows.length)} of {count(data.length)}</span>
                  <Button small icon="download" onClick={() => save(rows)}>Export</Button>
                </div>
                {rows.length === 0 ? <Empty>Nobody decided anything that fits these filters.</Empty> : (
                  <table class="cards">
                    <thead><tr><th>When</th><th>Who</th><th>What</th><th>Outcome</th><th>Why</th><th class="n">Record</th></tr></thead>
                    <tbody>
                      {rows.slice(0, 300).map((row) => {
                        const bad = isBad(row);
                        return (
                          <tr key={row.seq} data-row>
                            <td class="mono nowrap half" title={full(row.at)} data-label="When">{range === "1" ? "" : `${day(row.at)} `}{clock(row.at, true)}</td>
                            <td class="half audit-who" data-label="Who"><span class="two"><span><T text={who(row.caller)} max={30} /></span><span class="note">{row.token ? <>by token <span class="mono">{shortId(row.token)}</span></> : row.caller.startsWith("sluice:") ? "by itself" : "on this machine"}</span></span></td>
                            <td class="whole">{row.flow ? <a class="mono" href={link.flow(row.flow)}><T text={row.action ?? row.step} /></a> : <span class="mono"><T text={row.action ?? (row.step === "put" ? "upload" : row.step)} /></span>} <span class="dim"><T text={row.about ?? subject(row)} max={60} />{row.environment && !subject(row).includes(row.environment) && <> in <T text={row.environment} max={30} /></>}</span>{row.count !== undefined && row.count > 1 && (row.step === "put" ? <span class="dim">{bytes(row.count)}</span> : <span class="badge">{row.count}</span>)}</td>
                            <td data-label="Outcome"><span class="row"><State kind={row.step === "denied" ? "wait" : bad ? "bad" : row.outcome || row.step === "put" ? "ok" : "run"} /><T text={row.step === "denied" ? "denied" : row.step === "put" ? "kept" : row.outcome ?? "open"} max={30} /></span></td>
                            <td data-label="Why">{row.reason ? <>“<T text={row.reason} max={80} />”</> : <span class="dim">–</span>}</td>
                            <td class="n mono dim" data-label="Record">{row.seq}{row.id && <span class="sr">{shortId(row.id)}</span>}</td>
                          </tr>
                        );
                      })}
                    </tbody>
                  </table>
                )}
                {rows.length > 300 && <div class="card-foot note">The newest 300 of {count(rows.length)} are shown; narrow the filters, or export them all.</div>}
              </>
            );
          }}
        </Loaded>
      </Card>
    </>
  );
}
