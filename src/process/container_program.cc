// The listener is a fork of the supervisor that never becomes another program: it takes next to no memory of its own.
#include "process/container_program.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <ctime>
#include <filesystem>

#include "base/real_disk.h"
#include "container/engine.h"
#include "process/control_group.h"
#include "process/process_tree.h"
#include "process/system.h"

namespace sluice::process {
namespace {

constexpr long kTmpfs = 0x01021994;  // TMPFS_MAGIC
constexpr int64_t kAgain_ms = 200;
constexpr int kEndRounds = 100;
constexpr int64_t kEndRound_ms = 20;
constexpr size_t kKnownLines = 50;
constexpr int64_t kMargin_s = 2;  // between the engine's times and those of the log
constexpr int kEndUnknown = 255;
constexpr int kFirstSignalCode = 128;

std::string home_of(const container::Labels& labels) {
  auto found = labels.find(std::string(kHomeLabel));
  return found == labels.end() ? "" : found->second;
}

// Where a container's secrets lie: in memory, in a folder that only root may enter.
Result<std::string> secrets_folder(const std::string& mark) {
  for (const char* base : {"/run", "/dev/shm"}) {
    struct statfs found {};
    if (::statfs(base, &found) == 0 && static_cast<long>(found.f_type) == kTmpfs) return std::string(base) + "/" + mark;
  }
  return Error{.code = Code::unavailable,
               .message = "neither /run nor /dev/shm is in memory, so there is no place for secrets",
               .next = "mount a tmpfs at /run, or name secrets_as: env in bundle.yaml"};
}

void forget_secrets(const std::string& mark) {
  std::error_code ignored;
  for (const char* base : {"/run", "/dev/shm"}) std::filesystem::remove_all(std::string(base) + "/" + mark, ignored);
}

// The folder to mount.
Result<std::string> lay_out_secrets(const std::string& mark, const Secrets& secrets) {
  forget_secrets(mark);
  auto folder = secrets_folder(mark);
  if (!folder) return folder;
  const std::string inner = *folder + "/files";
  if (::mkdir(folder->c_str(), 0700) != 0 || ::mkdir(inner.c_str(), 0755) != 0) {
    return error_from(errno, "make", *folder);
  }
  for (const auto& [name, value] : secrets) {
    if (auto written = replace_file(inner + "/" + name, value, 0444); !written) return written.error();
  }
  return inner;
}

// As many processes as an engine may have itself: as this process may have, and no more than the kernel numbers, to
// which podman lowers its own limit.
uint64_t most_user_processes() {
  rlimit now{};
  const uint64_t own = ::getrlimit(RLIMIT_NPROC, &now) == 0 ? now.rlim_max : RLIM_INFINITY;
  const std::string text = kernel_text("/proc/sys/kernel/pid_max");
  uint64_t numbers = 0;
  std::from_chars(text.data(), text.data() + text.size(), numbers);
  return numbers == 0 ? 0 : std::min(own, numbers);
}

uint32_t most_files(uint32_t wanted) {
  rlimit now{};
  return ::getrlimit(RLIMIT_NOFILE, &now) == 0 ? static_cast<uint32_t>(std::min<rlim_t>(wanted, now.rlim_max)) : wanted;
}

Result<container::ContainerSpec> spec_of(const ReplicaFiles& files, const Launch& launch, const Secrets& secrets) {
  const Workload& work = launch.workload;
  const ContainerWork& how = *work.container;
  container::ContainerSpec spec{.image = how.image,
                                .command = work.argv,
                                .environment = work.environment,
                                .user = how.user,
                                .labels = how.labels,
                                .writable = how.writable,
                                .cpu = work.limits.cpu,
                                .memory_bytes = work.limits.memory_bytes,
                                .processes = work.limits.processes,
                                .files = most_files(work.limits.files),
                                .user_processes = most_user_processes()};
  spec.labels["dev.sluice.replica"] = launch.start.substr(0, launch.start.find('/'));
  spec.labels["dev.sluice.start"] = launch.start;
  spec.environment["SLUICE_CONFIG"] = std::string(kInnerConfig) + "/config.json";
  spec.environment[std::string(kMarkVariable)] = launch.mark;
  spec.mounts.push_back({.source = files.config, .target = std::string(kInnerConfig)});
  if (work.port) {
    spec.network = how.network;
    spec.port = container::ContainerSpec::Port{.inner = how.port, .outer = *work.port};
    // It must be reached from other machines as well (docs/operations/routers.md).
    const auto address = work.environment.find("SLUICE_WORKLOAD_ADDRESS");
    if (address != work.environment.end()) spec.port->address = address->second;
    spec.environment["PORT"] = std::to_string(how.port);
  } else {
    spec.environment["SLUICE_SOCKET"] = std::string(kInnerRun) + "/socket";
    spec.mounts.push_back({.source = files.run, .target = std::string(kInnerRun), .writable = true});
  }
  for (const ContainerMount& each : how.mounts) {
    spec.mounts.push_back({.source = each.source, .target = each.target, .writable = each.writable});
  }
  if (how.tmp_bytes > 0) spec.memory_folders["/tmp"] = how.tmp_bytes;
  if (secrets.empty()) return spec;
  if (work.secrets_as == SecretsAs::env) {
    for (const auto& [name, value] : secrets) spec.environment[name] = value;
    return spec;
  }
  auto folder = lay_out_secrets(launch.mark, secrets);
  if (!folder) return folder.error();
  spec.mounts.push_back({.source = *folder, .target = std::string(kInnerSecrets)});
  for (const auto& [name, value] : secrets) spec.environment[name] = std::string(kInnerSecrets) + "/" + name;
  return spec;
}

// The number of "SIGQUIT", "QUIT" or "3".
int signal_of(std::string text) {
  int number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  if (number > 0) return number;
  if (text.starts_with("SIG")) text.erase(0, 3);
  for (int each = 1; each < NSIG; ++each) {
    const char* name = ::sigabbrev_np(each);
    if (name != nullptr && text == name) return each;
  }
  return SIGTERM;
}

bool is_about_a_port(const std::string& message) {
  for (const char* words : {"address already in use", "port is already allocated", "cannot listen on the TCP port"}) {
    if (message.find(words) != std::string::npos) return true;
  }
  return false;
}

// Tells of the kernel ending something in the container because its memory is used up, where the engine does not: in
// control groups of the first version an event counter hears of it, and once more when the group goes.
class MemoryEvents {
 public:
  explicit MemoryEvents(pid_t pid) {
    const std::string inside = "/proc/" + std::to_string(pid) + "/cgroup";
    for (const std::string& each : plan_groups(kernel_text("/proc/self/mountinfo"), kernel_text(inside), "")) {
      const std::string control = each + "memory.oom_control";
      if (kernel_text(control).empty()) continue;
      auto file = open_path(control, O_RDONLY);
      if (!file) continue;
      counter_ = Descriptor(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
      const std::string words = std::to_string(counter_.fd()) + " " + std::to_string(file->fd());
      if (write_control(each + "cgroup.event_control", words)) {
        control_ = control;
      } else {
        counter_.reset();
      }
    }
  }

  bool heard() const {
    uint64_t count = 0;
    if (!counter_ || ::read(counter_.fd(), &count, sizeof count) != sizeof count) return false;
    const bool gone = kernel_text(control_).empty();
    return count > (gone ? 1U : 0U);
  }

 private:
  Descriptor counter_;
  std::string control_;
};

// Of "2026-11-18T13:26:41…Z"; 0 if it is none.
int64_t seconds_of(const std::string& time) {
  if (time.size() < 19) return 0;
  tm parts{};
  if (::strptime(time.substr(0, 19).c_str(), "%Y-%m-%dT%H:%M:%S", &parts) == nullptr) return 0;
  return ::timegm(&parts);
}

// What was heard of a log: up to which time, and how many lines of that time, since podman's times are whole seconds.
class Heard {
 public:
  // Whether the line is new.
  bool is_new(std::string_view time) {
    if (time == passing_time_) {
      passing_lines_++;
    } else {
      passing_time_ = time;
      passing_lines_ = 1;
    }
    if (time < last_time_ || (time == last_time_ && passing_lines_ <= last_lines_)) return false;
    last_time_ = time;
    last_lines_ = passing_lines_;
    return true;
  }
  // The log is told from a time on, once more.
  void again() {
    passing_time_.clear();
    passing_lines_ = 0;
  }
  int64_t since_s() const { return seconds_of(last_time_); }

 private:
  std::string last_time_, passing_time_;
  size_t last_lines_ = 0, passing_lines_ = 0;
};

void write_whole(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t wrote = ::write(fd, bytes.data(), bytes.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return;
    bytes.remove_prefix(static_cast<size_t>(wrote));
  }
}

// As the container ended: its supervisor learns from how this process ends.
[[noreturn]] void end_like(const container::Container& ended) {
  const int number = ended.exit_code - kFirstSignalCode;
  if (number > 0 && number < SIGRTMIN) {
    ::signal(number, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    const rlimit no_core{.rlim_cur = 1, .rlim_max = 1};
    ::setrlimit(RLIMIT_CORE, &no_core);
    ::kill(::getpid(), number);
  }
  ::_exit(ended.exit_code);
}

[[noreturn]] void listen_to(const container::Engine& engine, const std::string& id, pid_t program, int out, int err,
                            Clock& clock, ContainerEnd& end) {
  const MemoryEvents memory(program);
  Heard heard;
  auto take = [&](container::LogStream stream, std::string_view text) {
    const container::LogLine line = container::split_time(text);
    if (heard.is_new(line.time)) write_whole(stream == container::LogStream::out ? out : err, line.text);
  };
  for (bool ended = false;;) {
    heard.again();
    auto followed = engine.follow_logs(id, heard.since_s(), take, [] { return false; });
    auto found = engine.inspect(id);
    if (!found && found.error().code == Code::not_found) ::_exit(kEndUnknown);  // somebody removed it
    if (found && !found->running) {
      // What it said last may have come after the engine had stopped following.
      if (std::exchange(ended, true)) {
        if (found->out_of_memory || memory.heard()) end.out_of_memory = true;
        end_like(*found);
      }
      continue;
    }
    clock.sleep_ms(kAgain_ms);
  }
}

Result<Launched> start_listener(const container::Engine& engine, const std::string& id, pid_t program, Clock& clock,
                                ContainerEnd& end) {
  std::array<int, 2> out{}, err{};
  if (::pipe2(out.data(), O_CLOEXEC) != 0) return error_from(errno, "make a pipe for", "a container");
  Descriptor out_read(out[0]), out_write(out[1]);
  if (::pipe2(err.data(), O_CLOEXEC) != 0) return error_from(errno, "make a pipe for", "a container");
  Descriptor err_read(err[0]), err_write(err[1]);
  const pid_t parent = ::getpid();
  const pid_t pid = fork_here();
  if (pid < 0) return error_from(errno, "start a process for", "a container");
  if (pid == 0) {
    ::setsid();
    // The replica's lock and secrets are the supervisor's alone.
    for (int each = 3; each < std::min(out[0], out[1]); ++each) ::close(each);
    out_read.reset();
    err_read.reset();
    ::prctl(PR_SET_NAME, "sluice-listener", 0, 0, 0);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    if (::getppid() != parent) ::_exit(kEndUnknown);
    for (int each : {SIGTERM, SIGINT, SIGHUP, SIGPIPE}) ::signal(each, SIG_IGN);
    listen_to(engine, id, program, out[1], err[1], clock, end);
  }
  ::fcntl(out_read.fd(), F_SETFL, O_NONBLOCK);
  ::fcntl(err_read.fd(), F_SETFL, O_NONBLOCK);
  return Launched{.pid = pid, .out = std::move(out_read), .err = std::move(err_read), .own_view = true};
}

// Nobody else may have made a network of this name.
Result<void> make_network(const container::Engine& engine, const ContainerWork& how) {
  auto found = engine.network(how.network);
  if (!found) return found.error();
  if (!*found) {
    const container::Labels labels = {{std::string(kHomeLabel), home_of(how.labels)}};
    auto made = engine.create_network(how.network, labels);
    if (made || made.error().code != Code::conflict) return made;
    found = engine.network(how.network);
    if (!found) return found.error();
  }
  if (*found && home_of(**found) == home_of(how.labels)) return {};
  return Error{.message = "the container engine has a network " + how.network + " that is not this home's"};
}

// Removes the container of this name, if it is this home's.
Result<void> clear_away(const container::Engine& engine, const Launch& launch) {
  auto found = engine.inspect(launch.mark);
  if (!found && found.error().code == Code::not_found) return {};
  if (!found) return found.error();
  if (home_of(found->labels) != home_of(launch.workload.container->labels)) {
    return Error{.message = "the container engine has a container " + launch.mark + " that is not this home's"};
  }
  return engine.remove(found->id);
}

}  // namespace

Result<StartedContainer> start_container(const ReplicaFiles& files, const Launch& launch, const Secrets& secrets,
                                         Clock& clock, ContainerEnd& end) {
  const ContainerWork& how = *launch.workload.container;
  const container::Engine engine(how.engine, clock);
  end = {};
  if (auto cleared = clear_away(engine, launch); !cleared) return cleared.error();
  auto spec = spec_of(files, launch, secrets);
  if (!spec) return spec.error();
  if (!spec->network.empty()) {
    if (auto made = make_network(engine, how); !made) return made.error();
  }
  auto id = engine.create(launch.mark, *spec);
  if (!id) return id.error();
  auto undo = [&](Error error) -> Result<StartedContainer> {
    (void)engine.remove(*id);
    if (is_about_a_port(error.message)) error.code = Code::conflict;
    return error;
  };
  if (auto started = engine.start(*id); !started) return undo(started.error());
  auto found = engine.inspect(*id);
  if (!found) return undo(found.error());
  auto program = identify_process(found->pid);
  // It may have ended at once: its listener tells how.
  StartedContainer begun{.program = program ? *program : ProcessIdentity{},
                         .stop_signal = signal_of(found->stop_signal)};
  auto listener = start_listener(engine, *id, found->pid, clock, end);
  if (!listener) return undo(listener.error());
  begun.listener = std::move(*listener);
  return begun;
}

std::vector<Unheard> unheard_of(const ReplicaFiles& files, const Launch& launch, Clock& clock) {
  const container::Engine engine(launch.workload.container->engine, clock);
  auto found = engine.inspect(launch.mark);
  for (int round = 0; found && found->running && round < kEndRounds; ++round) {
    clock.sleep_ms(kEndRound_ms);
    found = engine.inspect(launch.mark);
  }
  if (!found || home_of(found->labels) != home_of(launch.workload.container->labels)) return {};
  RealDisk disk;
  auto lines = last_log_lines(disk, files.log, kKnownLines);
  std::vector<std::string> known;
  std::string last_time;
  for (const LogLine& each : lines ? *lines : std::vector<LogLine>{}) {
    if (each.stream == "sluice" || each.goes_on) continue;
    known.push_back(each.text);
    last_time = each.time;
  }
  std::vector<Unheard> said;
  const int64_t since_s = std::max<int64_t>(seconds_of(last_time) - kMargin_s, 0);
  (void)engine.logs(found->id, since_s, [&](container::LogStream stream, std::string_view text) {
    said.push_back({.stream = stream == container::LogStream::out ? Stream::out : Stream::err,
                    .text = std::string(container::split_time(text).text)});
  });
  // The log goes on behind the last place at which it reads as what is known ends.
  auto ends_here = [&](size_t end) {
    for (size_t i = 0; i < std::min(end, known.size()); ++i) {
      std::string_view line = said[end - 1 - i].text;
      if (line.ends_with('\n')) line.remove_suffix(1);
      if (line != known[known.size() - 1 - i]) return false;
    }
    return true;
  };
  for (size_t end = said.size(); end > 0 && !known.empty(); --end) {
    if (!ends_here(end)) continue;
    said.erase(said.begin(), said.begin() + static_cast<std::ptrdiff_t>(end));
    break;
  }
  return said;
}

Result<void> end_container(const Launch& launch, Clock& clock, bool network) {
  const container::Engine engine(launch.workload.container->engine, clock);
  forget_secrets(launch.mark);
  if (auto cleared = clear_away(engine, launch); !cleared) return cleared;
  if (!network || launch.workload.container->network.empty()) return {};
  auto found = engine.network(launch.workload.container->network);
  if (!found || !*found || home_of(**found) != home_of(launch.workload.container->labels)) return {};
  auto removed = engine.remove_network(launch.workload.container->network);
  if (!removed && removed.error().code != Code::conflict) return removed;
  return {};
}

}  // namespace sluice::process
