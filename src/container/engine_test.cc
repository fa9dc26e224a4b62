// Answers are those of podman 4.3 and of Docker 20.10, shortened.
#include "container/engine.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "container/testing_engine.h"

namespace sluice::container {
namespace engine_test {

namespace json = boost::json;

class EngineTest : public testing::Test {
 protected:
  RealClock clock_;
  TestingEngine real_;
  Engine engine_{real_.socket(), clock_};

  Result<void> pull() { return engine_.pull("registry.example/shop@sha256:aa", "", {}, {}); }
  void stream(const std::string& lines) { real_.answer("POST /v1.41/images/create", "200 OK", lines); }
};

TEST_F(EngineTest, SaysItsVersion) {
  real_.greet();
  auto version = engine_.version();
  ASSERT_TRUE(version) << version.error().message;
  EXPECT_EQ(version->name + " " + version->version + " " + version->os, "Libpod 4.3.1 linux");
  EXPECT_FALSE(version->architecture.empty());
  real_.greet("Docker/20.10.24+dfsg1 (linux)");
  EXPECT_EQ(engine_.version()->name + " " + engine_.version()->version, "Docker 20.10.24+dfsg1");
  for (const char* other : {"", "nginx", "nginx/1.22", "Docker (linux)", "Docker/20 (linux"}) {
    real_.greet(other);
    EXPECT_EQ(engine_.version().error().message,
              "what answers at " + real_.socket() + " does not say that it is podman or Docker");
  }
}

TEST_F(EngineTest, TellsThatNobodyIsThere) {
  auto version = Engine("/nowhere/podman.sock", clock_).version();
  ASSERT_FALSE(version);
  EXPECT_EQ(version.error().code, Code::unavailable);
  EXPECT_EQ(version.error().message,
            "no container engine answers at /nowhere/podman.sock: nobody listens at /nowhere/podman.sock");
}

TEST_F(EngineTest, PullsAndCountsLayers) {
  stream(R"({"status":"Pulling from team/shop","id":"1"})"
         "\n"
         R"({"status":"Downloading","progressDetail":{"current":10,"total":100},"id":"45260f063378"})"
         "\n"
         R"({"status":"Pulling fs layer","progressDetail":{},"id":"eb39ae8bd2d4"})"
         "\n"
         R"({"status":"Download complete","progressDetail":{},"id":"45260f063378"})"
         "\n");
  PullProgress last;
  auto pulled = engine_.pull("registry.example/shop@sha256:aa", registry_auth("ci", "word", "registry.example"),
                             [&](const PullProgress& now) { last = now; }, {});
  ASSERT_TRUE(pulled) << pulled.error().message;
  EXPECT_EQ(last.done_bytes, 100u);
  EXPECT_EQ(last.all_bytes, 100u);
  EXPECT_EQ(last.layers_done, 1u);
  EXPECT_EQ(last.layers, 2u);
  const std::string asked = real_.asked().front();
  EXPECT_TRUE(asked.starts_with("POST /v1.41/images/create?fromImage=registry.example%2Fshop%40sha256%3Aaa HTTP/1.1"))
      << asked;
  EXPECT_NE(asked.find("X-Registry-Auth: eyJ1c2VybmFtZSI6ImNpIiwi"), std::string::npos) << asked;
}

TEST_F(EngineTest, TellsFailedPullsApartThatAreAnswered200) {
  stream(R"({"progressDetail":{},"errorDetail":{"message":"x"},"error":"initializing source: reading manifest 1 in )"
         R"(127.0.0.1:5599/team/none: manifest unknown: manifest unknown"})"
         "\n");
  EXPECT_EQ(pull().error().code, Code::not_found);
  stream("{\"error\":\"unauthorized: authentication required\"}\n");
  EXPECT_EQ(pull().error().code, Code::denied);
  stream("{\"error\":\"dial tcp 127.0.0.1:1: connect: connection refused\"}\n");
  auto refused = pull();
  EXPECT_EQ(refused.error().code, Code::failed);
  EXPECT_EQ(refused.error().message, "dial tcp 127.0.0.1:1: connect: connection refused");
  real_.answer("POST /v1.41/images/create", "404 Not Found",
               R"({"message":"pull access denied for shop, repository does not exist or may require 'docker login'"})");
  EXPECT_EQ(pull().error().code, Code::denied);
}

TEST_F(EngineTest, TellsOfGarbageAndOfHalfAStream) {
  stream("<html>");
  EXPECT_TRUE(pull()) << "without a line's end nothing was said yet";
  stream("<html>\n");
  EXPECT_EQ(pull().error().message, "the container engine sent something else than the progress of a pull");
  real_.answer_bytes("POST /v1.41/images/create",
                     "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n40\r\n{\"status\":\"Downloading\"");
  EXPECT_EQ(pull().error().code, Code::unavailable);
  real_.answer("GET /v1.41/containers/one/json", "200 OK", "not json");
  EXPECT_EQ(engine_.inspect("one").error().message,
            "the container engine answered for a container with something else than JSON");
  real_.answer_bytes("GET /v1.41/containers/one/json", "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{");
  EXPECT_EQ(engine_.inspect("one").error().code, Code::unavailable);
  real_.answer("GET /v1.41/containers/one/json", "500 Internal Server Error", R"({"message":"out of file handles"})");
  EXPECT_EQ(engine_.inspect("one").error().message,
            "the container engine cannot find the container one: out of file handles");
}

TEST_F(EngineTest, MakesContainersThatCanDoLittle) {
  real_.answer("POST /v1.41/containers/create?name=one", "201 Created", R"({"Id":"fa3a","Warnings":[]})");
  ContainerSpec spec{.image = "sha256:aa",
                     .command = {"serve"},
                     .environment = {{"PORT", "8080"}},
                     .user = "65532:65532",
                     .labels = {{"dev.sluice.home", "h1"}},
                     .network = "net",
                     .port = ContainerSpec::Port{.inner = 8080, .outer = 18080},
                     .mounts = {{.source = "/a", .target = "/b"}, {.source = "/c", .target = "/d", .writable = true}},
                     .memory_folders = {{"/tmp", 1024}},
                     .cpu = 0.5,
                     .memory_bytes = 64 << 20,
                     .processes = 64,
                     .files = 512,
                     .user_processes = 1000};
  auto id = engine_.create("one", spec);
  ASSERT_TRUE(id) << id.error().message;
  EXPECT_EQ(*id, "fa3a");
  const std::string asked = real_.asked().front();
  const json::value body = json::parse(asked.substr(asked.find("\r\n\r\n") + 4));
  EXPECT_EQ(body, json::parse(R"({
    "Image": "sha256:aa", "Cmd": ["serve"], "Env": ["PORT=8080"], "User": "65532:65532",
    "Labels": {"dev.sluice.home": "h1"}, "ExposedPorts": {"8080/tcp": {}},
    "HostConfig": {
      "Memory": 67108864, "MemorySwap": 67108864, "NanoCpus": 500000000, "PidsLimit": 64,
      "Ulimits": [{"Name": "nofile", "Soft": 512, "Hard": 512}, {"Name": "nproc", "Soft": 1000, "Hard": 1000},
                  {"Name": "core", "Soft": 0, "Hard": 0}],
      "ReadonlyRootfs": true, "CapDrop": ["ALL"], "SecurityOpt": ["no-new-privileges"], "NetworkMode": "net",
      "RestartPolicy": {"Name": "no"},
      "LogConfig": {"Type": "json-file", "Config": {"max-size": "10m", "max-file": "2"}},
      "Mounts": [{"Type": "bind", "Source": "/a", "Target": "/b", "ReadOnly": true},
                 {"Type": "bind", "Source": "/c", "Target": "/d", "ReadOnly": false}],
      "Tmpfs": {"/tmp": "rw,nosuid,nodev,mode=1777,size=1024"},
      "PortBindings": {"8080/tcp": [{"HostIp": "127.0.0.1", "HostPort": "18080"}]}}})"));
  EXPECT_EQ(json::parse(body_of({.image = "x"})).at("HostConfig").at("NetworkMode"), json::value("none"));
  const ContainerSpec::Port everywhere{.inner = 8080, .outer = 18080, .address = "10.0.0.5"};
  EXPECT_EQ(json::parse(body_of({.image = "x", .port = everywhere})).at("HostConfig").at("PortBindings"),
            json::parse(R"({"8080/tcp": [{"HostIp": "127.0.0.1", "HostPort": "18080"},
                                         {"HostIp": "10.0.0.5", "HostPort": "18080"}]})"));
}

TEST_F(EngineTest, LooksAtContainers) {
  real_.answer("GET /v1.41/containers/one/json", "200 OK",
               R"({"Id":"fa3a","Name":"/one","Image":"sha256:eb","State":{"Status":"exited","Running":false,"Pid":0,)"
               R"("ExitCode":137,"OOMKilled":true,"Error":""},"Config":{"StopSignal":"SIGQUIT",)"
               R"("Labels":{"dev.sluice.home":"h1"}}})");
  auto found = engine_.inspect("one");
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->name + " " + found->status + " " + found->stop_signal, "one exited SIGQUIT");
  EXPECT_EQ(found->exit_code, 137);
  EXPECT_TRUE(found->out_of_memory);
  EXPECT_EQ(found->labels, (Labels{{"dev.sluice.home", "h1"}}));
  real_.answer("GET /v1.41/containers/json?all=1&filters=%7B%22label%22%3A%5B%22dev.sluice.home%3Dh1%22%5D%7D",
               "200 OK", R"([{"Id":"fa3a","Names":["/one"],"ImageID":"sha256:eb","State":"running","Labels":{}}])");
  auto listed = engine_.list({{"dev.sluice.home", "h1"}});
  ASSERT_TRUE(listed) << listed.error().message;
  ASSERT_EQ(listed->size(), 1u);
  EXPECT_EQ(listed->front().name, "one");
  EXPECT_TRUE(listed->front().running);
  real_.answer("GET /v1.41/containers/none/json", "404 Not Found", R"({"message":"no such container"})");
  EXPECT_EQ(engine_.inspect("none").error().code, Code::not_found);
}

TEST_F(EngineTest, WhatIsGoneNeedsNoRemoval) {
  real_.answer("DELETE /v1.41/containers/one", "404 Not Found", R"({"message":"no such container"})");
  EXPECT_TRUE(engine_.remove("one"));
  real_.answer("DELETE /v1.41/images/registry.example/shop", "404 Not Found", R"({"message":"no such image"})");
  EXPECT_TRUE(engine_.remove_image("registry.example/shop"));
  real_.answer("DELETE /v1.41/networks/net", "404 Not Found", R"({"message":"no such network"})");
  EXPECT_TRUE(engine_.remove_network("net"));
  real_.answer("DELETE /v1.41/networks/net", "500 Internal Server Error",
               R"({"message":"\"net\" has associated containers with it: network is being used"})");
  EXPECT_EQ(engine_.remove_network("net").error().code, Code::conflict);
  real_.answer("POST /v1.41/containers/one/kill", "409 Conflict", R"({"message":"is not running"})");
  EXPECT_TRUE(engine_.kill("one", "SIGTERM"));
}

TEST_F(EngineTest, FollowsWhatAContainerSays) {
  using namespace std::string_literals;
  const std::string frame = "\x01\0\0\0\0\0\0\x1c"s + "2026-11-18T13:26:41Z line 1\n";
  real_.answer("GET /v1.41/containers/one/logs?follow=1&stdout=1&stderr=1&timestamps=1&since=17", "200 OK", frame);
  std::string heard;
  auto followed = engine_.follow_logs(
      "one", 17, [&](LogStream, std::string_view text) { heard += split_time(text).text; }, [] { return false; });
  EXPECT_TRUE(followed);
  EXPECT_EQ(heard, "line 1\n");
}

TEST_F(EngineTest, NetworksOfPodmanAreApart) {
  real_.greet();
  real_.answer("POST /v1.41/networks/create", "201 Created", R"({"Id":"2d"})");
  ASSERT_TRUE(engine_.create_network("net", {{"a", "b"}}));
  EXPECT_NE(real_.asked().back().find(R"("Options":{"isolate":"true"})"), std::string::npos);
  real_.answer("POST /v1.41/networks/create", "500 Internal Server Error",
               R"({"message":"network name net already used: network already exists"})");
  EXPECT_EQ(engine_.create_network("net", {}).error().code, Code::conflict);
  real_.answer("GET /v1.41/networks/net", "200 OK", R"({"Name":"net","Labels":{"a":"b"}})");
  EXPECT_EQ(*engine_.network("net"), std::optional(Labels{{"a", "b"}}));
  real_.answer("GET /v1.41/networks/none", "404 Not Found", "{}");
  EXPECT_EQ(*engine_.network("none"), std::nullopt);
}

TEST_F(EngineTest, LooksAtImages) {
  const std::string one = R"({"Id":"sha256:eb","RepoTags":["sluice.local/h1:eb"],"RepoDigests":["r/a@sha256:8c"],)"
                          R"("Size":881677,"Config":{"User":"1000"}})";
  real_.answer("GET /v1.41/images/r/a%40sha256%3A8c/json", "200 OK", one);
  auto image = engine_.image("r/a@sha256:8c");
  ASSERT_TRUE(image) << image.error().message;
  EXPECT_EQ(image->id + " " + image->user, "sha256:eb 1000");
  EXPECT_EQ(image->bytes, 881677u);
  real_.answer("GET /v1.41/images/json", "200 OK", "[" + one + "]");
  EXPECT_EQ(engine_.images()->front().tags, std::vector<std::string>{"sluice.local/h1:eb"});
  real_.answer("POST /v1.41/images/sha256%3Aeb/tag?repo=sluice.local%2Fh1&tag=eb", "201 Created", "");
  EXPECT_TRUE(engine_.tag("sha256:eb", "sluice.local/h1", "eb"));
}

}  // namespace engine_test
}  // namespace sluice::container
