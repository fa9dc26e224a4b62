// The login page: a token, once. The browser gets a cookie for it; the token itself is kept nowhere.
import { useEffect, useState } from "preact/hooks";
import { Problem } from "../api/problem";
import { ended, logIn } from "../api/session";
import { Command } from "../parts/basics";
import { Icon, Logo } from "../parts/icons";
import { State } from "../parts/state";
import { T } from "../parts/text";

export function Login() {
  const [token, setToken] = useState("");
  const [trouble, setTrouble] = useState("");
  const [busy, setBusy] = useState(false);
  const [provider, setProvider] = useState(false);
  useEffect(() => {
    fetch("/v1/login/sso", { headers: { accept: "application/json" } }).then((answer) => answer.json()).then((said: { provider?: unknown }) => setProvider(Boolean(said.provider)), () => undefined);
  }, []);
  const submit = async (event: Event) => {
    event.preventDefault();
    if (!token.trim() || busy) return;
    setBusy(true);
    try {
      await logIn({ token: token.trim() });
    } catch (error) {
      setTrouble(error instanceof Problem ? `${error.detail}${error.nextText ? `; ${error.nextText}` : ""}` : "Sluice does not answer.");
    }
    setBusy(false);
  };
  return (
    <main class="login">
      <form onSubmit={submit}>
        <div class="row"><Logo /><h1>Log in to Sluice</h1></div>
        {(trouble || ended.value) && <p class="row" role="alert"><State kind={trouble ? "bad" : "wait"} /><span class="grow"><T text={trouble || ended.value} max={400} /></span></p>}
        <label>
          <span>Token</span>
          <input class="field" type="password" name="token" autocomplete="current-password" spellcheck={false} value={token} onInput={(event) => setToken(event.currentTarget.value)} autofocus />
        </label>
        <button class="button primary" type="submit" aria-disabled={!token.trim() || busy ? "true" : undefined}>{busy ? "Logging in…" : "Log in"}</button>
        {provider && <a class="button" href="/v1/login/sso/start">Log in with your team’s account</a>}
        <div class="note"><Icon name="lock" size={14} /> The token is exchanged for a session of this browser and not kept. On this machine, this opens the console without one:</div>
        <Command text="sluice console" />
      </form>
    </main>
  );
}
