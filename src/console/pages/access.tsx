// Access: approvals that wait, tokens and sessions, the policy, and "who can do this?".
import { useEffect, useState } from "preact/hooks";
import { act, newKey, view } from "../api/client";
import type { Document } from "../api/client";
import { onEvent } from "../api/live";
import { Problem } from "../api/problem";
import { useCan, useView } from "../api/use";
import { useHome, waitsForMe } from "../app/home";
import type { Approval } from "../app/home";
import { href, link } from "../app/router";
import { useCrumbs } from "../app/shell";
import { toast, toastProblem } from "../app/toasts";
import type { Actions } from "../api/types.gen";
import type { PageProps } from "../pages";
import { Button, Card, Empty, Failed, Skeleton, Tabs } from "../parts/basics";
import { ask } from "../parts/dialog";
import { Chip, State } from "../parts/state";
import { T, When, shortId, visible, who } from "../parts/text";

export default function Access({ params }: PageProps) {
  const tab = params.tab ?? "approvals";
  const home = useHome();
  useCrumbs([{ text: "Access" }, ...(tab === "approvals" ? [] : [{ text: tab }])]);
  const mine = (home.approvals.data ?? []).filter((each) => waitsForMe(each, home.me.data?.caller)).length;
  return (
    <>
      <div class="head"><div class="grow"><h1>Access</h1><p class="second">Who may do what, who has shown who they are, and what waits for somebody to agree.</p></div></div>
      <Tabs at={tab} to={(key) => href(`/access${key === "approvals" ? "" : `/${key}`}`)} tabs={[{ key: "approvals", label: "Approvals", ...(mine ? { number: mine } : {}) }, { key: "tokens", label: "Tokens" }, { key: "policy", label: "Policy" }, { key: "me", label: "You" }]} />
      {tab === "approvals" && <Approvals />}
      {tab === "tokens" && <Tokens />}
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
            {rest.map((each) => <tr key={each.approval}><td class="whole mono"><a href={link.flow(each.flow)}><T text={each.action} /></a></td><td data-label="Asked by">{who(each.requester)}</td><td data-label="Outcome"><T text={each.outcome || each.status} max={60} /></td><td data-label="Agreed">{each.yes.map(who).join(", ") || "nobody"}</td><td data-label="When"><When at={each.asked_at} /></td></tr>)}
          </tbody></table>
        </Card>
      )}
    </>
  );
}

function Waiting({ approval, me }: { approval: Approval; me: string | undefined }) {
  const can = useCan("Approval/vote", approval.environment ?? "");
  const mine = waitsForMe(approval, me);
  const reasonOff = mine ? undefined : approval.requester === me ? "You asked for it; others must agree." : approval.yes.includes(me ?? "") ? "You have agreed already." : "Programs cannot agree.";
  const vote = (agree: boolean) => {
    const key = newKey();
    ask({
      title: `${agree ? "Approve" : "Reject"} ${approval.action}${approval.environment ? ` in ${approval.environment}` : ""}?`,
      will: [
        { icon: agree ? "check" : "x", text: agree ? (approval.needed - approval.yes.length <= 1 ? `It runs at once, as ${who(approval.requester)}, if what it is about is still as they saw it.` : `${approval.needed - approval.yes.length - 1} more must agree after you.`) : "It never runs. Whoever asked may ask again." },
        { icon: "user", text: `${who(approval.requester)} asked${approval.reason ? `: “${approval.reason}”` : " without a reason"}.` },
      ],
      body: <pre class="sunken">{visible(JSON.stringify(approval.input, null, 2)).slice(0, 2000)}</pre>,
      reason: "asked",
      yes: agree ? "Approve" : "Reject",
      no: "Decide later",
      danger: !agree,
      run: async (reason) => {
        try {
          await act("Approval/vote", { approval: approval.approval, agree, ...(reason ? { reason } : {}) }, { reason, key, wait: "all", forMs: 20_000 });
          toast("ok", agree ? "You agreed." : "You rejected it.");
        } catch (error) {
          toastProblem(agree ? "Approve" : "Reject", error, "The call still waits.");
        }
      },
    });
  };
  return (
    <li data-row>
      <State kind="wait" />
      <span class="two grow">
        <span><a class="mono" href={link.flow(approval.flow)}><T text={approval.action} /></a> {approval.environment && <span class="dim">in {approval.environment}</span>}</span>
        <span class="note">{who(approval.requester)} asked <When at={approval.asked_at} />{approval.reason && <>: “<T text={approval.reason} max={120} />”</>}; {approval.yes.length} of {approval.needed} agreed{approval.yes.length ? ` (${approval.yes.map(who).join(", ")})` : ""}; ends <When at={approval.expires_at} bare /></span>
      </span>
      <Button small can={can} off={reasonOff} onClick={() => vote(false)}>Reject…</Button>
      <Button small kind="primary" can={can} off={reasonOff} onClick={() => vote(true)}>Approve…</Button>
    </li>
  );
}

// What a query of a concept answers, read again when access changes.
function useAsked<A extends "Access/list" | "Access/show">(name: A): { data: Actions[A]["ok"] | undefined; problem: Problem | undefined; again: () => void } {
  const [data, setData] = useState<Actions[A]["ok"]>();
  const [problem, setProblem] = useState<Problem>();
  const read = () => act(name, {}).then((called) => { setData(called.fields); setProblem(undefined); }, (error) => setProblem(error instanceof Problem ? error : undefined));
  useEffect(() => {
    void read();
    return onEvent((event) => { if (event.event.startsWith("access.")) void read(); });
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
                <td><Chip kind={each.status === "good" ? "ok" : "archived"}>{each.status}</Chip></td>
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

function Policy() {
  const asked = useAsked("Access/show");
  const home = useHome();
  const [action, setAction] = useState("Traffic/set");
  const [env, setEnv] = useState("");
  const [as, setAs] = useState("");
  const [answer, setAnswer] = useState<Document<"access-can"> | Problem>();
  const envs = home.status.data?.environments ?? [];
  const find = async (event: Event) => {
    event.preventDefault();
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
          <label class="form-row"><span>As</span><input class="field" placeholder="yourself, or user:dan" value={as} onInput={(event) => setAs(event.currentTarget.value)} /></label>
          <button class="button" type="submit">Ask</button>
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
