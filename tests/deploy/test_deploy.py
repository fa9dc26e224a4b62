"""sluice deploy end to end, with real processes: a plan of four components in a diamond, its execution, a changed version,
a failure, a stale plan, and the way back."""

import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios

from up_home import get, running


def app(home):
    folder = home.copy("diamond", "app")
    return folder


def urls(home):
    port = home.router()["listen"][0].rsplit(":", 1)[1]
    return {name: f"http://127.0.0.1:{port}{path}"
            for name, path in {"store": "/store", "catalog": "/catalog", "cart": "/cart", "web": "/"}.items()}


def answers(home):
    return {name: get(url) for name, url in urls(home).items()}


ASIDE = {"updated_by", "generation", "created_at", "updated_at", "staged_at", "warmed_at", "health", "endpoint", "authorization_ref",
         "previous_split_ref", "idempotency_key"}


def state(home):
    """All of the environment's view but times, generations, ports, who moved traffic last, and what is archived."""
    def bare(value):
        if isinstance(value, dict):
            return {name: bare(each) for name, each in value.items() if name not in ASIDE}
        return [bare(each) for each in value] if isinstance(value, list) else value

    seen = bare(home.data("env", "show", "local"))
    seen["revisions"] = [each for each in seen["revisions"] if each["lifecycle"] != "archived"]
    return seen


def test_a_diamond_is_planned_executed_changed_and_rolled_back(home):
    folder = app(home)
    planned = home.run("deploy", "plan", folder, "--exit-code", code=3)
    assert re.search(r"Plan: 4 to create, 0 to change, 0 to remove, 0 unchanged; 12 nodes in 9 waves\.", planned.stdout)
    assert "+ web" in planned.stdout and "4. deploy-concept/cart, deploy-concept/catalog" in planned.stdout, planned.stdout
    done = home.data("deploy", folder, "--yes")
    assert done["phase"] == "complete" and done["done"] == 12
    assert answers(home) == {name: (200, f"{name} 1.0.0\n") for name in ("store", "catalog", "cart", "web")}
    before = state(home)

    assert "nothing changes" in home.run("deploy", folder, "--yes").stderr

    home.change(folder / "cart", "1.1.0")
    plan = home.data("deploy", "plan", folder)
    assert plan["summary"] | {"edges": 0} == {"create": 0, "change": 1, "remove": 0, "keep": 3, "nodes": 3, "edges": 0, "waves": 3}
    (change,) = [each for each in plan["changes"] if each["sign"] == "change"]
    assert change["component"] == "cart"
    assert [each["name"] for each in change["fields"]] == ["version", "bundle"]
    assert home.data("deploy", "execute", plan["plan_id"])["phase"] == "complete"
    assert answers(home)["cart"] == (200, "cart 1.1.0\n") and answers(home)["web"] == (200, "web 1.0.0\n")

    back = home.data("rollback", "--yes")
    assert back["phase"] == "rolledBack"
    assert answers(home)["cart"] == (200, "cart 1.0.0\n")
    assert state(home) == before
    assert [each["phase"] for each in home.data("deploy", "list")][:2] != []


def test_a_failure_leaves_everything_as_it_was(home):
    folder = app(home)
    home.run("deploy", folder, "--yes")
    for name in ("store", "web"):
        home.change(folder / name, "2.0.0")
    broken = (folder / "web" / "app.py")
    broken.write_text("raise SystemExit('cannot start')\n")
    failed = home.run("deploy", folder, "--yes", code=9)
    assert "rolledBack" in failed.stdout and "✖ deploy-concept/web failed" in failed.stdout, failed.stdout
    assert answers(home) == {name: (200, f"{name} 1.0.0\n") for name in ("store", "catalog", "cart", "web")}


def test_a_plan_holds_only_what_it_saw(home):
    folder = app(home)
    home.run("deploy", folder, "--yes")
    home.change(folder / "cart", "1.1.0")
    home.run("deploy", "plan", folder, "--out", "plan.json")
    home.run("traffic", "clear", "local", "--bundle", "cart", "--yes")
    stale = home.run("deploy", "execute", "plan.json", code=6)
    assert stale.stderr.startswith("error: the plan is stale: "), stale.stderr
    assert "has changed the traffic of cart" in stale.stderr
    shown = home.run("deploy", "show", "plan.json")
    assert "✖ Stale: " in shown.stdout

    # What the plan would make, somebody else has made since.
    home.run("deploy", "destroy", "--yes")
    home.run("deploy", "plan", folder, "--out", "first.json")
    home.up(folder / "cart")
    stale = home.run("deploy", "execute", "first.json", code=6)
    assert "cart for local-dev was deployed meanwhile" in stale.stderr and "Deployment/up" in stale.stderr, stale.stderr
    assert "✖ Stale: cart for local-dev was deployed meanwhile" in home.run("deploy", "show", "first.json").stdout


def test_a_saved_plan_holds_only_in_its_home(home):
    folder = app(home)
    home.run("deploy", "plan", folder, "--out", "plan.json")
    home.stop()
    home.home.rename(home.folder / "before")
    other = "error: plan.json was made in another home; a plan holds only where it was made"
    assert home.run("deploy", "execute", "plan.json", code=6).stderr.startswith(other), "there is no plan of that id"
    home.change(folder / "cart", "2.0.0")
    here = home.data("deploy", "plan", folder)
    assert here["plan_id"] == json.loads((home.folder / "plan.json").read_text())["plan"]
    for verb in ("execute", "show"):
        assert home.run("deploy", verb, "plan.json", code=6).stderr.startswith(other), "this is another plan of that id"
    assert [each["phase"] for each in home.data("deploy", "list")] == ["planned"]


def test_nothing_is_done_without_a_yes_where_nobody_can_answer(home):
    asked = home.run("deploy", app(home), code=2)
    assert "--yes" in asked.stderr
    assert home.data("deploy", "list")[0]["phase"] == "planned"


def test_every_fault_of_a_manifest_is_told_at_once(home):
    folder = app(home)
    manifest = folder / "app.deploy.yaml"
    manifest.write_text(manifest.read_text() + "runtimes:\n  cloud:\n    type: ${CLOUD}\n    colour: red\nspeed: fast\n")
    told = home.run("deploy", "plan", folder, code=1).stderr
    assert "${CLOUD} is not set" in told and "/runtimes/cloud/colour: unknown field" in told and "/speed: unknown field" in told
    assert re.search(r"app\.deploy\.yaml:\d+:\d+: ", told)


def test_versions_come_back_and_everything_can_go(home):
    folder = app(home)
    done = home.run("deploy", folder, "--yes")
    assert re.search(r"^http://127\.0\.0\.1:\d+/cart$", done.stdout, re.MULTILINE), done.stdout
    refused = home.run("rollback", "--yes", code=6).stderr
    assert "so there is nothing to go back to; nothing was changed" in refused, refused
    assert answers(home)["cart"] == (200, "cart 1.0.0\n")
    manifest = folder / "app.deploy.yaml"
    manifest.write_text(manifest.read_text().replace("version: 1.0.0", "version: 2.0.0"))
    home.change(folder / "cart", "2.0.0")
    home.run("deploy", folder, "--yes")
    assert ", after which cart serves 1.0.0 again; nothing was changed" in home.run("rollback", code=2).stderr
    assert answers(home)["cart"] == (200, "cart 2.0.0\n")
    back = home.data("rollback", "--to-version", "1.0.0", "--yes")
    assert (back["phase"], back["version"], back["summary"]["change"]) == ("complete", "1.0.0", 1)
    assert answers(home)["cart"] == (200, "cart 1.0.0\n")

    shown = home.run("deploy", "destroy", "--dry-run").stdout
    assert "Plan: 0 to create, 0 to change, 4 to remove, 0 unchanged; 4 nodes in 3 waves." in shown, shown
    gone = home.data("deploy", "destroy", "--yes")
    assert [each["node"] for each in gone["nodes"]] == ["remove-concept/web", "remove-concept/cart",
                                                        "remove-concept/catalog", "remove-concept/store"]
    assert gone["phase"] == "complete" and home.data("env", "show", "local")["bundles"] == []


def test_two_apps_of_one_environment_are_told_apart(home):
    """Though their components have the same names."""
    folder = app(home)
    home.run("deploy", folder, "--yes")
    other = home.copy("diamond", "other")
    manifest = other / "app.deploy.yaml"
    manifest.write_text(manifest.read_text().replace("name: diamond", "name: other").replace("path: /", "path: /other/"))
    for name in ("store", "cart", "catalog", "web"):
        bundle = other / name / "bundle.yaml"
        bundle.write_text(bundle.read_text().replace(f"name: {name}", f"name: other-{name}"))
    done = home.run("deploy", other, "--yes").stdout
    assert re.findall(r"^http://127\.0\.0\.1:\d+(/.*)$", done, re.MULTILINE) == [
        "/other/cart", "/other/catalog", "/other/store", "/other"], done
    assert "name one of the apps of local: diamond other" in home.run("deploy", "destroy", "--yes", code=2).stderr
    home.run("deploy", "destroy", "other", "--yes")
    assert answers(home)["cart"] == (200, "cart 1.0.0\n")
    assert home.data("deploy", "destroy", "--yes")["app"] == "diamond"
    assert "no app is deployed in local" in home.run("deploy", "destroy", "--yes", code=5).stderr


def test_a_rollback_undoes_a_plan_that_stopped_half_way(home):
    folder = app(home)
    manifest = folder / "app.deploy.yaml"
    manifest.write_text(manifest.read_text() + "onFailure: stop\n")
    home.run("deploy", folder, "--yes")
    for name in ("store", "cart"):
        home.change(folder / name, "2.0.0")
    program = folder / "web" / "app.py"
    program.write_text("raise SystemExit('no')\n")
    stopped = home.data("deploy", folder, "--yes", code=1)
    assert stopped["phase"] == "partial" and answers(home)["cart"] == (200, "cart 2.0.0\n")
    first = home.data("deploy", "list")[1]["plan_id"]
    refused = home.run("deploy", "rollback", first, "--yes", code=6).stderr
    assert f"{stopped['plan_id']} was executed after it; roll that one back first" in refused, refused
    assert home.data("rollback", "--yes")["plan_id"] == stopped["plan_id"]
    assert answers(home) == {name: (200, f"{name} 1.0.0\n") for name in ("store", "catalog", "cart", "web")}


def test_a_rollback_and_a_deploy_that_changes_nothing_serve(home, eventually):
    """Also when nothing ran any more."""
    folder = app(home)
    home.run("deploy", folder, "--yes")
    home.change(folder / "cart", "2.0.0")
    home.run("deploy", folder, "--yes")
    home.stop()
    assert home.data("rollback", "--yes")["phase"] == "rolledBack"
    eventually(lambda: answers_now(home) == {name: (200, f"{name} 1.0.0\n") for name in ("store", "catalog", "cart", "web")},
               lambda: answers_now(home))
    home.stop()
    (folder / "cart" / "bundle.yaml").write_text((home.root / "examples/diamond/cart/bundle.yaml").read_text())
    assert "nothing changes" in home.run("deploy", folder, "--yes").stderr
    eventually(lambda: answers_now(home) == {name: (200, f"{name} 1.0.0\n") for name in ("store", "catalog", "cart", "web")},
               lambda: answers_now(home))


def answers_now(home):
    try:
        return answers(home)
    except OSError as error:
        return str(error)


def test_a_manifest_is_resolved_and_compared(home):
    folder = app(home)
    home.run("env", "create", "staging")
    resolved = home.data("env", "resolve", "staging", "--manifest", folder)
    assert resolved["components"]["web"]["customer"] == "acme" and "environments" not in resolved
    lines = home.run("env", "diff", "local", "staging", "--manifest", folder).stdout.splitlines()
    assert lines[-1] == '/components/web/customer  local: nothing, staging: "acme" (environments/staging)', lines
    assert home.run("env", "promote", "local", "staging", "--kit", "backend", code=7).stderr.startswith(
        "error: no plan of backend is complete in local")


def test_a_killed_control_plane_goes_on_with_its_plan(home, eventually):
    folder = app(home)
    for name in ("store", "cart", "catalog", "web"):  # slow enough to be killed in the middle
        program = folder / name / "app.py"
        program.write_text("import time\ntime.sleep(0.5)\n" + program.read_text())
    deploying = home.begin("deploy", folder, "--yes")
    serves = []
    try:
        for done in (1, 4):
            eventually(lambda: home.run("deploy", "status", code=None).returncode == 0
                       and home.data("deploy", "status")["done"] >= done)
            pid = home.status(code=None)["pid"]
            os.kill(pid, signal.SIGKILL)
            eventually(lambda: not running(pid))
            with open(home.folder / "serve.log", "a") as log:
                serves.append(subprocess.Popen([str(home.sluice), "serve", "--lock-timeout", "60s"], stdout=log, stderr=log,
                                               env=home.environment(), cwd=home.folder))
            eventually(lambda: home.status(code=None).get("pid") == serves[-1].pid)
        eventually(lambda: home.data("deploy", "status")["phase"] == "complete")
        plan = home.data("deploy", "status")
        assert [each["status"] for each in plan["nodes"]] == ["done"] * 12
        assert answers(home) == {name: (200, f"{name} 1.0.0\n") for name in ("store", "catalog", "cart", "web")}
        bundles = home.data("env", "show", "local")
        assert len(bundles["revisions"]) == 4, "no node has run a second time"
    finally:
        deploying.kill()
        deploying.wait(timeout=60)
        home.stop()
        for each in serves:
            each.kill()
            each.wait(timeout=60)


def test_a_terminal_shows_what_a_program_says_while_it_starts(sluice, home):
    """And so do its logs, though it is not healthy yet. Who stops watching can come back."""
    folder, go = app(home), home.folder / "go"
    for each in (home.folder, *home.folder.parents[:2]):  # the program has a user of its own
        if each.stat().st_mode & 0o777 == 0o700:
            each.chmod(0o755)
    program = folder / "store" / "app.py"
    program.write_text(f"import os, time\nprint('loading the catalogue', flush=True)\nwhile not os.path.exists({str(go)!r}):\n"
                       "    time.sleep(0.05)\n" + program.read_text())
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(home.folder)
        os.execve(sluice, [str(sluice), "deploy", str(folder), "--yes"], home.environment())
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
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
            said += piece.decode(errors="replace")

    hear("loading the catalogue")
    assert "out loading the catalogue" in home.run("logs", "store@1").stdout
    # Ctrl-C stops watching alone.
    os.write(terminal, b"\x03")
    hear(" --wait comes back to it")
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    os.close(terminal)
    assert home.data("deploy", "status")["phase"] == "running"
    waiting = home.begin("deploy", "status", "--wait")
    go.touch()
    done, told = waiting.communicate(timeout=60)
    assert waiting.returncode == 0 and "sluice deploy destroy diamond --env local removes it" in told, done + told
    assert answers(home)["web"] == (200, "web 1.0.0\n")


def test_the_options_of_a_plan(home):
    folder = app(home)
    manifest = folder / "app.deploy.yaml"
    manifest.write_text(manifest.read_text() + "rollout: { strategy: canary, steps: [{ weight: 5, pause: 3600 }, { weight: 100 }] }\n")
    assert "Estimated duration: not known yet" in home.run("deploy", "plan", folder).stdout
    done = home.data("deploy", folder, "--yes", "--parallel", "1")
    began = sorted((each["began_at"], each["over_at"]) for each in done["nodes"])
    assert all(one[1] <= other[0] for one, other in zip(began, began[1:])), "one at a time"

    for name in ("cart", "web"):
        home.change(folder / name, "1.1.0")
    shown = home.run("deploy", "plan", folder, "--target", "web").stdout
    assert "Plan: 0 to create, 1 to change, 0 to remove, 0 unchanged; 3 nodes in 3 waves." in shown
    assert "Rollout: canary (5% → 100%)" in shown, shown
    assert "Estimated duration: 60 min" in shown, shown  # of earlier nodes, and of the steps of the rollout
    assert "1. deploy-concept/web" in shown and "deploy-concept/cart" not in shown
    dot = home.run("deploy", "plan", folder, "-o", "dot").stdout
    assert dot.startswith('digraph "dp-') and 'n0 [label="deploy-concept/cart"];' in dot and "n2 -> n3;" in dot, dot
    mermaid = home.run("deploy", "plan", folder, "-o", "mermaid").stdout
    assert mermaid.startswith("graph LR\n") and 'n5["traffic-split/web"]' in mermaid and "n4 --> n5" in mermaid, mermaid
    plan = home.data("deploy", "plan", folder)
    assert (plan["strategy"], plan["steps"]) == ("canary", ["5%:3600s", "100%"])
    assert [each["after"] for each in plan["nodes"]] == [[1], [2], [3], [4], [5], []]
    assert home.run("deploy", "plan", folder, "--target", "shop", code=2).stderr.startswith("error: --target: ")

    # At once, though the manifest has a canary.
    assert home.data("deploy", "execute", plan["plan_id"], "--skip-rollout")["phase"] == "complete"
    assert answers(home)["web"] == (200, "web 1.1.0\n")
