// The console begins here: who is logged in, the frame, and the page that the address names.
import "./styles.css";
import { Component, render } from "preact";
import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { whoGoesOn } from "./api/client";
import { connect, disconnect, onEvent } from "./api/live";
import { ended, logIn, lookForSession, session } from "./api/session";
import { useView } from "./api/use";
import { HomeContext, underWay } from "./app/home";
import { Login } from "./app/login";
import { href, match, path } from "./app/router";
import type { Params } from "./app/router";
import { Shell, speak, useCrumbs } from "./app/shell";
import { Toasts } from "./app/toasts";
import "./app/theme";
import { Empty, Skeleton } from "./parts/basics";
import { agreed, Dialogs } from "./parts/dialog";
import { pages } from "./pages";
import type { PageProps } from "./pages";

whoGoesOn((action, generation) =>
  agreed({
    title: `Go on from generation ${generation}?`,
    will: [
      { icon: "help", text: "Here a change must name the generation that it was made from, so that nobody overwrites what somebody else has just changed." },
      { icon: "swap", text: `${action} changes generation ${generation}, the newest one. If the page now shows something else than you decided on, leave it.` },
    ],
    yes: "Go on",
    no: "Leave it",
  }),
);

function LoggedIn() {
  const me = useView("whoami", {}, { on: (event) => event.event.startsWith("access.") });
  const fleet = useView("fleet", { limit: 0 }, { everyMs: 2000, on: (event) => /^(deployment|revision|rollout|environment|router)\./.test(event.event) });
  // What a rollout waits for changes without an event.
  const [steps, setSteps] = useState(false);
  const rollouts = useView("rollouts", {}, { everyMs: steps ? 2000 : 10_000, on: (event) => /^(rollout|traffic|router)\./.test(event.event) });
  useEffect(() => setSteps((rollouts.data ?? []).some((each) => underWay(each.status))), [rollouts.data]);
  const plans = useView("plans", {}, { on: (event) => event.event.startsWith("plan."), everyMs: 10_000 });
  const approvals = useView("approvals", {}, { everyMs: 10_000, on: (event) => event.event.startsWith("approval.") });
  useEffect(() => {
    void connect();
    const off = onEvent((event) => {
      if (/^(rollout|deployment|traffic|plan)\./.test(event.event)) speak(event.event.replace(/[.-]/g, " "));
    });
    return () => {
      off();
      disconnect();
    };
  }, []);
  return (
    <HomeContext.Provider value={{ me, fleet, rollouts, plans, approvals }}>
      <Shell><Guarded key={path.value}><CurrentPage /></Guarded></Shell>
      <Dialogs />
      <Toasts />
    </HomeContext.Provider>
  );
}

const loaded = new Map<string, ComponentType<PageProps>>();

function CurrentPage() {
  let params: Params | undefined;
  const page = pages.find((each) => (params = match(each.path, path.value)) !== undefined);
  const [, again] = useState(0);
  const shown = page && loaded.get(page.path);
  const [trouble, setTrouble] = useState("");
  useEffect(() => {
    if (!page || shown) return;
    page.load().then(
      (module) => {
        loaded.set(page.path, module.default);
        again((n) => n + 1);
      },
      () => setTrouble("This page could not be loaded. Sluice may have been replaced by another version: reload."),
    );
  }, [page?.path]);
  if (!page || !params) return <NotFound />;
  if (trouble) return <Empty>{trouble}</Empty>;
  const Shown = shown;
  return Shown ? <Shown params={params} /> : <Skeleton lines={6} />;
}

function NotFound() {
  useCrumbs([{ text: "Not found" }]);
  return <Empty>Nothing is at this address. <a href={href("/")}>Go to the overview</a></Empty>;
}

// A defect of one page leaves the frame standing, and says so.
class Guarded extends Component<{ children: preact.ComponentChildren }, { fault: string }> {
  override state = { fault: "" };
  override componentDidCatch(error: unknown) {
    this.setState({ fault: String(error) });
  }
  override render() {
    if (!this.state.fault) return this.props.children;
    return <Empty>This page failed: {this.state.fault}. Nothing was changed. <a href={href("/")}>Go to the overview</a></Empty>;
  }
}

function App() {
  if (session.value === undefined) return null;
  return session.value ? <LoggedIn /> : <Login />;
}

// A one-time link carries its code in the fragment, which browsers send to nobody.
async function begin(): Promise<void> {
  // The page's own part comes while the server says who is logged in.
  pages.find((each) => match(each.path, path.value))?.load().catch(() => undefined);
  const code = new URLSearchParams(location.hash.slice(1)).get("code");
  if (code) {
    history.replaceState(null, "", location.pathname + location.search);
    try {
      await logIn({ code });
    } catch {
      ended.value = "The link was used or is older than a minute. Make another with sluice console.";
      session.value = null;
    }
  }
  if (!session.value) await lookForSession();
  render(<App />, document.getElementById("app")!);
}
void begin();
