// A controller of replicas that does one thing and ends: brings as many replicas of a program to run as it is told, and
// stops the others. Whoever kills it may start it again.
//
//   controller_tool FOLDER BUNDLE SUPERVISOR WANTED
//
// Replicas are called r0, r1 and so on; the program is BUNDLE/app, and healthy when it listens on its socket.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "base/clock.h"
#include "base/random.h"
#include "base/real_disk.h"
#include "process/replicas.h"
#include "process/supervisor.h"

namespace {

constexpr int64_t kDeadline_ms = 60'000;

int fail(const sluice::Error& error) {
  std::fprintf(stderr, "%s\n", to_string(error).c_str());
  return 1;
}

}  // namespace

int main(int count, char** words) {
  using namespace sluice::process;
  if (auto code = supervise(count, words)) return *code;
  if (count != 5) return 2;
  sluice::RealDisk disk;
  sluice::RealClock clock;
  sluice::RealRandom random;
  Replicas replicas(disk, clock, random, {.folder = words[1], .supervisor = {words[3]}});
  const int wanted = std::atoi(words[4]);
  Workload workload{.argv = {"./app"}, .root = words[2]};
  workload.health.by = HealthBy::tcp;
  workload.restarts = {.first_after_ms = 5, .last_after_ms = 50, .crashes = 10};
  workload.hidden = words[1];
  auto listed = replicas.list();
  if (!listed) return fail(listed.error());
  for (const std::string& name : *listed) {
    if (std::atoi(name.c_str() + 1) < wanted) continue;
    if (auto stopped = replicas.stop(name); !stopped) return fail(stopped.error());
  }
  for (int i = 0; i < wanted; ++i) {
    if (auto begun = replicas.start("r" + std::to_string(i), workload, {}); !begun) return fail(begun.error());
  }
  for (int i = 0; i < wanted; ++i) {
    auto state = replicas.await("r" + std::to_string(i), is_settled, kDeadline_ms, {});
    if (!state) return fail(state.error());
    if (!state->healthy) return fail({.message = state->message});
  }
  return 0;
}
