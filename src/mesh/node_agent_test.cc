// An agent with a compiled tree in a folder and vertices that are real processes.
#include "mesh/node_agent.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "base/atomic_file.h"
#include "base/real_disk.h"
#include "base/testing_folder.h"
#include "base/testing_wait.h"
#include "http/client.h"
#include "mesh/authority.h"
#include "mesh/mesh_folder.h"

namespace sluice::mesh {
namespace node_agent_test {

using testing::HasSubstr;

// Refuses a set that has a file `refuse`; else takes it.
constexpr std::string_view kProgram = R"(import os, socket, sys
place = os.environ["SLUICE_VERTEX_SOCKET"]
if os.path.exists(place): os.remove(place)
server = socket.socket(socket.AF_UNIX); server.bind(place); server.listen(5)
while True:
    peer, _ = server.accept()
    line = peer.makefile().readline().strip()
    if not line: continue
    refuse = os.path.exists(os.path.dirname(sys.argv[0]) + "/refuse")
    peer.sendall(b"refused no\n" if refuse else b"taken\n")
)";

struct MeshNodeAgent : testing::Test {
  RealDisk disk;
  RealClock clock;
  TestingFolder place;
  std::string folder = place.path("acme"), root = place.path("n");

  MeshNodeAgent() {
    EXPECT_TRUE(begin_folder(disk, folder, "acme"));
    EXPECT_TRUE(make_keys(disk, folder, clock.wall_ms()));
    sign();
    EXPECT_TRUE(disk.make_folder(root, 0755));
    EXPECT_TRUE(write_atomically(disk, place.path("program.py"), kProgram, 0644));
    auto work = compile_folder(disk, folder, clock.wall_ms());
    auto enrolment = enrolment_of(disk, folder, *work, "web", clock.wall_ms());
    EXPECT_TRUE(enrolment) << enrolment.error().message;
    EXPECT_TRUE(NodeStore::enrol(disk, root, "acme", "web", enrolment->trust, enrolment->identity,
                                 parse_all(enrolment->artifacts).value(), clock.wall_ms()));
  }
  void sign() {
    auto work = compile_folder(disk, folder, clock.wall_ms());
    ASSERT_TRUE(work) << work.error().message;
    ASSERT_TRUE(work->faults.empty());
    ASSERT_TRUE(sign_folder(disk, folder, folder, *work));
  }
  void move_api(const std::string& from, const std::string& to) {
    std::string text = read_file(disk, folder + "/access.yaml", 1 << 20).value();
    text.replace(text.find(from), from.size(), to);
    ASSERT_TRUE(write_atomically(disk, folder + "/access.yaml", text, 0644));
    sign();
  }
  std::unique_ptr<NodeAgent> agent(bool with_vertices = true) {
    AgentOptions options{.root = root,
                         .scope = "acme",
                         .folder = folder + "/compiled",
                         .path = "/usr/bin:/bin",
                         .poll_ms = 3'600'000,
                         .confirm_ms = 3'600'000};
    if (with_vertices) options.program = {"/usr/bin/python3", place.path("program.py")};
    auto made = NodeAgent::open(disk, clock, options);
    EXPECT_TRUE(made) << made.error().message;
    return *std::move(made);
  }
};

TEST_F(MeshNodeAgent, SwitchesAndIsConfirmedByHand) {
  auto one = agent(false);
  one->begin();
  EXPECT_EQ(one->sync_now()->outcome, "unchanged");
  move_api("127.0.0.1:8000", "127.0.0.1:8001");
  auto done = one->sync_now();
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(done->outcome, "changed");
  EXPECT_EQ(done->version, 2U);
  EXPECT_TRUE(one->status().confirm_within_ms);
  ASSERT_TRUE(one->confirm());
  EXPECT_FALSE(one->status().confirm_within_ms);
  EXPECT_EQ(one->status().version, 2U);
}

TEST_F(MeshNodeAgent, ASetThatAVertexRefusesIsTakenBackAndRemembered) {
  auto one = agent();
  one->begin();
  const auto socket = [&](const std::string& name) { return root + "/run/acme/agent/" + name + ".sock"; };
  for (const char* name : {"public", "rete"}) {
    ASSERT_TRUE(eventually([&] { return tell_vertex(socket(name), "x", clock).kind == VertexReply::Kind::taken; }))
        << name;
  }
  ASSERT_TRUE(write_atomically(disk, place.path("refuse"), "", 0644));
  move_api("127.0.0.1:8000", "127.0.0.1:8001");
  auto done = one->sync_now();
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().message, HasSubstr("refused its set: no"));
  EXPECT_EQ(one->status().version, 1U);
  EXPECT_THAT(one->status().trouble, HasSubstr("version 2 was taken back"));
  ASSERT_TRUE(disk.remove(place.path("refuse")));
  EXPECT_EQ(one->sync_now().error().code, Code::rolled_back) << "it is not tried again";
  move_api("127.0.0.1:8001", "127.0.0.1:8002");
  EXPECT_EQ(one->sync_now()->version, 3U);
  EXPECT_EQ(one->status().trouble, "");
}

TEST_F(MeshNodeAgent, OneAgentAtATime) {
  auto one = agent(false);
  EXPECT_EQ(NodeAgent::open(disk, clock, {.root = root, .scope = "acme"}).error().code, Code::conflict);
  EXPECT_EQ(NodeAgent::open(disk, clock, {.root = root, .scope = "other"}).error().code, Code::not_found);
}

TEST_F(MeshNodeAgent, AnswersCommandsOnItsSocket) {
  auto one = agent(false);
  std::atomic<bool> stopping = false;
  std::thread serving([&] { EXPECT_TRUE(one->serve([&] { return stopping.load(); })); });
  const auto ask = [&](const std::string& method, const std::string& target) {
    auto client = http::Client::to_unix(agent_socket(root, "acme"), clock);
    return client ? (*client)->send({.method = method, .target = target}, 60'000)
                  : Result<http::Answer>(client.error());
  };
  EXPECT_TRUE(eventually([&] { return ask("GET", "/status").has_value(); }));
  EXPECT_THAT(ask("GET", "/status")->body, HasSubstr("\"node\":\"web\""));
  EXPECT_THAT(ask("POST", "/sync")->body, HasSubstr("\"outcome\":\"unchanged\""));
  EXPECT_EQ(ask("POST", "/confirm")->status, 200);
  EXPECT_EQ(ask("GET", "/other")->status, 404);
  stopping = true;
  serving.join();
}

TEST_F(MeshNodeAgent, WithoutAnAgentTheDiskTells) {
  auto status = status_on_disk(disk, clock, root, "acme");
  ASSERT_TRUE(status) << status.error().message;
  EXPECT_EQ(status->node, "web");
  EXPECT_EQ(status->version, 1U);
  EXPECT_FALSE(status->running);
  EXPECT_EQ(status_on_disk(disk, clock, root, "none").error().code, Code::not_found);
}

}  // namespace node_agent_test
}  // namespace sluice::mesh
