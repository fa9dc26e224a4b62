// An empty home: three steps to the first deployment, each a command to copy.
import { useHome } from "../app/home";
import { href } from "../app/router";
import { Card, Command } from "../parts/basics";
import { State } from "../parts/state";

export function FirstRun() {
  const home = useHome();
  const routers = home.fleet.data?.environments.flatMap((each) => each.routers) ?? [];
  return (
    <>
      <div class="head"><div class="grow"><h1>Welcome to Sluice</h1><p class="second">Nothing is deployed yet. Three steps lead to the first URL.</p></div></div>
      <Card title="First deployment">
        <ol class="first">
          <li><State kind="ok" /><div><strong>Sluice is running</strong><div class="note">The home is empty{routers.length ? "; a router listens" : "; the first deployment starts a router"}.</div></div></li>
          <li><span class="number">2</span><div><strong>Make an app</strong><Command text="sluice init hello --run 'python3 app.py'" /><div class="note">It writes a commented bundle.yaml into the folder hello. Any program that listens on the port in $PORT will do.</div></div></li>
          <li><span class="number">3</span><div><strong>Deploy it</strong><Command text="sluice up hello" /><div class="note">Or drop the folder on this page, <a href={href("/deploy")}>see the plan</a>, and execute it. It is shown here as soon as it serves.</div></div></li>
        </ol>
      </Card>
    </>
  );
}
