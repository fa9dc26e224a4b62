"""The wire to PostgreSQL is cut after any message, in either direction, while a change is under way: whether it was
committed is looked up, never guessed, so nothing that was acknowledged is lost and nothing is done twice. SLUICE_SOAK=1:
after each of the messages, in place of some."""

import itertools
import os

from relay import Relay

from test_replicas import environments, named

SOAK = bool(os.environ.get("SLUICE_SOAK"))


def test_a_wire_that_is_cut_after_any_message_loses_and_doubles_nothing(started, plane, tmp_path, eventually):
    server = started()
    relay = Relay(tmp_path, server)
    one = plane("one", server)
    one.address = relay.address
    expected, failed = ["before", "local"], 0

    def create(name):
        return one.run("env", "create", name, "--idempotency-key", name, code=None).returncode == 0

    try:
        one.serve(*named("one"))
        one.run("env", "create", "before")
        # Until a change is over before so many messages have passed.
        for count in itertools.count(1, 1 if SOAK else 5):
            broken = relay.broken
            relay.break_after(count)
            done = create(f"e{count}")
            expected.append(f"e{count}")
            whole = relay.broken == broken
            relay.break_after(None)
            failed += not done
            # A lease that could not be renewed in time has ended it in order.
            if one.process.poll() is not None:
                assert one.end() == 1, one.log()
                one.serve(*named("one"))
            eventually(lambda: create(f"e{count}"), one.log)
            if whole and done:
                break
        assert failed > 0
        assert environments(one) == sorted(expected)
        made = [each for each in one.data("audit", "list")
                if each["action"] == "Env/create" and each["outcome"] == "ok"]
        assert len(made) == len(expected) - 1, "each was done once"
        assert one.run("audit", "verify").returncode == 0
    finally:
        one.end()
        relay.close()
