"""A PostgreSQL that takes no changes for a while: each is refused with a sentence, nothing that was acknowledged is lost,
and when it takes them again so does the control plane."""

from test_replicas import environments, named


def test_a_server_that_is_read_only_refuses_changes(started, plane, eventually):
    server = started()
    one = plane("one", server).serve(*named("one"))
    one.run("env", "create", "before")
    server.sql("ALTER SYSTEM SET default_transaction_read_only = on")
    server.sql("SELECT pg_reload_conf()")
    tried = []

    def is_refused():
        tried.append(one.run("env", "create", f"e{len(tried)}", code=None))
        return tried[-1].returncode != 0
    eventually(is_refused)
    assert tried[-1].returncode == 1 and tried[-1].stderr == (
        "error: PostgreSQL: cannot execute UPDATE in a read-only transaction\n"
        "next:  it is a standby, or default_transaction_read_only is on: give the address of the server that takes "
        "changes\n")
    server.sql("ALTER SYSTEM RESET default_transaction_read_only")
    server.sql("SELECT pg_reload_conf()")
    # Its lease may have lapsed meanwhile; then it has ended, as it does when the server is away.
    if one.process.poll() is not None:
        one.end()
        one.serve(*named("one"))
    eventually(lambda: one.run("env", "create", "after", code=None).returncode == 0, one.log)
    there = [f"e{n}" for n, each in enumerate(tried) if each.returncode == 0]
    assert environments(one) == sorted(["after", "before", "local", *there])
    assert one.run("audit", "verify").returncode == 0
