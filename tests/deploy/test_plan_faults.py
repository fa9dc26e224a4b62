"""What a plan meets: manifests that are meant to hurt, and faults while it runs."""

import json
import os
import re
import shutil
import signal

from images import make_layout, push
from test_deploy import answers, app, urls
from up_home import get, running


def slow(folder, seconds=0.5):
    """Programs that take their time to start."""
    for name in ("store", "cart", "catalog", "web"):
        program = folder / name / "app.py"
        program.write_text(f"import time\ntime.sleep({seconds})\n" + program.read_text())


def test_manifests_that_are_too_large(home):
    folder = app(home)
    manifest = folder / "app.deploy.yaml"
    kept = manifest.read_text()
    with open(manifest, "r+") as file:
        file.truncate(100 << 20)
    told = home.run("deploy", "plan", folder, code=1).stderr
    assert "app.deploy.yaml" in told and "nothing was changed" not in told and len(told) < 1000, told

    lines = ["x0: &x0 [a, a, a, a, a, a, a, a, a, a]"]
    lines += [f"x{i}: &x{i} [{', '.join([f'*x{i - 1}'] * 10)}]" for i in range(1, 10)]
    manifest.write_text(kept + "\n".join(lines) + "\n")
    told = home.run("deploy", "plan", folder, code=1).stderr
    assert re.search(r"app\.deploy\.yaml:\d+:\d+: ", told), told
    assert home.data("deploy", "list") == []


def test_components_that_wait_for_each_other(home):
    folder = app(home)
    manifest = folder / "app.deploy.yaml"
    text = manifest.read_text().replace("kit: backend\n    routes: [{ path: /store }]", "needs: [web]\n    routes: [{ path: /store }]")
    manifest.write_text(text)
    told = home.run("deploy", "plan", folder, code=1).stderr
    assert "components wait for each other" in told and "deploy-concept/store" in told and " → " in told, told


def test_replicas_health_and_images(home, eventually):
    folder = app(home)
    manifest = folder / "app.deploy.yaml"
    text = manifest.read_text()
    manifest.write_text(text.replace("  web:\n    folder: ./web\n",
                                     "  web:\n    folder: ./web\n    replicas: 3\n    health: { unhealthy_after: 7 }\n"))
    planned = home.run("deploy", folder, "--yes")
    assert "replicas: 3" in planned.stdout and 'health: {"unhealthy_after":7}' in planned.stdout, planned.stdout
    web = next(each for each in home.data("runtime", "list") if each["name"].startswith("web@"))
    assert len(web["replicas"]) == 3
    launched = [path.read_text() for path in (home.home / "runtime/replicas").glob("*/launch.json")]
    assert sorted(re.search(r'"unhealthy_after":(\d)', each)[1] for each in launched) == ["3", "3", "3", "7", "7", "7"]
    assert "nothing changes" in home.run("deploy", folder, "--yes").stderr

    # Somebody scales it by hand: the next plan says so, and ends it.
    home.run("scale", "web", "1")
    assert "replicas: 1 → 3" in home.run("deploy", folder, "--yes").stdout
    web = next(each for each in home.data("runtime", "list") if each["name"] == "web@2")
    assert len(web["replicas"]) == 3

    manifest.write_text(text.replace("folder: ./web", "image: ./layout"))
    told = home.run("deploy", "plan", folder, code=1).stderr
    assert "web: the image ./layout lies in a folder, and a bundle packs such a folder" in told, told


def test_an_image_is_planned_by_what_its_tag_means(home, registries, tmp_path):
    folder, host = app(home), registries()
    manifest = folder / "app.deploy.yaml"
    manifest.write_text(manifest.read_text().replace("folder: ./web", f"image: {host}/web:1"))

    def bundle():
        change = next(each for each in home.data("deploy", "plan", folder)["changes"] if each["component"] == "web")
        fields = {each["name"]: each["after"] for each in change["fields"]}
        assert (change["sign"], fields["version"]) == ("create", "1.0.0")
        return fields["bundle"]

    program = tmp_path / "program"
    program.write_text("one")
    push(make_layout(tmp_path / "one", program), f"{host}/web:1")
    first = bundle()
    assert bundle() == first
    program.write_text("two")
    push(make_layout(tmp_path / "two", program), f"{host}/web:1")
    assert bundle() != first
    assert "web" in home.run("deploy", "plan", folder, "-o", "dot").stdout


def test_a_bundle_that_vanished_between_plan_and_execute(home):
    folder = app(home)
    home.run("deploy", folder, "--yes")
    before = answers(home)
    home.change(folder / "store", "2.0.0")
    home.change(folder / "cart", "2.0.0")
    plan = home.data("deploy", "plan", folder)
    known = {each["bundle_digest"] for each in home.data("env", "show", "local")["revisions"]}
    vanished = [path for path in (home.home / "blobs/uploads").glob("*/*")
                if f"sha256:{path.parent.name}{path.name.removesuffix('.sig')}" not in known]
    assert vanished
    for each in vanished:
        each.unlink()
    failed = home.run("deploy", "execute", plan["plan_id"], code=9)
    assert "deploy-concept/store failed" in failed.stdout and "there is no archive" in failed.stdout, failed.stdout
    assert answers(home) == before


def test_what_cannot_be_undone_is_named_with_what_to_look_at(home):
    folder = app(home)
    manifest = folder / "app.deploy.yaml"
    manifest.write_text(manifest.read_text().replace("  web:\n    folder: ./web\n", "  front:\n    folder: ./web\n")
                        .replace("      web: { customer: acme }\n", "      front: { customer: acme }\n"))
    home.run("deploy", folder, "--yes")
    home.change(folder / "web", "2.0.0")
    home.run("deploy", folder, "--yes")
    first = next(each for each in home.data("revisions", "list", "local") if each["bundle_id"] == "web")
    home.run("revisions", "drain", "local", first["revision_id"], "--yes")
    kept = home.home / "blobs/bundles" / first["revision_id"]
    kept.rename(home.folder / "away")
    stuck = home.run("rollback", "--yes", code=1)
    assert "traffic-split/front stuck" in stuck.stdout, stuck.stdout
    hint = re.search(r"traffic-split/front could not be undone: .*; look: sluice (why \S+)\n", stuck.stderr)
    assert "web@2 is ready" in home.run(*hint[1].split()).stdout
    again = re.search(r"then run sluice (deploy rollback \S+)\n", stuck.stderr)
    assert answers(home)["web"] == (200, "web 2.0.0\n")
    (home.folder / "away").rename(kept)
    home.run("revisions", "retry", "local", first["revision_id"], code=None)
    home.run(*again[1].split(), "--yes")
    assert answers(home)["web"] == (200, "web 1.0.0\n")


def test_a_program_that_hangs_is_given_up(home):
    folder = app(home)
    home.run("deploy", folder, "--yes")
    (folder / "web" / "app.py").write_text("import time\ntime.sleep(1000)\n")
    manifest = folder / "app.deploy.yaml"
    manifest.write_text(manifest.read_text().replace("  web:\n    folder: ./web\n",
                                                     "  web:\n    folder: ./web\n    health: { start_within: 1s }\n"))
    failed = home.run("deploy", folder, "--yes", code=9)
    assert "✖ deploy-concept/web failed" in failed.stdout, failed.stdout
    assert answers(home)["web"] == (200, "web 1.0.0\n")


def test_a_killed_router_and_killed_programs(home, eventually):
    folder = app(home)
    slow(folder)
    deploying = home.begin("deploy", folder, "--yes")
    try:
        for done in (2, 5):
            eventually(lambda: home.run("deploy", "status", code=None).returncode == 0
                       and home.data("deploy", "status")["done"] >= done)
            pid = home.router()["pid"]
            os.kill(pid, signal.SIGKILL)
            for each in home.replicas():
                os.kill(each, signal.SIGKILL)
            eventually(lambda: not running(pid))
        eventually(lambda: home.data("deploy", "status")["phase"] in ("complete", "rolledBack"))
        plan = home.data("deploy", "status")
        assert plan["phase"] == "complete", json.dumps(plan["nodes"], indent=1)
        eventually(lambda: all_answer(home))
    finally:
        deploying.kill()
        deploying.wait(timeout=60)


def all_answer(home):
    try:
        return answers(home) == {name: (200, f"{name} 1.0.0\n") for name in ("store", "catalog", "cart", "web")}
    except OSError:
        return False


def test_what_a_rollback_brings_back_belongs_to_the_app(home):
    folder = app(home)
    home.run("deploy", folder, "--yes")
    home.run("deploy", "destroy", "--yes")
    assert home.data("env", "show", "local")["bundles"] == []
    assert home.data("rollback", "--yes")["phase"] == "rolledBack"
    assert answers(home)["web"] == (200, "web 1.0.0\n")
    assert "nothing changes" in home.run("deploy", folder, "--yes").stderr
    assert home.data("deploy", "destroy", "--yes")["phase"] == "complete"
    assert home.data("env", "show", "local")["bundles"] == []


def test_an_up_is_part_of_the_history(home):
    folder = app(home)
    home.run("deploy", folder, "--yes")
    home.change(folder / "cart", "1.5.0")
    home.up(folder / "cart")
    assert answers(home)["cart"] == (200, "cart 1.5.0\n")
    newest, first = home.data("deploy", "list")[:2]
    assert (newest["origin"], newest["app"], newest["version"], newest["phase"]) == ("up", "cart", "1.5.0", "complete")
    assert first["origin"] == "manifest"
    shown = home.data("deploy", "show", newest["plan_id"])
    assert [(each["node"], each["status"]) for each in shown["nodes"]] == [
        ("deploy-concept/cart", "done"), ("configure-transport/cart", "done"), ("traffic-split/cart", "done")]
    refused = home.run("deploy", "rollback", first["plan_id"], "--yes", code=6)
    assert f"{newest['plan_id']}, an up of cart, was executed after it" in refused.stderr

    # A plan sees it; sluice rollback goes back over it.
    shutil.copy(home.root / "examples/diamond/cart/bundle.yaml", folder / "cart/bundle.yaml")
    assert "version: 1.5.0 → 1.0.0" in home.run("deploy", "plan", folder).stdout
    assert home.data("rollback", "--yes")["plan_id"] == newest["plan_id"]
    assert answers(home)["cart"] == (200, "cart 1.0.0\n")
    assert "nothing changes" in home.run("deploy", folder, "--yes").stderr

    # One that fails is a plan that was undone, and one that changes nothing is none.
    home.up(folder / "cart")
    before = len(home.data("deploy", "list"))
    home.up(folder / "cart")
    assert len(home.data("deploy", "list")) == before
    (folder / "cart" / "app.py").write_text("raise SystemExit('cannot start')\n")
    home.run("up", folder / "cart", "--detach", code=7)
    failed = home.data("deploy", "show", home.data("deploy", "list")[0]["plan_id"])
    assert (failed["origin"], failed["phase"]) == ("up", "rolledBack")
    assert failed["nodes"][0]["status"] == "failed" and "cannot start" in str(failed["nodes"][0]["last_lines"])
    assert answers(home)["cart"] == (200, "cart 1.0.0\n")


def test_bundles_without_routes_need_no_manifest_of_their_own(home):
    folder = app(home)
    (folder / "app.deploy.yaml").unlink()
    home.run("init", "--manifest", folder)
    home.run("deploy", folder, "--yes")
    for name, url in urls(home).items():
        port = url.split(":")[2].split("/")[0]
        assert get(f"http://{name}.localhost:{port}/") == (200, f"{name} 1.0.0\n")

    manifest = folder / "app.deploy.yaml"
    manifest.write_text(manifest.read_text().replace("folder: ./cart", "folder: ./cart\n    routes: [{ path: /x }]")
                        .replace("folder: ./web", "folder: ./web\n    routes: [{ path: /x }]"))
    told = home.run("deploy", "plan", folder, code=1).stderr
    assert re.search(r"app\.deploy\.yaml:\d+:\d+: the route any host /x of web is that of cart as well", told), told
