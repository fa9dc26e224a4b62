"""Packs from outside: the example packs are installed, bound, killed, replaced and removed by the real binary; `pack test`
passes them and fails broken ones, each for its own reason. Names of tests that begin with greentic_c are the seed's
verification list of credentials, settings and packs."""

import base64
import hashlib
import json
import os
import pty
import re
import select
import shutil
import signal
import socket
import subprocess

import pytest

KIND = "acme.telemetry.file@1.0.0"
CONCEPT = "AcmeTelemetryFile_1_0_0"


@pytest.fixture
def home(sluice, tmp_path):
    """Runs commands in a home of their own: words in, (exit code, stdout, stderr) out."""
    def run(*words, stdin=None):
        done = subprocess.run([sluice, *map(str, words)], input=stdin, capture_output=True, text=True, timeout=300,
                              env={**os.environ, "SLUICE_HOME": str(run.path)}, cwd=tmp_path)
        return done.returncode, done.stdout, done.stderr

    def good(*words):
        code, out, err = run(*words)
        assert code == 0, (words, out, err)
        return out

    run.path, run.good, run.sluice = tmp_path / "home", good, sluice
    run.data = lambda *words: json.loads(good(*words, "-o", "json"))
    return run


@pytest.fixture
def example(root, tmp_path):
    """A copy of the telemetry pack, changed: (old, new) texts by file."""
    def copy(name="pack", **changes):
        folder = tmp_path / name
        shutil.copytree(root / "examples" / "packs" / "telemetry-file", folder,
                        ignore=shutil.ignore_patterns("__pycache__"))
        for file, pairs in changes.items():
            path = folder / {"manifest": "pack.yaml", "concept": "file_telemetry.concept", "serve": "serve.py"}[file]
            text = path.read_text()
            for old, new in pairs:
                assert old in text, old
                text = text.replace(old, new)
            path.write_text(text)
        return folder

    return copy


def test_a_pack_is_installed_bound_asked_and_removed(home, example):
    pack = example()
    assert KIND in home.good("env-packs", "install", pack)
    assert home.good("env-packs", "install", pack), "the same again is harmless"
    assert any(each["pack"] == KIND for each in home.data("env-packs", "list", "--available"))
    code, _, err = home("env-packs", "update", "local", KIND, "--slot", "state")
    assert code != 0 and f"{KIND} serves the slot telemetry, not state" in err
    home.good("env-packs", "update", "local", KIND)
    assert home.data("do", f"{CONCEPT}/record", "environment=local", "event=deployed", "detail=x")["written"] == 1
    assert home.data("do", f"{CONCEPT}/count", "environment=local")["events"] == 1
    lines = (home.path / "pack-data" / "acme.telemetry.file" / "events.jsonl").read_text().splitlines()
    assert json.loads(lines[0])["event"] == "deployed"
    code, _, err = home("env-packs", "uninstall", KIND)
    assert code == 6 and f"{KIND} serves the slot telemetry of local" in err
    home.good("env-packs", "rollback", "local", "telemetry")
    home.good("env-packs", "uninstall", KIND)
    assert not any(each["pack"] == KIND for each in home.data("env-packs", "list", "--available"))
    code, _, err = home("do", f"{CONCEPT}/count", "environment=local")
    assert code == 5 and "no action" in err
    home.good("audit", "verify")


def test_greentic_c7_binding_a_pack_asks_its_questions(home, example, tmp_path):
    home.good("env-packs", "install", example())
    schema = home.data("env-packs", "update", "local", KIND, "--schema")
    assert schema["properties"]["file"]["default"] == "events.jsonl" and schema["additionalProperties"] is False
    answers = tmp_path / "answers.yaml"
    answers.write_text("fil: other.jsonl\n")
    code, _, err = home("env-packs", "update", "local", KIND, "--answers", answers)
    assert code == 2 or code == 1
    assert "there is no question fil" in err and "did you mean file?" in err
    answers.write_text("file: ../x\n")
    assert "file: it does not match" in home("env-packs", "update", "local", KIND, "--answers", answers)[2]
    assert home.data("env-packs", "list", "local")[-1]["kind"] != KIND, "nothing was changed"
    answers.write_text("file: other.jsonl\nstamp: false\n")
    home.good("env-packs", "update", "local", KIND, "--answers", answers)
    home.good("do", f"{CONCEPT}/record", "environment=local", "event=deployed", "detail=x")
    line = json.loads((home.path / "pack-data" / "acme.telemetry.file" / "other.jsonl").read_text())
    assert line["event"] == "deployed" and "at" not in line


def test_a_person_is_asked_with_validation_and_a_way_back(sluice, home, example):
    home.good("env-packs", "install", example())
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ["SLUICE_HOME"] = str(home.path)
        os.execv(sluice, [str(sluice), "env-packs", "update", "local", KIND])
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

    hear("What is the file called? [events.jsonl]: ")
    os.write(terminal, b"../x\n")
    hear("it does not match")
    hear("What is the file called? [events.jsonl]: ")
    os.write(terminal, b"one.jsonl\n")
    hear("Should each line carry the time? (yes|no) [true]: ")
    os.write(terminal, b"<\n")
    hear("What is the file called? [events.jsonl]: ")
    os.write(terminal, b"two.jsonl\n")
    hear("Should each line carry the time? (yes|no) [true]: ")
    os.write(terminal, b"no\n")
    hear("bound")
    os.waitpid(pid, 0)
    home.good("do", f"{CONCEPT}/record", "environment=local", "event=e", "detail=x")
    assert (home.path / "pack-data" / "acme.telemetry.file" / "two.jsonl").exists()


def test_under_a_server_packs_come_go_are_killed_and_replaced(sluice, home, example, eventually):
    server = subprocess.Popen([sluice, "serve"], env={**os.environ, "SLUICE_HOME": str(home.path)},
                              stderr=subprocess.PIPE, text=True)
    try:
        eventually(lambda: home("status")[0] == 0)
        home.good("env-packs", "install", example())
        eventually(lambda: home("do", f"{CONCEPT}/count", "environment=local")[0] == 0,
                   lambda: home("do", f"{CONCEPT}/count", "environment=local"))
        found = subprocess.run(["ps", "-o", "pid=,args=", "--ppid", str(server.pid)], capture_output=True, text=True)
        pids = [int(line.split()[0]) for line in found.stdout.splitlines() if "serve.py" in line]
        assert len(pids) == 1, found.stdout
        os.kill(pids[0], signal.SIGKILL)
        eventually(lambda: home("do", f"{CONCEPT}/record", "environment=local", "event=e", "detail=x")[0] == 0)
        newer = example("newer", manifest=[("1.0.0", "1.1.0")], serve=[("1.0.0", "1.1.0")])
        home.good("env-packs", "install", newer)
        home.good("env-packs", "update", "local", "acme.telemetry.file@1.1.0")
        eventually(lambda: home("do", "AcmeTelemetryFile_1_1_0/count", "environment=local")[0] == 0)
        assert home.data("do", "AcmeTelemetryFile_1_1_0/count", "environment=local")["events"] == 1, "data is shared"
        assert home.data("do", f"{CONCEPT}/count", "environment=local")["events"] == 1, "versions stand side by side"
        home.good("env-packs", "uninstall", KIND)
        assert home("do", f"{CONCEPT}/count", "environment=local")[0] == 5
    finally:
        server.terminate()
        server.communicate(timeout=120)


def test_outside_local_a_pack_needs_a_signature_for_packs(home, example):
    pack = example()
    home.good("env", "create", "prod")
    home.good("env-packs", "install", pack)
    code, _, err = home("env-packs", "add", "prod", KIND)
    assert code == 11 and "may not be used in prod" in err, err
    code, _, err = home("do", "Env/bind", "environment=prod", "slot=telemetry", f"kind={KIND}")
    assert code != 0 and "may not be used in prod yet" in err, "no door leads around it"
    home.good("env-packs", "uninstall", KIND)
    home.good("pack", "sign", pack)
    home.good("env-packs", "install", pack)
    home.good("trust", "bootstrap", "--env", "prod")
    code, _, err = home("env-packs", "add", "prod", KIND)
    assert code == 11 and "may not sign" in err, "a key for all bundles is none for packs"
    public = subprocess.run(["openssl", "pkey", "-in", home.path / "keys" / "operator.pem", "-pubout"],
                            capture_output=True, text=True, check=True).stdout
    key = home.path / "operator.pub"
    key.write_text(public)
    home.good("trust", "remove", re.search(r"key ([0-9a-f]{32})", home.good("pack", "sign", pack)).group(1))
    home.good("trust", "add", key, "--label", "packs", "--env", "prod", "--bundle", "packs")
    code, _, err = home("do", "Env/bind", "environment=prod", "slot=telemetry", f"kind={KIND}")
    hint = f"sluice do EnvPack/admit pack={KIND} environment=prod"
    assert code != 0 and f"next:  {hint}\n" in err, err
    home.good(*hint.split()[1:])
    home.good("env-packs", "add", "prod", KIND)
    assert home.data("env-packs", "list", "prod")[0]["kind"] == KIND


def test_a_new_environment_asks_what_its_packs_leave_open(sluice, home, example, tmp_path):
    pack = example(manifest=[("questions:\n", "questions:\n  - { name: region, question: Where is it? }\n"
                                              "  - { name: key, question: With which key?, secret: true }\n")])
    signed = home.good("pack", "sign", pack)
    home.good("env-packs", "install", pack)
    home.good("env", "list")
    home.good("do", "EnvPack/admit", f"pack={KIND}", "environment=local")
    home.good("do", "Env/rebind", "environment=local", "slot=telemetry", f"kind={KIND}")
    key = home.path / "operator.pub"
    key.write_text(subprocess.run(["openssl", "pkey", "-in", home.path / "keys" / "operator.pem", "-pubout"],
                                  capture_output=True, text=True, check=True).stdout)
    home("trust", "remove", re.search(r"key ([0-9a-f]{32})", signed).group(1))
    home.good("trust", "add", key, "--label", "packs", "--env", "staging", "--env", "third", "--bundle", "packs")
    for name in ("staging", "third"):
        home.good("do", "EnvPack/admit", f"pack={KIND}", f"environment={name}")
    create = ["env", "create", "staging", "--extends", "local"]
    schema = home.data(*create, "--schema")
    assert {"region", "key"} <= set(schema["properties"]["telemetry"]["required"])
    code, _, err = home(*create)
    assert code != 0 and "region has no answer: Where is it?; nothing was changed" in err, err
    assert home("env", "show", "staging")[0] == 5
    answers = tmp_path / "answers.yaml"
    answers.write_text("telemetry: {region: north, key: hunter2}\n")
    assert home.good(*create, "--answers", answers) == "created  staging\n"
    setup = {each["slot"]: each["answers"] for each in home.data("config", "show", "staging")["setup"]}
    assert setup["telemetry"] == {"region": "north", "key": "secret://staging/packs/key", "file": "events.jsonl",
                                  "stamp": True}
    assert [each["name"] for each in home.data("secrets", "list", "staging")] == ["packs/key"]
    # A terminal is asked what is open, and nothing else.
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ["SLUICE_HOME"] = str(home.path)
        os.execv(sluice, [str(sluice), "env", "create", "third", "--extends", "local"])
    said = b""

    def until(text):
        nonlocal said
        while text not in said:
            assert select.select([terminal], [], [], 60)[0], said
            said += os.read(terminal, 4096)

    until(b"Where is it?")
    os.write(terminal, b"south\n")
    until(b"With which key?")
    os.write(terminal, b"hunter3\n")
    os.waitpid(pid, 0)
    assert b"called" not in said and b"hunter3" not in said
    setup = {each["slot"]: each["answers"] for each in home.data("config", "show", "third")["setup"]}
    assert setup["telemetry"]["region"] == "south", said


def test_a_changed_pack_no_longer_runs(home, example):
    home.good("env-packs", "install", example())
    kept = next((home.path / "packs").glob("sha256-*"))
    (kept / "serve.py").write_text((kept / "serve.py").read_text() + "# more\n")
    code, _, err = home("do", f"{CONCEPT}/count", "environment=local")
    assert code != 0 and "was changed" in err


def test_doctor_names_missing_and_old_tools(home, example):
    pack = example(manifest=[("- { name: python3, version: \"3.9\", install: apt install python3 }",
                              "- { name: frobnicate, install: apt install frobnicate }\n"
                              "  - { name: python3, version: \"99.0\", install: apt install python3 }")])
    home.good("env-packs", "install", pack)
    home.good("env-packs", "update", "local", KIND)
    code, out, err = home("env", "doctor", "local")
    assert code == 1
    assert f"{KIND} needs frobnicate, which is not on PATH" in out + err
    assert "apt install frobnicate" in out + err
    assert re.search(r"needs python3 99\.0, and \S+ is 3\.", out + err), out + err


def test_pack_test_passes_the_examples(home, root):
    for folder in sorted((root / "examples" / "packs").iterdir()):
        assert "The pack does what it says." in home.good("pack", "test", folder)


LOOP = "for text in sys.stdin:"
RECORD = "    given, settings = asked[\"input\"], asked.get(\"settings\", {})"
BROKEN = {
    "unknown field of pack.yaml": (dict(manifest=[("slot: telemetry", "slot: telemetry\ncolour: red")]), "colour"),
    "a slot that there is not": (dict(manifest=[("slot: telemetry", "slot: kitchen")]), "there is no slot"),
    "a concept with errors": (dict(concept=[("event: String", "event: Strnig")]), "Strnig"),
    "an action that is neither effect nor query": (dict(concept=[("runs: effect\n      retry: safe\n      deadline: 10s", "")]),
                                                   "is neither an effect nor a query"),
    "another pack's name": (dict(serve=[("KIND = \"acme.telemetry.file@1.0.0\"", "KIND = \"acme.other@1.0.0\"")]),
                            "it says that it is acme.other@1.0.0"),
    "an action that is not served": (dict(serve=[("[\"record\", \"count\", \"measure\"]", "[\"count\", \"measure\"]")]),
                                     "it does not serve the action record"),
    "hangs": (dict(serve=[(RECORD, "    time.sleep(600)\n" + RECORD)], concept=[("deadline: 10s", "deadline: 1s")]),
              "it did not answer within 1000 ms"),
    "an undeclared variant": (dict(serve=[("\"variant\": \"ok\", \"fields\": {\"file\"", "\"variant\": \"done\", \"fields\": {\"file\"")]),
                              "the variant done, which it does not declare"),
    "a field of another type": (dict(serve=[("\"written\": len(before)},\n", "\"written\": \"many\"},\n")]),
                                "written: expected Int, found a text"),
    "writes to another relation": (dict(serve=[("\"relation\": \"FileTelemetry\"", "\"relation\": \"Env\"")]),
                                   "writes to Env, which its concept has not"),
    "floods its output": (dict(serve=[(LOOP, "for text in sys.stdin:\n    sys.stdout.write(\"x\" * 2000000)\n    break\n" + LOOP)]),
                          "it said more than 1048576 bytes in one line"),
    "talks on its output": (dict(serve=[(LOOP, "print(\"ready\", flush=True)\n" + LOOP)]),
                            "what is no JSON object: ready"),
    "forks and dies": (dict(serve=[(RECORD, "    if os.fork(): os._exit(1)\n    time.sleep(600)\n" + RECORD)]), "it ended"),
    "does nothing": (dict(serve=[("                file.write(", "                str(")]), "does not contain"),
    "does it twice": (dict(serve=[("    if not any(line[\"id\"] == asked[\"effect\"] for line in before):", "    if True:")]),
                      "asked twice for one effect, it did it twice"),
    "proves nothing": (dict(manifest=[("proofs:", "# proofs:"), ("\n  - { fixture", "\n#  - { fixture")]),
                       "nothing shows that it does anything"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_pack_test_fails_a_broken_pack_for_its_own_reason(home, example, name):
    changes, reason = BROKEN[name]
    code, out, err = home("pack", "test", example(**changes))
    assert code == 1, out + err
    assert reason in out + err


def test_greentic_c1_requirements_of_local_are_green(home):
    seen = home.data("credentials", "requirements", "local")
    assert seen["result"] == "pass"
    assert [each["capability"] for each in seen["checks"]] == [
        "local-process.home.writable", "local-process.ports.free", "local-process.user-namespaces"]


STANDIN = "acme.deployer.standin@1.0.0"


def bind_standin(home, root, tmp_path, seconds):
    home.good("env-packs", "install", root / "examples" / "packs" / "deployer-standin")
    answers = tmp_path / "lifetime.yaml"
    answers.write_text(f"lifetime_seconds: {seconds}\n")
    home.good("env-packs", "update", "local", STANDIN, "--answers", answers)


def cloud(home):
    return home.path / "pack-data" / "acme.deployer.standin" / "cloud.json"


def test_greentic_29_credentials_are_made_checked_and_rotated(home, root, tmp_path, eventually):
    """A role that lacks one verb fails exactly that capability; the rules pack mends it; the administrator's credential is
    nowhere; a fresh token is not rotated, an old one is."""
    admin = f"canary-{os.urandom(12).hex()}"
    bind_standin(home, root, tmp_path, 3600)
    code, out, _ = home("credentials", "requirements", "local")
    assert code == 1 and "there is no token" in out
    code, out, err = home("credentials", "bootstrap", "local", "--admin-profile", "ops", stdin=admin + "\n")
    assert code == 0 and out.startswith("bootstrapped  local, good until "), out + err
    assert home("credentials", "requirements", "local")[0] == 0
    code, _, err = home("credentials", "bootstrap", "local", "--admin-profile", "eve", stdin="another")
    assert code == 4 and "this is no administrator of the cloud" in err

    held = json.loads(cloud(home).read_text())
    held["roles"]["deployer"].remove("standin.apps.delete")
    cloud(home).write_text(json.dumps(held))
    code, out, _ = home("credentials", "requirements", "local", "-o", "json")
    assert code == 1
    assert [each["capability"] for each in json.loads(out)["checks"] if each["status"] == "fail"] == ["standin.apps.delete"]
    rules = home.path / "rules" / "local"
    given = json.loads((rules / "roles.json").read_text())
    held["roles"][given["role"]] = given["verbs"]
    cloud(home).write_text(json.dumps(held))
    assert home("credentials", "requirements", "local")[0] == 0

    # The pack of rules is signed by the operator, over an index that names its files by their digests.
    envelope = json.loads((rules / "rules.json.sig").read_text())
    index = base64.b64decode(envelope["payload"])
    assert index == (rules / "rules.json").read_bytes()
    files = {each["path"]: each["sha256"] for each in json.loads(index)["files"]}
    assert files == {"roles.json": hashlib.sha256((rules / "roles.json").read_bytes()).hexdigest()}
    kind = envelope["payloadType"].encode()
    signed, signature = tmp_path / "signed", tmp_path / "signature"
    signed.write_bytes(b"DSSEv1 %d %s %d %s" % (len(kind), kind, len(index), index))
    signature.write_bytes(base64.b64decode(envelope["signatures"][0]["sig"]))
    public = tmp_path / "operator.pub"
    public.write_bytes(subprocess.run(["openssl", "pkey", "-in", home.path / "keys" / "operator.pem", "-pubout"],
                                      capture_output=True, check=True).stdout)
    subprocess.run(["openssl", "pkeyutl", "-verify", "-pubin", "-inkey", public, "-rawin", "-in", signed, "-sigfile",
                    signature], check=True, capture_output=True)

    def version():
        return home.data("secrets", "get", "local", "credentials/deployer")["version"]

    assert version() == "1"
    assert "unchanged  local" in home.good("credentials", "rotate", "local", "--if-needed") and version() == "1"
    assert "rotated  local" in home.good("credentials", "rotate", "local") and version() == "2"
    home.good("env", "doctor", "local")

    for path in home.path.rglob("*"):
        if path.is_file() and not path.is_symlink():
            content = path.read_bytes()
            for needle in (admin, admin.encode().hex(), base64.b64encode(admin.encode()).decode()):
                assert needle.encode() not in content, path


def test_a_token_that_has_expired_is_told_by_the_doctor_and_made_anew(home, root, tmp_path, eventually):
    bind_standin(home, root, tmp_path, 1)
    home("credentials", "bootstrap", "local", "--admin-profile", "ops", stdin="let-me-in")
    eventually(lambda: "the credential that the deployer uses has expired" in "".join(home("env", "doctor", "local")[1:]))
    assert "next: have an administrator make a new one\n" in home("env", "doctor", "local")[2]
    code, _, err = home("credentials", "rotate", "local", "--if-needed")
    assert code == 4 and "an administrator must come" in err, "what has expired cannot renew itself"
    descriptor, writer = os.pipe()
    os.write(writer, b"let-me-in")
    os.close(writer)
    done = subprocess.run([home.sluice, "credentials", "bootstrap", "local", "--admin-profile", "ops", "--admin-fd",
                           str(descriptor)], pass_fds=[descriptor], capture_output=True, text=True, timeout=300,
                          env={**os.environ, "SLUICE_HOME": str(home.path)})
    os.close(descriptor)
    assert "is empty" not in done.stderr and home.data("secrets", "get", "local", "credentials/deployer")["version"] == "2"


def test_a_token_that_expires_soon_is_rotated_as_the_doctor_says(home, root, tmp_path, eventually):
    bind_standin(home, root, tmp_path, 60)
    home("credentials", "bootstrap", "local", "--admin-profile", "ops", stdin="let-me-in")
    held = json.loads(cloud(home).read_text())
    for token in held["tokens"].values():
        token["until"] += 600  # a slow machine may be late
    cloud(home).write_text(json.dumps(held))
    said = []

    def warned():
        said.append(home("env", "doctor", "local")[2])
        return "the credential that the deployer uses expires at" in said[-1]

    eventually(warned)
    hint = "sluice do Credentials/rotate environment=local"
    assert f"next: {hint}\n" in said[-1]
    home.good(*hint.split()[1:])
    assert home.data("secrets", "get", "local", "credentials/deployer")["version"] == "2"
    home.good("env", "doctor", "local")


def test_a_pack_that_is_not_well_is_taken_back_as_the_doctor_says(home, example):
    home.good("env-packs", "install", example())
    home.good("env-packs", "update", "local", KIND)
    kept = next((home.path / "packs").rglob("serve.py"))
    kept.chmod(0o755)
    kept.write_text("#!/bin/sh\nexit 1\n")
    hint = "sluice env-packs rollback local telemetry"
    code, out, err = home("env", "doctor", "local")
    assert code == 1 and f"{KIND} is not well" in err and f"next: {hint}\n" in err, out + err
    home.good(*hint.split()[1:])
    home.good("env", "doctor", "local")


def test_greentic_c3_rotate_looks_again_where_there_is_nothing_to_rotate(home):
    rotated = home.data("credentials", "rotate", "local")
    assert rotated["issued"] is False and rotated["deployer"] == "local"
    listed = home.data("audit", "list")
    assert any("Credentials/rotate" in json.dumps(each) for each in listed)
    code, out, err = home("credentials", "bootstrap", "local", "--admin-profile", "ops", stdin="root")
    assert code == 0 and out.startswith("advised  local takes no credential; rules in rules/local/rules.json"), out + err
    assert home.data("credentials", "rotate", "local")["issued"] is False


def test_a_secrets_pack_from_outside_keeps_what_programs_get(home, root):
    """The example pack serves the slot: what is put is in its file, and comes back in its versions."""
    home.good("env-packs", "install", root / "examples" / "packs" / "secrets-file")
    home.good("env-packs", "update", "local", "acme.secrets.file@1.0.0")
    code, out, err = home("secrets", "put", "local", "shop/KEY", stdin="in the pack")
    assert code == 0 and "version 1" in out, err
    kept = json.loads((home.path / "pack-data" / "acme.secrets.file" / "secrets.json").read_text())
    assert kept["local shop/KEY"][0]["value"] == "in the pack"
    assert "version 2" in home.good("secrets", "rotate", "local", "shop/KEY")
    home.good("secrets", "remove", "local", "shop/KEY", "--yes")
    assert "local shop/KEY" not in json.loads((home.path / "pack-data" / "acme.secrets.file" / "secrets.json").read_text())


def test_missing_requirements_exit_1_are_kept_and_keep_revisions_cold(home, root, tmp_path):
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen()
    port = listener.getsockname()[1]
    answers = tmp_path / "answers.yaml"
    answers.write_text(f"port_range: {port}-{port}\n")
    home.good("env-packs", "update", "local", "sluice.deployer.local-process@1.0.0", "--answers", answers)
    code, out, err = home("credentials", "requirements", "local")
    assert code == 1 and f"all ports from {port} to {port} are taken" in out, out + err
    home.good("bundles", "build", root / "examples" / "hello", "--out", tmp_path / "hello.bundle")
    home.good("bundles", "add", "local", tmp_path / "hello.bundle")
    revision = home.data("revisions", "list", "local")[0]["revision_id"]
    code, _, err = home("revisions", "warm", "local", revision)
    assert code != 0 and "lacks something that it needs" in err, err
    hint = "sluice do Credentials/requirements environment=local"
    assert f"next:  {hint}\n" in err, err
    assert home(*hint.split()[1:])[0] in (0, 1)
    code, _, err = home("env", "doctor", "local")
    assert code == 1 and f"next: {hint}\n" in err, err
    listener.close()
    assert home("credentials", "requirements", "local")[0] == 0
    home.good("env", "doctor", "local")
    home.good("revisions", "warm", "local", revision)
    assert home.data("revisions", "list", "local")[0]["lifecycle"] == "ready"
    ports = subprocess.run(["ss", "-ltn"], capture_output=True, text=True).stdout
    assert f"127.0.0.1:{port}" in ports or f"0.0.0.0:{port}" in ports or f"*:{port}" in ports, "the range is obeyed"
    home.good("revisions", "drain", "local", revision, "--yes")
    home("revisions", "archive", "local", revision, "--yes")
    home("stop")
