// A folder with replicas whose program is a shell or Python script, for tests with real processes. All are stopped at
// the end.
#pragma once

#include <string>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "base/real_disk.h"
#include "base/testing_folder.h"
#include "process/replicas.h"

namespace sluice::process {

inline constexpr int64_t kTestDeadline_ms = 60'000;

class TestingReplicas {
 public:
  TestingReplicas();
  ~TestingReplicas();

  // A bundle of one file, `app`, which begins with this interpreter: its folder.
  std::string bundle(const std::string& name, const std::string& interpreter, const std::string& text);
  // That bundle's program with a socket, quick restarts, and health by `none`.
  Workload shell(const std::string& script);
  Workload python(const std::string& script);
  // A web server on SLUICE_SOCKET or PORT that answers 200 to /health, with this in it first.
  Workload server(const std::string& first = "");

  ReplicaState settled(const std::string& name, const Workload& workload, const Secrets& secrets = {});
  ReplicaState when(const std::string& name, const std::function<bool(const ReplicaState&)>& as_wanted);
  // What it has said, its supervisor's lines left out: "out hello".
  std::vector<std::string> said(const std::string& name);
  std::string file(const std::string& path);
  // The pids in the workload's own file, one a line.
  std::vector<int> pids(const std::string& path);
  // Waits until none of them runs.
  bool gone(const std::vector<int>& pids);

  TestingFolder folder;
  RealDisk disk;
  RealClock clock;
  RealRandom random;
  Replicas replicas;

 private:
  int bundles_ = 0;
};

// The text of a web server in Python on SLUICE_SOCKET or PORT that answers 200 to everything.
std::string server_script();

// The program beside the test's that is a supervisor.
std::string supervisor_tool();

}  // namespace sluice::process
