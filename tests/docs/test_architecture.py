"""The two walks of docs/architecture.md enter files that exist, each once, and not too many of them."""

import re


def walks(root):
    """The files of each walk, as its table names them in the second column."""
    section = (root / "docs" / "architecture.md").read_text().split("## Two commands, room by room", 1)[1]
    section = section.split("\n## ", 1)[0]
    tables = re.findall(r"((?:^\|.*\n)+)", section, re.M)
    return [[name for row in table.splitlines()[2:] for name in re.findall(r"`([^`]+)`", row.split("|")[2])]
            for table in tables]


def test_every_file_is_there_and_entered_once(root):
    every = [str(path.relative_to(root)) for path in (root / "src").rglob("*") if path.is_file()]
    for walk in walks(root):
        named = [name for name in walk if re.search(r"\.(cc|sync)$", name)]
        assert len(named) == len(set(named))
        for name in named:
            assert len([path for path in every if path.endswith("/" + name)]) == 1, name


def test_traffic_set_enters_at_most_30_files(root):
    assert len(walks(root)[0]) <= 30
