"""sluice kit, end to end: the seed's kit shows every fault that is known of it, and a person can begin, check, format,
show and watch a kit of their own."""

import json
import os
import re
import shutil
import signal
import subprocess
import threading

import pytest

SEED = "tests/lang/seed"


@pytest.fixture
def kit(sluice, root, tmp_path):
    """Runs `sluice kit …` in the repository, or in another folder, with an empty home."""
    def run(*words, cwd=root):
        environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "SLUICE_HOME": str(tmp_path / "home")}
        return subprocess.run([sluice, "kit", *map(str, words)], capture_output=True, text=True, cwd=cwd,
                              env=environment, timeout=60, stdin=subprocess.DEVNULL)
    return run


@pytest.fixture(scope="module")
def seed(sluice, root):
    done = subprocess.run([sluice, "kit", "check", SEED, "-o", "json"], capture_output=True, text=True, cwd=root,
                          timeout=60)
    assert done.returncode == 1
    return json.loads(done.stdout)


def texts(report, severity, rule):
    return [each["text"] for each in report["diagnostics"] if (each["severity"], each["rule"]) == (severity, rule)]


UNBOUND = {
    "ExecuteAfterValidation": "concept spec impl deps",
    "MigrateBeforeExecute": "concept",
    "DeployAfterMigrate": "plan",
    "BeginRollout": "strategy steps",
    "HealthCheckAfterStep": "kit env",
    "AdvanceOnHealthy": "concept criteria",
    "AdvanceOnMetrics": "r",
    "PauseOnBadMetrics": "r",
    "RollbackOnFailure": "r",
    "RollbackPlanOnAbort": "plan",
    "MarkerOnDeployStart": "kit version env",
    "MarkerOnDeployComplete": "kit version env",
    "MarkerOnRollback": "kit version env",
    "PlanAfterPromotion": "envName",
    "RouteToLambda": "mem timeout region",
    "RouteToEcs": "cpu mem cluster",
    "RouteLambdaDeploy": "f",
    "LambdaProvisionComplete": "config",
    "RoutePulumiApply": "stack",
    "PulumiApplyComplete": "plan",
}


def test_the_seeds_unbound_variables_are_errors_by_sync_and_variable(seed):
    expected = {f"sync `{sync}`: `?{name}` in then is not bound by any pattern or query"
                for sync, names in UNBOUND.items() for name in names.split()}
    assert set(texts(seed, "error", "unbound-variable")) == expected


def test_the_seeds_lists_for_scalars_are_errors(seed):
    assert texts(seed, "error", "list-for-scalar") == [
        "sync `MigrateBeforeExecute`: `?from` is list Int, but `fromVersion` of Migration/plan takes one Int",
        "sync `MigrateBeforeExecute`: `?to` is list Int, but `toVersion` of Migration/plan takes one Int",
    ]


def test_the_seed_has_no_other_errors(seed):
    others = [each["text"] for each in seed["diagnostics"]
              if each["severity"] == "error" and each["rule"] not in ("unbound-variable", "list-for-scalar")]
    assert others == ["`?config` is R of Rollout, without a field `strategy`"]


@pytest.mark.parametrize("text", [
    "sync `AdvanceOnHealthy` starts `Telemetry/analyze`, but no sync matches its `insufficientData` or "
    "`backendUnavailable`",
    "sync `HealthCheckAfterStep` starts `Health/checkKit`, but no sync matches its `degraded`",
    "syncs `MarkerOnDeployStart`, `MarkerOnDeployComplete` and `MarkerOnRollback` start `Telemetry/deployMarker`, but "
    "no sync matches its `backendUnavailable`",
])
def test_the_seeds_unhandled_variants_are_warnings(seed, text):
    assert text in texts(seed, "warning", "unhandled-variant")


def test_the_seeds_join_without_a_key_is_a_warning(seed):
    assert texts(seed, "warning", "join-without-key") == [
        "sync `AdvanceOnHealthy` joins `Health/checkKit` with every `Rollout/advance` of the flow: they share no "
        "variable and neither causes the other"]


def test_the_seeds_provision_cycle_is_a_warning(seed):
    assert ("an endless cascade: RouteToLambda → LambdaRuntime/provision → LambdaProvisionComplete → Runtime/provision "
            "→ RouteToLambda") in texts(seed, "warning", "cycle")


def test_the_seeds_build_leads_nowhere(seed):
    found = texts(seed, "warning", "leads-nowhere")
    assert ("`Artifact/build => ok` leads nowhere: sync `ExecuteAfterValidation` starts it, and no sync takes its "
            "`artifact`, `hash` and `sizeBytes`") in found
    assert ("`Rollout/begin => ok` leads nowhere: sync `BeginRollout` starts it, and no sync takes its `rollout`"
            ) in found
    # Ends that are meant: an echo, and what an eventual sync starts.
    assert not [text for text in found if "Rollout/pause" in text or "deployMarker" in text or "contract" in text]


def test_places_are_exact(seed):
    found = [each for each in seed["diagnostics"] if "RollbackOnFailure`: `?r`" in each["text"]]
    assert [(each["file"], each["line"], each["column"], each["length"]) for each in found] == [
        (f"{SEED}/syncs/rollback-on-failure.sync", 8, 31, 2)]
    assert "`Rollout: { ?r … }` in where" in found[0]["hint"]


def test_faults_go_to_stderr_before_the_summary_and_errors_make_the_exit_code(kit):
    done = kit("check", SEED)
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.endswith("\n39 errors, 77 warnings in 17 concepts, 30 syncs\n")
    assert "      Rollout/abort: [ rollout: ?r ]\n                                ^^\n  hint: it could be" in done.stderr


def test_a_new_kit_has_no_faults(kit, tmp_path):
    assert kit("init", "mine", cwd=tmp_path).returncode == 0
    done = kit("check", "mine", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == "The kit has no faults.\n0 errors, 0 warnings in 2 concepts, 1 sync\n"
    assert kit("fmt", "--check", "mine", cwd=tmp_path).returncode == 0
    again = kit("init", "mine", cwd=tmp_path)
    assert again.returncode == 6 and "mine is there already" in again.stderr
    assert kit("init", "../mine", cwd=tmp_path).returncode == 2


def test_formatting_writes_only_what_changes(kit, tmp_path):
    kit("init", "mine", cwd=tmp_path)
    rule = tmp_path / "mine" / "syncs" / "record.sync"
    before = rule.read_text()
    rule.write_text(before.replace("\n  when", "  when").replace("[eventual]", "[ eventual ]"))
    assert kit("fmt", "--check", "mine", cwd=tmp_path).returncode == 1
    assert rule.read_text() != before
    done = kit("fmt", "mine", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "mine/syncs/record.sync\n")
    assert rule.read_text() == before
    rule.write_text("sync Broken when {")
    done = kit("fmt", "mine", cwd=tmp_path)
    assert done.returncode == 1 and done.stderr.startswith("mine/syncs/record.sync:1:")
    assert rule.read_text() == "sync Broken when {"
    large = tmp_path / "mine" / "concepts" / "large.concept"
    large.write_bytes(b" " * ((8 << 20) + 1))
    rule.write_text(before.replace("[eventual]", "[ eventual ]"))
    done = kit("fmt", "mine", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, "mine/syncs/record.sync\n")
    assert done.stderr.startswith("mine/concepts/large.concept:1:1: error: ")
    assert rule.read_text() == before
    done = kit("fmt", "nosuch", cwd=tmp_path)
    assert done.returncode == 5 and done.stderr.endswith(
        "\nnext:  name a kit's folder, or its .concept and .sync files\n"
    )


def test_show_explains_the_kit(kit, tmp_path):
    kit("init", "mine", cwd=tmp_path)
    shown = json.loads(kit("show", "--kit", "mine", "-o", "json", cwd=tmp_path).stdout)
    assert [each["name"] for each in shown["concepts"]] == ["Task", "Journal"]
    assert shown["syncs"][0]["waitsFor"] == ["Task/finish => ok"]
    assert "matched by  RecordFinished (ok)" in kit("show", "Task", "--kit", "mine", cwd=tmp_path).stdout
    missing = kit("show", "Tsk", "--kit", "mine", cwd=tmp_path)
    assert missing.returncode == 5 and "sluice kit show Task" in missing.stderr
    assert kit("show", "--kit", SEED).returncode == 1


def test_graphviz_accepts_the_picture(kit, tmp_path):
    picture = kit("show", "--output", "dot", "--kit", "tests/lang/kits/tasks").stdout
    done = subprocess.run(["dot", "-Tsvg"], input=picture, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "RecordFinished" in done.stdout


def test_a_kit_in_the_home_is_found_by_name_and_changed_by_its_overlay(kit, tmp_path):
    home = tmp_path / "home"
    (home / "kits").mkdir(parents=True, mode=0o700)
    kit("init", "mine", cwd=home / "kits")
    assert "mine" in kit("list").stdout
    (home / "kits" / "mine" / "overrides.yaml").write_text("disable: [ RecordFinished ]\n")
    shown = json.loads(kit("show", "--kit", "mine", "-o", "json").stdout)
    assert shown["syncs"][0]["active"] is False
    assert shown["syncs"][0]["why"].startswith("disabled in ")


def test_show_and_check_say_what_the_home_overrides(kit, tmp_path):
    overlay = tmp_path / "home" / "kits" / "mine"
    overlay.mkdir(parents=True)
    for folder in (overlay.parent, overlay.parent.parent):
        folder.chmod(0o700)
    kit("init", "mine", cwd=tmp_path)
    (overlay / "overrides.yaml").write_text("overrides: { RecordFinished: quiet.sync }\n")
    rule = (tmp_path / "mine" / "syncs" / "record.sync").read_text()
    (overlay / "quiet.sync").write_text(rule.replace("sync RecordFinished", "sync Quiet").replace("finished", "done"))
    said = (f"sync RecordFinished is replaced by the one in {overlay}/quiet.sync, as {overlay}/overrides.yaml says\n")
    done = kit("check", "mine", cwd=tmp_path)
    assert (done.returncode, done.stderr.startswith(said)) == (0, True), done.stderr
    for name in ("RecordFinished", "Quiet"):
        done = kit("show", name, "--kit", "mine", cwd=tmp_path)
        assert done.stdout.startswith(f"Quiet  recommended, known as RecordFinished, from {overlay}/quiet.sync, replaces "
                                      "the one at mine/syncs/record.sync:1\n"), done.stdout
        assert "done {{title}}" in done.stdout and done.stderr == said
    assert "active, replaces the one at mine/syncs/record.sync:1" in kit("show", "--kit", "mine", cwd=tmp_path).stdout
    (overlay / "overrides.yaml").write_text("overrides: { RecordFinished: quiet.sync }\ndisable: [ RecordFinished ]\n")
    done = kit("check", "mine", cwd=tmp_path)
    assert done.returncode == 1 and done.stderr.count(": error: ") == 1
    assert "/overrides.yaml:2:12: error: sync `RecordFinished` is both overridden and disabled\n" in done.stderr
    assert "is replaced by the one" not in done.stderr
    (overlay / "overrides.yaml").write_text("overrides: { RecordFinished: nowhere.sync }\n")
    done = kit("check", "mine", cwd=tmp_path)
    assert done.returncode == 1 and f"there is no file {overlay}/nowhere.sync" in done.stderr
    assert "is replaced by the one" not in done.stderr


def test_a_suite_names_no_file_outside_its_folder(kit, tmp_path):
    kit("init", "mine", cwd=tmp_path)
    kit("init", "other", cwd=tmp_path)
    suite = tmp_path / "mine" / "suite.yaml"
    before = suite.read_text()
    suite.write_text(before.replace("./concepts/task.concept", "../other/concepts/task.concept"))
    done = kit("check", "mine", cwd=tmp_path)
    assert done.returncode == 1 and done.stderr.startswith(
        "mine/suite.yaml:8:11: error: `../other/concepts/task.concept` leads out of the folder of mine/suite.yaml\n")
    suite.write_text(before)
    spec = tmp_path / "mine" / "concepts" / "task.concept"
    spec.unlink()
    spec.symlink_to(tmp_path / "other" / "concepts" / "task.concept")
    done = kit("check", "mine", cwd=tmp_path)
    assert done.returncode == 1 and "passes the symlink 'concepts/task.concept'" in done.stderr


def test_list_marks_a_kit_that_fails_its_check(kit, tmp_path):
    kits = tmp_path / "home" / "kits"
    kits.mkdir(parents=True, mode=0o700)
    kit("init", "good", cwd=kits)
    kit("init", "bad", cwd=kits)
    rule = kits / "bad" / "syncs" / "record.sync"
    rule.write_text(rule.read_text().replace("?title ]", "?titel ]"))
    (kits / "worse").mkdir()
    (kits / "worse" / "suite.yaml").write_text("kit: [")
    done = kit("list")
    lines = {line.split()[0]: line for line in done.stdout.splitlines()}
    assert f"fails its check: sluice kit check {kits}/bad" in lines["bad"] and "1 error" in lines["bad"]
    assert f"fails its check: sluice kit check {kits}/worse" in lines["worse"]
    assert "fails" not in lines["good"] and " ok " in lines["good"]
    assert done.returncode == 0 and "2 kits fail their check and will not be loaded" in done.stderr
    listed = {each["name"]: each["errors"] for each in json.loads(kit("list", "-o", "json").stdout)}
    assert listed == {"bad": 1, "deploy": 0, "good": 0, "worse": 1}


def test_list_names_kits_as_they_are_found(kit, tmp_path):
    kits = tmp_path / "home" / "kits"
    kits.mkdir(parents=True, mode=0o700)
    kit("init", "mine", cwd=kits)
    shutil.copytree(kits / "mine", kits / "other")
    done = kit("list")
    lines = {line.split()[0]: line for line in done.stdout.splitlines()}
    assert " ok " in lines["mine"]
    assert "1 error" in lines["other"] and "holds the kit mine: give both one name" in lines["other"]
    assert [(each["name"], each["errors"]) for each in json.loads(kit("list", "-o", "json").stdout)] == [
        ("deploy", 0), ("mine", 0), ("other", 1)]


def test_a_forgotten_timer_name_is_told(kit, root, tmp_path):
    shutil.copytree(root / "examples/kits/orders", tmp_path / "orders")
    rules = tmp_path / "orders/orders.sync"
    rules.write_text(rules.read_text().replace('name: "packing" ] => ok', 'name: "paking" ] => ok'))
    done = kit("check", tmp_path / "orders")
    assert done.returncode == 0
    assert 'warning: `Order/place` is never answered after `Timer/wait: [ name: "packing" ]` => `ok`\n' in done.stderr


# Faults of every kind of file: each diagnostic has a place, the source line, a caret and what to write instead.
BAD_FILES = {
    "a 1 MB name": ("task.concept", "concept " + "a" * 1_000_000 + " {}\n"),
    "a NUL byte": ("task.concept", "concept Task {\0}\n"),
    "a bidi character": ("task.concept", "concept Task { } # \u202e\n"),
    "10,000 braces": ("task.concept", "concept Task [T] { state { a: T -> " + "{ a: " * 10_000 + "Int\n"),
    "an open string": ("record.sync", 'sync A when { Task/finish: [ task: "x ] => ok[] } then { }\n'),
    "an open block": ("record.sync", "sync A when {"),
    "a CR alone": ("record.sync", "sync A\rwhen { }\n"),
    "an open list": ("suite.yaml", "kit: ["),
    "no map": ("suite.yaml", "- a\n"),
    "nothing": ("suite.yaml", ""),
    "unknown keys": ("suite.yaml", "kit: { name: a, colour: 3 }\nconcepts: 3\n"),
    "no files": ("suite.yaml", "kit: { name: a }\nconcepts: { A: { spec: ./a.concept } }\nsyncs: { required: [ ./a.sync ] }\n"),
}


@pytest.mark.parametrize("what", BAD_FILES)
def test_every_diagnostic_shows_its_place_and_what_to_write(kit, tmp_path, what):
    name, text = BAD_FILES[what]
    kit("init", "mine", cwd=tmp_path)
    (file,) = (tmp_path / "mine").rglob(name)
    file.write_text(text, newline="")
    done = kit("check", "mine", cwd=tmp_path)
    assert done.returncode == 1
    lines = done.stderr.splitlines()
    heads = [i for i, line in enumerate(lines) if re.match(r"\S+:[1-9]\d*:[1-9]\d*: (error|warning): .", line)]
    assert heads and heads[0] == 0 and lines[-1].endswith(("sync", "syncs"))
    for begin, end in zip(heads, heads[1:] + [len(lines) - 1]):
        excerpt = [line for line in lines[begin + 1:end] if line]
        assert excerpt[-1].startswith("  hint: "), excerpt
        if text:
            assert len(excerpt) == 3 and set(excerpt[1]) <= set(" \t^") and "^" in excerpt[1], excerpt
    assert all(len(line) < 600 and line.isprintable() for line in lines)


def test_a_suite_that_is_a_folder_is_told_of_at_its_first_line(kit, tmp_path):
    (tmp_path / "mine" / "suite.yaml").mkdir(parents=True)
    done = kit("check", "mine", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr.startswith("mine/suite.yaml:1:1: error: ") and "\n  hint: " in done.stderr


def test_watching_checks_again_and_ends_on_ctrl_c(sluice, kit, tmp_path):
    kit("init", "mine", cwd=tmp_path)
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    with subprocess.Popen([sluice, "kit", "check", "mine", "--watch"], stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True, cwd=tmp_path, env=environment) as process:
        rescue = threading.Timer(60, process.kill)
        rescue.start()
        try:
            def next_summary():
                for line in process.stderr:
                    if line.startswith("watching "):
                        return summary
                    summary = line.strip()
            assert next_summary() == "0 errors, 0 warnings in 2 concepts, 1 sync"
            rule = tmp_path / "mine" / "syncs" / "record.sync"
            rule.write_text(rule.read_text().replace("?title ]", "?titel ]"))
            assert next_summary() == "1 error, 0 warnings in 2 concepts, 1 sync"
            # The folder goes, comes back, and is made anew: the watch goes on.
            (tmp_path / "mine").rename(tmp_path / "away")
            assert next_summary() == "1 error, 0 warnings in 0 concepts, 0 syncs"
            rule = tmp_path / "away" / "syncs" / "record.sync"
            rule.write_text(rule.read_text().replace("?titel ]", "?title ]"))
            (tmp_path / "away").rename(tmp_path / "mine")
            while next_summary() != "0 errors, 0 warnings in 2 concepts, 1 sync":
                pass
            shutil.rmtree(tmp_path / "mine")
            while next_summary() != "1 error, 0 warnings in 0 concepts, 0 syncs":
                pass
            kit("init", "mine", cwd=tmp_path)
            while next_summary() != "0 errors, 0 warnings in 2 concepts, 1 sync":
                pass
            process.send_signal(signal.SIGINT)
            assert process.wait(timeout=60) == 0
        finally:
            rescue.cancel()
