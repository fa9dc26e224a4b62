"""The command line as people and scripts meet it: the real binary, its streams and its exit codes."""

import fcntl
import json
import os
import pty
import re
import shlex
import shutil
import socket
import struct
import subprocess
import termios

import jsonschema
import pytest
import yaml


@pytest.fixture
def run(sluice, root, tmp_path):
    """Runs sluice in the repository, or in another folder, with a home of its own; answers exit code, stdout and
    stderr."""
    def run(*words, cwd=root, **variables):
        environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), **variables}
        return subprocess.run([sluice, *words], capture_output=True, text=True, env=environment, timeout=60,
                              stdin=subprocess.DEVNULL, cwd=cwd)
    return run


def on_a_terminal(sluice, words, columns=80, **variables):
    """What sluice writes to a terminal."""
    main, end = pty.openpty()
    fcntl.ioctl(end, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    environment = {"HOME": "/nonexistent", "TERM": "xterm", **variables}
    with subprocess.Popen([sluice, *words], stdin=end, stdout=end, stderr=end, env=environment) as process:
        os.close(end)
        text = b""
        while True:
            try:
                chunk = os.read(main, 65536)
            except OSError:  # the other end is closed
                break
            if not chunk:
                break
            text += chunk
        process.wait(timeout=60)
    os.close(main)
    return text.decode().replace("\r\n", "\n")


def test_version_names_program_number_and_commit(run):
    done = run("--version")
    assert done.returncode == 0
    assert re.fullmatch(r"sluice \d+\.\d+\.\d+ \([0-9a-f]{12}(-dirty)?\)\n", done.stdout)
    assert done.stderr == ""
    assert set(json.loads(run("--version", "-o", "json").stdout)) == {"name", "version", "commit"}


def test_help_teaches(run):
    text = run("help").stdout
    assert text.startswith("Sluice takes software from a folder to production traffic, and back, safely.")
    for part in ("usage: sluice [options] <noun> <verb>", "Global options", "Examples", "Topics", "Next: sluice help"):
        assert part in text
    assert run("--help").stdout == text


def test_the_examples_of_help_work(run):
    text = run("help").stdout
    examples = re.findall(r"^  (sluice .*?)  ", text.split("\nExamples\n")[1].split("\n\n")[0], re.M)
    assert examples[:3] == ["sluice up", "sluice status", "sluice rollback"] and len(examples) == 6
    for example in examples[3:]:  # the first three are the examples of their commands, too
        assert run(*example.split()[1:]).returncode == 0, example


def test_exit_codes_are_those_of_the_table(run):
    rows = json.loads(run("help", "exit-codes", "-o", "json").stdout)["rows"]
    assert {row["code"]: row["exit"] for row in rows} == {
        "ok": 0, "failed": 1, "invalid": 1, "faults_found": 1, "unavailable": 1, "limit": 1, "usage": 2,
        "changes_pending": 3, "unauthenticated": 4, "denied": 4, "not_found": 5, "conflict": 6, "gate_rejected": 7,
        "timeout": 8, "rolled_back": 9, "waiting_for_approval": 10, "verification_failed": 11,
    }


@pytest.mark.parametrize("topic", ["glossary", "output", "exit-codes", "home", "environment", "bundle-yaml"])
def test_topics_say_the_same_in_every_format(run, topic):
    as_json = json.loads(run("help", topic, "--output", "json").stdout)
    assert as_json["topic"] == topic
    assert yaml.safe_load(run("help", topic, "--output", "yaml").stdout) == as_json
    text = " ".join(run("help", topic).stdout.split())
    for row in as_json["rows"]:
        for cell in row.values():
            assert str(cell) in text


def test_the_whole_table_reads_back_as_yaml(run):
    assert yaml.safe_load(run("help", "-o", "yaml").stdout) == json.loads(run("help", "-o", "json").stdout)


def test_every_command_has_help(run):
    table = json.loads(run("help", "-o", "json").stdout)
    for command in table["commands"]:
        text = run(*command["name"].split(), "--help")
        assert text.returncode == 0
        assert text.stdout.startswith(command["summary"] + ".\n")
        assert f"  {command['example']}\n" in text.stdout
        assert run("help", *command["name"].split()).stdout == text.stdout


# What must have happened before an example can work, besides the examples before it.
DIAMOND = ["deploy", "run", "examples/diamond", "--yes"]
BEFORE = {
    "cluster rollback": [["cluster", "deploy", "local", "petstore", "k8s", "--values", "values.yaml"]] * 2,
    "bundles remove": [["revisions", "archive", "local", "hello@1", "--yes"]],
    "deploy cancel": [["deploy", "plan", "examples/diamond"]],
    "deploy diff": [DIAMOND, ["env", "create", "staging", "--extends", "local"],
                    ["trust", "bootstrap", "--env", "staging"], [*DIAMOND, "--env", "staging"]],
    "deploy destroy": [DIAMOND],
    "rollback": [[*DIAMOND, "--target", "store"], DIAMOND],
    "webhooks rotate": [["webhooks", "add", "team", "https://chat.example/hook"]],
    "env apply": [["env", "export", "local"]],
    "env-packs rollback": [],
    "revisions list": [["bundles", "add", "local", "hello.bundle"]],
    "secrets get": [["secrets", "put", "local", "hello/API_KEY", "--file", "api_key.txt"]],
    "trust revoke": [["trust", "add", "release.pem", "--env", "local", "--group", "release"]],
    "rollout advance": [["revisions", "stage", "local", "hello-v2.bundle"], ["revisions", "warm", "local", "hello@3"],
                        ["rollout", "start", "local", "hello@3", "--steps", "10%:manual,20%:1h,100%"]],
    "traffic show": [["revisions", "warm", "local", "hello@1"]],
    "traffic rollback": [["traffic", "set", "local", "hello@1=100%"]],
}
# The plan that examples speak of; which one it is depends on the day.
A_PLAN = "dp-2026-02-20-001"
# The registry that they speak of; the one of the tests has another port.
A_REGISTRY = "127.0.0.1:5000"
# What must be done after it: `up` has started what later examples would meet, and a small change is to be what ran last.
SMALL = ["do", "Env/update", "environment=local", "name=Local"]
AFTER = {
    "backup configure": [["backup", "configure", "--off"], SMALL],
    "cluster policy": [SMALL],
    "down": [["stop"], SMALL],
    "deploy diff": [["deploy", "destroy", "--env", "staging", "--yes"], ["env", "destroy", "staging", "--yes"],
                    ["deploy", "destroy", "--env", "local", "--yes"], ["stop"], SMALL],
    "tls trust": [SMALL],
    "mcp": [["stop", "--control-plane"]],  # it has started sluice serve
    "rollback": [["stop"], SMALL],
    "rollout retry": [["rollout", "abort", "hello"], ["traffic", "clear", "local", "--yes"],
                      ["revisions", "archive", "local", "hello@3", "--yes"], SMALL],
}
# The one flow that ran last has settled: there is nothing to decide about it. Nothing is served. What warms is staged.
# Nobody has a token. No administrator says anything. Nothing was counted of a rollout. Telemetry goes to no such place.
# Nothing is deployed yet. There is no staging. This host is in no mesh. The example declares no
# concept. Nobody listens at chat.example. No request to a cluster has that id.
# Of what no bundle of the world has.
MIGRATIONS = [f"migrate {word}" for word in (
    "plan", "expand", "run", "pause", "resume", "retry", "contract", "undo", "drift", "history", "adopt", "backup", "restore", "status")]
EXITS = {"cluster show": 5, "cluster cancel": 5, "login": 5, "console": 5, "replicas list": 5,
         "replicas token": 5, "replicas join": 6, "router token": 5, "router join": 6, "router remove": 5, "backup remove": 5, "backup verify": 5, "backup restore": 6, "store import": 6, "approvals approve": 5, "approvals reject": 5, "credentials bootstrap": 2, "flow cancel": 6, "deploy rollback": 6,
         "flow move": 6, "flow resolve": 5, "status": 5, "router stats": 1, "router upgrade": 1, "rollout judge": 1, "telemetry remove": 5,
         "describe": 5, "delete": 5, "releases show": 5, "releases diff": 5, "releases export": 5, "releases create": 5,
         "releases reject": 5, "pins rollback": 5, "promote": 1, "pipelines stop": 5, "pipelines resume": 5, "git watch": 1,
         "git sync": 1, "scale": 5, "env promote": 5, "mesh agent": 5, "health invariant": 5,
         "webhooks test": 1, **dict.fromkeys(MIGRATIONS, 5)}


@pytest.fixture
def world(run, root, tmp_path, registries):
    """An empty folder, in which the kit and the bundle that examples speak of have been made, and a home in which hello
    runs and a small change was the last that ran."""
    assert run("kit", "init", "tasks", cwd=tmp_path).returncode == 0
    (tmp_path / "release.pem").write_text("-----BEGIN PUBLIC KEY-----\n"
                                          "MCowBQYDK2VwAyEAA6EHv/POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg=\n"
                                          "-----END PUBLIC KEY-----\n")
    key = subprocess.run(["openssl", "genpkey", "-algorithm", "ed25519"], capture_output=True, check=True).stdout
    (tmp_path / "bounds.pem").write_bytes(key)
    (tmp_path / "bounds.pem").chmod(0o600)
    (tmp_path / "bounds.pub").write_bytes(
        subprocess.run(["openssl", "pkey", "-pubout"], input=key, capture_output=True, check=True).stdout)
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "30",
                    "-subj", "/CN=shop", "-addext", "subjectAltName=DNS:shop.example", "-keyout", str(tmp_path / "privkey.pem"),
                    "-out", str(tmp_path / "fullchain.pem")], check=True, capture_output=True)
    (tmp_path / "api_key.txt").write_text("hunter2")
    (tmp_path / "password.txt").write_text("hunter2")
    (tmp_path / "registry").write_text(registries())
    (tmp_path / "migrations").mkdir()
    (tmp_path / "migrations" / "0001_init.sql").write_text("CREATE TABLE users (id int PRIMARY KEY);\n")
    (tmp_path / "k8s").mkdir()
    (tmp_path / "k8s" / "config.yaml").write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: \"${name}\"}\n")
    (tmp_path / "values.yaml").write_text("name: petstore\n")
    assert run("bundles", "build", root / "examples/hello", "--out", tmp_path / "hello.bundle").returncode == 0
    assert run("bundles", "build", root / "examples/hello-v2", "--out", tmp_path / "hello-v2.bundle").returncode == 0
    made = run("kit", "run", "deploy", "Runtime/provision", "concept=hello", "runtimeType=local", "config={}", "-o", "json")
    instance = json.loads(made.stdout)["fields"]["instance"]
    hello = ["Runtime/deploy", f"instance={instance}", f"artifact={root / 'examples/hello'}", "version=1.0.0"]
    assert run("kit", "run", "deploy", *hello).returncode == 0
    assert run(*SMALL).returncode == 0
    (tmp_path / ".sluice" / "deployer.yml").write_text("hostId: local\nallowedNamespaces: [petstore]\n")
    (tmp_path / "examples").mkdir()
    for each in (root / "examples").iterdir():
        if each.name != "packs":
            (tmp_path / "examples" / each.name).symlink_to(each)
    shutil.copytree(root / "examples" / "packs", tmp_path / "examples" / "packs")  # one is signed, beside it
    # The router stops and comes back where it was: not at 8080, which the router of another test may take meanwhile.
    with socket.socket() as usual:
        usual.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            usual.bind(("127.0.0.1", 8080))
            usual.listen()
        except OSError:
            pass  # somebody has it
        yield tmp_path
    run("revisions", "archive", "local", "hello@1", "--yes")
    assert run("runtime", "stop", "hello").returncode == 0


def examples(run, folder):
    """Each command with the words of its example, after what must be done before it."""
    for command in json.loads(run("help", "-o", "json").stdout)["commands"]:
        for words in BEFORE.get(command["name"], []):
            done = run(*words, cwd=folder)
            assert done.returncode == 0, f"{words}\n{done.stderr}"
            if words[:2] == ["env", "export"]:
                (folder / "env.yaml").write_text(done.stdout)
        words = shlex.split(command["example"])[1:]
        words = [word.replace(A_REGISTRY, (folder / "registry").read_text()) for word in words]
        if A_PLAN in words:
            newest = json.loads(run("deploy", "list", "-o", "json").stdout)[0]["plan_id"]
            words[words.index(A_PLAN)] = newest
        yield command["name"], words
        for words in AFTER.get(command["name"], []):
            assert run(*words, cwd=folder).returncode == 0, words


def serves(sluice, run, words, folder):
    """What `status` says while a server runs."""
    with subprocess.Popen([sluice, *words], cwd=folder, env={"PATH": os.environ["PATH"], "HOME": str(folder)},
                          stderr=subprocess.PIPE) as server:
        assert run("status", "--wait", "60s").returncode == 0
        status = run("status", "-o", "json").stdout
        assert run("stop", "--control-plane").returncode == 0
        assert server.wait(timeout=60) == 0, server.stderr.read()
    return status


def routes(sluice, run, words, folder):
    """What `router stats` says while a router runs."""
    (folder / "table.json").write_text('{"schema":"sluice.router-table.v1","environment":"local","generation":1}')
    with subprocess.Popen([sluice, *words], cwd=folder, env={"PATH": os.environ["PATH"], "HOME": str(folder)},
                          stdout=subprocess.PIPE) as router:
        assert json.loads(router.stdout.readline())["name"] == "main"
        stats = run("router", "stats", "-o", "json")
        assert stats.returncode == 0, stats.stderr
        router.terminate()
        assert router.wait(timeout=60) == 0
    return stats.stdout


def test_the_example_of_every_command_works(run, sluice, world):
    for name, words in examples(run, world):
        if name in ("serve", "deployer"):
            serves(sluice, run, words, world)
            continue
        if name == "router run":
            routes(sluice, run, words, world)
            continue
        if name == "runtime list":
            serves(sluice, run, ["serve"], world)  # which brings back what was stopped after `down`
        done = run(*words, cwd=world)
        assert done.returncode == EXITS.get(name, 0), f"{words}\n{done.stderr}"
        assert done.stdout + done.stderr != "", words


def test_no_example_only_asks_for_help(run):
    for command in json.loads(run("help", "-o", "json").stdout)["commands"]:
        assert not {"--help", "--schema"} & set(shlex.split(command["example"])), command["example"]


def strict(schema):
    """The same schema, by which an object has no member that it does not name."""
    if isinstance(schema, list):
        return [strict(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    made = {key: strict(value) for key, value in schema.items()}
    if isinstance(made.get("properties"), dict) and made.get("type") == "object":
        made.setdefault("additionalProperties", False)
    return made


def misfits(run, name, printed):
    """What does not fit the schema of what a command prints."""
    schema = json.loads(run("schema", *name.split()).stdout)
    jsonschema.Draft202012Validator.check_schema(schema)
    if schema.get("type") == "string":
        return []  # it prints what it prints
    values = [json.loads(line) for line in printed.splitlines()] if name == "logs" else [json.loads(printed)]
    validator = jsonschema.Draft202012Validator(strict(schema))
    return [f"{name}: {error.json_path}: {error.message}" for value in values for error in validator.iter_errors(value)]


def test_the_json_of_every_command_fits_its_schema(run, sluice, world):
    found = []
    for name, words in examples(run, world):
        if name in ("serve", "deployer"):
            found += misfits(run, "status", serves(sluice, run, words, world))
            continue
        if name == "router run":
            found += misfits(run, "router stats", routes(sluice, run, words, world))
            continue
        if name == "exec":
            continue  # all that follows is the program's
        done = run(*words, "-o", "json", cwd=world)
        assert done.returncode == EXITS.get(name, 0), f"{words}\n{done.stderr}"
        if done.stdout:
            found += misfits(run, name, done.stdout)
    # What the examples do not show.
    for name, words in [("kit show", ["kit", "show", "--kit", "deploy"]), ("env show", ["env", "show", "local"]),
                        ("help", ["help"]), ("help", ["help", "env", "show"]), ("help", ["help", "env"]),
                        ("flow list", ["flow", "list"]), ("audit list", ["audit", "list"]),
                        ("bundles list", ["bundles", "list", "local"]), ("revisions list", ["revisions", "list", "local"]),
                        ("env export", ["env", "export", "local"]), ("traffic history", ["traffic", "history", "local"]),
                        ("config show", ["config", "show", "local"])]:
        done = run(*words, "-o", "json", cwd=world)
        assert done.returncode == 0, done.stderr
        found += misfits(run, name, done.stdout)
    assert found == []


def test_the_file_of_an_environment_fits_the_schema_of_apply(run, world):
    assert run("bundles", "add", "local", "hello.bundle", cwd=world).returncode == 0
    schema = json.loads(run("env", "apply", "--schema").stdout)
    validator = jsonschema.Draft202012Validator(schema)
    for words in (["env", "export", "local"], ["env", "show", "local", "-o", "yaml"]):
        document = yaml.safe_load(run(*words).stdout)
        assert [error.message for error in validator.iter_errors(document)] == []
    assert list(validator.iter_errors({**document, "nmae": 1}))


CHANGING = ["--reason", "--idempotency-key", "--expect-generation", "--schema", "--answers"]
LOSING = ["env destroy", "env apply", "env-packs remove", "bundles update", "bundles remove", "revisions drain",
          "revisions archive", "traffic clear", "secrets remove"]


def test_every_command_that_changes_an_object_takes_what_changes_take(run):
    table = {each["name"]: {option["name"] for option in each["options"]}
             for each in json.loads(run("help", "-o", "json").stdout)["commands"]}
    reading = {"env list", "env show", "env export", "env-packs list", "bundles list", "revisions list", "traffic show",
               "traffic history", "traffic token", "config show", "secrets list", "secrets get", "rollout list",
               "rollout status", "rollout watch", "rollout judge", "env resolve", "env diff"}
    files = {"bundles build", "bundles inspect", "bundles sign", "bundles verify", "bundles doctor", "bundles diff",
             "bundles extract", "bundles push", "bundles pull"}  # of no environment
    changing = [name for name in table if name not in reading | files
                and name.split()[0] in ("env", "env-packs", "bundles", "revisions", "traffic", "config", "secrets", "rollout")]
    assert len(changing) == 37
    for name in changing:
        assert set(CHANGING) <= table[name], name
        schema = json.loads(run(*name.split(), "--schema").stdout)
        jsonschema.Draft202012Validator.check_schema(schema)
        assert schema["type"] == "object" and schema["title"], name
    for name in LOSING:
        assert {"--dry-run", "--yes"} <= table[name], name


@pytest.mark.parametrize("words, message, step", [
    (["hlep"], "unknown command 'hlep'; did you mean 'sluice help'?", "sluice help"),
    (["frobnicate"], "unknown command 'frobnicate'", "sluice help"),
    (["--qiet", "help"], "unknown option '--qiet'; did you mean --quiet?", "sluice help"),
    (["help", "--verbos"], "unknown option '--verbos'; did you mean --verbose?", "sluice help help"),
    (["help", "glosary"], "there is no help on 'glosary'; did you mean 'glossary'?", "sluice help glossary"),
    (["completion", "fihs"], "<shell> is bash, zsh, fish or names, not 'fihs'; did you mean fish?", "sluice help completion"),
    (["-o", "jsn", "help"], "-o is table, json or yaml, not 'jsn'; did you mean json?", "sluice help"),
    (["completion", "names", "flows", "zsh"], "'sluice completion' takes no further argument 'zsh'", "sluice help completion"),
])
def test_a_wrong_command_line_exits_2_and_says_what_was_meant(run, words, message, step):
    done = run(*words)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr == f"error: {message}\nnext:  {step}\n"


@pytest.mark.parametrize("words", [["-o", "json", "hlep"], ["hlep", "--output=json"], ["hlep", "--bogus", "-ojson"]])
def test_errors_are_problems_for_programs(run, words):
    done = run(*words)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert json.loads(done.stderr) == {
        "type": "urn:sluice:problem:usage", "title": "the command line is wrong", "status": 400,
        "detail": "unknown command 'hlep'; did you mean 'sluice help'?", "code": "usage", "next": "sluice help",
    }


def test_without_a_command_help_goes_to_stderr(run):
    done = run()
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == run("help").stdout + "\nerror: a command is missing\nnext:  sluice help\n"


def test_hostile_words_cannot_reach_the_screen(run):
    done = run("\x1b[2J\nx")
    assert done.returncode == 2
    assert done.stderr == "error: unknown command '\\x1b[2J\\nx'\nnext:  sluice help\n"


def test_bytes_that_are_not_text_are_answered(sluice):
    done = subprocess.run([sluice, b"\xff\xfe", b"-o", b"json"], capture_output=True, timeout=60)
    assert done.returncode == 2
    assert json.loads(done.stderr)["detail"] == "unknown command '\\xff\\xfe'"


def test_output_that_cannot_be_written_is_a_failure(sluice):
    with open("/dev/full", "wb") as full:
        done = subprocess.run([sluice, "help"], stdout=full, stderr=subprocess.PIPE, timeout=60)
    assert done.returncode == 1
    assert done.stderr == b"error: stdout did not take all of the output\n"


def test_color_is_for_terminals_that_want_it(sluice):
    assert "\x1b[" in on_a_terminal(sluice, ["help"])
    assert "\x1b[" not in on_a_terminal(sluice, ["help"], NO_COLOR="1")
    assert "\x1b[" not in on_a_terminal(sluice, ["help"], TERM="dumb")
    assert "\x1b[" not in on_a_terminal(sluice, ["help", "--no-color"])
    assert "\x1b[" not in on_a_terminal(sluice, ["--no-color", "hlep"])
    piped = subprocess.run([sluice, "help"], capture_output=True, text=True, env={"TERM": "xterm"})
    assert "\x1b[" not in piped.stdout


@pytest.mark.parametrize("columns", [80, 50])
def test_help_fits_the_terminal(sluice, columns):
    for topic in ([], ["glossary"], ["exit-codes"], ["output"], ["home"], ["environment"]):
        for line in on_a_terminal(sluice, ["--no-color", "help", *topic], columns=columns).splitlines():
            assert len(line) <= columns, line


def test_explaining_touches_nothing_and_needs_no_home(run, tmp_path):
    for words in (["--version"], ["help"], ["--help"], ["help", "home"], ["completion", "bash"], ["hlep"]):
        run(*words)
        run(*words, HOME="", SLUICE_HOME="")
    assert list(tmp_path.iterdir()) == []


def test_a_home_that_others_can_write_is_not_read(run, tmp_path):
    home = tmp_path / "home"
    assert run("kit", "init", "tasks", cwd=tmp_path).returncode == 0
    (home / "kits").mkdir(parents=True)
    home.chmod(0o770)
    for words in (["kit", "list"], ["kit", "check", "named"], ["kit", "show", "--kit", "named"]):
        done = run(*words, cwd=tmp_path, SLUICE_HOME=str(home))
        assert done.returncode == 1
        assert done.stdout == ""
        assert done.stderr == (f"error: {home} can be written by others; Sluice keeps keys there\n"
                               f"next:  chmod 700 '{home}'\n")
    for folder in ("tasks", "./tasks", str(tmp_path / "tasks")):
        assert run("kit", "check", folder, cwd=tmp_path, SLUICE_HOME=str(home)).returncode == 0
    home.chmod(0o700)
    assert run("kit", "list", SLUICE_HOME=str(home)).returncode == 0


def test_verbose_says_where_a_kit_is_read(run, tmp_path):
    assert run("kit", "init", "tasks", cwd=tmp_path).returncode == 0
    said = run("kit", "check", "tasks", "--verbose", cwd=tmp_path).stderr.splitlines()
    assert said[:2] == [f"home: {tmp_path}/.sluice", "kit: tasks, files read: 4"]
    assert "files read" not in run("kit", "check", "tasks", cwd=tmp_path).stderr


def test_quiet_leaves_out_that_there_are_no_further_kits(run, tmp_path):
    done = run("kit", "list")
    assert done.returncode == 0 and "built-in:deploy" in done.stdout
    assert done.stderr.startswith(f"No further kits in {tmp_path}/.sluice/kits. ")
    done = run("kit", "list", "--quiet")
    assert (done.returncode, done.stderr) == (0, "")
    assert list(tmp_path.iterdir()) == []
