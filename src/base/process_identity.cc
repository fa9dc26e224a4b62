// Reads /proc.
#include "base/process_identity.h"

#include <unistd.h>

#include <array>
#include <charconv>
#include <climits>

#include "base/atomic_file.h"
#include "base/real_disk.h"

namespace sluice {
namespace {

constexpr size_t kMaxStatBytes = 16 * 1024;
constexpr int kStartTimeField = 22;  // proc(5) counts from 1
constexpr int kStateField = 3;

Error no_such_process(int pid) {
  return {.code = Code::not_found, .message = "there is no process " + std::to_string(pid)};
}

}  // namespace

Result<ProcessStat> parse_process_stat(std::string_view text) {
  const Error bad{.code = Code::invalid, .message = "not the text of /proc/PID/stat"};
  // The second field is the program's name in parentheses; it may hold spaces and parentheses itself.
  size_t name_end = text.rfind(')');
  if (name_end == std::string_view::npos) return bad;
  text.remove_prefix(name_end + 1);
  ProcessStat stat;
  for (int field = kStateField; field <= kStartTimeField; ++field) {
    if (!text.starts_with(' ')) return bad;
    text.remove_prefix(1);
    std::string_view value = text.substr(0, text.find_first_of(" \n"));
    text.remove_prefix(value.size());
    if (field == kStateField) {
      if (value.size() != 1) return bad;
      stat.state = value[0];
    } else if (field == kStartTimeField) {
      auto [end, failure] = std::from_chars(value.data(), value.data() + value.size(), stat.start_ticks);
      if (failure != std::errc() || end != value.data() + value.size()) return bad;
    }
  }
  return stat;
}

Result<ProcessIdentity> identify_process(int pid) {
  if (pid <= 0) return no_such_process(pid);
  RealDisk disk;
  auto text = read_file(disk, "/proc/" + std::to_string(pid) + "/stat", kMaxStatBytes);
  if (!text) {
    // ESRCH: it ended between the open and the read.
    bool gone = text.error().code == Code::not_found || text.error().message.ends_with("No such process");
    return gone ? no_such_process(pid) : text.error();
  }
  auto stat = parse_process_stat(*text);
  if (!stat) return stat.error();
  if (stat->state == 'Z' || stat->state == 'X') return no_such_process(pid);
  auto boot = read_file(disk, "/proc/sys/kernel/random/boot_id", 64);
  if (!boot) return boot.error();
  while (boot->ends_with('\n')) boot->pop_back();
  return ProcessIdentity{.pid = pid, .start_ticks = stat->start_ticks, .boot = *std::move(boot)};
}

Result<ProcessIdentity> identify_this_process() { return identify_process(::getpid()); }

Result<bool> is_running(const ProcessIdentity& process) {
  auto found = identify_process(process.pid);
  if (found) return *found == process;
  if (found.error().code == Code::not_found) return false;
  return found.error();
}

std::string host_name() {
  std::array<char, HOST_NAME_MAX + 1> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return "localhost";
  return name.data();
}

}  // namespace sluice
