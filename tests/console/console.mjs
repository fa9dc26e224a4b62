// Drives the console in a browser, as people would, against the sluice serve that test_console.py has started. One story
// after the other; the first thing that is not as it should be ends it with a message and a picture.
import assert from "node:assert/strict";
import { mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { chromium } from "playwright-core";

const { url, tokens, pictures, stories, env, link } = JSON.parse(process.env.CONSOLE_TEST);
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
  page.on("request", (request) => new URL(request.url()).origin === new URL(url).origin || /^(data|blob):/.test(request.url()) || foreign.push(request.url()));
  current = page;
  return page;
}

async function logIn(page, who) {
  await page.goto(`${url}/ui/`);
  await page.fill("input[name=token]", tokens[who]);
  await page.keyboard.press("Enter");
  await page.waitForSelector(".frame");
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

const deployed = async () => (await api("ann", "/v1/views/status")).body.environments.find((each) => each.environment === env).deployments[0];
const revision = async (name) => (await deployed()).revisions.find((each) => each.name === name);
const deploymentPage = async (tab = "") => `${url}/ui/deployments/${env}/${(await deployed()).deployment}${tab}`;
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

  async overtaken() {
    const page = await open();
    await logIn(page, "ann");
    await page.goto(await deploymentPage());
    await page.focus("[aria-label='Weight of 2.0.0']:enabled");
    await page.keyboard.press("ArrowRight");
    await page.waitForSelector("text=Draft sums to 100 %");
    const { deployment, revisions } = await deployed();
    await api("dan", "/v1/actions/Traffic/set?wait=all", { input: { deployment, entries: revisions.map((each) => ({ revision: each.revision, weightBps: each.name === "hello@2" ? 4000 : 6000 })) } });
    await page.waitForSelector("text=/dan set .*Your draft is kept/");
    await page.click("text=Use theirs");
    await until(async () => (await page.inputValue("[aria-label='Weight of 2.0.0 in percent']")) === "40", "the page shows the other's split");
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

  async viewer() {
    const page = await open();
    await logIn(page, "vic");
    await page.goto(await deploymentPage());
    await page.waitForSelector("text=/Moving traffic is off/");
    assert.equal(await page.locator("input[type=range]:not(:disabled)").count(), 0);
    for (const name of [/Roll back/, /Pause/]) assert.equal(await page.getByRole("button", { name }).first().getAttribute("aria-disabled"), "true");
    // What the page does not offer, the API refuses.
    const { deployment, revisions } = await deployed();
    const status = await page.evaluate(async (input) => {
      const { csrf } = await (await fetch("/v1/session")).json();
      const call = (headers) => fetch("/v1/actions/Traffic/set", { method: "POST", headers: { "content-type": "application/json", ...headers }, body: JSON.stringify({ input }) }).then((response) => response.status);
      return [await call({ "sluice-csrf": csrf }), await call({})];
    }, { deployment, entries: [{ revision: revisions[0].revision, weightBps: 10000 }] });
    assert.deepEqual(status, [403, 403]);
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
    await page.screenshot({ path: `${pictures}/aborted.png`, fullPage: true });
    await page.goto(`${url}/ui/`);
    await page.waitForSelector("text=/hello@3 was aborted/");
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
    await page.keyboard.press("g");
    await page.keyboard.press("e");
    await page.waitForURL(/environments$/);
    await page.keyboard.press("/");
    await page.keyboard.type("hello");
    await page.waitForSelector("role=option[name=/hello/] >> nth=1");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.waitForURL(/deployments\//);
    await page.waitForSelector("text=Weight asked");
    await page.keyboard.press("w");
    await page.waitForSelector("text=Why is it as it is?");
    await page.keyboard.press("Escape");
    await page.keyboard.press("?");
    await page.waitForSelector("role=dialog >> text=search or run a command");
  },

  async revoked() {
    const page = await open();
    await logIn(page, "temp");
    await page.waitForSelector("h1 >> text=Overview");
    const list = (await api("ann", "/v1/actions/Access/list", { input: {} })).body.fields.tokens;
    await api("ann", "/v1/actions/Access/revoke", { input: { token: list.find((each) => each.name === "temp").token } });
    await page.waitForSelector("text=Log in to Sluice");
    await page.waitForSelector("text=/Your session has ended/");
  },

  // Every page in light and dark, wide and narrow: a picture, nothing that axe calls serious, nothing wider than the screen.
  async pages() {
    const { deployment } = await deployed();
    const rollouts = (await api("ann", "/v1/views/rollouts?ended=true")).body;
    const flows = (await api("ann", "/v1/views/flows?limit=200")).body;
    const plans = (await api("ann", "/v1/views/plans")).body;
    const at = `/deployments/${env}/${deployment}`;
    const places = {
      overview: "/", deployments: "/deployments", deployment: at, revisions: `${at}/revisions`, logs: `${at}/logs`, settings: `${at}/settings`, secrets: `${at}/secrets`, routes: `${at}/routes`, usage: `${at}/usage`, history: `${at}/history`,
      rollouts: "/rollouts", rollout: `/rollouts/${rollouts[0].rollout}`, plans: "/plans", plan: `/plans/${plans[0].plan_id}`, flows: "/flows", flow: `/flows/${flows.find((each) => each.action === "Rollout/begin").flow}`,
      environments: "/environments", environment: `/environments/${env}`, audit: "/audit", approvals: "/access", tokens: "/access/tokens", policy: "/access/policy", you: "/access/me",
    };
    const found = [];
    for (const colorScheme of ["light", "dark"]) {
      const page = await open({ colorScheme, reducedMotion: "reduce" });
      await logIn(page, "ann");
      for (const [name, path] of Object.entries(places)) {
        await page.setViewportSize({ width: 1280, height: 900 });
        await page.goto(`${url}/ui${path}`);
        await page.waitForSelector("h1");
        await until(() => page.evaluate(() => !document.querySelector(".skeleton, .skeleton-space") && document.querySelector(".live:not(.off)") !== null), `${name} is not loaded`);
        for (const width of [1280, 390]) {
          await page.setViewportSize({ width, height: width > 500 ? 900 : 844 });
          await page.screenshot({ path: `${pictures}/${name}-${colorScheme}-${width}.png`, fullPage: true });
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
  await browser.close();
}
