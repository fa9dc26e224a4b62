// Drives the console in a browser, as people would, against the sluice serve that test_console.py has started. One story
// after the other; the first thing that is not as it should be ends it with a message and a picture.
import assert from "node:assert/strict";
import { mkdirSync, readFileSync } from "node:fs";
import { get } from "node:http";
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { chromium } from "playwright-core";

const { url, tokens, pictures, stories, env, link, folder, archive, router, deployments, seconds, mesh, name, templates, values } = JSON.parse(process.env.CONSOLE_TEST);
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
mkdirSync(pictures, { recursive: true });

const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
const violations = [];
const foreign = [];
let current;

async function open(options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  await context.addInitScript(() => {
    addEventListener("securitypolicyviolation", (event) => console.error(`CSP: ${event.violatedDirective} ${event.blockedURI}`));
  });
  const page = await context.newPage();
  page.setDefaultTimeout(30_000);
  page.on("console", (message) => /CSP:|Content.Security.Policy/.test(message.text()) && violations.push(message.text()));
  page.on("pageerror", (error) => violations.push(`page error: ${error}`));
  // A provider's page, on the way to log in, may ask whom it wants.
  page.on("request", (request) => !page.url().startsWith(url) || request.isNavigationRequest() || new URL(request.url()).origin === new URL(url).origin || /^(data|blob):/.test(request.url()) || foreign.push(request.url()));
  current = page;
  return page;
}

async function logIn(page, who) {
  await page.goto(`${url}/ui/`);
  await page.fill("input[name=token]", tokens[who]);
  await page.keyboard.press("Enter");
  await page.waitForSelector(".frame");
}

// `g` and a key. On a busy machine the second may come too late for the first: whoever sees that types both again.
async function goBy(page, key, address) {
  for (let tries = 0; ; tries++) {
    await page.keyboard.press("g");
    await page.keyboard.press(key);
    if (await page.waitForURL(address, { timeout: 3000 }).then(() => true, () => false)) return;
    assert.ok(tries < 10, `g ${key} leads to ${address}`);
  }
}

async function api(who, path, body) {
  const response = await fetch(url + path, {
    method: body ? "POST" : "GET",
    headers: { authorization: `Bearer ${tokens[who]}`, "content-type": "application/json" },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  return { status: response.status, body: await response.json() };
}

async function until(holds, what, seconds = 40) {
  const end = Date.now() + seconds * 1000;
  for (;;) {
    const value = await holds();
    if (value) return value;
    assert.ok(Date.now() < end, what);
    await new Promise((go) => setTimeout(go, 100));
  }
}

// Has the test do something to the server, and waits until it is done.
const answers = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
async function please(what) {
  console.log(`please ${what}`);
  await answers.next();
}

// What the router answers for a host.
const served = (host) =>
  new Promise((done, failed) => {
    get({ host: router.split(":")[0], port: router.split(":")[1], path: "/", headers: { host } }, (response) => {
      let text = "";
      response.on("data", (each) => (text += each)).on("end", () => done(text));
    }).on("error", failed);
  });

// Every page that there is, with something in it.
async function places() {
  const { deployment } = await deployed();
  const rollouts = (await api("ann", "/v1/views/rollouts?ended=true")).body;
  const flows = (await api("ann", "/v1/views/flows?limit=500")).body;
  const plans = (await api("ann", "/v1/views/plans")).body;
  const at = `/deployments/${env}/${deployment}`;
  const [release] = (await api("ann", "/v1/views/releases")).body;
  return {
    releases: "/releases?from=local&to=staging&pin=shop/local", ...(release ? { release: `/releases/${release.release}` } : {}),
    overview: "/", deployments: "/deployments", deployment: at, revisions: `${at}/revisions`, logs: `${at}/logs`, settings: `${at}/settings`, secrets: `${at}/secrets`, routes: `${at}/routes`, usage: `${at}/usage`, history: `${at}/history`, deploy: "/deploy",
    rollouts: "/rollouts", rollout: `/rollouts/${rollouts[0].rollout}`, plans: "/plans", plan: `/plans/${(plans.find((each) => each.summary.nodes > 5) ?? plans[0]).plan_id}`, flows: "/flows", flow: `/flows/${flows.find((each) => each.action === "Rollout/begin").flow}`,
    environments: "/environments", environment: `/environments/${env}`, mesh: "/mesh?from=spiffe%3A%2F%2Facme%2Fuser%2Falice&to=spiffe%3A%2F%2Facme%2Fservice%2Fapi&node=web", cluster: "/cluster", request: "/cluster/debug", audit: "/audit", approvals: "/access", tokens: "/access/tokens", sessions: "/access/sessions", policy: "/access/policy", you: "/access/me",
  };
}
const isLoaded = (page) => page.evaluate(() => !document.querySelector(".skeleton, .skeleton-space") && document.querySelector(".live:not(.off)") !== null);

const deployed = async () => (await api("ann", "/v1/views/status")).body.environments.find((each) => each.environment === env).deployments.find((each) => each.bundle === "hello");
const revision = async (name) => (await deployed()).revisions.find((each) => each.name === name);
const deploymentPage = async (tab = "") => `${url}/ui/deployments/${env}/${(await deployed()).deployment}${tab}`;
const split = async (percent) => {
  const { deployment } = await deployed();
  const entries = [["hello@1", 100 - percent], ["hello@2", percent]];
  const said = await api("ann", "/v1/actions/Traffic/set?wait=all", { input: { deployment, entries: await Promise.all(entries.map(async ([name, each]) => ({ revision: (await revision(name)).revision, weightBps: each * 100 }))) } });
  assert.equal(said.status, 200, JSON.stringify(said.body));
};
// What a page shows first may be a second old, and a change since then is somebody else's to it.
const showsWeight = (page, percent) => until(async () => (await page.inputValue("[aria-label='Weight of 2.0.0 in percent']")) === percent, `the page shows ${percent} %`);
const rollTo = async (name) =>
  (await api("ann", "/v1/actions/Rollout/begin", {
    input: { deployment: (await deployed()).deployment, revision: (await revision(name)).revision, strategy: "canary", steps: ["50%:2s"], criteria: JSON.stringify({ interval: 1, warmUp: 0, settle: 0, latencyFloor: 1000, beta: 0.4 }) },
  })).body.fields.rollout;

const all = {
  async login() {
    const page = await open();
    await page.goto(`${url}/`);
    await page.waitForURL(`${url}/ui/`);
    await page.fill("input[name=token]", "slo_wrong");
    await page.keyboard.press("Enter");
    await page.waitForSelector("[role=alert]");
    await logIn(page, "ann");
    assert.equal(await page.textContent("h1"), "Overview");
    assert.equal(await page.evaluate(() => document.cookie), "", "scripts must not see the session");
    // A reload stays logged in, and an address within the console opens.
    await page.goto(await deploymentPage());
    await page.waitForSelector("text=Weight asked");
  },

  async link() {
    const page = await open();
    await page.goto(link);
    await page.waitForSelector("h1 >> text=Overview");
    assert.equal(new URL(page.url()).hash, "", "the code does not stay in the address");
    const other = await open();
    await other.goto(link);
    await other.waitForSelector("text=The link was used or is older than a minute.");
    await other.context().close();
    current = page;
  },

  // By the button, through the provider's own pages, and back.
  async sso() {
    const page = await open();
    await page.goto(`${url}/ui/`);
    await page.click("text=Log in with your team’s account");
    await page.fill("input[name=login]", name);
    await page.fill("input[name=password]", "x");
    await page.keyboard.press("Enter");
    await page.click("button[type=submit]"); // what the provider may tell
    await page.waitForURL(`${url}/ui/**`);
    await page.waitForSelector(`.me >> text=${name}`);
    assert.equal(await page.evaluate(() => document.cookie), "", "scripts must not see the session");
    await page.click("[aria-label='Log out']");
    await page.waitForSelector("text=Log in to Sluice");
  },

  async slider() {
    const page = await open();
    await logIn(page, "ann");
    await page.goto(await deploymentPage());
    await page.focus("[aria-label='Weight of 2.0.0']:enabled");
    for (let i = 0; i < 15; i++) await page.keyboard.press("ArrowRight");
    const typed = async () => (await page.locator(".weight input").evaluateAll((inputs) => inputs.map((each) => Number(each.value)))).reduce((a, b) => a + b, 0);
    assert.equal(await typed(), 100, "sliders always sum to 100 %");
    assert.equal((await revision("hello@2")).weight_asked_bps, 1000, "nothing is sent while moving");
    await page.click("text=Review change…");
    await page.waitForSelector("role=dialog >> text=Send 25 % of hello to 2.0.0?");
    await page.keyboard.type("<img src=x onerror=alert(1)> \u202Ereversed");
    await page.click("role=dialog >> text=Send 25 % to 2.0.0");
    await page.waitForSelector(".toast >> text=2.0.0 gets 25 %.");
    const before = [await revision("hello@1"), await revision("hello@2")];
    assert.equal(before[1].weight_obeyed_bps, 2500);
    // The router's own counts follow.
    await until(async () => {
      const [old, fresh] = [(await revision("hello@1")).requests - before[0].requests, (await revision("hello@2")).requests - before[1].requests];
      return old + fresh > 400 && Math.abs(fresh / (old + fresh) - 0.25) < 0.08;
    }, "the router's counts do not follow the slider");
    await page.waitForSelector(".lane >> text=/last 60 s/");
    assert.ok((await page.locator("canvas").count()) >= 4, "requests, errors and latencies are drawn");
    // What people typed is text, wherever it is shown.
    await page.goto(`${url}/ui/audit`);
    await page.waitForSelector("text=<img src=x onerror=alert(1)> ⟨202E⟩reversed");
    assert.equal(await page.locator("main img").count(), 0);
  },

  // Two people move one slider: the second sees the first's change, keeps the draft, and is asked again.
  async overtaken() {
    await split(25);
    const [ann, dan] = [await open(), await open()];
    for (const [page, who] of [[ann, "ann"], [dan, "dan"]]) {
      await logIn(page, who);
      await page.goto(await deploymentPage());
      await showsWeight(page, "25");
      await page.focus("[aria-label='Weight of 2.0.0']:enabled");
      await page.keyboard.press("ArrowRight");
      await page.waitForSelector("text=Draft sums to 100 %");
    }
    for (let i = 0; i < 14; i++) await dan.keyboard.press("ArrowRight");
    await dan.click("text=Review change…");
    await dan.click("role=dialog >> text=Send 40 % to 2.0.0");
    await dan.waitForSelector(".toast >> text=2.0.0 gets 40 %.");
    await ann.waitForSelector("text=/dan set .*Your draft is kept/");
    assert.equal(await ann.inputValue("[aria-label='Weight of 2.0.0 in percent']"), "26");
    await ann.click("role=button[name='Review…']");
    await ann.waitForSelector("role=dialog >> text=hello@2 goes from 40 % to 26 %");
    await ann.click("role=dialog >> text=Keep 60 %");
    assert.equal((await revision("hello@2")).weight_asked_bps, 4000, "whoever keeps it has sent nothing");
    await ann.click("text=Discard");
    await until(async () => (await ann.inputValue("[aria-label='Weight of 2.0.0 in percent']")) === "40", "the page shows the other's split");
    await dan.context().close();
    current = ann;
  },

  // A folder becomes a plan, and the plan is executed; what looks like a secret stays where it is.
  async folder() {
    const page = await open();
    await logIn(page, "ann");
    await page.click("text=Deploy…");
    await page.setInputFiles("input[name=folder]", folder);
    await page.waitForSelector("text=/Left out.*\\.env/");
    // The connection is lost in the middle: the page says so, and the same bytes are sent again.
    await page.route("**/v1/blobs/**", (route) => route.abort());
    await page.click("role=button[name='See the plan']");
    await page.waitForSelector("role=alert >> text=/connection was lost.*Nothing was changed/");
    await page.unroute("**/v1/blobs/**");
    await page.click("role=button[name='See the plan']");
    await page.waitForURL(/plans\//);
    await page.waitForSelector("text=/1 to create/");
    assert.doesNotMatch(await served("greeter.localhost"), /greeter/, "a plan changes nothing");
    await page.click("role=button[name='Execute…']");
    await page.click("role=dialog >> role=button[name='Execute plan']");
    await page.waitForSelector("h1 .chip >> text=Complete", { timeout: 60_000 });
    assert.match(await served("greeter.localhost"), /greeter/);
  },

  // An archive that is dropped anywhere, with its signatures.
  async dropped() {
    const page = await open();
    await logIn(page, "ann");
    await page.waitForSelector("h1 >> text=Overview");
    const files = [archive, `${archive}.sig.json`].map((path) => ({ name: path.split("/").pop(), bytes: readFileSync(path).toString("base64") }));
    await page.evaluate((given) => {
      const transfer = new DataTransfer();
      for (const each of given) transfer.items.add(new File([Uint8Array.from(atob(each.bytes), (c) => c.charCodeAt(0))], each.name));
      for (const type of ["dragover", "drop"]) document.body.dispatchEvent(new DragEvent(type, { bubbles: true, cancelable: true, dataTransfer: transfer }));
    }, files);
    await page.waitForURL(/deploy$/);
    await page.waitForSelector("text=With its signatures.");
    await page.click("role=button[name='See the plan']");
    await page.waitForURL(/plans\//);
    await page.waitForSelector("td >> text=1.1.0");
    // What is no bundle is told apart before anything is sent.
    await page.goto(`${url}/ui/deploy`);
    await page.setInputFiles("input[name=folder]", `${folder}/static`);
    await page.waitForSelector("role=alert >> text=/has no bundle.yaml/");
  },

  // One person asks, another agrees, and the trace tells all of it.
  async approve() {
    const asking = await open();
    await logIn(asking, "dan");
    await asking.goto(`${url}/ui/deploy`);
    await asking.setInputFiles("input[name=folder]", folder);
    await asking.click("role=button[name='See the plan']");
    await asking.waitForURL(/plans\//);
    await asking.click("role=button[name='Execute…']");
    await asking.keyboard.type("the spring sale");
    await asking.click("role=dialog >> role=button[name='Execute plan']");
    await asking.waitForSelector(".toast >> text=/waits for others to agree/");
    await asking.waitForSelector("text=0 of 1 agreed");
    assert.equal(await asking.getByRole("button", { name: "Approve…" }).getAttribute("aria-disabled"), "true", "nobody agrees with themselves");
    const page = await open();
    await logIn(page, "ann");
    await page.waitForSelector(".sidebar .badge.you >> text=1");
    await page.goto(`${url}/ui/access`);
    await page.waitForSelector("text=/dan asked .*the spring sale/");
    await page.click("role=button[name='Approve…']");
    await page.click("role=dialog >> role=button[name=Approve]");
    await page.waitForSelector(".toast >> text=You agreed.");
    await asking.waitForSelector("h1 .chip >> text=Complete", { timeout: 60_000 });
    await asking.context().close();
    current = page;
    await page.goto(`${url}/ui/flows?show=all`);
    await page.click("text=DeployPlan/execute");
    await page.waitForURL(/flows\//);
    await page.waitForSelector("text=DeployPlan/execute");
    await page.waitForSelector("text=/the spring sale/");
    await page.waitForSelector(".trace >> text=Deployment/serve");
    await page.click("text=Time line");
    await page.waitForSelector(".timebar i");
  },

  // Where the policy wants to know why, nothing is sent without a reason; and it says who may do what.
  async reasons() {
    const page = await open();
    await logIn(page, "ann");
    await page.goto(await deploymentPage());
    const { deployment } = await deployed();
    const refused = await api("ann", "/v1/actions/Deployment/pause", { input: { deployment } });
    assert.deepEqual([refused.status, refused.body.detail], [400, "Deployment/pause must say why here; nothing was changed"]);
    await page.getByRole("button", { name: "Pause…" }).click();
    await page.waitForSelector("role=dialog >> text=(needed)");
    const yes = page.getByRole("dialog").getByRole("button", { name: "Pause", exact: true });
    assert.equal(await yes.getAttribute("aria-disabled"), "true");
    await page.keyboard.press("Enter");
    assert.equal((await deployed()).status, "active", "without a reason nothing is sent");
    await page.keyboard.type("an incident");
    await yes.click();
    await page.waitForSelector(".toast >> text=hello is paused.");
    await page.getByRole("button", { name: "Resume…" }).click();
    await page.keyboard.type("it is over");
    await page.getByRole("dialog").getByRole("button", { name: "Resume", exact: true }).click();
    await page.waitForSelector(".toast >> text=hello is serving again.");
    await page.goto(`${url}/ui/`);
    await page.waitForSelector(".recent li:has-text('hello paused') >> text=an incident");
    await page.goto(`${url}/ui/access/policy`);
    await page.getByLabel("Action").fill("Deployment/pause");
    await page.getByLabel("Environment").selectOption(env);
    await page.click("role=button[name=Ask]");
    const who = page.locator("[aria-label='Who may'] li");
    await who.nth(3).waitFor();
    const said = await who.evaluateAll((all) => all.map((each) => `${each.querySelector("strong").innerText} ${each.querySelector("svg").getAttribute("aria-label") ?? ""}`.trim()));
    assert.deepEqual(said, ["ann may", "dan may", "vic may not", "The home’s owner"]);
  },

  // Where the policy wants a change to name the generation it was made from, the page asks before it names the newest.
  async preconditions() {
    const page = await open();
    await logIn(page, "ann");
    await page.goto(await deploymentPage());
    const { deployment } = await deployed();
    assert.equal((await api("ann", "/v1/actions/Deployment/pause", { input: { deployment } })).status, 428);
    const pause = async (answer) => {
      await page.getByRole("button", { name: "Pause…" }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Pause", exact: true }).click();
      await page.getByRole("dialog", { name: /^Go on from generation \d+\?$/ }).getByRole("button", { name: answer }).click();
    };
    await pause("Leave it");
    await page.waitForSelector(".toast >> text=/must say here which generation/");
    assert.equal((await deployed()).status, "active");
    await pause("Go on");
    await page.waitForSelector(".toast >> text=hello is paused.");
    assert.equal((await deployed()).status, "paused");
    await page.getByRole("button", { name: "Resume…" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Resume", exact: true }).click();
    await page.getByRole("dialog", { name: /^Go on/ }).getByRole("button", { name: "Go on" }).click();
    await page.waitForSelector(".toast >> text=hello is serving again.");
  },

  async rollback() {
    const page = await open();
    await logIn(page, "dan");
    await page.goto(await deploymentPage());
    await page.click("text=/^Roll back to/");
    await page.click("role=dialog >> role=button[name='Roll back']");
    await page.waitForSelector(".toast >> text=/is back at/");
    assert.notEqual((await revision("hello@2")).weight_asked_bps, 4000);
  },

  // Everything can be read, nothing can be changed, and what the page does not offer, the API refuses.
  async viewer() {
    const page = await open();
    await logIn(page, "vic");
    await page.goto(await deploymentPage());
    await page.waitForSelector("text=/Moving traffic is off/");
    assert.equal(await page.locator("input[type=range]:not(:disabled)").count(), 0);
    // Who has which token, who is logged in, who may do what, and what programs print is not for everybody: the page says so.
    const kept = ["tokens", "sessions", "policy", "logs", "deployment"];
    for (const [name, path] of Object.entries(await places())) {
      await page.goto(`${url}/ui${path}`);
      await page.waitForSelector("h1");
      await until(() => isLoaded(page), `${name} is not loaded`);
      const failed = await page.locator(".failed").allInnerTexts();
      for (const text of failed) assert.ok(kept.includes(name) && /forbidden|denied|permission/.test(text), `${name}: ${text}`);
      const offered = await page.locator("main button:not([aria-disabled=true]), main [type=submit]:not([aria-disabled=true])").allInnerTexts();
      assert.deepEqual(offered.filter((text) => /…$/.test(text.trim()) && !/^Choose/.test(text)), [], `${name} offers a viewer what they may not do`);
    }
    const { deployment, revisions } = await deployed();
    const status = await page.evaluate(async (input) => {
      const { csrf } = await (await fetch("/v1/session")).json();
      const call = (path, headers, input) => fetch(path, { method: path.includes("blobs") ? "PUT" : "POST", headers: { "content-type": "application/json", ...headers }, body: JSON.stringify({ input }) }).then((response) => response.status);
      const known = { "sluice-csrf": csrf };
      return [await call("/v1/actions/Traffic/set", known, input), await call("/v1/actions/Traffic/set", {}, input), await call("/v1/actions/Deployment/rollBack", known, { deployment: input.deployment, steps: 1 }), await call("/v1/actions/Session/list", known, {})];
    }, { deployment, entries: [{ revision: revisions[0].revision, weightBps: 10000 }] });
    assert.deepEqual(status, [403, 403, 403, 403]);
  },

  async canary() {
    const page = await open();
    await logIn(page, "ann");
    await page.goto(`${url}/ui/rollouts/${await rollTo("hello@2")}`);
    await page.waitForSelector("h1 >> text=hello");
    await page.waitForSelector("text=Waits for the judge:");
    await page.waitForSelector(".chip >> text=Complete", { timeout: 60_000 });
    assert.equal((await revision("hello@2")).weight_obeyed_bps, 10_000);
  },

  async worse() {
    const page = await open();
    await logIn(page, "ann");
    await page.goto(`${url}/ui/rollouts/${await rollTo("hello@3")}`);
    await page.waitForSelector(".chip >> text=Aborted", { timeout: 60_000 });
    await page.waitForSelector(".chip >> text=Unhealthy");
    assert.match(await page.textContent(".card .sentence"), /hello@3 fails .* of requests/);
    await page.waitForSelector(".steps li:has-text('50 %') >> text=Aborted");
    await page.screenshot({ path: `${pictures}/aborted.png`, fullPage: true });
    await page.goto(`${url}/ui/`);
    await page.waitForSelector("text=/hello@3 was aborted/");
    await page.waitForSelector(".recent li >> text=/^hello@3 rollout started/");
    await page.goto(`${url}/ui/flows?show=all`);
    await page.click("text=Rollout/begin");
    await page.waitForSelector("text=JudgeAfterPublish");
    await page.waitForSelector("text=AbortOnUnhealthy");
  },

  async stale() {
    const page = await open();
    await logIn(page, "ann");
    await page.goto(await deploymentPage());
    await page.waitForSelector("text=Weight asked");
    await page.context().setOffline(true);
    await page.waitForSelector("text=/No news for .* Reconnecting/");
    assert.equal(await page.getByRole("button", { name: /Pause/ }).getAttribute("aria-disabled"), "true");
    await page.context().setOffline(false);
    await page.waitForSelector("text=/No news for/", { state: "detached" });
  },

  async keys() {
    const page = await open();
    await logIn(page, "ann");
    await goBy(page, "e", /environments$/);
    // Whoever types on at once is not cut short.
    await page.keyboard.press("/");
    await page.keyboard.type("hello");
    assert.equal(await page.inputValue("role=combobox"), "hello");
    const wanted = page.getByRole("option", { name: /^hello ?local, / });
    await wanted.waitFor();
    // One step at a time: a page that draws late is not hurried past what is wanted.
    const chosen = () => page.getByRole("option").evaluateAll((all) => [all.findIndex((each) => each.ariaSelected === "true"), all.findIndex((each) => /^hello ?local, /.test(each.innerText.replace(/\s+/g, " ")))]);
    for (let i = 0, [at, to] = await chosen(); at !== to; i++) {
      assert.ok(i < 80, "the arrow keys reach the deployment");
      const before = at;
      await page.keyboard.press(at < to ? "ArrowDown" : "ArrowUp");
      await until(async () => ([at, to] = await chosen())[0] !== before, "the choice moves");
    }
    assert.equal(await wanted.getAttribute("aria-selected"), "true");
    await page.keyboard.press("Enter");
    await page.waitForURL(/deployments\//);
    await page.waitForSelector("text=Weight asked");
    await page.keyboard.press("w");
    await page.waitForSelector("aside >> text=Why is it as it is?");
    await page.waitForSelector("aside >> text=What ends it");
    await page.waitForSelector("aside >> role=button[name=/^(Roll back|Pause)/]");
    await page.keyboard.press("Escape");
    await page.waitForSelector("aside", { state: "detached" });
    // So does every page of an object.
    const [flow] = (await api("ann", "/v1/views/flows?limit=1")).body;
    for (const [path, said] of [[`/environments/${env}`, "environment"], [`/flows/${flow.flow}`, "flow"], ["/cluster/debug", "petstore in shop"]]) {
      await page.goto(`${url}/ui${path}`);
      await page.waitForSelector("role=button[name=/^Why/]");
      await page.keyboard.press("w");
      await page.waitForSelector(`aside >> text=${said}`);
      await page.waitForSelector("aside >> text=/^Since /");
    }
    // Every page has its keys, also those whose address may end earlier.
    await goBy(page, "c", /access$/);
    await page.waitForSelector("h1 >> text=Access");
    await goBy(page, "d", /deployments$/);
    await page.waitForSelector("[data-row]");
    await page.keyboard.press("j");
    await page.waitForSelector("[data-row] a:focus");
    await page.keyboard.press("?");
    await page.waitForSelector("role=dialog >> text=search or run a command");
  },

  // A mesh: who obeys what, the way of a pair on the drawing, a node that is revoked, and what signing would change.
  async mesh() {
    const page = await open();
    await logIn(page, "ann");
    await page.click(".sidebar >> text=Mesh");
    await page.waitForSelector("text=/3 nodes of acme: 1 current, 2 never seen/");
    await page.waitForSelector("tr:has-text('web') >> .chip >> text=Current");
    assert.equal(await page.locator(".mesh-graph .node").count(), 3);
    assert.equal(await page.locator(".mesh-graph line").count(), 2);
    await page.selectOption("text=Who dials >> select", "spiffe://acme/user/alice");
    await page.selectOption("text=What is dialled >> select", "spiffe://acme/service/api");
    await page.waitForSelector("text=2 hops from laptop to web.");
    assert.deepEqual((await page.locator(".mesh-graph .hop-number").allTextContents()).sort(), ["1", "2"], "the way is on the drawing");
    await page.click(".mesh-graph .node[aria-label^='web']");
    await page.waitForSelector(".mesh-node >> text=service/api");
    await page.waitForSelector(".mesh-node >> text=management-plane/primary");
    await page.setInputFiles("input[name=mesh]", mesh);
    await page.waitForSelector("text=/user\\/alice at laptop/");
    await page.waitForSelector("text=may reach service/config-server");
    await page.waitForSelector("text=2 nodes get a new version: hub, laptop");
    await page.setInputFiles("input[name=mesh]", `${mesh}/certs`);
    await page.waitForSelector("role=alert >> text=/has no rete.yaml/");
    await page.click("role=button[name='Revoke…']");
    await page.keyboard.type("the host was lost");
    await page.click("role=dialog >> role=button[name='Revoke web']");
    await page.waitForSelector("tr:has-text('web') >> .chip >> text=Revoked");
  },

  // A release goes along its pipeline: what a step would change, promote, what has to soak, compare, reject, back, and the
  // brake.
  async releases() {
    const page = await open();
    await logIn(page, "ann");
    await page.click(".sidebar >> text=Releases");
    await page.waitForSelector("text=1 promotion could be made now");
    await page.click("th >> role=button[name='What would change from local to staging?']");
    await page.waitForSelector("text=/ready in local for/");
    await page.waitForSelector(".differences >> text=/BundleDeployment\/shop-staging/");
    await page.click("role=button[name='Promote shop to staging…']");
    await page.waitForSelector("role=dialog >> text=shop: nothing → shop-1");
    await page.keyboard.type("the spring sale");
    await page.click("role=dialog >> role=button[name='Promote to staging']");
    await page.waitForSelector(".toast >> text=/^(staging runs shop-1.|The promotion to staging is under way)/");
    const runs = (local, staging) => until(async () => JSON.stringify((await api("ann", "/v1/views/pins?component=shop")).body.map((each) => [each.environment, each.applied_release])) === JSON.stringify([["local", local], ["staging", staging]]), `local runs ${local}, staging ${staging}`);
    await runs("shop-1", "shop-1");
    await page.waitForSelector("text=Nothing: staging runs it already.");
    await page.click("th >> role=button[name='What would change from staging to production?']");
    await page.waitForSelector("text=/soaks for another (59 min|1 h)/");
    assert.equal(await page.getByRole("button", { name: /^Promote .*production…$/ }).getAttribute("aria-disabled"), "true");
    assert.equal((await api("vic", "/v1/actions/Pin/promote", { input: { components: ["shop"], fromEnv: "local", toEnv: "staging" } })).status, 403);
    // The next one is compared, and rejected: it goes nowhere.
    await api("ann", "/v1/actions/Pin/set", { input: { pins: [{ component: "shop", environment: "local", release: "shop-2", state: "Active" }] } });
    await runs("shop-2", "shop-1");
    await page.waitForSelector("td >> role=link[name=shop-2]");
    await page.goto(`${url}/ui/releases/shop-2`);
    await page.waitForSelector(".differences li:has-text('workload shop') >> text='/spec/image'");
    await page.click("role=button[name='Reject…']");
    assert.equal(await page.getByRole("button", { name: "Reject shop-2" }).getAttribute("aria-disabled"), "true", "it needs a reason");
    await page.keyboard.type("it loses orders");
    await page.click("role=dialog >> role=button[name='Reject shop-2']");
    await page.waitForSelector("h1 .chip >> text=Rejected");
    await page.goto(`${url}/ui/releases?from=local&to=staging&pin=shop/local`);
    await page.waitForSelector("text=rejected: it loses orders");
    await page.waitForSelector("text=Nothing may go on now; each line says why.");
    await page.click("tr:has(td:has-text('shop-1')) >> role=button[name='Roll back…']");
    await page.click("role=dialog >> role=button[name='Roll back to shop-1']");
    await runs("shop-1", "shop-1");
    await page.waitForSelector("td:has-text('shop-1') >> text=/went back to it/");
    await page.click("role=button[name='Stop promotions…']");
    await page.keyboard.type("an incident");
    await page.click("role=dialog >> role=button[name='Stop main']");
    await page.waitForSelector("text=/main is stopped:.*an incident/");
    await page.click("role=button[name='Resume…']");
    await page.click("role=dialog >> role=button[name='Resume main']");
    await page.waitForSelector("text=/main is stopped:/", { state: "detached" });
  },

  // What is in a cluster: its objects as they were applied and as they are, what others changed, what templates would
  // change and prune, and the way back.
  async cluster() {
    const page = await open();
    await logIn(page, "ann");
    await page.click(".sidebar >> text=Cluster");
    await page.waitForSelector("tr:has-text('petstore') >> .chip >> text=Deployed");
    await page.click("main >> role=link[name=petstore]");
    await page.waitForURL(/cluster\/debug$/);
    await page.waitForSelector("text=3 of 3 done");
    assert.equal(await page.locator("tr[data-row] .chip:has-text('Ready')").count(), 3);
    await please("drift");
    await page.click("role=radio[name='In the cluster now']");
    await page.waitForSelector("text=/^(all|not all) ready now$/");
    assert.equal(await page.locator("tr[data-row]:has-text('Deployment')").count(), 1);
    await page.setInputFiles("input[name=templates]", templates);
    await page.waitForSelector("role=alert >> text=/level/"); // which has no value yet
    await page.setInputFiles("input[name=values]", values);
    await page.waitForSelector("text=/would add 0, modify 1, prune 1/");
    await page.waitForSelector("tr:has-text('Deployment/petstore') >> text=.spec.replicas");
    await page.waitForSelector("tr:has-text('Deployment/petstore') >> text=kubectl");
    await page.waitForSelector("li:has-text('Service/petstore')");
    await page.waitForSelector(".diff .diff-gone >> text=/replicas: 3/");
    await page.setInputFiles("input[name=templates]", `${templates}-none`);
    await page.waitForSelector("role=alert >> text=/could not be compared/");
    await page.click("role=button[name='Roll back…']");
    await page.keyboard.type("the logs are too long");
    await page.click("role=dialog >> role=button[name='Roll back']");
    await page.waitForURL(/cluster\/console-/);
    await page.waitForSelector("text=/Field conflict: .*others own .spec.replicas/");
    await please("settle");
    await page.click("role=button[name='Roll back…']");
    await page.click("role=dialog >> role=button[name='Roll back']");
    await page.waitForSelector("h1 .chip >> text=Rolled back", { timeout: 60_000 });
    await page.goBack();
    await page.waitForSelector("text=The instance has a newer request.");
  },

  // A token that is in use is revoked by somebody else; so is a session ended. Their pages log out.
  async revoked() {
    const [page, temp, other] = [await open(), await open(), await open()];
    await logIn(page, "ann");
    await logIn(temp, "temp");
    await logIn(other, "dan");
    await page.goto(`${url}/ui/access/tokens`);
    await page.click("tr:has(bdi:text-is('temp')) >> text=Revoke…");
    await page.click("role=dialog >> text=Revoke token");
    await temp.waitForSelector("text=Log in to Sluice");
    await temp.waitForSelector("text=/Your session has ended/");
    const dan = (await api("ann", "/v1/actions/Session/list", { input: {} })).body.fields.sessions.filter((each) => each.subject === "user:dan" && each.status === "open").sort((a, b) => b.openedAt.localeCompare(a.openedAt))[0];
    await page.goto(`${url}/ui/access/sessions`);
    await page.click(`tr:has-text('${dan.session.slice(-6)}') >> text=End…`);
    await page.click("role=dialog >> text=End session");
    await other.waitForSelector("text=Log in to Sluice");
    await temp.context().close();
    await other.context().close();
    current = page;
  },

  // The control plane ends under an open page and comes back: the page says so and recovers; what was sent when the
  // connection broke is not sent again by itself, and done once.
  async restarted() {
    await split(25);
    const page = await open();
    await logIn(page, "ann");
    await page.goto(await deploymentPage());
    await showsWeight(page, "25");
    await page.focus("[aria-label='Weight of 2.0.0']:enabled");
    await page.keyboard.press("ArrowRight");
    await page.click("text=Review change…");
    const before = (await api("ann", `/v1/views/traffic?environment=${env}&deployment=${(await deployed()).deployment}`)).body;
    let calls = 0;
    await page.route("**/v1/actions/Traffic/set*", async (route) => {
      calls += 1;
      await route.fetch();
      await route.abort(); // it arrived, and its answer did not
    });
    await page.click("role=dialog >> role=button[name=/^Send/]");
    await page.waitForSelector(".toast >> text=/not known whether it was done/");
    await page.unroute("**/v1/actions/Traffic/set*");
    await please("stop");
    await page.waitForSelector("text=Away");
    await page.waitForSelector("text=/No news for .* Reconnecting; changes are off/");
    assert.equal(await page.getByRole("button", { name: /Pause/ }).getAttribute("aria-disabled"), "true");
    await please("start");
    await page.waitForSelector("text=/No news for/", { state: "detached" });
    await page.waitForSelector(".live >> text=Live");
    await until(async () => (await page.getByRole("button", { name: /Pause/ }).getAttribute("aria-disabled")) !== "true", "changes are on again");
    const after = (await api("ann", `/v1/views/traffic?environment=${env}&deployment=${(await deployed()).deployment}`)).body;
    assert.deepEqual([calls, after.generation], [1, before.generation + 1], "it was done once");
    await until(async () => !(await page.locator("text=Draft sums to 100 %").count()), "the page shows that it was done");
  },

  // An API that refuses, fails or is late: the page says what failed, keeps what it knows, and offers to try again.
  async refused() {
    const page = await open();
    await logIn(page, "ann");
    const answer = (status, body) => (route) => route.fulfill({ status, contentType: "application/problem+json", body: JSON.stringify(body) });
    await page.route("**/v1/views/traffic-history*", answer(500, { code: "fault", detail: "the store is <b>full</b>" }));
    await page.route("**/v1/views/settings*", answer(403, { code: "forbidden", detail: "this is not for you" }));
    let late;
    await page.route("**/v1/views/usage*", (route) => { late = route; });
    await page.goto(await deploymentPage("/settings"));
    await page.waitForSelector("text=/The settings could not be read/");
    await page.waitForSelector("text=/this is not for you/");
    await page.click("role=link[name=Usage]");
    await until(() => late, "the usage was asked for");
    await page.waitForSelector(".skeleton");
    await late.continue();
    await page.waitForSelector("th >> text=Received");
    // What could not be read is not said to be empty.
    await page.route("**/v1/views/routers*", answer(500, { code: "failed", detail: "the store is full" }));
    await page.goto(`${url}/ui/environments/${env}`);
    await page.waitForSelector("text=The routers could not be read");
    assert.equal(await page.locator("text=No router serves").count(), 0);
    await page.goto(await deploymentPage("/settings"));
    await page.click("role=link[name=Traffic]");
    await page.unrouteAll();
    await page.route("**/v1/actions/**", answer(409, { code: "conflict", detail: "somebody else was faster", next: "look again" }));
    await page.getByRole("button", { name: /Pause/ }).click();
    await page.click("role=dialog >> role=button[name=Pause]");
    await page.waitForSelector(".toast >> text=/Pause was not done: somebody else was faster. Nothing was changed. Next: look again/");
    await page.unrouteAll();
    assert.equal((await deployed()).status, "active");
  },

  // Names, reasons and log lines with markup, direction marks, control characters and 10,000 letters are text, and
  // nothing becomes wider than the screen.
  async hostile() {
    const page = await open();
    await logIn(page, "ann");
    const { deployment } = (await api("ann", "/v1/views/status")).body.environments.find((each) => each.environment === env).deployments.find((each) => each.bundle === "hostile");
    const pause = (action) => api("ann", `/v1/actions/Deployment/${action}?wait=all`, { input: { deployment }, reason: `<script>window.hacked = 1</script>\u202Etxt.exe ${"x".repeat(5000)}` });
    await pause("pause");
    await pause("resume");
    const narrow = async (what) => {
      for (const width of [1280, 390]) {
        await page.setViewportSize({ width, height: 844 });
        assert.equal(await page.evaluate(() => Math.max(0, document.documentElement.scrollWidth - innerWidth)), 0, `${what} is wider than ${width} px`);
      }
      assert.equal(await page.locator("main :is(img, script, iframe)").count(), 0, `${what} has markup from outside`);
      assert.equal(await page.evaluate(() => window.hacked), undefined);
    };
    await page.goto(`${url}/ui/deployments/${env}/${deployment}/logs`);
    await page.waitForSelector("text=<img src=x onerror=window.hacked=1>");
    await page.waitForSelector("text=/right ⟨202E⟩left/");
    await page.waitForSelector("text=/bell ␇/");
    await page.waitForSelector(".log .cut");
    await narrow("the log");
    for (const [what, path, text] of [["the audit", "/audit", "⟨202E⟩txt.exe"], ["the tokens", "/access/tokens", "⟨202E⟩"], ["the overview", "/", "⟨202E⟩txt.exe"]]) {
      await page.goto(`${url}/ui${path}`);
      await page.waitForSelector(`text=${text}`);
      await narrow(what);
    }
    // An address that somebody made up.
    for (const path of ["/deployments/%3Cimg%20src=x%3E/%E2%80%AEx", "/plans/%E2%80%AE%3Cb%3E", `/flows/${"z".repeat(3000)}`, "/nowhere"]) {
      await page.goto(`${url}/ui${path}`);
      await page.waitForSelector("main >> text=/no deployment|could not be read|Nothing is at this address/");
      await narrow(path.slice(0, 30));
    }
  },

  // Thousands of deployments, and much that happens: lists scroll and filter without a long task, and what the page holds
  // in memory does not grow.
  async many() {
    const page = await open();
    await page.goto(link);
    await page.waitForSelector("h1 >> text=Overview");
    await page.goto(`${url}/ui/deployments`);
    await page.waitForSelector(`text=${deployments.toLocaleString("en-US")} of ${deployments.toLocaleString("en-US")}`);
    await page.waitForSelector("[data-row]");
    const chrome = await page.context().newCDPSession(page);
    const heap = async () => {
      await chrome.send("HeapProfiler.collectGarbage");
      return (await chrome.send("Runtime.getHeapUsage")).usedSize / 1e6;
    };
    await page.evaluate(() => {
      window.long = [];
      new PerformanceObserver((list) => window.long.push(...list.getEntries().map((each) => Math.round(each.duration)))).observe({ type: "longtask" });
    });
    const round = async () => {
      const box = page.locator(".virtual");
      await box.hover();
      for (let i = 0; i < 20; i++) await page.mouse.wheel(0, 3000);
      await until(() => page.evaluate(() => document.querySelectorAll(".virtual [data-row]").length > 5 && !document.querySelector(".virtual [aria-busy]")), "rows come when they are scrolled to");
      await page.fill("[aria-label=Find]", "app-12");
      await page.waitForSelector(`text=/^100 of /`);
      await page.selectOption("[aria-label=State]", "failed");
      await page.waitForSelector(`text=/^(0|100) of /`);
      await page.selectOption("[aria-label=State]", "");
      await page.fill("[aria-label=Find]", "");
      await page.waitForSelector(`text=/^${deployments.toLocaleString("en-US")} of /`);
    };
    await round();
    const before = await heap();
    const end = Date.now() + seconds * 1000;
    let rounds = 1;
    for (; Date.now() < end; rounds++) await round();
    const after = await heap();
    const long = await page.evaluate(() => window.long);
    console.log(`${rounds} rounds, ${long.length} long tasks (${long.sort((a, b) => b - a).slice(0, 5).join(", ")} ms), heap ${before.toFixed(1)} to ${after.toFixed(1)} MB`);
    assert.ok(after < before + 3, "the page's memory grows");
    assert.deepEqual(long, [], "tasks over 50 ms");
  },

  // Every page in light and dark, wide and narrow: a picture, nothing that axe calls serious, nothing wider than the screen.
  async pages() {
    const found = [];
    for (const colorScheme of ["light", "dark"]) {
      const page = await open({ colorScheme, reducedMotion: "reduce" });
      await logIn(page, "ann");
      for (const [name, path] of Object.entries(await places())) {
        await page.setViewportSize({ width: 1280, height: 900 });
        await page.goto(`${url}/ui${path}`);
        await page.waitForSelector("h1");
        await until(() => isLoaded(page), `${name} is not loaded`);
        for (const width of [1280, 390]) {
          const height = width > 500 ? 900 : 844;
          await page.setViewportSize({ width, height });
          // As tall as the page, so that what stays at an edge of the screen stands there.
          const tall = await page.evaluate(() => document.documentElement.scrollHeight);
          await page.setViewportSize({ width, height: Math.min(Math.max(height, tall), 3000) });
          await page.screenshot({ path: `${pictures}/${name}-${colorScheme}-${width}.png` });
          const wider = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
          if (wider > 0) found.push(`${name} is ${wider} px wider than ${width}`);
        }
        await page.evaluate(axe);
        const result = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
        for (const each of result.violations) {
          if (["serious", "critical"].includes(each.impact)) found.push(`${name} ${colorScheme}: ${each.id}: ${each.nodes.slice(0, 3).map((node) => `${node.html.slice(0, 160)} ${node.failureSummary?.split("\n")[1] ?? ""}`).join(" | ")}`);
        }
      }
      await page.context().close();
    }
    assert.deepEqual([...new Set(found)], []);
  },
};

try {
  for (const name of stories ?? Object.keys(all)) {
    const began = Date.now();
    await all[name]();
    console.log(`${name} ${Date.now() - began} ms`);
    await current.context().close().catch(() => undefined);
  }
  assert.deepEqual(violations, [], "nothing breaks the content security policy");
  assert.deepEqual(foreign, [], "nothing is asked of another server");
} catch (error) {
  await current?.screenshot({ path: `${pictures}/failed.png` }).catch(() => undefined);
  console.error(error instanceof assert.AssertionError ? error.message : error);
  process.exitCode = 1;
} finally {
  process.stdin.destroy();
  await browser.close();
}
