// Each hierarchy is asked for what it has: a file that is not there is a limit that another hierarchy keeps, or nobody.
#include "process/control_group.h"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <set>
#include <sstream>

#include "process/system.h"

namespace sluice::process {
namespace {

constexpr long long kCpuPeriod_us = 100'000;
constexpr long long kLeastCpuQuota_us = 1'000;

std::vector<std::string> split_text(std::string_view text, char at) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= text.size();) {
    size_t end = std::min(text.find(at, begin), text.size());
    parts.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

bool is_there(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

// The number after a word at the beginning of a line.
uint64_t number_after(const std::string& text, std::string_view word) {
  for (const std::string& line : split_text(text, '\n')) {
    if (!line.starts_with(word) || line.size() <= word.size() || line[word.size()] != ' ') continue;
    uint64_t number = 0;
    std::from_chars(line.data() + word.size() + 1, line.data() + line.size(), number);
    return number;
  }
  return 0;
}

}  // namespace

std::vector<std::string> plan_groups(std::string_view mountinfo, std::string_view cgroup, const std::string& name) {
  // By controller, or "" for v2: the path of the group that this process is in.
  std::map<std::string, std::string> own;
  for (const std::string& line : split_text(cgroup, '\n')) {
    auto parts = split_text(line, ':');
    if (parts.size() < 3) continue;
    std::string path = line.substr(parts[0].size() + parts[1].size() + 2);
    for (const std::string& controller : split_text(parts[1], ',')) own[controller] = path;
  }
  std::vector<std::string> folders;
  for (const std::string& line : split_text(mountinfo, '\n')) {
    // 36 35 98:0 /root /mount/point options… - type source super-options
    auto words = split_text(line, ' ');
    auto dash = std::ranges::find(words, "-");
    if (words.size() < 5 || words.end() - dash < 4) continue;
    const std::string& type = *(dash + 1);
    std::optional<std::string> path;
    if (type == "cgroup2") {
      if (auto found = own.find(""); found != own.end()) path = found->second;
    } else if (type == "cgroup") {
      for (const std::string& option : split_text(*(dash + 3), ',')) {
        if (option != "memory" && option != "cpu" && option != "pids") continue;
        if (auto found = own.find(option); found != own.end()) path = found->second;
      }
    }
    if (!path) continue;
    const std::string& root = words[3];
    if (root != "/" && path->starts_with(root)) path->erase(0, root.size());
    if (path->empty() || path->back() != '/') *path += '/';
    std::string folder = words[4] + *path + name;
    if (std::ranges::find(folders, folder) == folders.end()) folders.push_back(folder);
  }
  return folders;
}

std::vector<std::string> plan_groups(const std::string& name) {
  return plan_groups(kernel_text("/proc/self/mountinfo"), kernel_text("/proc/self/cgroup"), name);
}

MadeGroups make_groups(const std::vector<std::string>& planned, const Limits& limits) {
  MadeGroups made;
  std::set<std::string> bound;
  const std::string memory = std::to_string(limits.memory_bytes), processes = std::to_string(limits.processes);
  const std::string quota =
      std::to_string(std::max(kLeastCpuQuota_us, std::llround(limits.cpu * static_cast<double>(kCpuPeriod_us))));
  const std::string period = std::to_string(kCpuPeriod_us);
  for (const std::string& folder : planned) {
    const std::string above = folder.substr(0, folder.rfind('/'));
    if (is_there(above + "/cgroup.subtree_control")) {
      for (const char* controller : {"+cpu", "+memory", "+pids"}) {
        (void)write_control(above + "/cgroup.subtree_control", controller);
      }
    }
    if (::mkdir(folder.c_str(), 0755) != 0 && errno != EEXIST) continue;
    made.folders.push_back(folder);
    auto set = [&](const char* file, const std::string& value, const char* what) {
      if (is_there(folder + "/" + file) && write_control(folder + "/" + file, value) && what[0] != 0)
        bound.insert(what);
    };
    set("memory.max", memory, "memory");
    set("memory.swap.max", "0", "");
    set("memory.limit_in_bytes", memory, "memory");
    set("memory.memsw.limit_in_bytes", memory, "");
    set("cpu.max", quota + " " + period, "cpu");
    set("cpu.cfs_period_us", period, "");
    set("cpu.cfs_quota_us", quota, "cpu");
    set("pids.max", processes, "pids");
  }
  made.limits.assign(bound.begin(), bound.end());
  return made;
}

MadeGroups groups_there(const std::vector<std::string>& planned) {
  MadeGroups found;
  std::set<std::string> bound;
  for (const std::string& folder : planned) {
    if (!is_there(folder + "/cgroup.procs")) continue;
    found.folders.push_back(folder);
    for (auto [file, what] : {std::pair("memory.max", "memory"),
                              {"memory.limit_in_bytes", "memory"},
                              {"cpu.max", "cpu"},
                              {"cpu.cfs_quota_us", "cpu"},
                              {"pids.max", "pids"}}) {
      if (is_there(folder + "/" + file)) bound.insert(what);
    }
  }
  found.limits.assign(bound.begin(), bound.end());
  return found;
}

std::string to_string(const MadeGroups& made) {
  if (made.limits.empty()) return "rlimits";
  std::string text = "control groups (";
  for (const std::string& each : made.limits) text += (text.ends_with('(') ? "" : ", ") + each;
  return text + (made.limits.size() == 3 ? ")" : ") and rlimits");
}

Result<void> join_groups(const std::vector<std::string>& folders, const std::string& born_in) {
  for (const std::string& folder : folders) {
    if (folder == born_in) continue;
    // As a thread, where that can be written: for a thread that moves itself the kernel stops nobody else.
    const char* file = is_there(folder + "/tasks") ? "/tasks" : "/cgroup.procs";
    if (auto joined = write_control(folder + file, "0"); !joined) return joined;
  }
  return {};
}

std::string birth_group(const std::vector<std::string>& folders) {
  auto found = std::ranges::find_if(folders, [](const std::string& folder) { return !is_there(folder + "/tasks"); });
  return found == folders.end() ? "" : *found;
}

std::vector<pid_t> members_of(const std::vector<std::string>& folders) {
  std::set<pid_t> members;
  for (const std::string& folder : folders) {
    std::istringstream text(kernel_text(folder + "/cgroup.procs"));
    for (pid_t pid = 0; text >> pid;) members.insert(pid);
  }
  return {members.begin(), members.end()};
}

void kill_groups(const std::vector<std::string>& folders) {
  for (const std::string& folder : folders) {
    if (is_there(folder + "/cgroup.kill")) (void)write_control(folder + "/cgroup.kill", "1");
  }
  // What has joined another hierarchy and not yet that one, or where there is no cgroup.kill: each by a handle that is
  // seen to be a member's after it was opened.
  std::map<pid_t, ProcessHandle> handles;
  for (pid_t pid : members_of(folders)) {
    auto identity = identify_process(pid);
    if (!identity) continue;
    if (auto handle = ProcessHandle::open(*identity)) handles.emplace(pid, std::move(*handle));
  }
  for (pid_t pid : members_of(folders)) {
    if (auto found = handles.find(pid); found != handles.end()) (void)found->second.send(SIGKILL);
  }
}

void remove_groups(const std::vector<std::string>& folders) {
  for (const std::string& folder : folders) ::rmdir(folder.c_str());
}

uint64_t memory_kills(const std::vector<std::string>& folders) {
  uint64_t kills = 0;
  for (const std::string& folder : folders) {
    kills += number_after(kernel_text(folder + "/memory.events"), "oom_kill");
    kills += number_after(kernel_text(folder + "/memory.oom_control"), "oom_kill");
  }
  return kills;
}

}  // namespace sluice::process
