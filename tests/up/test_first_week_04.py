"""Several ups at once: the same bytes are one change, others wait for their turn, and in an empty home all of them end well."""

import json

from up_home import get


def together(home, folders, *words):
    starting = [home.begin("up", folder, "--detach", "-o", "json", *words) for folder in folders]
    answers = []
    for each in starting:
        out, err = each.communicate(timeout=120)
        assert each.returncode == 0, err
        answers.append(json.loads(out))
    return answers


def test_first_week_04_two_first_ups_of_one_folder_in_an_empty_home_serve(home):
    folder = home.copy("hello", "app")
    answers = together(home, [folder] * 2)
    assert {get(each["urls"][0]) for each in answers} == {(200, "hello 1.0.0\n")}
    assert len({each["revision"] for each in answers}) == 1
    assert sorted(home.revisions()) == ["hello@1"]


def test_first_week_04_four_ups_of_one_change_are_one_revision_and_leave_the_way_back(home):
    folder = home.copy("hello", "app")
    url = home.up(folder)["urls"][0]
    home.change(folder, "2.0.0")
    answers = together(home, [folder] * 4)
    assert {each["name"] for each in answers} == {"hello@2"}
    assert sorted(home.revisions()) == ["hello@1", "hello@2"]
    home.run("traffic", "rollback", "local")
    assert get(url) == (200, "hello 1.0.0\n")


def test_first_week_04_other_bytes_wait_for_their_turn(home):
    url = home.up(home.copy("hello", "app"))["urls"][0]
    answers = together(home, [home.copy("hello", f"v{n}", version=f"{n}.0.0") for n in (2, 3, 4)])
    assert {each["name"] for each in answers} == {"hello@2", "hello@3", "hello@4"}
    newest = max(answers, key=lambda each: each["name"])
    assert home.data("traffic", "show", "local")["entries"] == [{"revision_id": newest["revision"], "weight_bps": 10000}]
    assert get(url)[0] == 200
