"""Sessions: a browser exchanges a token or a code for a cookie, which counts for pages of this server alone and ends with
its token."""

import http.client
import json
import signal
import subprocess

import pytest

POLICY = """schema: sluice.access-policy.v1
grants:
- {to: [user:root], role: admin}
- {to: [user:ann], role: operator}
- {to: [user:vic], role: viewer}
"""


class Browser:
    """A page at the server's own origin, which keeps the one cookie that there is."""

    def __init__(self, url):
        self.host = url.split("//")[1]
        self.cookie, self.csrf = None, None

    def send(self, method, target, body=None, **headers):
        wire = http.client.HTTPConnection(self.host, timeout=60)
        given = {"Content-Type": "application/json", "Origin": "http://" + self.host, "Sec-Fetch-Site": "same-origin"}
        if self.cookie:
            given["Cookie"] = self.cookie
        if self.csrf:
            given["Sluice-Csrf"] = self.csrf
        given.update({name.replace("_", "-"): value for name, value in headers.items()})
        given = {name: value for name, value in given.items() if value is not None}
        wire.request(method, target, None if body is None else json.dumps(body), given)
        answer = wire.getresponse()
        text = answer.read()
        self.answer = answer
        wire.close()
        return answer.status, json.loads(text) if text else None

    def login(self, **body):
        status, said = self.send("POST", "/v1/login", body)
        if status == 200:
            self.cookie = self.answer.getheader("Set-Cookie").split(";")[0]
            self.csrf = said["csrf"]
        return status, said

    def act(self, action, **input):
        return self.send("POST", f"/v1/actions/{action}", {"input": input})


class Place:
    def __init__(self, sluice, root, folder):
        self.sluice, self.root, self.folder, self.home = sluice, root, folder, folder / "home"
        self.environment = {"PATH": "/usr/bin:/bin", "SLUICE_HOME": str(self.home), "LANG": "C.UTF-8"}

    def ok(self, *words):
        done = subprocess.run([str(self.sluice), *map(str, words), "-o", "json"], capture_output=True, text=True,
                              cwd=self.root, env=self.environment, timeout=120)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def start(self, eventually):
        with open(self.folder / "serve.log", "a") as log:
            self.process = subprocess.Popen([str(self.sluice), "serve", "--listen", "127.0.0.1:0"], stdout=log,
                                            stderr=log, cwd=self.root, env=self.environment)
        eventually(lambda: (self.home / "run/owner.token").exists() and "url" in self.ok("status", "--wait", "60s"))
        self.url = self.ok("status")["url"]

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(timeout=60)

    def token(self, who, name):
        made = self.ok("access", "tokens", "create", name, "--for", who)
        return made["token"], made["secret"]

    def browser(self):
        return Browser(self.url)

    def code(self):
        """As the home's owner gets one, over the socket."""
        done = subprocess.run(["curl", "-s", "--unix-socket", self.home / "run/sluice.sock", "-H",
                               "Content-Type: application/json", "-d", "{}", "http://sluice/v1/login/codes"],
                              capture_output=True, text=True, check=True)
        return json.loads(done.stdout)["code"]


@pytest.fixture(scope="module")
def place(sluice, root, tmp_path_factory, eventually):
    one = Place(sluice, root, tmp_path_factory.mktemp("sessions"))
    one.start(eventually)
    try:
        policy = one.folder / "policy.yaml"
        policy.write_text(POLICY)
        one.ok("access", "policy", "apply", policy)
        _, one.root_token = one.token("user:root", "keep")
        yield one
    finally:
        one.stop()


def test_a_token_becomes_a_session_and_its_rights(place):
    _, secret = place.token("user:vic", "browser")
    browser = place.browser()
    status, said = browser.login(token=secret)
    assert status == 200, said
    assert (said["caller"], said["owner"], said["roles"]) == ("user:vic", False, ["viewer"])
    cookie = browser.answer.getheader("Set-Cookie")
    for word in ["HttpOnly", "SameSite=Strict", "Path=/", "Max-Age="]:
        assert word in cookie
    assert "Secure" not in cookie, "there is no TLS here"
    assert browser.answer.getheader("Cache-Control") == "no-store"
    status, again = browser.send("GET", "/v1/session")
    assert status == 200 and again["csrf"] == said["csrf"] and again["session"] == said["session"]
    assert browser.send("GET", "/v1/views/whoami")[1]["caller"] == "user:vic"
    assert browser.act("Env/create", environment="x")[0] == 403, "a viewer stays one"
    listed = {each["session"]: each for each in place.ok("access", "sessions", "list")["sessions"]}
    assert listed[said["session"]]["subject"] == "user:vic"
    assert listed[said["session"]]["status"] == "open"
    assert browser.send("POST", "/v1/logout")[0] == 200
    assert "Max-Age=0" in browser.answer.getheader("Set-Cookie")
    assert browser.send("GET", "/v1/session")[0] == 401, "the cookie holds no more"


def test_each_login_is_a_session_of_its_own(place):
    _, secret = place.token("user:ann", "fixation")
    browser = place.browser()
    browser.cookie = "sluice_session=sls_CHOSEN_secret"
    status, first = browser.login(token=secret)
    assert status == 200 and "CHOSEN" not in browser.cookie
    before = browser.cookie
    status, second = browser.login(token=secret)
    assert status == 200 and second["session"] != first["session"]
    old = place.browser()
    old.cookie = before
    assert old.send("GET", "/v1/session")[0] == 401, "who logs in anew leaves the session before"
    twice = place.browser()
    twice.cookie = browser.cookie + "; sluice_session=sls_x_y"
    assert twice.send("GET", "/v1/session")[0] == 401, "two cookies are none"


def test_other_pages_cannot_use_the_cookie(place):
    _, secret = place.token("user:ann", "csrf")
    browser = place.browser()
    browser.login(token=secret)
    for headers in [{"Sluice_Csrf": None}, {"Sluice_Csrf": "guess"}, {"Origin": "http://evil.example"},
                    {"Origin": "null"}, {"Sec_Fetch_Site": "cross-site"}, {"Sec_Fetch_Site": "same-site"}]:
        status, said = browser.send("POST", "/v1/actions/Env/create", {"input": {"environment": "evil"}}, **headers)
        assert status == 403, (headers, said)
    assert browser.send("GET", "/v1/session", Sec_Fetch_Site="cross-site")[0] == 403
    assert browser.send("POST", "/v1/login", {"token": secret}, Origin="http://evil.example")[0] == 403
    assert browser.send("POST", "/v1/login", {"token": secret}, Content_Type="text/plain")[0] == 400
    status, said = browser.act("Env/create", environment="good", name="Good", host="local", dryRun=False)
    assert status == 400, "it came as far as the action"
    assert "evil" not in json.dumps(place.ok("env", "list"))


def test_a_session_ends_with_its_token_and_so_do_its_streams(place):
    token, secret = place.token("user:ann", "revoked")
    browser = place.browser()
    browser.login(token=secret)
    wire = http.client.HTTPConnection(browser.host, timeout=60)
    wire.request("GET", "/v1/events", headers={"Cookie": browser.cookie})
    stream = wire.getresponse()
    assert stream.status == 200 and stream.readline().startswith(b": from")
    place.ok("access", "tokens", "revoke", token)
    assert browser.send("GET", "/v1/session")[0] == 401
    while stream.readline():
        pass  # it comes to its end
    wire.close()
    statuses = {each["token"]: each["status"] for each in place.ok("access", "sessions", "list")["sessions"]}
    assert statuses[token] == "ended"


def test_an_admin_ends_a_session(place):
    _, secret = place.token("user:ann", "ended")
    browser = place.browser()
    session = browser.login(token=secret)[1]["session"]
    assert browser.act("Session/end", session=session)[0] == 403
    assert browser.act("Session/list")[0] == 403
    assert place.ok("access", "sessions", "end", session)["subject"] == "user:ann"
    assert browser.send("GET", "/v1/session")[0] == 401


def test_a_code_is_good_once(place):
    code = place.code()
    browser = place.browser()
    status, said = browser.login(code=code)
    assert status == 200 and said["owner"] is True
    assert place.browser().login(code=code)[0] == 401
    assert browser.send("POST", "/v1/login/codes", {})[0] == 403, "a session makes none"
    assert browser.send("POST", "/v1/login", {"code": "x", "token": "y"})[0] == 400
    assert browser.send("POST", "/v1/login", {})[0] == 400
    anybody = place.browser()
    assert anybody.send("POST", "/v1/login/codes", {})[0] == 401


def test_guessing_is_slowed_down_written_down_and_tells_nothing(place, eventually):
    browser = place.browser()
    said = set()
    token, secret = place.token("user:vic", "guessed")
    revoked, dead = place.token("user:vic", "dead")
    place.ok("access", "tokens", "revoke", revoked)
    statuses = []
    for guess in [dead, secret + "x", "slt_x_y", "nonsense"] + ["slt_%d_x" % i for i in range(20)]:
        status, problem = browser.login(token=guess)
        statuses.append(status)
        if status == 401:
            said.add(problem["detail"])
        else:
            assert int(browser.answer.getheader("Retry-After")) > 0
    assert said == {"this is no token and no code that holds"}
    assert statuses.count(401) <= 10 and statuses[-1] == 429
    assert browser.login(token=secret)[0] == 429, "also with the right one, for a while"
    denied = [each for each in place.ok("audit", "list") if "login" in json.dumps(each)]
    assert denied and "unknown" in json.dumps(denied)


def test_nothing_secret_is_written_anywhere_and_owners_sessions_end_as_they_should(place, eventually):
    # The address has guessed too often: another one logs in.
    def logged_in(**body):
        browser = place.browser()
        wire = http.client.HTTPConnection(browser.host, timeout=60, source_address=("127.0.0.9", 0))
        wire.request("POST", "/v1/login", json.dumps(body), {"Content-Type": "application/json"})
        answer = wire.getresponse()
        said = json.loads(answer.read())
        assert answer.status == 200, said
        browser.cookie, browser.csrf = answer.getheader("Set-Cookie").split(";")[0], said["csrf"]
        wire.close()
        return browser

    _, secret = place.token("user:ann", "quiet")
    of_owner = logged_in(token=(place.home / "run/owner.token").read_text().strip())
    by_code, by_token = logged_in(code=place.code()), logged_in(token=secret)
    secrets = [each.cookie.split("=")[1] for each in (of_owner, by_code, by_token)] + [by_code.csrf, secret]
    place.stop()
    kept = [place.folder / "serve.log", *[each for each in (place.home / "store").rglob("*") if each.is_file()]]
    for file in kept:
        text = file.read_bytes()
        for each in secrets:
            assert each.encode() not in text, file
            assert each.split("_", 2)[-1].encode() not in text, file
    place.start(eventually)
    for browser, status in [(of_owner, 401), (by_code, 200), (by_token, 200)]:
        browser.host = place.url.split("//")[1]
        assert browser.send("GET", "/v1/session")[0] == status
