// Vertices as real processes: a shell or Python program that answers as the test says.
#include "mesh/vertices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/atomic_file.h"
#include "base/real_disk.h"
#include "base/testing_folder.h"
#include "base/testing_wait.h"
#include "mesh/authority.h"

namespace sluice::mesh {
namespace vertices_test {

using testing::HasSubstr;

// Listens at its socket, and answers every line with what stands in the file ANSWER beside its set; says nothing if
// that is empty.
constexpr std::string_view kProgram = R"(import os, socket, sys
place = os.environ["SLUICE_VERTEX_SOCKET"]
if os.path.exists(sys.argv[1] + "/exit"): sys.exit(int(open(sys.argv[1] + "/exit").read()))
if os.path.exists(place): os.remove(place)
server = socket.socket(socket.AF_UNIX); server.bind(place); server.listen(5)
print("serves", sys.argv[1], sys.argv[2], flush=True)
kept = []
while True:
    peer, _ = server.accept()
    line = peer.makefile().readline().strip()
    if not line: continue
    print("told", line, flush=True)
    answer = open(line.split(" ", 1)[1] + "/answer").read()
    if answer: peer.sendall(answer.encode() + b"\n")
    kept.append(peer)
)";

struct MeshVertices : testing::Test {
  RealDisk disk;
  RealClock clock;
  TestingFolder place;
  std::string run = place.path("run");
  std::vector<SupervisedVertex> listed = {{Name("rete"), VertexKind::mesh}};

  MeshVertices() {
    EXPECT_TRUE(make_folders(disk, run + "/agent", 0755));
    put("program.py", std::string(kProgram));
    for (const char* each : {"one", "two"}) {
      EXPECT_TRUE(disk.make_folder(place.path(each), 0755));
      put(std::string(each) + "/answer", "taken");
    }
  }
  void put(const std::string& name, const std::string& text) {
    ASSERT_TRUE(write_atomically(disk, place.path(name), text, 0644));
  }
  std::string log() {
    auto text = read_file(disk, run + "/agent/rete.log", 1 << 20);
    return text ? *text : "";
  }
  Vertices made(int64_t patience_ms = 60'000) {
    return Vertices({.program = {"/usr/bin/python3", place.path("program.py")},
                     .scope = "acme",
                     .node = "web",
                     .run_folder = run,
                     .path = "/usr/bin:/bin",
                     .patience_ms = patience_ms},
                    clock);
  }
  bool says(const std::string& text) {
    return eventually([&] { return log().find(text) != std::string::npos; });
  }
};

TEST_F(MeshVertices, AreStartedAndToldOfANewSet) {
  Vertices vertices = made();
  ASSERT_TRUE(vertices.use(listed, place.path("one")));
  ASSERT_TRUE(says("serves " + place.path("one") + " rete"));
  const int64_t pid = vertices.status()[0].pid;
  ASSERT_TRUE(vertices.use(listed, place.path("two")));
  EXPECT_THAT(log(), HasSubstr("told set " + place.path("two")));
  EXPECT_EQ(vertices.status()[0].pid, pid) << "it took the set and goes on";
  EXPECT_EQ(vertices.status()[0].last, "took its set");
  EXPECT_EQ(vertices.status()[0].restarts, 0);
}

TEST_F(MeshVertices, OneThatAsksForItOrSaysNothingIsRestarted) {
  Vertices vertices = made();
  ASSERT_TRUE(vertices.use(listed, place.path("one")));
  ASSERT_TRUE(says("serves"));
  put("two/answer", "restart");
  ASSERT_TRUE(vertices.use(listed, place.path("two")));
  ASSERT_TRUE(says("serves " + place.path("two")));
  EXPECT_EQ(vertices.status()[0].last, "restarted: it asked for it");
  put("one/answer", "");
  Vertices hasty = made(50);
  vertices.stop();
  ASSERT_TRUE(hasty.use(listed, place.path("two")));
  ASSERT_TRUE(eventually(
      [&] { return tell_vertex(run + "/agent/rete.sock", place.path("two"), clock).reason == "it asked for it"; }));
  ASSERT_TRUE(hasty.use(listed, place.path("one")));
  EXPECT_EQ(hasty.status()[0].last, "restarted: it did not answer in time");
  EXPECT_EQ(hasty.status()[0].restarts, 1);
}

TEST_F(MeshVertices, ARefusalIsTold) {
  Vertices vertices = made();
  ASSERT_TRUE(vertices.use(listed, place.path("one")));
  ASSERT_TRUE(says("serves"));
  put("two/answer", "refused the port is taken");
  auto done = vertices.use(listed, place.path("two"));
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().message, "the vertex rete refused its set: the port is taken");
  EXPECT_EQ(vertices.status()[0].state, "running");
}

TEST_F(MeshVertices, OneThatEndsIsStartedAgain) {
  Vertices vertices = made();
  ASSERT_TRUE(vertices.use(listed, place.path("one")));
  ASSERT_TRUE(says("serves"));
  put("one/exit", "1");
  put("two/exit", "1");
  put("two/answer", "restart");
  ASSERT_TRUE(vertices.use(listed, place.path("two")));
  EXPECT_TRUE(eventually([&] {
    vertices.turn();
    return vertices.status()[0].restarts >= 3;
  }));
  EXPECT_EQ(vertices.status()[0].last, "ended with exit code 1");
}

TEST_F(MeshVertices, OneThatRejectsItsSetIsNot) {
  put("one/exit", "78");
  Vertices vertices = made();
  ASSERT_TRUE(vertices.use(listed, place.path("one")));
  std::optional<std::string> named;
  EXPECT_TRUE(eventually([&] { return (named = vertices.turn()).has_value(); }));
  EXPECT_EQ(*named, "the vertex rete rejected its set (exit code 78)");
  EXPECT_EQ(vertices.status()[0].state, "rejected");
  EXPECT_FALSE(vertices.turn());
  EXPECT_EQ(vertices.status()[0].restarts, 0);
}

TEST_F(MeshVertices, OneThatIsNoLongerListedIsEnded) {
  Vertices vertices = made();
  ASSERT_TRUE(vertices.use(listed, place.path("one")));
  ASSERT_TRUE(says("serves"));
  const auto process = identify_process(static_cast<int>(vertices.status()[0].pid)).value();
  ASSERT_TRUE(vertices.use({}, place.path("two")));
  EXPECT_FALSE(is_running(process).value());
  EXPECT_TRUE(vertices.status().empty());
}

// What kill -9 of an agent leaves: a vertex that nobody waits for.
TEST_F(MeshVertices, OneThatRunsAlreadyGoesOn) {
  Vertices first = made();
  ASSERT_TRUE(first.use(listed, place.path("one")));
  ASSERT_TRUE(says("serves"));
  Vertices second = made();
  ASSERT_TRUE(second.use(listed, place.path("two")));
  EXPECT_EQ(second.status()[0].pid, first.status()[0].pid);
  EXPECT_EQ(second.status()[0].last, "took its set");
  second.stop();
  EXPECT_TRUE(eventually([&] {
    first.turn();
    return first.status()[0].restarts > 0;
  })) << "the first one has seen it end";
}

TEST_F(MeshVertices, WithoutAProgramNoneRuns) {
  Vertices vertices({.scope = "acme", .node = "web", .run_folder = run}, clock);
  ASSERT_TRUE(vertices.use(listed, place.path("one")));
  EXPECT_EQ(vertices.status()[0].state, "stopped");
  EXPECT_EQ(tell_vertex(run + "/agent/rete.sock", "x", clock).reason, "nobody listens at its socket");
}

}  // namespace vertices_test
}  // namespace sluice::mesh
