// Looks through /proc.
#include "process/process_tree.h"

#include <dirent.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <set>
#include <sstream>

#include "base/clock.h"
#include "process/control_group.h"
#include "process/system.h"

namespace sluice::process {
namespace {

constexpr int kMostRounds = 500;
constexpr int64_t kRound_ms = 10;

std::vector<pid_t> all_pids() {
  std::vector<pid_t> pids;
  std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir("/proc"), ::closedir);
  if (!folder) return pids;
  while (const dirent* each =
             ::readdir(folder.get())) {  // NOLINT(concurrency-mt-unsafe): a stream of this function's own
    char* end = nullptr;
    long pid = std::strtol(each->d_name, &end, 10);
    if (pid > 0 && *end == 0) pids.push_back(static_cast<pid_t>(pid));
  }
  return pids;
}

std::string proc_text(pid_t pid, const char* file) { return kernel_text("/proc/" + std::to_string(pid) + "/" + file); }

pid_t parent_of(pid_t pid) {
  std::string stat = proc_text(pid, "stat");
  size_t name_end = stat.rfind(')');
  if (name_end == std::string::npos) return 0;
  std::istringstream rest(stat.substr(name_end + 1));
  std::string state;
  pid_t parent = 0;
  rest >> state >> parent;
  return parent;
}

bool is_marked(pid_t pid, const std::string& mark) {
  std::string assignment = std::string(kMarkVariable) + "=" + mark;
  std::string environment = '\0' + proc_text(pid, "environ") + '\0';
  return environment.find('\0' + assignment + '\0') != std::string::npos;
}

}  // namespace

std::vector<pid_t> descendants_of(pid_t pid) {
  std::multimap<pid_t, pid_t> children;
  for (pid_t each : all_pids()) children.emplace(parent_of(each), each);
  std::vector<pid_t> found{pid};
  for (size_t i = 0; i < found.size(); ++i) {
    auto [from, to] = children.equal_range(found[i]);
    for (auto each = from; each != to; ++each) found.push_back(each->second);
  }
  found.erase(found.begin());
  return found;
}

std::vector<pid_t> processes_marked(const std::string& mark) {
  std::vector<pid_t> found;
  for (pid_t pid : all_pids()) {
    if (is_marked(pid, mark)) found.push_back(pid);
  }
  return found;
}

void tell_descendants(pid_t group, int signal) {
  if (group > 0) ::kill(-group, signal);
  std::map<pid_t, ProcessHandle> others;
  for (pid_t pid : descendants_of(::getpid())) {
    if (pid == group || ::getpgid(pid) == group) continue;
    auto identity = identify_process(pid);
    if (!identity) continue;
    if (auto handle = ProcessHandle::open(*identity)) others.emplace(pid, std::move(*handle));
  }
  if (others.empty()) return;
  // Those that are descendants still are the ones that the handles were opened for.
  for (pid_t pid : descendants_of(::getpid())) {
    if (auto found = others.find(pid); found != others.end()) (void)found->second.send(signal);
  }
}

size_t end_leftovers(const std::vector<std::string>& groups, const std::string& mark) {
  RealClock clock;
  std::set<pid_t> ended;
  for (int round = 0; round < kMostRounds; ++round) {
    size_t alive = 0;
    auto members = members_of(groups);
    for (pid_t pid : members) {
      if (!identify_process(pid)) continue;
      ended.insert(pid);
      alive++;
    }
    if (alive > 0) kill_groups(groups);
    for (pid_t pid : processes_marked(mark)) {
      auto identity = identify_process(pid);
      if (!identity) continue;
      auto handle = ProcessHandle::open(*identity);
      if (!handle || !is_marked(pid, mark)) continue;
      (void)handle->send(SIGKILL);
      ended.insert(pid);
      alive++;
    }
    if (alive == 0) break;
    clock.sleep_ms(kRound_ms);
  }
  return ended.size();
}

}  // namespace sluice::process
