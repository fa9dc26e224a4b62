"""Every answer belongs to its request, whatever the application says besides."""

import pytest
import unruly
from router_process import deployment, revision, table


@pytest.fixture
def behind(router, begin):
    """A router before an application of a kind, and how the revision stands."""
    def start(kind):
        running = router(table(deployment(revision("r1", 10000, begin(unruly.Running(kind)).address)), access_log_bps=0),
                         "--threads", "1")
        return running

    return start


def test_every_answer_belongs_to_its_request_where_head_is_answered_with_a_body(behind):
    running = behind("head")
    counts = unruly.load(running.endpoint, 100_000)
    assert counts == {"gets": counts["gets"], "failed": 0, "chosen": 0, "others": 0}
    assert running.revision_stats("r1")["failures"] == 0, "no connection is kept after HEAD, so nothing comes on one"


def test_every_answer_belongs_to_its_request_where_304_and_204_have_a_body(behind):
    running = behind("status")
    counts = unruly.load(running.endpoint, 10_000, heads=False)
    assert counts == {"gets": counts["gets"], "failed": 0, "chosen": 0, "others": 0}
    assert running.revision_stats("r1")["failures"] > 0, "what comes on a kept connection counts against the replica"


def test_what_slips_through_between_look_and_send_is_counted(behind):
    """What comes right after the look, or behind the request, cannot be told from its answer. It is so once for each
    connection at most: what was the answer comes then, on an idle connection, and no connection is kept after that."""
    running, visitors = behind("unasked"), 16
    counts = unruly.load(running.endpoint, 10_000, visitors=visitors, attackers=0)
    print(counts)
    assert counts["chosen"] + counts["others"] + counts["failed"] <= visitors, counts
    assert running.revision_stats("r1")["failures"] > 0
