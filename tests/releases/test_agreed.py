"""People agree to what moves: whoever asked is told at once what it waits for, and once enough have agreed the call is made
whole, by whichever door it came."""

import json

import pytest
from promoting import Team

PIPELINE = """apiVersion: openchoreo.dev/v1alpha1
kind: DeploymentPipeline
metadata: {name: main}
spec:
  promotionPaths:
    - sourceEnvironmentRef: {kind: Environment, name: local}
      targetEnvironmentRefs: [{name: staging, approvals: 2}]
"""
@pytest.fixture
def team(home, eventually):
    home.prepare()
    home.release("hello", "1.0.0", "hello-1")
    home.run("pins", "set", "hello", "local", "hello-1")
    (home.folder / "pipeline.yaml").write_text(PIPELINE)
    home.run("apply", "-f", "pipeline.yaml")
    one = Team(home, eventually)
    yield one
    one.stop()


PIN = """apiVersion: openchoreo.dev/v1alpha1
kind: ReleasePin
metadata: {name: hello-staging}
spec: {component: hello, environment: staging, releaseName: hello-1}
"""
SETTINGS = """apiVersion: openchoreo.dev/v1alpha1
kind: EnvSettings
metadata: {name: hello-staging}
spec: {owner: {componentName: hello}, environment: staging, overrides: {replicas: 2}}
"""
NEXT = "next:  another person runs: sluice approvals list\n"
SAID = "error: 2 other people must agree before hello-1 of hello goes to staging; nothing was changed\n" + NEXT


def staging(home):
    return home.pins().get(("hello", "staging"), {})


def test_a_promotion_goes_on_once_people_agree(home, team, eventually):
    assert team.run("ann", "promote", "--from", "local", "--to", "staging", code=10).stderr == SAID
    # Who asks again waits for the same people.
    team.run("ann", "promote", "--from", "local", "--to", "staging", code=10)
    waiting = team.agree("bob", "cay")
    assert waiting["input"] == {"components": ["hello"], "fromEnv": "local", "toEnv": "staging", "releases": ["hello-1"]}
    eventually(lambda: staging(home).get("ready"))
    assert home.data("pins", "history", "hello", "staging")[0]["by"] == "user:ann"


def test_what_people_agreed_to_is_not_what_came_meanwhile(home, team, eventually):
    """They have agreed to one release; by then the source runs another one."""
    team.run("ann", "promote", "--from", "local", "--to", "staging", code=10)
    home.release("hello", "2.0.0", "hello-2")
    home.run("pins", "set", "hello", "local", "hello-2")
    waiting = team.agree("bob", "cay")

    def call():
        (one,) = home.data("approvals", "list", "--all")
        return one

    eventually(lambda: call()["status"] == "done", lambda: json.dumps(call()))
    assert "local runs other releases by now" in home.run("flow", "trace", call()["outcome"]).stdout, waiting
    assert staging(home) == {}


def test_files_are_applied_whole_once_people_agree(home, team, eventually):
    for name, text in {"pin": PIN, "settings": SETTINGS}.items():
        (home.folder / f"{name}.yaml").write_text(text)
    assert team.run("ann", "apply", "-f", "pin.yaml", "-f", "settings.yaml", code=10).stderr == SAID
    assert staging(home) == {}
    eventually(lambda: "EnvSettings" not in home.run("get").stdout)
    # Other files with the same pin are agreed to by themselves.
    team.run("ann", "apply", "-f", "pin.yaml", code=10)
    eventually(lambda: len(home.data("approvals", "list")) == 2, lambda: home.run("approvals", "list").stdout)
    second, first = home.data("approvals", "list")
    assert [each["file"].rpartition("/")[2] for each in first["whole"]["documents"]] == ["pin.yaml", "settings.yaml"]
    assert "Pin/set in Definition/apply" in home.run("approvals", "list").stdout
    home.run("approvals", "reject", second["approval"], "--reason", "whole or not at all")
    assert team.agree("bob", "cay")["approval"] == first["approval"]
    eventually(lambda: staging(home).get("ready"))
    assert "replicas: 2" in home.run("describe", "EnvSettings", "hello-staging").stdout
    assert home.data("status")["environments"], "it runs"


def test_files_end_at_once_where_nobody_serves(home):
    """Without a control plane the command asks, says so, and ends."""
    home.prepare()
    home.release("hello", "1.0.0", "hello-1")
    home.run("pins", "set", "hello", "local", "hello-1")
    for name, text in {"pipeline": PIPELINE, "pin": PIN}.items():
        (home.folder / f"{name}.yaml").write_text(text)
    home.run("apply", "-f", "pipeline.yaml")
    assert home.run("apply", "-f", "pin.yaml", code=10).stderr == SAID
    assert home.run("pins", "set", "hello", "staging", "hello-1", code=10).stderr == SAID
    assert home.run("promote", "--from", "local", "--to", "staging", code=10).stderr == SAID
    assert len(home.data("approvals", "list")) == 3 and staging(home) == {}
