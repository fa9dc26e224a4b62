"""Two hundred times kill -9 at random moments of 64 flows whose effects have each retry rule: nothing acknowledged is
lost, no effect runs under two ids, what must not be repeated is not, every flow ends well, and the audit chain holds
with its signed heads."""

import os
import random
import signal
import sqlite3
import subprocess
import sys
import time

FLOWS, STEPS, KILLS = 64, 12, 200


def test_flows_survive_two_hundred_kills(tmp_path, root, build_dir):
    seed = random.randrange(1 << 30)
    chance = random.Random(seed)
    command = [build_dir / "kill_runner", tmp_path, str(FLOWS), str(STEPS)]
    kills = 0
    while kills < KILLS:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        time.sleep(chance.uniform(0.005, 0.25))
        process.send_signal(signal.SIGKILL)
        _, errors = process.communicate()
        assert process.returncode in (-signal.SIGKILL, 0), f"seed {seed}: {errors}"
        kills += process.returncode != 0
        if process.returncode == 0:  # all have settled: more flows to kill
            command[2] = str(int(command[2]) + FLOWS)
    last = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert (last.returncode, last.stdout) == (0, "settled\n"), f"seed {seed}: {last.stderr}"

    flows = int(command[2])
    ids, attempts = {}, {}
    for line in (tmp_path / "effects").read_text().splitlines():
        work, step, rule, effect = line.split()
        ids.setdefault((work, step), set()).add(effect)
        attempts[rule, work, step] = attempts.get((rule, work, step), 0) + 1
    assert {key: found for key, found in ids.items() if len(found) != 1} == {}, f"seed {seed}"
    # What a probe can find, and what must not be repeated, is done once; only the latter may not have been done at all.
    assert {key: count for key, count in attempts.items() if key[0] != "safe" and count != 1} == {}, f"seed {seed}"
    for rule, remainder in (("safe", 1), ("probed", 2)):
        steps = sum(step % 3 == remainder for step in range(1, STEPS + 1))
        assert sum(key[0] == rule for key in attempts) == flows * steps, f"seed {seed}"

    started = {}
    for line in (tmp_path / "started").read_text().splitlines():
        work, flow = line.split()
        started.setdefault(work, set()).add(flow)
    assert {work: found for work, found in started.items() if len(found) != 1} == {}, f"seed {seed}"
    with sqlite3.connect(f"file:{tmp_path}/store.db?mode=ro", uri=True) as store:
        assert store.execute("SELECT count(*), min(status), max(status) FROM flow").fetchone() == (flows, 3, 3)
    audit = subprocess.run([sys.executable, root / "tests/engine/audit_verify.py", tmp_path / "store.db", "--heads",
                            tmp_path / "audit.heads", "--key", tmp_path / "public.pem"],
                           capture_output=True, text=True, env=os.environ)
    assert audit.returncode == 0, audit.stdout + audit.stderr
    records = int(audit.stdout.split()[1])
    assert f"signatures hold; complete up to record {records}\n" in audit.stdout
