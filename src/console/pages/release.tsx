// Release: what it consists of, where it runs, and what differs from another one: its component's values, the schema of
// its type, its addons and its workload.
import { act, newKey } from "../api/client";
import type { Document } from "../api/client";
import { useCan, useView } from "../api/use";
import { href, link, query, setQuery } from "../app/router";
import { useCrumbs } from "../app/shell";
import { toast, toastProblem } from "../app/toasts";
import type { PageProps } from "../pages";
import { Button, Card, Empty, Fact, Loaded, WhyOff } from "../parts/basics";
import { ask } from "../parts/dialog";
import { Differences } from "../parts/promote";
import { Chip, State } from "../parts/state";
import { Copy, T, When, plural, shortDigest, who } from "../parts/text";
import { useWhy } from "../parts/why";
import { releaseKind, releaseWord, shortImage } from "./releases";

type Release = Document<"releases">[number];

const kRoles: Record<string, string> = { component: "Component", componentTypeDefinition: "Type and its schema", addon: "Addon", workload: "Workload" };

export default function ReleasePage({ params }: PageProps) {
  const id = params.id!;
  useCrumbs([{ text: "Releases", to: href("/releases") }, { text: id }]);
  const read = useView("releases", { release: id }, { everyMs: 5000 });
  return (
    <Loaded read={read} what="The release" lines={7}>
      {(found) => (found[0] ? <Shown release={found[0]} again={read.again} /> : <Empty>There is no release of this name. <a href={href("/releases")}>See all releases</a></Empty>)}
    </Loaded>
  );
}

function Shown({ release, again }: { release: Release; again: () => void }) {
  const can = useCan("Release/reject", "");
  const siblings = useView("releases", { component: release.component }, { everyMs: 30_000 });
  const others = (siblings.data ?? []).filter((each) => each.release !== release.release);
  const other = others.find((each) => each.release === query.value.get("with")) ?? others.find((each) => each.created_at < release.created_at) ?? others[0];
  const reject = () => {
    const key = newKey();
    const runs = release.pinned.map((each) => each.environment);
    ask({
      title: `Reject ${release.release}?`,
      will: [
        { icon: "abort", text: "It is promoted and pinned nowhere any more. This cannot be undone; cut another release instead." },
        { icon: "box", text: runs.length ? `It stays where it runs: ${runs.join(", ")}. Roll back there if it must go.` : "It runs nowhere." },
      ],
      reason: "needed",
      yes: `Reject ${release.release}`,
      no: "Keep it",
      danger: true,
      run: async (reason) => {
        try {
          await act("Release/reject", { release: release.release, reason }, { reason, key });
          toast("ok", `${release.release} goes nowhere any more.`);
          again();
        } catch (error) {
          toastProblem("Reject", error, "It may go on as before.");
        }
      },
    });
  };
  const ways = <Button kind="danger" icon="abort" can={can} off={release.rejected ? "It is rejected already." : undefined} onClick={reject}>Reject…</Button>;
  const why = useWhy({ kind: "release", name: release.release, said: reasons(release) }, { since: release.created_at, ways: <>{ways}<a class="button" href={href("/releases")}>Open its pipeline</a></> });
  return (
    <>
      <div class="head">
        <div class="grow">
          <h1><T text={release.release} max={60} /> <Chip kind={releaseKind(release)}>{releaseWord(release)}</Chip></h1>
          <div class="facts">
            <Fact name="Component"><T text={release.component} max={40} /></Fact>
            <Fact name="Identity"><span class="mono">{shortDigest(release.identity)}</span> <Copy text={release.identity} label="Copy the identity" /></Fact>
            <Fact name="Image"><span class="mono"><T text={shortImage(release.image)} max={60} /></span> <Copy text={release.image} label="Copy the image" /></Fact>
            <Fact name="Cut"><When at={release.created_at} /> by {who(release.by)}</Fact>
          </div>
        </div>
        <div class="stack">
          <div class="actionbar">{ways}<button class="button" onClick={why.show}>Why <kbd class="hide-small">w</kbd></button></div>
          <WhyOff can={can} what="Rejecting" />
        </div>
      </div>
      {release.rejected && <div class="strip bad"><State kind="bad" /><span><strong>Rejected:</strong> <T text={release.rejected} max={400} /></span></div>}
      {!release.ready && release.message && <div class="strip warn"><State kind="wait" /><span><T text={release.message} max={600} /></span></div>}
      <div class="grid cols-main">
        <Card title="What differs" note={other && <>from <T text={other.release} max={40} /></>} right={others.length > 0 && (
          <select class="field small" aria-label="Compare with" value={other?.release} onChange={(event) => setQuery("with", event.currentTarget.value)}>
            {others.slice(0, 200).map((each) => <option key={each.release} value={each.release}>{each.release}</option>)}
          </select>
        )}>
          {other ? <Compared left={other.release} right={release.release} /> : <p class="second">It is the only release of {release.component}, so there is nothing to compare it with.</p>}
        </Card>
        <div class="stack">
          <Card title="Where it runs" flush>
            {release.pinned.length === 0 ? <Empty>Nowhere. Pin it where its pipeline begins, or promote it.</Empty> : (
              <ul class="list">{release.pinned.map((each) => <li key={each.environment} data-row><State kind={each.ready ? "ok" : each.applied ? "run" : "wait"} /><span class="grow"><a href={link.environment(each.environment)}><T text={each.environment} max={40} /></a></span><span class="note">{each.ready ? "ready" : each.applied ? "becoming ready" : "wanted"}</span><a href={`${href("/releases")}?pin=${encodeURIComponent(`${release.component}/${each.environment}`)}`}>History</a></li>)}</ul>
            )}
          </Card>
          <Card title="Parts" note={plural(release.parts.length, "part")} flush>
            <ul class="list">{release.parts.map((each) => <li key={`${each.role} ${each.name}`}><span class="two grow"><strong><T text={each.name} max={60} /></strong><span class="note">{kRoles[each.role] ?? each.role}</span></span><span class="mono dim">{shortDigest(each.digest)}</span></li>)}</ul>
          </Card>
        </div>
      </div>
      {why.panel}
    </>
  );
}

function reasons(release: Release): string[] {
  if (release.rejected) return [`It was rejected: ${release.rejected}`, "It is promoted and pinned nowhere any more."];
  if (!release.ready) return [`It is not resolved yet${release.message ? `: ${release.message}` : "."}`];
  const waits = release.pinned.filter((each) => !each.ready).map((each) => `${each.environment} is to run it and is not ready yet.`);
  const runs = release.pinned.filter((each) => each.ready).map((each) => each.environment);
  return [...waits, runs.length ? `It runs in ${runs.join(", ")}.` : "It runs nowhere: it is pinned in no environment.", "Where it may go next is on its pipeline’s page, with the rules that hold it back."];
}

function Compared({ left, right }: { left: string; right: string }) {
  const read = useView("release-diff", { left, right });
  return <Loaded read={read} what="The comparison">{(all) => (all.length ? <Differences all={all} /> : <p class="row"><State kind="ok" /><span>Nothing: both hold the same.</span></p>)}</Loaded>;
}
