// Dialogs ask before anything happens: a question that names the object, what will change in numbers, who is affected,
// how to undo it, and why. The buttons repeat the verb; focus starts on the reason, else on the safe button.
import { signal } from "@preact/signals";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { ComponentChildren } from "preact";
import { Icon } from "./icons";
import type { IconName } from "./icons";
import type { Can } from "../api/use";
import { T } from "./text";

export interface Question {
  title: string;
  will: { icon: IconName; text: string }[];
  // Against the judge's advice: said in the first line.
  against?: string;
  // Asks for a reason; "needed" keeps the button off until there is one.
  reason?: "asked" | "needed";
  // Where the policy wants to know why, the reason is needed as well.
  can?: Can;
  body?: ComponentChildren;
  yes: string;
  no: string;
  danger?: boolean;
  run: (reason: string) => Promise<void>;
  // They have closed it without a yes.
  left?: () => void;
}

const asked = signal<Question | null>(null);
export const ask = (question: Question): void => {
  asked.value = question;
};
// The same as a question that is answered with yes or no.
export const agreed = (question: Omit<Question, "run" | "left">): Promise<boolean> =>
  new Promise((answer) => ask({ ...question, run: async () => answer(true), left: () => answer(false) }));
export const dialogOpen = (): boolean => asked.value !== null;

// Traps focus, closes on Escape, and gives focus back.
export function Veil({ children, onClose, label, class: more = "" }: { children: ComponentChildren; onClose: () => void; label: string; class?: string }) {
  const box = useRef<HTMLDivElement>(null);
  // At once: what is typed next belongs here.
  useLayoutEffect(() => {
    const before = document.activeElement as HTMLElement | null;
    const first = box.current?.querySelector<HTMLElement>("[data-focus], input, textarea, button, a[href]");
    first?.focus();
    return () => before?.focus?.();
  }, []);
  const keys = (event: KeyboardEvent) => {
    if (event.key === "Escape") {
      event.stopPropagation();
      onClose();
    }
    if (event.key !== "Tab") return;
    const all = [...(box.current?.querySelectorAll<HTMLElement>("input, textarea, select, button, a[href]") ?? [])].filter((each) => !each.hasAttribute("disabled"));
    const first = all[0];
    const last = all[all.length - 1];
    if (event.shiftKey && document.activeElement === first) {
      event.preventDefault();
      last?.focus();
    } else if (!event.shiftKey && document.activeElement === last) {
      event.preventDefault();
      first?.focus();
    }
  };
  return (
    <div class="veil" onMouseDown={(event) => event.target === event.currentTarget && onClose()} onKeyDown={keys}>
      <div class={`dialog ${more}`} role="dialog" aria-modal="true" aria-label={label} ref={box}>{children}</div>
    </div>
  );
}

export function Dialogs() {
  const question = asked.value;
  if (!question) return null;
  return <Confirm key={question.title} question={question} />;
}

function Confirm({ question }: { question: Question }) {
  const [reason, setReason] = useState("");
  const [busy, setBusy] = useState(false);
  const close = () => (asked.value = null);
  const leave = () => {
    close();
    question.left?.();
  };
  const needed = question.reason === "needed" || question.can?.reason === true;
  const missing = needed && !reason.trim();
  const run = async () => {
    if (missing || busy) return;
    setBusy(true);
    try {
      await question.run(reason.trim());
    } finally {
      if (asked.value === question) close();
    }
  };
  return (
    <Veil onClose={leave} label={question.title}>
      <form onSubmit={(event) => { event.preventDefault(); void run(); }}>
        <div class="in">
          <h2><T text={question.title} /></h2>
          {question.against && <p class="against"><Icon name="help" /> <T text={question.against} max={400} /></p>}
          <ul class="will">
            {question.will.map((each, i) => <li key={i}><Icon name={each.icon} /><span><T text={each.text} max={400} /></span></li>)}
          </ul>
          {question.body}
          {(question.reason || needed) && (
            <label>
              <span>Reason {needed ? <span class="dim">(needed)</span> : <span class="dim">(for the audit)</span>}</span>
              <input class="field" data-focus value={reason} maxLength={500} onInput={(event) => setReason(event.currentTarget.value)} />
            </label>
          )}
        </div>
        <div class="foot">
          <button type="button" class="button" data-focus={question.reason || needed ? undefined : true} onClick={leave}>{question.no}</button>
          <button type="submit" class={`button ${question.danger ? "danger" : "primary"}`} aria-disabled={missing || busy ? "true" : undefined}>
            {busy ? "Sending…" : question.yes}
          </button>
        </div>
      </form>
    </Veil>
  );
}
