"""What is under way when something is stopped: requests are answered by who has begun them, and WebSockets are told to
come again."""

import struct

import wire
from up_home import UnderWay, get, running


def begun(home, url, name, eventually):
    request = UnderWay(url)
    eventually(lambda: home.revisions()[name]["in_flight"] == 1, lambda: str(home.revisions()))
    return request


def begun_before_the_second(home, eventually):
    """A request to version 1, which version 2 has followed since: the folder, the URL, the request, who answers it."""
    folder = home.patient()
    url = home.up(folder)["urls"][0]
    request = begun(home, url, "patient@1", eventually)
    replica = home.revisions()["patient@1"]["replicas"][0]["pid"]
    home.change(folder, "2.0.0")
    home.up(folder)
    return folder, url, request, replica


def test_a_request_outlives_two_later_versions(home, eventually):
    folder, url, request, replica = begun_before_the_second(home, eventually)
    home.change(folder, "3.0.0")
    with home.begin("up", folder, "--detach") as third:
        eventually(lambda: get(url)[1].startswith("3.0.0 "))
        assert third.stderr.readline() == "1 request under way\n"
        assert running(replica) and third.poll() is None, "it waits for what is under way"
        assert request.finish() == (200, "1.0.0 first-last")
        assert third.wait(60) == 0, third.stderr.read()
    assert not running(replica)
    assert {name: each["lifecycle"] for name, each in home.revisions().items()} == {
        "patient@1": "inactive", "patient@2": "ready", "patient@3": "ready"}


def test_a_request_outlives_the_archiving_of_its_revision(home, eventually):
    _, _, request, replica = begun_before_the_second(home, eventually)
    with home.begin("revisions", "archive", "local", "patient@1", "--yes") as archiving:
        assert archiving.stderr.readline() == "1 request under way\n"
        assert request.finish() == (200, "1.0.0 first-last")
        assert archiving.wait(60) == 0, archiving.stderr.read()
    assert not running(replica)


def test_a_request_outlives_the_end_of_its_deployment(home, eventually):
    url = home.up(home.patient())["urls"][0]
    request = begun(home, url, "patient@1", eventually)
    with home.begin("down", "patient") as down:
        assert down.stderr.readline() == "1 request under way\n"
        assert get(url)[0] in (404, 503), "nobody new is let in"
        assert request.finish() == (200, "1.0.0 first-last")
        assert down.wait(60) == 0, down.stderr.read()
    assert get(url)[0] == 404


def test_a_request_outlives_the_order_to_stop(home, eventually):
    url = home.up(home.patient())["urls"][0]
    request = begun(home, url, "patient@1", eventually)
    with home.begin("stop") as stop:
        def refused():
            try:
                get(url)
            except ConnectionRefusedError:
                return True
            except ConnectionResetError:  # it was in the queue of the listener that was closed
                return False

        eventually(refused, "the router still listens")
        assert stop.poll() is None
        assert request.finish() == (200, "1.0.0 first-last")
        assert stop.wait(60) == 0, stop.stderr.read()
    assert home.replicas() == []


def test_websockets_stay_across_a_rollback_until_their_revision_drains(home, eventually):
    folder = home.copy("chat", "chat")
    url = home.up(folder)["urls"][0]
    home.change(folder, "2.0.0")
    home.up(folder)
    endpoint = "tcp:" + url.removeprefix("http://").rstrip("/")
    with wire.WebSocket(endpoint, target="/") as socket:
        socket.send_frame(b"before", 1)
        assert socket.frame() == (1, b"before")
        home.run("traffic", "rollback", "local")
        socket.send_frame(b"after", 1)
        assert socket.frame() == (1, b"after"), "it stays where it is"
        second = home.revisions()["chat@2"]
        assert (second["weight_obeyed_bps"], second["websockets"]) == (0, 1)
        with home.begin("revisions", "drain", "local", "chat@2", "--yes") as draining:
            opcode, payload = socket.frame()
            assert opcode == 8 and struct.unpack(">H", payload[:2]) == (1012,)
            socket.send_frame(payload, 8)
            assert draining.wait(60) == 0, draining.stderr.read()
    assert not running(second["replicas"][0]["pid"])
    assert get(url)[0] == 200
