// A call that waits for people to agree, with the two ways to answer it.
import { act, newKey } from "../api/client";
import { useCan } from "../api/use";
import { waitsForMe } from "../app/home";
import type { Approval } from "../app/home";
import { link } from "../app/router";
import { toast, toastProblem } from "../app/toasts";
import { Button } from "./basics";
import { ask } from "./dialog";
import { State } from "./state";
import { T, When, visible, who } from "./text";

export function Waiting({ approval, me }: { approval: Approval; me: string | undefined }) {
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
      can,
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
