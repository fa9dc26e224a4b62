"""People log in with an OpenID provider: by authorization code and PKCE, in the console and on the command line, against
a real provider; and what somebody could try with its codes, states and tokens is refused."""

import base64
import http.client
import http.cookiejar
import json
import os
import re
import signal
import stat
import subprocess
import urllib.error
import urllib.parse
import urllib.request

import pytest

ANN, BOB = "ann@shop.example", "bob@shop.example"


class Stays(urllib.request.HTTPRedirectHandler):
    """Redirects are shown, not followed."""

    def redirect_request(self, *_):
        return None


class Browser:
    """Follows redirects, keeps cookies, and types a name into the provider's pages."""

    def __init__(self, name):
        self.name = name
        self.jar = http.cookiejar.CookieJar(http.cookiejar.DefaultCookiePolicy(rfc2965=True))
        self.opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(self.jar), Stays())

    def get(self, url, form=None):
        data = None if form is None else urllib.parse.urlencode(form).encode()
        try:
            answer = self.opener.open(urllib.request.Request(url, data), timeout=60)
        except urllib.error.HTTPError as error:
            answer = error
        return answer.status, answer.headers, answer.read().decode()

    def go(self, url, until):
        """The address that `until` fits, which is not opened."""
        form = None
        for _ in range(20):
            if until(url):
                return url
            status, headers, text = self.get(url, form)
            form = None
            if status in (302, 303):
                url = urllib.parse.urljoin(url, headers["Location"])
                continue
            assert status == 200, (status, url, text[:400])
            url = urllib.parse.urljoin(url, re.search(r'action="([^"]+)"', text)[1])
            prompt = re.search(r'name="prompt" value="([^"]+)"', text)[1]
            form = {"prompt": prompt} | ({"login": self.name, "password": "x"} if prompt == "login" else {})
        raise AssertionError("it leads nowhere")


@pytest.fixture(scope="module")
def provider(root):
    lasts = 3600
    process = subprocess.Popen(["node", str(root / "tests/sso/provider.mjs"),
                                json.dumps({ANN: ["release"], BOB: ["guests"]}), str(lasts)],
                               stdout=subprocess.PIPE, text=True, cwd=root / "tests/sso")
    yield next(line.strip() for line in process.stdout if line.startswith("http"))
    process.terminate()
    process.wait(timeout=60)


class Place:
    def __init__(self, sluice, folder):
        self.sluice, self.folder, self.home = sluice, folder, folder / "home"

    def environment(self, home=None):
        return {"PATH": "/usr/bin:/bin", "SLUICE_HOME": str(home or self.home), "LANG": "C.UTF-8"}

    def run(self, *words, home=None):
        return subprocess.run([str(self.sluice), *map(str, words), "-o", "json"], capture_output=True, text=True,
                              env=self.environment(home), timeout=120)

    def ok(self, *words, home=None):
        done = self.run(*words, home=home)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def policy(self, issuer, extra=""):
        path = self.folder / "policy.yaml"
        path.write_text(f"""schema: sluice.access-policy.v1
grants:
- {{to: [user:root], role: admin}}
- {{to: [group:release], role: deployer}}
- {{to: [group:guests], role: viewer, environments: [staging]}}
issuers:
- issuer: {issuer}
  audience: sluice
  people: {{name: email, groups: groups, scopes: [openid, email, groups]}}
{extra}""")
        self.ok("access", "policy", "apply", path)


@pytest.fixture(scope="module")
def place(sluice, tmp_path_factory, eventually, provider):
    place = Place(sluice, tmp_path_factory.mktemp("sso"))
    log = open(place.folder / "serve.log", "w")
    process = subprocess.Popen([str(sluice), "serve", "--listen", "127.0.0.1:0"], stdout=log, stderr=log,
                               env=place.environment())
    eventually(lambda: (place.home / "run/owner.token").exists() and "url" in place.ok("status", "--wait", "60s"))
    place.url = place.ok("status")["url"]
    place.policy(provider)
    yield place
    process.send_signal(signal.SIGTERM)
    process.wait(timeout=60)


def comes_back(place):
    return lambda url: url.startswith(place.url + "/v1/login/sso/callback")


def session_of(place, headers):
    cookie = next(each for each in headers.get_all("Set-Cookie") if each.startswith("sluice_session="))
    assert "HttpOnly" in cookie and "SameSite=Strict" in cookie
    return cookie.split(";")[0]


def ask(place, target, **headers):
    wire = http.client.HTTPConnection(place.url.split("//")[1], timeout=60)
    wire.request("GET", target, headers={name.replace("_", "-"): value for name, value in headers.items()})
    answer = wire.getresponse()
    text = answer.read().decode()
    return answer.status, json.loads(text) if text.startswith("{") else text


def test_a_browser_comes_back_with_a_session_and_the_groups_of_the_provider(place):
    status, said = ask(place, "/v1/login/sso")
    assert status == 200 and said["provider"]["client"] == "sluice"
    browser = Browser(ANN)
    back = browser.go(place.url + "/v1/login/sso/start", comes_back(place))
    status, headers, text = browser.get(back)
    assert status == 200 and "/ui/" in text, text
    status, who = ask(place, "/v1/session", Cookie=session_of(place, headers))
    assert status == 200
    assert who["caller"] == "user:" + ANN and who["roles"] == ["deployer"] and who["session"]


def test_people_log_in_on_the_page(place, root):
    given = {"url": place.url, "tokens": {}, "env": "local", "stories": ["sso"], "name": ANN,
             "pictures": str(root / "build/console/pictures")}
    done = subprocess.run(["node", "console.mjs"], cwd=root / "tests/console", capture_output=True, text=True,
                          timeout=300, env=os.environ | {"CONSOLE_TEST": json.dumps(given)}, stdin=subprocess.DEVNULL)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_code_and_a_state_are_good_once_and_in_one_browser(place):
    browser = Browser(ANN)
    back = browser.go(place.url + "/v1/login/sso/start", comes_back(place))
    status, _, text = Browser(ANN).get(back)
    assert status == 401 and "was not begun here" in text, "another browser has no part in it"
    assert browser.get(back)[0] == 200
    status, headers, text = browser.get(back)
    assert status == 401 and headers.get("Set-Cookie") is None, "the state was used"
    again = Browser(ANN)
    other = again.go(place.url + "/v1/login/sso/start", comes_back(place))
    query = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(other).query))
    used = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(back).query))
    status, _, text = again.get(place.url + "/v1/login/sso/callback?" +
                                urllib.parse.urlencode(query | {"code": used["code"]}))
    assert status == 401 and "invalid_grant" in text, "the code was used, and is of another verifier"


def test_answers_of_another_issuer_and_refusals_let_nobody_in(place):
    browser = Browser(ANN)
    back = browser.go(place.url + "/v1/login/sso/start", comes_back(place))
    parts = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(back).query))
    status, _, text = browser.get(place.url + "/v1/login/sso/callback?" +
                                  urllib.parse.urlencode(parts | {"iss": "https://evil.example"}))
    assert status == 401 and "another issuer" in text
    browser = Browser(ANN)
    back = browser.go(place.url + "/v1/login/sso/start", comes_back(place))
    parts = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(back).query))
    status, _, text = browser.get(place.url + "/v1/login/sso/callback?" +
                                  urllib.parse.urlencode({"state": parts["state"], "error": "access_denied"}))
    assert status == 401 and "has not let you in" in text


def test_who_has_no_verified_address_is_nobody(place):
    browser = Browser("unverified@shop.example")
    back = browser.go(place.url + "/v1/login/sso/start", comes_back(place))
    status, _, text = browser.get(back)
    assert status == 401 and "does not say who it is" in text


def login(place, home, name, browser=None):
    """sluice login --sso, with a browser that does what a person would."""
    process = subprocess.Popen([str(place.sluice), "login", place.url, "--sso", "--name", "team"],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=place.environment(home))
    line = ""
    while "http" not in line:
        line = process.stderr.readline()
        assert line or process.poll() is None, process.communicate()
    address = re.search(r"http\S+", line)[0]
    browser = browser or Browser(name)
    back = browser.go(address, lambda url: "/callback?" in url and not url.startswith(place.url))
    status, _, text = browser.get(back)
    assert status == 200 and "You are logged in" in text
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    return address, back


def test_the_command_line_logs_in_with_a_browser_and_renews_its_token(place, tmp_path):
    home = tmp_path / "home"
    login(place, home, ANN)
    kept = home / "keys/contexts.json"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    who = place.ok("access", "whoami", home=home)
    assert who["caller"] == "user:" + ANN
    # A token that has ended is renewed before it is sent; one that was used for it is not kept.
    contexts = json.loads(kept.read_text())
    server = contexts["servers"]["team"]
    head, body, tail = server["token"].split(".")
    claims = json.loads(base64.urlsafe_b64decode(body + "=="))
    claims["exp"] = 1
    server["token"] = ".".join([head, base64.urlsafe_b64encode(json.dumps(claims).encode()).decode().rstrip("="), tail])
    kept.write_text(json.dumps(contexts))
    assert place.ok("access", "whoami", home=home)["caller"] == "user:" + ANN
    renewed = json.loads(kept.read_text())["servers"]["team"]
    assert renewed["token"] != server["token"]
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    log = (place.folder / "serve.log").read_text()
    assert renewed["token"] not in log and renewed["sso"]["refresh_token"] not in log


def test_tokens_that_somebody_has_changed_do_not_count(place, tmp_path):
    home = tmp_path / "home"
    login(place, home, BOB)
    token = json.loads((home / "keys/contexts.json").read_text())["servers"]["team"]["token"]
    assert ask(place, "/v1/session", Authorization="Bearer " + token)[1]["caller"] == "user:" + BOB
    head, body, tail = token.split(".")

    def encoded(document):
        return base64.urlsafe_b64encode(json.dumps(document).encode()).decode().rstrip("=")

    def decoded(part):
        return json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))

    claims = decoded(body)
    forged = [
        f"{encoded({'alg': 'none'})}.{body}.",
        f"{encoded({'alg': 'HS256'} | {'kid': decoded(head).get('kid')})}.{body}.{tail}",
        f"{head}.{encoded(claims | {'email': ANN})}.{tail}",
        f"{head}.{encoded(claims | {'iss': 'https://evil.example'})}.{tail}",
    ]
    for each in forged:
        assert ask(place, "/v1/session", Authorization="Bearer " + each)[0] == 401, each
    denied = place.run("env", "create", "staging", home=home)
    assert denied.returncode == 5 or "may not" in denied.stderr, denied.stderr


def test_a_login_ends_when_the_policy_no_longer_trusts_the_issuer(place, provider):
    browser = Browser(ANN)
    back = browser.go(place.url + "/v1/login/sso/start", comes_back(place))
    _, headers, _ = browser.get(back)
    cookie = session_of(place, headers)
    assert ask(place, "/v1/session", Cookie=cookie)[0] == 200
    path = place.folder / "nobody.yaml"
    path.write_text("schema: sluice.access-policy.v1\ngrants:\n- {to: [user:root], role: admin}\n")
    place.ok("access", "policy", "apply", path)
    try:
        assert ask(place, "/v1/session", Cookie=cookie)[0] == 401
        assert ask(place, "/v1/login/sso") == (200, {})
    finally:
        place.policy(provider)
