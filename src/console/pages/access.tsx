// Access: approvals that wait, tokens and sessions, the policy, and "who can do this?".
import { useEffect, useState } from "preact/hooks";
import { act, newKey, view } from "../api/client";
import type { Document } from "../api/client";
import { onEvent } from "../api/live";
import { Problem } from "../api/problem";
import { session } from "../api/session";
import { useCan, useView } from "../api/use";
import { useHome, waitsForMe } from "../app/home";
import { href, link } from "../app/router";
import { useCrumbs } from "../app/shell";
import { toast, toastProblem } from "../app/toasts";
import type { Actions } from "../api/types.gen";
import type { PageProps } from "../pages";
import { Button, Card, Empty, Failed, Skeleton, Tabs } from "../parts/basics";
import { Waiting } from "../parts/approval";
import { ask } from "../parts/dialog";
import { Chip, State, sentenceCase } from "../parts/state";
import type { Kind } from "../parts/state";
import { T, When, shortId, visible, who } from "../parts/text";

export default function Access({ params }: PageProps) {
  const tab = params.tab ?? "approvals";
  const home = useHome();
  useCrumbs([{ text: "Access" }, ...(tab === "approvals" ? [] : [{ text: tab }])]);
  const mine = (home.approvals.data ?? []).filter((each) => waitsForMe(each, home.me.data?.caller)).length;
  return (
    <>
      <div class="head"><div class="grow"><h1>Access</h1><p class="second">Who may do what, who has shown who they are, and what waits for somebody to agree.</p></div></div>
      <Tabs at={tab} to={(key) => href(`/access${key === "approvals" ? "" : `/${key}`}`)} tabs={[{ key: "approvals", label: "Approvals", ...(mine ? { number: mine } : {}) }, { key: "tokens", label: "Tokens" }, { key: "sessions", label: "Sessions" }, { key: "policy", label: "Policy" }, { key: "me", label: "You" }]} />
      {tab === "approvals" && <Approvals />}
      {tab === "tokens" && <Tokens />}
      {tab === "sessions" && <Sessions />}
      {tab === "policy" && <Policy />}
      {tab === "me" && <Me />}
    </>
  );
}

function Approvals() {
  const home = useHome();
  const over = useView("approvals", { over: true }, { everyMs: 10_000 });
  const me = home.me.data?.caller;
  const all = over.data ?? home.approvals.data;
  if (!all) return home.approvals.problem ? <Card><Failed read={home.approvals} what="The approvals" /></Card> : <Skeleton />;
  const waiting = all.filter((each) => each.status === "waiting");
  const rest = all.filter((each) => each.status !== "waiting");
  return (
    <>
      <Card title="Waiting" flush>
        {waiting.length === 0 ? <Empty>No call waits for anybody. Where the policy wants others to agree first, calls stand here until they do.</Empty> : <ul class="list">{waiting.map((each) => <Waiting key={each.approval} approval={each} me={me} />)}</ul>}
      </Card>
      {rest.length > 0 && (
        <Card title="Decided" flush>
          <table class="cards"><thead><tr><th>Call</th><th>Asked by</th><th>Outcome</th><th>Agreed</th><th>When</th></tr></thead><tbody>
            {rest.map((each) => <tr key={each.approval}><td class="whole mono"><a href={link.flow(each.flow)}><T text={each.action} /></a></td><td data-label="Asked by">{who(each.requester)}</td><td class="half" data-label="Outcome">{/^[0-9A-Z]{26}$/.test(each.outcome ?? "") ? <a href={link.flow(each.outcome!)}><Chip kind={approvalKind(each.status)}>{sentenceCase(each.status)}</Chip></a> : <><Chip kind={approvalKind(each.status)}>{sentenceCase(each.status)}</Chip>{each.outcome && <div class="note"><T text={each.outcome} max={200} /></div>}</>}</td><td data-label="Agreed">{each.yes.map(who).join(", ") || "nobody"}</td><td data-label="When"><When at={each.asked_at} /></td></tr>)}
          </tbody></table>
        </Card>
      )}
    </>
  );
}

const approvalKind = (status: string): Kind => (({ done: "ok", approved: "run", running: "run", rejected: "bad", failed: "bad" }) as const)[status as "done"] ?? "archived";

// What a query of a concept answers, read again when access changes.
function useAsked<A extends "Access/list" | "Access/show" | "Session/list">(name: A): { data: Actions[A]["ok"] | undefined; problem: Problem | undefined; again: () => void } {
  const [data, setData] = useState<Actions[A]["ok"]>();
  const [problem, setProblem] = useState<Problem>();
  const read = () => act(name, {}).then((called) => { setData(called.fields); setProblem(undefined); }, (error) => setProblem(error instanceof Problem ? error : undefined));
  useEffect(() => {
    void read();
    return onEvent((event) => { if (/^(access|session)\./.test(event.event)) void read(); });
  }, []);
  return { data, problem, again: () => void read() };
}

function Tokens() {
  const asked = useAsked("Access/list");
  const home = useHome();
  const can = useCan("Access/revoke", "");
  if (!asked.data) return <Card title="Tokens">{asked.problem ? <Failed read={asked} what="The tokens" /> : <Skeleton />}</Card>;
  const revoke = (token: (typeof asked.data.tokens)[number]) => {
    const own = token.token === home.me.data?.token;
    ask({
      title: `Revoke the token ${token.name} of ${who(token.subject)}?`,
      against: own ? "This is the token that you are logged in with: this page logs out." : undefined,
      will: [{ icon: "key", text: "From the next call on it is refused, and pages that are logged in with it log out." }, { icon: "undo", text: "It cannot be undone; issue another with sluice access tokens create." }],
      reason: "asked",
      can,
      yes: "Revoke token",
      no: "Keep it",
      danger: true,
      run: async (reason) => {
        try {
          await act("Access/revoke", { token: token.token }, { reason, key: newKey() });
          toast("ok", `The token ${token.name} holds no longer.`);
          asked.again();
        } catch (error) {
          toastProblem("Revoke", error, "The token still holds.");
        }
      },
    });
  };
  return (
    <Card title="Tokens" note="only their SHA-256 is kept" flush>
      {asked.data.tokens.length === 0 ? <Empty command="sluice access tokens create laptop --for user:dan --expires 90d">Tokens show who calls. This makes one, and shows it once:</Empty> : (
        <table class="cards">
          <thead><tr><th>Name</th><th>For</th><th>Narrowed to</th><th>State</th><th>Last used</th><th>Expires</th><th /></tr></thead>
          <tbody>
            {asked.data.tokens.map((each) => (
              <tr key={each.token} data-row>
                <td class="most"><span class="two"><strong><T text={each.name} max={40} /></strong><span class="note mono">{shortId(each.token)}, by {who(each.createdBy)}</span></span></td>
                <td data-label="For"><T text={each.subject} max={40} /></td>
                <td data-label="Narrowed to">{[each.role, each.environments.join(", ")].filter(Boolean).join(" in ") || "nothing"}</td>
                <td><Chip kind={each.status === "good" ? "ok" : "archived"}>{sentenceCase(each.status)}</Chip></td>
                <td data-label="Last used">{each.lastUsed ? <When at={each.lastUsed} bare /> : "never"}</td>
                <td data-label="Expires">{each.expires ? <When at={each.expires} bare /> : "never"}</td>
                <td class="right">{each.status === "good" && <Button small kind="danger" can={can} onClick={() => revoke(each)}>Revoke…</Button>}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Card>
  );
}

function Sessions() {
  const asked = useAsked("Session/list");
  const can = useCan("Session/end", "");
  if (!asked.data) return <Card title="Sessions">{asked.problem ? <Failed read={asked} what="The sessions" /> : <Skeleton />}</Card>;
  const end = (each: (typeof asked.data.sessions)[number]) => {
    const own = each.session === session.value?.id;
    ask({
      title: `End the session of ${who(each.subject)}?`,
      against: own ? "This is your own session: this page logs out." : undefined,
      will: [{ icon: "logout", text: `The browser at ${each.address} is logged out at once. The token still holds: they may log in again, unless you revoke it.` }],
      reason: "asked",
      can,
      yes: "End session",
      no: "Keep it",
      danger: true,
      run: async (reason) => {
        try {
          await act("Session/end", { session: each.session }, { reason, key: newKey() });
          toast("ok", `The session of ${who(each.subject)} has ended.`);
          asked.again();
        } catch (error) {
          toastProblem("End session", error, "It goes on.");
        }
      },
    });
  };
  return (
    <Card title="Sessions" note="browsers that are logged in, or were within seven days" flush>
      <table class="cards">
        <thead><tr><th>Who</th><th>Address</th><th>State</th><th>Logged in</th><th>Last used</th><th>Ends</th><th /></tr></thead>
        <tbody>
          {[...asked.data.sessions].sort((a, b) => Number(b.status === "open") - Number(a.status === "open") || b.openedAt.localeCompare(a.openedAt)).map((each) => (
            <tr key={each.session} data-row>
              <td class="most"><span class="two"><strong><T text={each.subject} max={40} /></strong><span class="note mono">{shortId(each.session)}{each.token ? `, token ${shortId(each.token)}` : ""}{each.session === session.value?.id ? ", this page" : ""}</span></span></td>
              <td data-label="Address" class="mono"><T text={each.address} max={40} /></td>
              <td><Chip kind={each.status === "open" ? "ok" : "archived"}>{sentenceCase(each.status)}</Chip></td>
              <td data-label="Logged in"><When at={each.openedAt} /></td>
              <td data-label="Last used">{each.lastUsed ? <When at={each.lastUsed} bare /> : "–"}</td>
              <td data-label="Ends"><When at={each.expires} bare /></td>
              <td class="right">{each.status === "open" && <Button small kind="danger" can={can} onClick={() => end(each)}>End…</Button>}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Card>
  );
}

// "Who can do this?" asks for so many people and programs at once.
const kMostAsked = 60;

function Policy() {
  const asked = useAsked("Access/show");
  const home = useHome();
  const [action, setAction] = useState("Traffic/set");
  const [env, setEnv] = useState("");
  const [as, setAs] = useState("");
  const [answer, setAnswer] = useState<Document<"access-can"> | Problem>();
  const [all, setAll] = useState<Document<"access-can">[]>();
  const tokens = useAsked("Access/list");
  const envs = home.fleet.data?.environments ?? [];
  // Whoever has a token, and whoever the policy names; of groups the members are not known here.
  const subjects = [...new Set([...(tokens.data?.tokens ?? []).filter((each) => each.status === "good").map((each) => each.subject), ...(asked.data?.policy ?? "").matchAll(/\b(?:user|service):[\w.@+-]+/g)].map(String))].sort().slice(0, kMostAsked);
  const everybody = async () => {
    setAnswer(undefined);
    try {
      setAll(await Promise.all(subjects.map((each) => view("access-can", { action, ...(env ? { environment: env } : {}), as: each }))));
    } catch (error) {
      if (error instanceof Problem) setAnswer(error);
    }
  };
  const find = async (event: Event) => {
    event.preventDefault();
    setAll(undefined);
    if (!as && subjects.length) return everybody();
    try {
      setAnswer(await view("access-can", { action, ...(env ? { environment: env } : {}), ...(as ? { as } : {}) }));
    } catch (error) {
      if (error instanceof Problem) setAnswer(error);
    }
  };
  return (
    <div class="grid cols-main">
      <Card title="Policy" note={asked.data?.version ? `version ${asked.data.version}, by ${who(asked.data.appliedBy)}` : undefined} flush>
        {asked.problem ? <Failed read={asked} what="The policy" /> : !asked.data ? <Skeleton /> : asked.data.version === 0 ? <Empty command="sluice access policy apply policy.yaml">There is no policy: only the owner may do anything. This applies one:</Empty> : <pre class="card-body" tabIndex={0}>{visible(pretty(asked.data.policy))}</pre>}
      </Card>
      <Card title="Who can do this?">
        <form class="stack" onSubmit={find}>
          <label class="form-row"><span>Action</span><input class="field" value={action} onInput={(event) => setAction(event.currentTarget.value)} /></label>
          <label class="form-row"><span>Environment</span><select class="field" value={env} onChange={(event) => setEnv(event.currentTarget.value)}><option value="">none</option>{envs.map((each) => <option key={each.environment}>{each.environment}</option>)}</select></label>
          <label class="form-row"><span>As</span><input class="field" placeholder={subjects.length ? "everybody, or user:dan" : "yourself"} value={as} onInput={(event) => setAs(event.currentTarget.value)} /></label>
          <button class="button" type="submit">Ask</button>
          {all && (
            <ul class="plainlist" role="status" aria-label="Who may">
              {[...all].sort((a, b) => Number(b.allowed) - Number(a.allowed) || a.caller.localeCompare(b.caller)).map((each) => <li key={each.caller}><State kind={each.allowed ? "ok" : "skipped"} label={each.allowed ? "may" : "may not"} /><span class="two"><strong><T text={who(each.caller)} max={40} /></strong><span class="note"><T text={each.why} max={200} /></span></span></li>)}
              <li><State kind="ok" /><span class="two"><strong>The home’s owner</strong><span class="note">bound by no policy</span></span></li>
            </ul>
          )}
          {answer && <p class="row" role="status"><State kind={answer instanceof Problem ? "bad" : answer.allowed ? "ok" : "wait"} /><span class="grow">{answer instanceof Problem ? <T text={answer.detail} /> : <><strong>{answer.allowed ? "Allowed" : "Denied"}:</strong> <T text={answer.why} max={300} /></>}</span></p>}
        </form>
      </Card>
    </div>
  );
}

const pretty = (policy: string): string => {
  try {
    return JSON.stringify(JSON.parse(policy), null, 2);
  } catch {
    return policy;
  }
};

function Me() {
  const home = useHome();
  const me = home.me.data;
  if (!me) return <Skeleton />;
  return (
    <Card title="You">
      <dl class="kv">
        <dt>Known as</dt><dd><T text={me.caller} /></dd>
        <dt>Owner</dt><dd>{me.owner ? "yes: you may do everything in this home" : "no"}</dd>
        <dt>Token</dt><dd>{me.token ? <span class="mono">{shortId(me.token)}</span> : "none"}</dd>
        <dt>Grants</dt><dd>{me.grants.length ? me.grants.map((each, i) => <div key={i}>{each.role ?? "single actions"}{each.environments?.length ? ` in ${each.environments.join(", ")}` : " everywhere"}{each.allow?.length ? `; also ${each.allow.join(", ")}` : ""}{each.deny?.length ? `; never ${each.deny.join(", ")}` : ""}</div>) : me.owner ? "none needed" : "none: you may do nothing"}</dd>
      </dl>
    </Card>
  );
}
