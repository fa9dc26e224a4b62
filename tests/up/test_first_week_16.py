"""An archive that is not verified gets traffic in local, and `up` says so."""

import subprocess


def test_up_says_that_an_archive_is_signed_by_an_unknown_key(home):
    subprocess.run(["openssl", "genpkey", "-algorithm", "ed25519", "-out", home.folder / "stranger.pem"], check=True)
    (home.folder / "stranger.pem").chmod(0o600)
    home.run("bundles", "build", home.root / "examples/hello", "--out", "hello.bundle", "--key", "stranger.pem")
    home.run("trust", "bootstrap", "--env", "local")
    why = home.run("bundles", "verify", "hello.bundle", code=11).stderr
    assert "unknown key" in why
    first = home.run("up", "hello.bundle", "--detach")
    assert "up  hello@1 gets 100%" in first.stdout
    assert "warning: hello@1 is not verified: " in first.stderr
    assert "which is not in the trust root" in first.stderr and "every other environment would refuse it" in first.stderr
    again = home.run("up", "hello.bundle", "--detach")
    assert "warning: hello@1 is not verified: " in again.stderr, "as long as it serves"
    staged = home.run("revisions", "stage", "local", "hello.bundle")
    assert "warning: hello@2 is not verified: " in staged.stderr


def test_up_of_a_folder_that_it_signs_itself_warns_of_nothing(home):
    assert "not verified" not in home.run("up", home.root / "examples/hello", "--detach").stderr
