// What the console costs a browser and the server, measured with Debian's Chromium. `first`: the bytes of the first view,
// and first paint and interactive beside an empty page of the same framework. `series`: long tasks while 200 series
// update, from Chromium's trace. `record` and `replay`: what one page asks, and a hundred of them.
import { readFileSync, mkdirSync, writeFileSync } from "node:fs";
import { createServer, get, Agent } from "node:http";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const here = dirname(fileURLToPath(import.meta.url));
const tests = createRequire(join(here, "../../tests/console/console.mjs"));
const pages = createRequire(join(here, "../../src/console/build_pages.mjs"));
const given = JSON.parse(process.env.CONSOLE_BENCH);
const kRounds = 11;
// A slow laptop on a good mobile network.
const kThrottle = { offline: false, latency: 20, downloadThroughput: 10e6 / 8, uploadThroughput: 5e6 / 8 };
const kSlower = 4;
const say = (what, value, goal, unit) => console.log([what, value, goal ?? "", unit].join("\t"));
const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];

async function browser() {
  const { chromium } = tests("playwright-core");
  return chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
}

async function loggedIn(chrome) {
  const context = await chrome.newContext({ viewport: { width: 1280, height: 900 } });
  const page = await context.newPage();
  await page.goto(`${given.url}/ui/`);
  await page.fill("input[name=token]", given.token);
  await page.keyboard.press("Enter");
  await page.waitForSelector("h1 >> text=Overview");
  return page;
}

// An empty page of Preact, built as the console is, served compressed.
async function emptyPage() {
  const source = join(given.folder, "empty");
  mkdirSync(source, { recursive: true });
  writeFileSync(join(source, "index.html"), '<!doctype html><title>empty</title><div id="app"></div><script type="module" src="./main.jsx"></script>');
  writeFileSync(join(source, "main.jsx"), `import { h, render } from "${join(dirname(pages.resolve("preact/package.json")), "dist/preact.module.js")}"; render(h("h1", null, "Overview"), document.getElementById("app"));`);
  const { build } = await import(join(dirname(pages.resolve("vite/package.json")), "dist/node/index.js"));
  await build({ root: source, logLevel: "error", configFile: false, build: { modulePreload: { polyfill: false } } });
  const served = createServer((request, response) => {
    const name = request.url === "/" ? "index.html" : request.url.slice(1);
    try {
      const body = gzipSync(readFileSync(join(source, "dist", name)));
      response.writeHead(200, { "content-type": name.endsWith(".js") ? "text/javascript" : "text/html", "content-encoding": "gzip" }).end(body);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((go) => served.listen(0, "127.0.0.1", go));
  return { url: `http://127.0.0.1:${served.address().port}/`, end: () => served.close() };
}

// First paint, and when the page can be used: its content is there and the main thread has been free since.
async function load(page, chrome, url) {
  await chrome.send("Network.clearBrowserCache");
  await chrome.send("Network.emulateNetworkConditions", kThrottle);
  await chrome.send("Emulation.setCPUThrottlingRate", { rate: kSlower });
  await page.goto(url, { waitUntil: "commit" });
  await page.waitForSelector("h1 >> text=Overview");
  const times = await page.evaluate(() => new Promise((done) => {
    const seen = { paint: performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? performance.now(), shown: performance.now(), long: 0 };
    new PerformanceObserver((list) => { for (const each of list.getEntries()) if (each.startTime < seen.shown) seen.long = Math.max(seen.long, each.startTime + each.duration); }).observe({ type: "longtask", buffered: true });
    setTimeout(() => done(seen), 500);
  }));
  await chrome.send("Emulation.setCPUThrottlingRate", { rate: 1 });
  return { paint: times.paint, interactive: Math.max(times.shown, times.long) };
}

async function first() {
  const chromium = await browser();
  const page = await loggedIn(chromium);
  const chrome = await page.context().newCDPSession(page);
  await chrome.send("Network.enable");
  let bytes = 0;
  let asked = 0;
  chrome.on("Network.loadingFinished", (event) => { bytes += event.encodedDataLength; asked += 1; });
  await chrome.send("Network.clearBrowserCache");
  await page.goto(`${given.url}/ui/`);
  await page.waitForSelector("h1 >> text=Overview");
  await page.waitForTimeout(3000);
  say("first view of 1,000 deployments, compressed", bytes / 1000, 300, "kB");
  say("requests for it", asked, "", "");
  const empty = await emptyPage();
  const ours = [];
  const theirs = [];
  await page.goto("about:blank");
  for (let round = 0; round <= kRounds; round++) {
    const [mine, other] = [await load(page, chrome, `${given.url}/ui/`), await load(page, chrome, empty.url)];
    if (round === 0) continue;
    ours.push(mine);
    theirs.push(other);
  }
  for (const what of ["paint", "interactive"]) {
    say(`${what === "paint" ? "first paint" : "interactive"}`, median(ours.map((each) => each[what])), "", "ms");
    say(`the same by an empty Preact page`, median(ours.map((each, i) => each[what] / theirs[i][what])), 2, "");
  }
  empty.end();
  await chromium.close();
}

async function series() {
  const chromium = await browser();
  const page = await loggedIn(chromium);
  await page.locator(".env-card").nth(199).waitFor({ state: "attached" });
  const chrome = await page.context().newCDPSession(page);
  await page.waitForTimeout(5000);
  const tasks = [];
  chrome.on("Tracing.dataCollected", ({ value }) => tasks.push(...value));
  await chrome.send("Tracing.start", { transferMode: "ReportEvents", traceConfig: { includedCategories: ["toplevel", "disabled-by-default-devtools.timeline", "devtools.timeline", "__metadata"] } });
  await page.waitForTimeout(20_000);
  const complete = new Promise((done) => chrome.once("Tracing.tracingComplete", done));
  await chrome.send("Tracing.end");
  await complete;
  const main = tasks.find((each) => each.name === "thread_name" && each.args.name === "CrRendererMain" && tasks.some((one) => one.pid === each.pid && one.name === "RunTask" && one.tid === each.tid));
  const long = tasks.filter((each) => each.name === "RunTask" && each.pid === main.pid && each.tid === main.tid && each.dur > 50_000);
  say("tasks over 50 ms in 20 s, with 200 environments on the page", long.length, 0, "");
  say("the longest task", Math.max(0, ...tasks.filter((each) => each.name === "RunTask" && each.pid === main.pid && each.tid === main.tid).map((each) => each.dur ?? 0)) / 1000, 50, "ms");
  await chromium.close();
}

// The reads of one page that is open on the overview, each with its time.
async function record() {
  const chromium = await browser();
  const page = await loggedIn(chromium);
  await page.waitForTimeout(3000);
  const asked = [];
  const begin = Date.now();
  page.on("request", (request) => {
    const path = request.url().slice(given.url.length);
    if (path.startsWith("/v1/views/")) asked.push({ at: Date.now() - begin, path, age: request.headers()["cache-control"] ?? "" });
  });
  await page.waitForTimeout(given.seconds * 1000);
  console.log(JSON.stringify(asked));
  await chromium.close();
}

async function replay() {
  const { asked, consoles, seconds } = given;
  const agent = new Agent({ keepAlive: true, maxSockets: Infinity });
  const to = new URL(given.url);
  const call = (path, age, onData) => new Promise((done) => {
    const request = get({ host: to.hostname, port: to.port, path, agent, headers: { authorization: `Bearer ${given.token}`, ...(age ? { "cache-control": age } : {}) } }, (response) => {
      response.on("data", onData ?? (() => undefined)).on("end", () => done(response.statusCode)).on("error", () => done(0));
    });
    request.on("error", () => done(0));
  });
  let events = 0;
  let wrong = 0;
  let answers = 0;
  for (let i = 0; i < consoles; i++) void call("/v1/events", "", (piece) => { events += String(piece).split("\nid: ").length; });
  await new Promise((go) => setTimeout(go, 3000));
  console.log("open");
  events = 0;
  for (let i = 0; i < consoles; i++) {
    const phase = (i / consoles) * 1000;
    for (const each of asked) {
      const at = each.at + phase;
      if (at < seconds * 1000) setTimeout(() => void call(each.path, each.age).then((status) => { answers += 1; if (status !== 200) wrong += 1; }), at);
    }
  }
  await new Promise((go) => setTimeout(go, seconds * 1000));
  say(`reads of 100 consoles, ${wrong} of them refused`, answers / seconds, "", "a second");
  process.exit(0);
}

await { first, series, record, replay }[process.argv[2]]();
