"""Settings with three owners: what a bundle asks, what the environment and the deployment answer, and what the deployer
finds out, from the command line to the program. Names of tests that begin with greentic_c are the seed's verification
list of credentials, settings and packs."""

import hashlib
import json
import os
import pty
import select

from up_home import get

DEPLOYER = "sluice.deployer.local-process@1.0.0"


def told(url):
    """What the program was told."""
    status, body = get(url)
    assert status == 200, body
    return json.loads(body)


def explained(home, *words):
    """The settings of a deployment, by name: (value, owner, from)."""
    shown = home.data("config", "show", "local", "--explain", *words)["deployments"]
    assert len(shown) == 1, shown
    return {each["name"]: (each["value"], each["owner"], each["from"]) for each in shown[0]["settings"]}


def discover(home, key, value):
    home.run("do", "Config/discover", "environment=local", f"producer={DEPLOYER}", f"key={key}", f"value={value}")


def test_two_deployments_of_one_bundle_with_settings_of_their_own(home, mirror):
    """One of them is changed, tried on a tenth of its requests, and taken back."""
    url = home.up(mirror)["urls"][0]
    home.run("bundles", "build", mirror, "--out", home.folder / "mirror.bundle")
    added = home.data("bundles", "add", "local", "mirror.bundle", "--customer-id", "acme", "--path", "/acme",
                      "--set", "color=green")
    acme = added["deployment"]
    home.run("revisions", "warm", "local", added["revision"])
    home.run("traffic", "set", "local", "--deployment", acme, f"{added['revision']}=100%")
    assert told(url)["config"] == {"color": "red", "limit": 3}
    assert told(url + "acme")["config"] == {"color": "green", "limit": 3}
    assert told(url + "acme")["color"] == "green", "a declared variable has it, too"

    set_up = home.run("config", "set", "local", "--bundle", "mirror", "limit=7")
    assert set_up.stdout == "set  mirror in local, generation 1\n"
    assert "pending: mirror for acme runs as mirror@1 with other settings" in set_up.stderr
    assert told(url + "acme")["config"]["limit"] == 3, "what runs goes on as it is"
    home.run("config", "set", "local", "--deployment", acme, "limit=9")
    home.run("config", "set", "local", "region=eu-west")
    assert explained(home, "--deployment", acme) == {
        "host.region": ("eu-west", "host", "the operator of local"),
        "color": ("green", "setup", "the answer of the deployment"),
        "limit": (9, "setup", "the answer of the deployment"),
    }
    others = {each["customer"]: each for each in home.data("config", "show", "local", "--explain")["deployments"]}
    limits = {name: [(one["value"], one["running"], one["from"]) for one in each["settings"] if one["name"] == "limit"]
              for name, each in others.items()}
    assert limits == {"local-dev": [(7, 3, "the answer of local")], "acme": [(9, 3, "the answer of the deployment")]}
    text = home.run("config", "show", "local", "--deployment", "mirror", "--customer-id", "acme", "--explain").stdout
    assert "SETTING" in text and "the operator of local" in text

    staged = home.data("config", "apply", "local", "--deployment", acme)
    assert [(each["name"], each["fresh"]) for each in staged] == [("mirror@2", True)]
    again = home.data("config", "apply", "local", "--deployment", acme)
    assert [(each["revision"], each["fresh"]) for each in again] == [(staged[0]["revision"], False)]
    new = staged[0]["revision"]
    home.run("revisions", "warm", "local", new)
    home.run("traffic", "set", "local", "--deployment", acme, f"{new}=10%", f"{added['revision']}=90%")
    seen = [told(url + "acme") for _ in range(200)]
    by = {each["revision"]: each["config"]["limit"] for each in seen}
    assert by == {new: 9, added["revision"]: 3}
    home.run("traffic", "rollback", "local", "--deployment", acme)
    assert {told(url + "acme")["config"]["limit"] for _ in range(50)} == {3}
    assert told(url)["config"]["limit"] == 3, "the other deployment was not touched"
    digests = {each["revision_id"]: each["config_digest"] for each in home.data("revisions", "list", "local")}
    assert digests[new] != digests[added["revision"]]


def test_an_answer_of_the_environment_reaches_the_next_up(home, mirror):
    url = home.up(mirror)["urls"][0]
    home.run("config", "set", "local", "--bundle", "mirror", "color=blue")
    assert home.up(mirror)["changed"] and told(url)["color"] == "blue"
    home.run("config", "set", "local", "--bundle", "mirror", "color=")
    assert home.up(mirror)["changed"] and told(url)["color"] == "red"
    assert home.run("config", "apply", "local").stdout == "Nothing is pending.\n"


def test_answers_that_do_not_fit_change_nothing(home, mirror):
    home.up(mirror)
    wrong = home.run("config", "set", "local", "--bundle", "mirror", "colour=blue", code=1)
    assert "mirror has no setting colour; did you mean color?" in wrong.stderr
    wrong = home.run("config", "set", "local", "--bundle", "mirror", "color=pink", code=1)
    assert "is none of the choices" in wrong.stderr
    wrong = home.run("config", "set", "local", "--deployment", "mirror", "limit=many", code=1)
    assert "limit: " in wrong.stderr
    answers = home.folder / "answers.yaml"
    answers.write_text("limit: 5\nlimt: 6\n")
    wrong = home.run("config", "set", "local", "--bundle", "mirror", "--answers", answers, code=1)
    assert "did you mean limit?" in wrong.stderr
    assert home.data("config", "show", "local")["answers"] == []
    schema = home.data("config", "set", "local", "--bundle", "mirror", "--schema")
    assert schema["properties"]["limit"]["type"] == "integer" and schema["additionalProperties"] is False


def test_a_secret_answer_is_no_word_and_is_kept_with_all_others_or_not_at_all(home, mirror):
    home.up(mirror)
    refused = home.run("config", "set", "local", "--bundle", "mirror", "api_key=hunter2", code=2)
    assert refused.stderr.startswith("error: api_key is a secret: a value on the command line can be read by every program")
    assert "next:  sluice secrets put local mirror/API_KEY" in refused.stderr and "hunter2" not in refused.stderr
    answers = home.folder / "answers.yaml"
    for wrong, why in (("limt: 6", "there is no question limt"), ("color: pink", "color: ")):
        answers.write_text(f"api_key: hunter2\n{wrong}\n")
        for words in (["config", "set", "local", "--bundle", "mirror"], ["up", mirror, "--detach"]):
            assert why in home.run(*words, "--answers", answers, code=1).stderr
    assert home.data("secrets", "list", "local") == []
    answers.write_text("api_key: hunter2\ncolor: blue\n")
    home.run("config", "set", "local", "--bundle", "mirror", "--answers", answers)
    assert [each["name"] for each in home.data("secrets", "list", "local")] == ["mirror/API_KEY"]
    assert [each["name"] for each in home.data("config", "show", "local")["answers"]] == ["color"]


def test_greentic_c4_a_program_reads_a_plain_setting_and_a_secret_and_the_bundle_has_neither(home, mirror):
    answers = home.folder / "answers.yaml"
    answers.write_text("dns: https://shop.example\napi_key: hunter2-of-the-store\n")
    url = home.up(mirror, "--answers", answers)["urls"][0]
    # The key is not required, so it must be asked for by reference: it is where the bundle looks.
    refused = home.run("up", mirror, "--detach", "--set", "api_key=hunter2", code=2)
    assert "is a secret" in refused.stderr and "hunter2" not in refused.stderr
    home.up(mirror, "--set", "api_key=secret://local/mirror/API_KEY")
    answer = told(url)
    assert answer["config"]["dns"] == "https://shop.example"
    assert answer["key"] == hashlib.sha256(b"hunter2-of-the-store").hexdigest()
    revision = home.data("revisions", "list", "local")[-1]
    assert "hunter2" not in json.dumps(revision)
    for path in home.home.rglob("*"):
        if path.is_file() and not path.is_symlink():
            assert b"hunter2-of-the-store" not in path.read_bytes(), path


def test_greentic_c6_what_the_deployer_finds_out_is_told_and_told_again(home, mirror, eventually):
    missing = home.run("up", mirror, "--detach", "--runtime-ref", "dns=runtime://local/discovered/alb_dns", code=7)
    assert "nothing has found out alb_dns in local" in missing.stderr
    discover(home, "alb_dns", "one.example")
    url = home.up(mirror, "--runtime-ref", "dns=runtime://local/discovered/alb_dns")["urls"][0]
    first = told(url)
    assert first["config"]["dns"] == "one.example"
    value, owner, source = explained(home, "--deployment", "mirror")["dns"]
    assert (value, owner) == ("one.example", "runtime") and source.endswith("found out by " + DEPLOYER)
    discover(home, "alb_dns", "two.example")
    eventually(lambda: told(url)["config"]["dns"] == "two.example")
    assert told(url)["pid"] != first["pid"], "its replica was replaced"
    refused = home.run("do", "Config/discover", "environment=local", "producer=acme.other@1.0.0", "key=alb_dns",
                       "value=x", code=None)
    assert refused.returncode != 0 and "is not the deployer of local" in refused.stderr


def test_a_bundle_may_be_told_by_a_signal(home, mirror, eventually):
    manifest = mirror / "bundle.yaml"
    manifest.write_text(manifest.read_text() + "reload: signal\n")
    home.run("secrets", "list", "local")
    discover(home, "alb_dns", "one.example")
    url = home.up(mirror, "--runtime-ref", "dns=runtime://local/discovered/alb_dns")["urls"][0]
    first = told(url)
    discover(home, "alb_dns", "two.example")
    eventually(lambda: (told(url)["config"]["dns"], told(url)["told"]) == ("two.example", 1))
    assert told(url)["pid"] == first["pid"]


def test_a_person_is_asked_for_what_is_still_open(sluice, home, mirror):
    manifest = mirror / "bundle.yaml"
    manifest.write_text(manifest.read_text().replace("secret: true, required: false", "secret: true")
                        + "  - {name: seats, question: How many seats?, type: integer, constraint: {min: 1}}\n")
    environment = home.environment()
    pid, terminal = pty.fork()
    if pid == 0:
        os.execve(sluice, [str(sluice), "up", str(mirror), "--detach"], environment)
    said = ""

    def hear(until):
        nonlocal said
        while until not in said:
            ready, _, _ = select.select([terminal], [], [], 60)
            assert ready, said
            try:
                piece = os.read(terminal, 4096)
            except OSError:
                piece = b""
            assert piece, said
            said += piece.decode()
        said = said[said.index(until) + len(until):]

    hear("Which key opens the store?: ")
    os.write(terminal, b"hunter2-typed\n")
    hear("How many seats?: ")
    os.write(terminal, b"0\n")
    hear("it is below 1")
    hear("How many seats?: ")
    os.write(terminal, b"12\n")
    hear("http://")
    os.waitpid(pid, 0)
    os.close(terminal)
    assert "hunter2" not in said
    answer = told(home.up(mirror)["urls"][0])
    assert answer["config"]["seats"] == 12
    assert answer["key"] == hashlib.sha256(b"hunter2-typed").hexdigest()
    assert [each["name"] for each in home.data("secrets", "list", "local")] == ["mirror/API_KEY"]
