"""Operators' decisions about flows that run, with the real binary on the example kit."""

import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import time

import pytest


@pytest.fixture
def shop(sluice_orders, root, tmp_path):
    """Runs sluice in a home of its own, with tea on the shelf."""
    env = {**os.environ, "SLUICE_HOME": str(tmp_path / "home"), "ORDERS_MAILBOX": str(tmp_path / "parcels")}
    (tmp_path / "parcels").mkdir()
    kit = root / "examples/kits/orders"

    def run(*words):
        return subprocess.run([sluice_orders, *words], capture_output=True, text=True, env=env, timeout=60)

    run.kit, run.env, run.binary = str(kit), env, sluice_orders
    assert run("kit", "run", run.kit, "Stock/add", "item=tea", "count=5").returncode == 0
    return run


def begin_order(shop):
    """Begins an order; gives the process and the flow's id."""
    process = subprocess.Popen([shop.binary, "-v", "kit", "run", shop.kit, "Order/place", "item=tea", "count=1",
                                "address=Elm 1"], env=shop.env, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL,
                               text=True)
    for line in process.stderr:
        if line.strip().startswith("flow: "):
            return process, line.split("flow: ")[1].strip()
    pytest.fail("it does not say its flow")


def end(process):
    process.kill()
    process.communicate()


def leave_open(shop):
    """Begins an order and is interrupted while it is packed; gives the flow's id."""
    process, flow = begin_order(shop)
    end(process)
    return flow


def state_of(shop, flow):
    return json.loads(shop("flow", "show", flow, "-o", "json").stdout)


def journal_of(shop, flow):
    """The records of a flow. Nothing may run meanwhile."""
    database = sqlite3.connect(f"{shop.env['SLUICE_HOME']}/store/store.db")
    try:
        records = [json.loads(row[0]) for row in database.execute("SELECT CAST(record AS TEXT) FROM journal")]
    finally:
        database.close()
    return [record for record in records if record.get("flow") == flow]


def leave_due(shop, eventually, action):
    """Begins an order, ends the process while this action waits for its time, and waits until that is over; gives the
    flow."""
    for _ in range(5):
        flow = leave_open(shop) if action == "Timer/wait" else leave_trying(shop, eventually)
        due = [record["due"] for record in journal_of(shop, flow) if record.get("action") == action and "due" in record]
        if due and state_of(shop, flow)["state"] in ("waiting", "running"):
            break  # else this process was too slow
    else:
        pytest.fail("every order has ended before it could be stopped")
    eventually(lambda: time.time() * 1000 > due[-1])
    return flow


def leave_trying(shop, eventually):
    """Begins an order that nobody can bring, and ends the process when that was tried once; gives the flow."""
    process, flow = begin_order(shop)
    eventually(lambda: process.poll() is not None or "is tried again" in shop("flow", "show", flow).stdout)
    end(process)
    return flow


def actions_of(shop, flow):
    return {one["action"]: one for one in json.loads(shop("flow", "trace", flow, "-o", "json").stdout)["invocations"]}


def test_cancel_does_not_set_off_what_was_due(shop, eventually):
    flow = leave_due(shop, eventually, "Timer/wait")
    done = shop("flow", "cancel", flow, "--reason", "do not send")
    assert done.returncode == 0, done.stderr
    actions = actions_of(shop, flow)
    assert "Courier/deliver" not in actions
    assert actions["Timer/wait"]["end"]["variant"] == "engine.cancelled"
    assert actions["Order/place"]["end"]["variant"] == "undelivered"


def test_what_an_operator_says_is_done_is_not_done_again(shop, eventually, tmp_path):
    (tmp_path / "parcels").rmdir()
    flow = leave_due(shop, eventually, "Courier/deliver")
    (tmp_path / "parcels").mkdir()
    effect = actions_of(shop, flow)["Courier/deliver"]["id"]
    done = shop("flow", "resolve", effect, "--as", "ok", "--reason", "I brought it by hand")
    assert done.returncode == 0, done.stderr
    assert list((tmp_path / "parcels").iterdir()) == []
    assert "late" not in actions_of(shop, flow)["Courier/deliver"]
    assert actions_of(shop, flow)["Order/place"]["end"]["variant"] == "ok"


def test_what_is_open_can_be_tried_again_at_once(shop, eventually, tmp_path):
    (tmp_path / "parcels").rmdir()
    flow = leave_due(shop, eventually, "Courier/deliver")
    (tmp_path / "parcels").mkdir()
    effect = actions_of(shop, flow)["Courier/deliver"]["id"]
    done = shop("flow", "resolve", effect, "--retry")
    assert (done.returncode, done.stdout) == (0, "Tried again.\n"), done.stderr
    assert len(list((tmp_path / "parcels").iterdir())) == 1
    assert state_of(shop, flow)["state"] == "settled"


def test_the_trace_names_the_sync_that_waits_for_an_open_timer(shop):
    flow = leave_open(shop)
    trace = shop("flow", "trace", flow, "--gates").stdout
    assert re.search(r'\nWaits\n  Timer/wait "packing" waits until \S+ \(\w+\)\n'
                     r'  Send waits for Timer/wait: \[ name: "packing" \] => ok\[\]\n$', trace), trace
    assert 'Send waits for Timer/wait: [ name: "packing" ] => ok[]\n' in shop("why", flow, "--rules").stdout
    waits = json.loads(shop("flow", "trace", flow, "-o", "json").stdout)["waits"]
    assert [wait["awaitedBy"] for wait in waits] == [
        [{"sync": "Send", "pattern": 'Timer/wait: [ name: "packing" ] => ok[]'}]]


def test_what_was_superseded_is_no_failure(shop, eventually, root, tmp_path):
    kit = tmp_path / "orders"
    shutil.copytree(root / "examples/kits/orders", kit)
    with open(kit / "orders.sync", "a") as syncs:
        syncs.write('\nsync Twice [eager]\n  when { Stock/add: [ item: "jam" ] => ok[] }\n'
                    '  then { Timer/wait: [ name: "x"; seconds: 0 ]\n         Timer/wait: [ name: "x"; seconds: 0 ] }\n')
    assert shop("kit", "run", str(kit), "Stock/add", "item=jam", "count=1", "--wait", "settled").returncode == 0
    shown = state_of(shop, "latest")
    assert shown["state"] == "settled" and "failure" not in shown
    assert "superseded" not in shop("why", "latest", "--rules").stdout


def test_cancel_ends_what_is_open(shop):
    flow = leave_open(shop)
    done = shop("flow", "cancel", flow, "--reason", "wrong address", "-o", "json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["state"] == "failed"
    audit = shop("audit", "list", "--flow", flow, "-o", "json")
    assert "wrong address" in audit.stdout
    assert shop("audit", "verify").returncode == 0
    again = shop("flow", "cancel", flow)
    assert again.returncode == 6


def test_move_lets_a_flow_go_on_under_the_current_syncs(shop, eventually):
    flow = leave_open(shop)
    done = shop("flow", "move", flow, "--to", "current")
    assert done.returncode == 0, done.stderr
    eventually(lambda: shop("kit", "run", shop.kit).returncode == 0)
    shown = shop("flow", "list", "-o", "json").stdout
    assert [entry["state"] for entry in json.loads(shown) if entry["flow"] == flow] == ["settled"]


def test_resolve_ends_an_open_action_as_told(shop):
    flow = leave_open(shop)
    done = shop("flow", "resolve", flow, "--as", "undelivered", "reason=strike")
    assert done.returncode == 0, done.stderr
    trace = shop("flow", "trace", flow).stdout
    assert "undelivered" in trace
    nothing = shop("flow", "resolve", "latest", "--retry")
    assert nothing.returncode == 5
    assert nothing.stderr.startswith(f"error: in the newest flow {flow} there is nothing to decide about")
    wrong = shop("flow", "resolve", flow, "--as", "eaten")
    assert wrong.returncode == 2
    assert "its variants are" in wrong.stderr
    for values, message in (["frob=1"], "the variant ok has no field frob"), (["order=a", "order=b"], "order is given twice"):
        wrong = shop("flow", "resolve", flow, "--as", "ok", *values)
        assert (wrong.returncode, wrong.stderr) == (2, f"error: {message}\nnext:  the variant ok has the fields order\n")


def records_of(store, folder):
    """The journal as it is now, from a copy: the store may be in use."""
    for suffix in ("", "-wal"):
        shutil.copy(f"{store}{suffix}", folder / f"copy{suffix}")
    database = sqlite3.connect(folder / "copy")
    try:
        return [json.loads(row[0]) for row in database.execute("SELECT CAST(record AS TEXT) FROM journal")]
    finally:
        database.close()


def test_resolve_takes_the_one_thing_in_the_newest_flow(shop, tmp_path):
    (tmp_path / "parcels").rmdir()
    process = subprocess.Popen([shop.binary, "kit", "run", shop.kit, "Order/place", "item=tea", "count=1", "address=Elm 1"],
                               env=shop.env, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while not any(record["step"] == "again" for record in records_of(tmp_path / "home/store/store.db", tmp_path)):
        assert time.monotonic() < deadline and process.poll() is None
    process.send_signal(signal.SIGKILL)
    process.wait()
    done = shop("flow", "resolve", "latest", "--as", "ok", "-o", "json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["state"] == "settled"
    trace = shop("flow", "trace", "latest").stdout
    assert "Courier/deliver => ok" in trace and "by operator" in trace


@pytest.fixture
def stock_only(tmp_path, root):
    """A kit with one of the shop's concepts and no syncs."""
    kit = tmp_path / "stock"
    kit.mkdir()
    (kit / "stock.concept").write_text((root / "examples/kits/orders/stock.concept").read_text())
    (kit / "suite.yaml").write_text("kit:\n  name: stock\n  version: 0.1.0\n  description: A shelf.\n"
                                    "concepts:\n  Stock:\n    spec: ./stock.concept\n"
                                    "    params:\n      I: { as: item-ref }\n")
    return str(kit)


def test_a_flow_that_the_kit_does_not_know_stands_still_and_says_why(shop, stock_only):
    flow = leave_open(shop)
    other = shop("kit", "run", stock_only, "Stock/add", "item=tea", "count=1")
    assert other.returncode == 0, other.stderr
    shown = " ".join(shop("flow", "show", flow).stdout.split())
    assert "stuck: " in shown and f"next: sluice kit run {shop.kit} goes on with it" in shown
    moved = shop("flow", "move", flow, "--kit", stock_only)
    assert moved.returncode == 6, moved.stderr
    assert "which this kit does not have" in moved.stderr
    # With its own kit it goes on.
    assert shop("kit", "run", shop.kit).returncode == 0
    assert json.loads(shop("flow", "show", flow, "-o", "json").stdout)["state"] == "settled"


def test_a_flow_is_decided_about_under_its_own_kit(shop, stock_only):
    """Whatever ran last: its rows hear of its end."""
    flow = leave_open(shop)
    assert shop("kit", "run", stock_only, "Stock/add", "item=tea", "count=1").returncode == 0
    done = shop("flow", "cancel", flow)
    assert done.returncode == 0, done.stderr
    end = actions_of(shop, flow)["Order/place"]["end"]
    assert end["variant"] == "undelivered"
    assert "status=undelivered" in shop("kit", "run", shop.kit, "Order/status", f"order={end['fields']['order']}").stdout


def test_a_flow_whose_kit_is_not_known_is_not_cancelled_under_another(shop, stock_only, tmp_path):
    flow = leave_open(shop)
    assert shop("kit", "run", stock_only, "Stock/add", "item=tea", "count=1").returncode == 0
    with sqlite3.connect(tmp_path / "home/store/store.db") as store:
        assert store.execute("DELETE FROM meta WHERE CAST(name AS TEXT) = 'kits'").rowcount == 1
    store.close()
    done = shop("flow", "cancel", flow)
    assert done.returncode == 6
    assert done.stderr == (f"error: flow {flow} began with Order/place, which the kit in {stock_only} does not have\n"
                           "next:  add --kit FOLDER, the kit that the flow belongs to\n")
    assert state_of(shop, flow)["state"] == "stuck"


def test_a_flow_that_stands_still_can_be_cancelled(shop, stock_only):
    flow = leave_open(shop)
    assert shop("kit", "run", stock_only, "Stock/add", "item=tea", "count=1").returncode == 0
    done = shop("flow", "cancel", flow, "--kit", stock_only, "--reason", "of no use")
    assert done.returncode == 0, done.stderr
    shown = json.loads(shop("flow", "show", flow, "-o", "json").stdout)
    assert shown["state"] == "failed"
    assert "of no use" in shop("audit", "list", "--flow", flow).stdout
    assert shop("kit", "run", shop.kit).stderr == "Nothing was left to do.\n"
    assert shop("audit", "verify").returncode == 0


def test_a_store_that_is_gone_is_not_one_that_never_was(shop, tmp_path):
    for file in (tmp_path / "home/store").glob("store.db*"):
        file.unlink()
    for words in (["audit", "verify"], ["kit", "run", shop.kit, "Stock/add", "item=tea", "count=1"]):
        gone = shop(*words)
        assert gone.returncode == 11, gone.stdout
        assert "is gone, but its journal was signed up to record 1" in gone.stderr


@pytest.mark.parametrize("damage", [
    "UPDATE state SET value = CAST('{\"x' AS BLOB)",
    "INSERT OR REPLACE INTO meta VALUES (CAST('time' AS BLOB), CAST('abc' AS BLOB))",
    "UPDATE meta SET value = CAST('abc' AS BLOB) WHERE CAST(name AS TEXT) = 'indexed'",
])
def test_a_damaged_store_gives_an_error_and_no_crash(shop, tmp_path, damage):
    with sqlite3.connect(tmp_path / "home/store/store.db") as store:
        assert store.execute(damage).rowcount > 0
    done = shop("kit", "run", shop.kit, "Order/place", "item=tea", "count=1", "address=x")
    assert done.returncode in (1, 11), done.stdout + done.stderr
    assert "damaged" in done.stderr


def test_heads_that_are_missing_are_told(shop, root, tmp_path):
    """A head is signed every 1,000 records. Those of a cascade of 100,000 do not go unnoticed when they are removed."""
    kit = tmp_path / "orders"
    shutil.copytree(root / "examples/kits/orders", kit)
    with open(kit / "orders.sync", "a") as syncs:
        syncs.write("\nsync Restock [eager]\n  when { Stock/add: [ item: ?item ] => ok[ onShelf: ?shelf ] }\n"
                    "  then { Stock/add: [ item: ?item; count: 1 ] }\n")
    shop("kit", "run", str(kit), "Stock/add", "item=tea", "count=1", "--wait", "settled")
    whole = shop("audit", "verify", "-o", "json")
    assert whole.returncode == 0, whole.stderr
    assert json.loads(whole.stdout)["records"] > 100_000
    heads = tmp_path / "home/store/audit.heads"
    first = heads.read_text().splitlines(keepends=True)[0]
    heads.write_text(first)
    cut = shop("audit", "verify")
    assert cut.returncode == 11
    assert "heads are missing" in cut.stdout
    heads.unlink()
    assert shop("audit", "verify").returncode == 11
    kept = tmp_path / "kept.heads"
    kept.write_text(first)
    assert shop("audit", "verify", "--heads", str(kept)).returncode == 0
