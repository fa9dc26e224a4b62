"""Who sends a debug token is told whether it holds, and who has answered."""

import base64
import time

import pytest
import wire
from router_process import DEPLOYMENT, Key, deployment, revision, table


def headers(token, name="r2"):
    return [("X-Sluice-Debug-Token", token), ("X-Sluice-Deployment", DEPLOYMENT), ("X-Sluice-Revision", name)]


@pytest.fixture
def watched(router, named):
    """A router whose debug tokens one key may mint. r2 has no weight, and nobody is where r3 should be."""
    key = Key()
    running = router(table(deployment(revision("r3", 0, "tcp:127.0.0.1:1"), revision("r2", 0, named("r2").address),
                                      revision("r1", 10000, named("r1").address)),
                           debug_keys=[base64.b64encode(key.raw).decode()]))
    running.debug_key = key
    return running


def test_a_token_that_does_not_hold_gets_403_with_the_reason(watched):
    key, soon = watched.debug_key, time.time() + 900
    good = key.token(DEPLOYMENT, "*", soon)
    flipped = good[:10] + ("A" if good[10] != "A" else "B") + good[11:]
    for token, reason in {
        flipped: "the debug token is not signed by a key of the table",
        Key().token(DEPLOYMENT, "r2", soon): "the debug token is not signed by a key of the table",
        key.token(DEPLOYMENT, "r2", time.time() - 1): "the debug token has expired",
        key.token(DEPLOYMENT, "r1", soon): "the debug token is for another revision",
        "": "the debug token is not one",
    }.items():
        answer = wire.ask(watched.endpoint, headers=headers(token))
        assert (answer.status, answer.body.decode().split(": ", 1)[1]) == (403, reason + "\n")
        assert answer.get("X-Revision") is None, "somebody else has answered"


@pytest.mark.parametrize("left", [[], ["X-Sluice-Deployment"], ["X-Sluice-Revision"]])
def test_a_token_without_its_headers_gets_403(watched, left):
    token = watched.debug_key.token(DEPLOYMENT, "*", time.time() + 900)
    sent = [each for each in headers(token) if each[0] in ["X-Sluice-Debug-Token", *left]]
    answer = wire.ask(watched.endpoint, headers=sent)
    assert answer.status == 403
    assert answer.body.endswith(b": a debug token needs X-Sluice-Deployment and X-Sluice-Revision beside it\n")


def test_headers_without_a_token_stay_ignored(watched):
    answer = wire.ask(watched.endpoint, headers=headers("")[1:])
    assert (answer.status, answer.get("X-Revision"), answer.get("X-Sluice-Revision")) == (200, "r1", None)


@pytest.mark.parametrize("name, status", [("r2", 200), ("r3", 502)])
def test_every_answer_to_a_trusted_caller_names_deployment_and_revision(watched, name, status):
    token = watched.debug_key.token(DEPLOYMENT, "*", time.time() + 900)
    answer = wire.ask(watched.endpoint, headers=headers(token, name))
    assert (answer.status, answer.all("X-Sluice-Deployment"), answer.all("X-Sluice-Revision")) == (status, [DEPLOYMENT], [name])
