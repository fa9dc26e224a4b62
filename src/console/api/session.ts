// Who is logged in. The token itself is never kept by the page: POST /v1/login exchanges it for a cookie that scripts
// cannot read, and GET /v1/session says who the cookie stands for and which value changes must carry.
import { signal } from "@preact/signals";
import { Problem } from "./problem";

export interface Session {
  id: string;
  caller: string;
  csrf: string;
}

// undefined: not known yet; null: nobody.
export const session = signal<Session | null | undefined>(undefined);
// Why nobody is logged in any more, for the login page.
export const ended = signal("");

const read = (body: Record<string, unknown>): Session => ({
  id: String(body.session ?? ""),
  caller: String(body.caller ?? ""),
  csrf: String(body.csrf ?? ""),
});

export async function lookForSession(): Promise<void> {
  try {
    const response = await fetch("/v1/session", { headers: { accept: "application/json" } });
    session.value = response.ok ? read((await response.json()) as Record<string, unknown>) : null;
  } catch {
    session.value = null;
    ended.value = "Sluice does not answer. Reload the page when it runs again.";
  }
}

// With a token that somebody typed, or the code of a one-time link.
export async function logIn(by: { token: string } | { code: string }): Promise<void> {
  const response = await fetch("/v1/login", {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json" },
    body: JSON.stringify(by),
  });
  if (!response.ok) throw await Problem.of(response);
  ended.value = "";
  await lookForSession();
}

export async function logOut(): Promise<void> {
  await fetch("/v1/logout", { method: "POST", headers: changing() }).catch(() => undefined);
  session.value = null;
}

// The headers of a request that changes something.
export const changing = (): Record<string, string> => ({
  "content-type": "application/json",
  accept: "application/json",
  "sluice-csrf": session.value?.csrf ?? "",
});

// A 401 in the middle of the work: the token was revoked or the session has ended.
export function sessionEnded(): void {
  if (session.value) ended.value = "Your session has ended: the token was revoked or has expired. Nothing was changed since.";
  session.value = null;
}
