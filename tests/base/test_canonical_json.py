"""Canonical JSON equals what JavaScript prints, byte for byte: RFC 8785 is defined by JavaScript's own functions."""

import json
import random
import struct
import subprocess

import pytest

DOUBLES = 1_000_000
OBJECTS = 10_000


@pytest.fixture
def filters(root, build_dir, tmp_path):
    """Runs the same lines through Sluice and through Node, side by side; gives both outputs."""
    def run(mode, lines):
        given, made = tmp_path / "lines", tmp_path / "ours"
        given.write_text("\n".join(lines) + "\n", encoding="utf-8")
        with given.open("rb") as ours_in, made.open("wb") as ours_out, given.open("rb") as theirs_in:
            ours = subprocess.Popen([build_dir / "canonical_json_tool", mode], stdin=ours_in, stdout=ours_out)
            theirs = subprocess.run(["node", root / "tests/base/canonical.mjs", mode], stdin=theirs_in,
                                    stdout=subprocess.PIPE, check=True)
            assert ours.wait() == 0
        return made.read_bytes(), theirs.stdout
    return run


def assert_equal_lines(inputs, ours, theirs):
    assert theirs.count(b"\n") == len(inputs)
    if ours == theirs:
        return
    rows = zip(inputs, ours.split(b"\n"), theirs.split(b"\n"))
    different = [f"{given}: {a!r}, Node: {b!r}" for given, a, b in rows if a != b]
    raise AssertionError(f"{len(different)} differ, among them\n" + "\n".join(different[:10]))


def seeded_doubles(count):
    """Half are any bits, which is mostly extreme exponents; half are numbers as people write them."""
    rng = random.Random(8785)
    bits = rng.randbytes(8 * count // 2).hex()
    for at in range(0, len(bits), 16):
        word = bits[at:at + 16]
        # All ones in the exponent would be NaN or an infinity.
        yield word if int(word[:3], 16) & 0x7FF != 0x7FF else "3ff" + word[3:]
    for _ in range(count - count // 2):
        number = round(rng.uniform(-1, 1) * 10.0 ** rng.randrange(-8, 24), rng.randrange(0, 10))
        yield struct.pack(">d", number).hex()


ALPHABET = ('abcdefghijklmnopqrstuvwxyz0123456789_-./~"\\\b\f\n\r\t\0\x1f\x7f\x80'
            "äß€\u2028\ud7ff\ue000\ufb33\uffff\U00010000\U0001f600\U0010ffff")


def seeded_text(rng):
    return "".join(rng.choice(ALPHABET) for _ in range(rng.randrange(8)))


def seeded_value(rng, depth):
    kind = rng.randrange(10 if depth > 0 else 7)
    if kind == 0:
        return rng.choice([None, True, False])
    if kind == 1:
        return rng.randrange(-2**53, 2**53 + 1)
    if kind == 2:
        return rng.uniform(-1, 1) * 10.0 ** rng.randrange(-30, 30)
    if kind == 3:
        return rng.randrange(-1000, 1000)
    if kind < 7:
        return seeded_text(rng)
    if kind == 7:
        return [seeded_value(rng, depth - 1) for _ in range(rng.randrange(5))]
    return seeded_object(rng, depth - 1)


def seeded_object(rng, depth):
    return {seeded_text(rng): seeded_value(rng, depth) for _ in range(rng.randrange(12))}


def test_doubles_print_as_in_node(filters):
    lines = list(seeded_doubles(DOUBLES))
    assert len(lines) == DOUBLES
    assert_equal_lines(lines, *filters("doubles", lines))


def test_objects_print_as_in_node(filters):
    rng = random.Random(3)
    lines = [json.dumps(seeded_object(rng, 3), ensure_ascii=rng.random() < 0.5) for _ in range(OBJECTS)]
    assert_equal_lines(lines, *filters("json", lines))


def test_what_a_double_cannot_hold_is_refused_where_node_rounds(filters):
    lines = ['{"a": 1}', "9007199254740993"]
    ours, theirs = filters("json", lines)
    assert ours == (b'{"a":1}\n'
                    b"error: the integer 9007199254740993 has no canonical form, a double cannot hold it exactly\n")
    assert theirs == b'{"a":1}\n9007199254740992\n'
    with pytest.raises(AssertionError, match="1 differ"):
        assert_equal_lines(lines, ours, theirs)
