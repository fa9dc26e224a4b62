"""kill -9 of a deployer at each request that it makes to the API server: what it was asked for ends as if nothing had
happened. Before the server did what it was asked ("unheard"), and after it, when nobody hears the answer ("done").
Every third request of these here, each of them in ./dev soak."""

import contextlib
import http.client
import os
import time

import pytest
from served import Served

EVERY = 1 if os.environ.get("SLUICE_SOAK") else 3
FEWER = 4  # of the last requests, which are not made each time
WAVES = {"0": "first", "1": "middle", "7": "last"}


def templates(count, text):
    return {f"{wave}-{i}.yaml": f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: \"${{name}}-{word}-{i}\", annotations: "
                                f"{{sluice.dev/wave: \"{wave}\"}}}}\ndata: {{a: \"{text}\"}}\n"
            for wave, word in WAVES.items() for i in range(count)}


class Killed:
    def __init__(self, deployer, cluster):
        self.deployer, self.cluster, self.served, self.number, self.kills = deployer, cluster, Served(deployer), 0, 0

    def asked(self, action, instance, **more):
        """The request, which may break off; how many requests it made of the cluster."""
        self.number += 1
        request = self.served.request(action=action, instanceId=instance, requestId=f"r{self.number}",
                                      values={"name": instance}, **more)
        with contextlib.suppress(OSError, http.client.HTTPException):
            self.served.ask("POST", "/deployments", request)
        return f"r{self.number}"

    def whole(self, action, instance, **more):
        self.cluster.ask("POST", "/test/forget", {})
        done = self.served.ended(self.asked(action, instance, **more))
        assert "error" not in done, done
        return len([each for each in self.cluster.log() if "/test/" not in each])

    def killed(self, action, instance, at, done, **more):
        self.cluster.fail(kill=self.served.process.pid, after=at, done=done)
        request = self.asked(action, instance, **more)
        if not self.is_killed(request):
            # How often it looks whether an object is gone differs, so this time it made fewer requests.
            self.cluster.ask("POST", "/test/forget", {"failures": True})
            return self.served.ended(request)
        self.kills += 1
        self.served.process.wait(60)
        self.served = Served(self.deployer)
        end = self.served.ended(request)
        assert "error" not in end, (action, at, end)
        # Sent again it is the same operation, not another one.
        self.number -= 1
        assert self.asked(action, instance, **more) == request and self.served.ended(request) == end
        return end

    def is_killed(self, request):
        """Once it is killed, or the request has ended before."""
        while self.served.process.poll() is None:
            with contextlib.suppress(OSError, http.client.HTTPException):
                status, body = self.served.ask("GET", f"/deployments/{request}")
                if status == 200 and body["status"] not in ("accepted", "applying"):
                    return False
            time.sleep(0.02)
        return True

    def maps(self, instance):
        return {each["metadata"]["name"].removeprefix(instance + "-"): each["data"] for each in
                self.cluster.ask("GET", "/api/v1/namespaces/shop/configmaps")[1]["items"]
                if each["metadata"]["name"].startswith(instance + "-")}

    def locks(self):
        return [each for each in self.cluster.ask("GET", "/api/v1/namespaces/shop/configmaps")[1]["items"]
                if "lock" in each.get("data", {})]


@pytest.fixture
def killed(deployer, cluster):
    made = Killed(deployer, cluster)
    yield made
    made.served.stop()


DONE = pytest.mark.parametrize("done", [False, True], ids=["unheard", "done"])


@DONE
def test_a_deployment_survives_its_deployer(killed, done):
    killed.deployer.only(**templates(4, "1"))
    requests = killed.whole("deploy", "whole")
    wanted = killed.maps("whole")
    assert len(wanted) == 12
    moments = range(1 if done else 0, requests, EVERY)
    for at in moments:
        killed.killed("deploy", f"i{at}", at, done)
        assert killed.maps(f"i{at}") == wanted and killed.locks() == []
    assert killed.kills >= len(moments) - FEWER


@DONE
def test_a_rollback_and_a_removal_survive_their_deployer(killed, done):
    def two(instance):
        killed.deployer.only(**templates(4, "1"))
        killed.whole("deploy", instance)
        killed.deployer.only(**templates(4, "2"))
        killed.whole("deploy", instance)

    two("whole")
    back, gone = killed.whole("rollback", "whole"), None
    assert {each["a"] for each in killed.maps("whole").values()} == {"1"}
    gone = killed.whole("undeploy", "whole")
    assert killed.maps("whole") == {}
    first = 1 if done else 0
    moments = [*range(first, back, EVERY), *range(first, gone, EVERY)]
    for at in range(first, max(back, gone), EVERY):
        two(f"i{at}")
        if at < back:
            assert killed.killed("rollback", f"i{at}", at, done)["status"] == "rolledBack"
            assert {each["a"] for each in killed.maps(f"i{at}").values()} == {"1"} and len(killed.maps(f"i{at}")) == 12
        if at < gone:
            assert killed.killed("undeploy", f"i{at}", at, done)["status"] == "deleted"
            assert killed.maps(f"i{at}") == {}
        assert killed.locks() == []
    assert killed.kills >= len(moments) - 2 * FEWER
