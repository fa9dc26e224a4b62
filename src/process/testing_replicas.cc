// Scripts as bundles. The folder is open to everybody, as a workload has another user where tests run as root.
#include "process/testing_replicas.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/atomic_file.h"
#include "base/process_identity.h"
#include "base/testing_wait.h"

namespace sluice::process {
namespace {

constexpr std::string_view kServer = R"(
import http.server, os, socketserver

class Answers(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
    def log_message(self, *words):
        pass

if 'PORT' in os.environ:
    server = http.server.HTTPServer(('127.0.0.1', int(os.environ['PORT'])), Answers)
else:
    class Server(socketserver.UnixStreamServer):
        def get_request(self):
            return super().get_request()[0], ('', 0)
    server = Server(os.environ['SLUICE_SOCKET'], Answers)
server.serve_forever()
)";

}  // namespace

std::string server_script() { return std::string(kServer); }

std::string supervisor_tool() {
  return (std::filesystem::read_symlink("/proc/self/exe").parent_path() / "supervisor_tool").string();
}

TestingReplicas::TestingReplicas()
    : replicas(disk, clock, random, {.folder = folder.path("replicas"), .supervisor = {supervisor_tool()}}) {
  std::filesystem::permissions(folder.path(), std::filesystem::perms(0755));
  EXPECT_TRUE(disk.make_folder(folder.path("replicas"), 0755));
  EXPECT_TRUE(disk.make_folder(folder.path("bundles"), 0755));
}

TestingReplicas::~TestingReplicas() {
  auto names = replicas.list();
  if (!names) return;
  for (const std::string& name : *names) EXPECT_TRUE(replicas.stop(name)) << name;
}

std::string TestingReplicas::bundle(const std::string& name, const std::string& interpreter, const std::string& text) {
  const std::string root = folder.path("bundles/" + name);
  EXPECT_TRUE(disk.make_folder(root, 0755));
  EXPECT_TRUE(replace_file(root + "/app", "#!" + interpreter + "\n" + text + "\n", 0755));
  return root;
}

Workload TestingReplicas::shell(const std::string& script) {
  Workload workload{.argv = {"./app"}, .root = bundle("b" + std::to_string(bundles_++), "/bin/sh", script)};
  workload.health.interval_ms = 50;
  workload.restarts = {.first_after_ms = 1, .last_after_ms = 10, .crashes = 3};
  workload.grace_ms = 20'000;
  workload.hidden = folder.path();
  return workload;
}

Workload TestingReplicas::python(const std::string& script) {
  Workload workload = shell("");
  workload.root = bundle("b" + std::to_string(bundles_++), "/usr/bin/python3", script);
  return workload;
}

Workload TestingReplicas::server(const std::string& first) {
  Workload workload = python(first + std::string(kServer));
  workload.health.by = HealthBy::http;
  workload.health.path = "/health";
  return workload;
}

ReplicaState TestingReplicas::settled(const std::string& name, const Workload& workload, const Secrets& secrets) {
  auto started = replicas.start(name, workload, secrets);
  if (!started) {
    ADD_FAILURE() << to_string(started.error());
    return {};
  }
  return when(name, is_settled);
}

ReplicaState TestingReplicas::when(const std::string& name, const std::function<bool(const ReplicaState&)>& as_wanted) {
  auto state = replicas.await(name, as_wanted, kTestDeadline_ms, {});
  if (state) return *state;
  ADD_FAILURE() << to_string(state.error());
  return {};
}

std::vector<std::string> TestingReplicas::said(const std::string& name) {
  std::vector<std::string> lines;
  auto all = replicas.last_lines(name, 1000);
  if (!all) return lines;
  for (const LogLine& line : *all) {
    if (line.stream != "sluice") lines.push_back(line.stream + " " + line.text);
  }
  return lines;
}

std::string TestingReplicas::file(const std::string& path) {
  auto text = read_file(disk, path, 1 << 20);
  return text ? *text : "";
}

std::vector<int> TestingReplicas::pids(const std::string& path) {
  std::ifstream stream(path);
  std::vector<int> found;
  for (int pid = 0; stream >> pid;) found.push_back(pid);
  return found;
}

bool TestingReplicas::gone(const std::vector<int>& pids) {
  return eventually(
      [&] { return std::ranges::none_of(pids, [](int pid) { return identify_process(pid).has_value(); }); });
}

}  // namespace sluice::process
