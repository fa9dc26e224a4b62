"""A hint of `bundles sign` leads to a key, not to another mode of a file that is none."""


def test_signing_with_what_is_no_key_says_so_and_how_to_make_one(home):
    home.run("bundles", "build", home.root / "examples/hello", "--out", "hello.bundle")
    refused = home.run("bundles", "sign", "hello.bundle", "--key", "/etc/passwd", code=1).stderr
    assert "/etc/passwd:1:1: this is not an Ed25519 private key" in refused
    assert "next:  make a key with: openssl genpkey -algorithm ed25519 -out KEY" in refused
    assert "chmod" not in refused
