"""The way back is longer than one step, and the log of splits loses nothing."""

from up_home import Load, get


def test_first_week_09_two_steps_back_after_several_ups(home):
    folder = home.copy("hello", "app")
    url = home.up(folder)["urls"][0]
    for version in ("2.0.0", "3.0.0", "4.0.0"):
        home.change(folder, version)
        home.up(folder)
    lifecycles = {name: each["lifecycle"] for name, each in home.revisions().items()}
    assert lifecycles["hello@2"] == "inactive", "drained, not archived"
    with Load(url) as load:
        done = home.data("traffic", "rollback", "local", "--steps", "2")
    assert load.bad == []
    assert done["generation"] == 5 and get(url) == (200, "hello 2.0.0\n")


def test_first_week_10_the_log_says_who_when_what_and_why_and_keeps_all(home):
    folder = home.copy("hello", "app")
    first = home.up(folder)
    home.change(folder, "2.0.0")
    second = home.up(folder)
    home.run("traffic", "rollback", "local")
    home.change(folder, "3.0.0")
    home.up(folder)
    log = home.data("traffic", "history", "local")
    assert [(each["generation"], each["why"], each["place"]) for each in log] == [
        (4, "shift", "current"), (3, "rollback of 1", "past"), (2, "shift", "past"), (1, "shift", "past")]
    assert [each["entries"][0]["revision_id"] for each in log[1:]] == [
        first["revision"], second["revision"], first["revision"]]
    assert all(each["updated_by"].startswith("uid:") and each["updated_at"] for each in log)
    assert home.data("traffic", "history", "local") == log
