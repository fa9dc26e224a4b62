"""The kits that an app brings: their concepts are served by its components, and their syncs run in the engine, in a
namespace of their own, from the plan that registers them to the one that takes them out."""

import os
import re
import signal

import pytest
from up_home import running


def market(home):
    return home.copy("market", "app")


def call(home, action, code=0, **arguments):
    return home.run("do", action, *(f"{name}={value}" for name, value in arguments.items()), "--wait", "all", "-o", "json",
                    code=code)


def count(home, concept, **arguments):
    return home.data("do", f"{concept}/look", *(f"{name}={value}" for name, value in arguments.items()))["count"]


def rules(home):
    return sorted(each["name"] for each in home.data("do", "DeployPlan/rules")["rules"])


def test_an_apps_syncs_run_between_its_components(home, eventually):
    folder = market(home)
    plan = home.run("deploy", "plan", folder).stdout
    assert "+ sync Reserve" in plan and "register-sync/market.Reserve" in plan, plan
    assert "register-integration/market.SoldOut" in plan, plan
    home.run("deploy", folder, "--yes")
    assert rules(home) == ["Local_Market_Reserve", "Local_Market_SoldOut"]
    call(home, "Local_Market_Stock/add", item="pen", count=3)
    call(home, "Local_Market_Cart/put", cart="ann", item="pen", count=2)
    assert (count(home, "Local_Market_Stock", item="pen"), count(home, "Local_Market_Cart", cart="ann", item="pen")) == (1, 2)
    call(home, "Local_Market_Cart/put", cart="bob", item="pen", count=2)
    assert (count(home, "Local_Market_Stock", item="pen"), count(home, "Local_Market_Cart", cart="bob", item="pen")) == (1, 0)
    assert "nothing changes" in home.run("deploy", folder, "--yes").stderr

    # A rule that changes is a change of the plan; taken back, the one before runs again.
    sync = folder / "kit" / "market.sync"
    sync.write_text(sync.read_text().replace("count: ?n ] }", "count: 1 ] }"))
    assert home.data("deploy", folder, "--yes")["phase"] == "complete"
    call(home, "Local_Market_Stock/add", item="ink", count=5)
    call(home, "Local_Market_Cart/put", cart="ann", item="ink", count=3)
    assert count(home, "Local_Market_Stock", item="ink") == 4
    home.run("rollback", "--yes")
    call(home, "Local_Market_Cart/put", cart="ann", item="ink", count=3)
    assert count(home, "Local_Market_Stock", item="ink") == 1

    # A control plane that is killed runs them again; an app that goes takes them along.
    pid = home.data("status")["pid"]
    os.kill(pid, signal.SIGKILL)
    eventually(lambda: not running(pid))
    call(home, "Local_Market_Cart/put", cart="ann", item="ink", count=1)
    assert count(home, "Local_Market_Stock", item="ink") == 0
    home.run("deploy", "destroy", "market", "--env", "local", "--yes")
    assert rules(home) == []


def test_a_failure_takes_the_syncs_of_the_plan_out_again(home):
    folder = market(home)
    (folder / "cart" / "app.py").write_text("raise SystemExit('no')\n")
    home.run("deploy", folder, "--yes", code=9)
    assert rules(home) == []


def test_syncs_go_with_their_app_though_its_components_went_before(home):
    home.run("deploy", market(home), "--yes")
    for bundle in ("market-cart", "market-stock"):
        home.run("down", bundle)
    assert rules(home) == ["Local_Market_Reserve", "Local_Market_SoldOut"]
    gone = home.run("deploy", "destroy", "market", "--yes").stdout
    assert "- sync Reserve" in gone and "Rollout:" not in gone, gone
    assert rules(home) == []
    refused = home.run("deploy", "destroy", "market", "--yes", code=1).stderr
    assert "no plan has brought anything of market to local" in refused and "next:  sluice deploy list" in refused, refused


@pytest.mark.parametrize("rule, fault", [
    ("sync Steal [eager]\n  when { Cart/put: [] => ok[] }\n  then { Deployment/down: [ environment: \"local\" ] }\n",
     r"market\.sync:3:\d+: .*Deployment"),
    ("sync Steal [eager]\n  when { Deployment/up: [] => ok[] }\n  then { Cart/drop: [ cart: \"a\"; item: \"b\"; count: 1 ] }\n",
     r"market\.sync:2:\d+: .*Deployment"),
    ("sync Steal [eager]\n  when { ?c/put: [] => ok[] }\n  then { Cart/drop: [ cart: \"a\"; item: \"b\"; count: 1 ] }\n",
     r"market\.sync:2:\d+: .*one of Sluice's own"),
    ("sync Steal [eager]\n  when { Cart/put: [ cart: ?c ] => ok[] }\n  where { Cart: { ?c } }\n"
     "  then { Cart/drop: [ cart: ?c; item: \"b\"; count: 1 ] }\n", r"market\.sync:3:\d+: .*keeps the state of Cart"),
    ("sync Steal [eager]\n  when { Cart/put: [ cart: ?c ] => gone[] }\n  then { Stock/take: [] }\n", r"market\.sync:2:\d+: "),
])
def test_a_rule_that_reaches_out_of_its_namespace_is_refused_with_its_line(home, rule, fault):
    folder = market(home)
    (folder / "kit" / "market.sync").write_text(rule)
    refused = home.run("deploy", "plan", folder, code=None)
    assert refused.returncode not in (0, 3) and re.search(r"app\.deploy\.yaml:7:\d+: the kit market: ", refused.stderr), refused.stderr
    assert re.search(fault, refused.stderr), refused.stderr


def test_a_concept_that_nothing_serves_and_a_kit_without_files_are_named(home):
    folder = market(home)
    manifest = folder / "app.deploy.yaml"
    text = manifest.read_text()
    manifest.write_text(text.replace("  Stock:\n", "  Store:\n"))
    assert "names Stock, and nothing under concepts: serves that" in home.run("deploy", "plan", folder, code=None).stderr
    manifest.write_text(text.replace("./kit\n", "./nowhere\n"))
    assert "there are no files of the kit market (./nowhere)" in home.run("deploy", "plan", folder, code=None).stderr
