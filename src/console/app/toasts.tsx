// Results, at the bottom left: with their proof, or with what did not change. A failure stays until it is closed.
import { signal } from "@preact/signals";
import { Icon } from "../parts/icons";
import { State } from "../parts/state";
import { Problem } from "../api/problem";
import { T } from "../parts/text";

interface Toast {
  id: number;
  kind: "ok" | "bad" | "wait";
  text: string;
  action?: { label: string; run: () => void };
}

const toasts = signal<Toast[]>([]);
let next = 0;

export function toast(kind: Toast["kind"], text: string, action?: Toast["action"]): void {
  const id = next++;
  toasts.value = [...toasts.value.slice(-3), { id, kind, text, action }];
  if (kind !== "bad") leaveLater(id);
}

// What was tried, and what the API said about it.
export function toastProblem(what: string, error: unknown, stayed: string): void {
  const problem = error instanceof Problem ? error : new Problem("fault", 0, String(error), undefined, {});
  if (problem.code === "waiting_for_approval") {
    toast("wait", `${what} waits for others to agree: ${problem.detail}`);
    return;
  }
  if (problem.code === "unreachable") {
    toast("bad", `${what}: the connection was lost, so it is not known whether it was done. Look when the page is live again, before you try once more.`);
    return;
  }
  toast("bad", `${what} was not done: ${problem.detail}. ${stayed}${problem.nextText ? ` Next: ${problem.nextText}.` : ""}`);
}

const timers = new Map<number, ReturnType<typeof setTimeout>>();
function leaveLater(id: number): void {
  timers.set(id, setTimeout(() => close(id), 6000));
}
function close(id: number): void {
  toasts.value = toasts.value.filter((each) => each.id !== id);
}

export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map((each) => (
        <div
          key={each.id}
          class="toast"
          onMouseEnter={() => clearTimeout(timers.get(each.id))}
          onMouseLeave={() => each.kind !== "bad" && leaveLater(each.id)}
        >
          <State kind={each.kind} />
          <span class="grow"><T text={each.text} max={400} /></span>
          {each.action && (
            <button class="link" onClick={() => { each.action?.run(); close(each.id); }}>{each.action.label}</button>
          )}
          <button class="ghost" aria-label="Close" onClick={() => close(each.id)}><Icon name="x" /></button>
        </div>
      ))}
    </div>
  );
}
