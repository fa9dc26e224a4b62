// One loop around poll(): signals, what the program says, the health check, and the times at which something is due.
#include "process/supervisor.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <utility>

#include "base/atomic_file.h"
#include "base/clock.h"
#include "base/real_disk.h"
#include "process/container_program.h"
#include "process/control_group.h"
#include "process/launch.h"
#include "process/port.h"
#include "process/probe.h"
#include "process/process_tree.h"
#include "process/program_output.h"
#include "process/replica_files.h"
#include "process/replica_log.h"
#include "process/replica_state.h"
#include "process/secrets.h"

namespace sluice::process {
namespace {

constexpr int kLockDescriptor = 3;
constexpr int64_t kMs = 1'000'000;  // in ns
constexpr int64_t kNever = INT64_MAX;
constexpr int64_t kFirstProbe_ms = 2, kLastQuickProbe_ms = 250;
constexpr int64_t kWriteAgain_ms = 500;
constexpr int64_t kKillRound_ms = 20;
constexpr int kListenerRounds = 100;  // in which a listener is to notice that its container has ended
constexpr size_t kAllLimits = 3;
constexpr size_t kCommandWords = 200;  // bytes of what a health check says that are told

std::string end_text(int status) {
  if (WIFSIGNALED(status)) return "was killed by signal " + std::to_string(WTERMSIG(status));
  return "ended with exit code " + std::to_string(WEXITSTATUS(status));
}

// Signals as something to poll for.
Descriptor signals() {
  sigset_t set;
  sigemptyset(&set);
  for (int each : {SIGTERM, SIGINT, SIGHUP, SIGCHLD}) sigaddset(&set, each);
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
  // A file that may not grow is an error like a full disk, not the end.
  ::signal(SIGXFSZ, SIG_IGN);
  return Descriptor(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
}

// Memory that a child writes and this process reads.
ContainerEnd& shared_end() {
  static ContainerEnd unshared;
  void* place = ::mmap(nullptr, sizeof(ContainerEnd), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return place == MAP_FAILED ? unshared : *new (place) ContainerEnd;
}

class Supervisor {
 public:
  Supervisor(const std::string& folder, Launch launch, HandedSecrets secrets, Secrets plain, ProcessIdentity self,
             MayStart may_start)
      : may_start_(may_start),
        files_(folder),
        launch_(std::move(launch)),
        work_(launch_.workload),
        secrets_(std::move(secrets)),
        plain_(std::move(plain)),
        log_(files_.log, work_.log, clock_),
        probe_(work_.health, work_.port, files_.socket),
        signals_(signals()) {
    state_.start = launch_.start;
    state_.supervisor = record_of(self);
  }

  void run() {
    const auto before = former_state();
    started_before_ = before && before->reason != Reason::cannot_start;
    if (before && !is_over(before->phase)) {
      if (size_t ended = end_leftovers(launch_.groups, launch_.mark); ended > 0) {
        log_.note("ended " + std::to_string(ended) + " processes that a supervisor before left behind");
      }
      if (work_.container) {
        for (const Unheard& each : unheard_of(files_, launch_, clock_)) log_.add(each.stream, each.text);
      }
      remove_groups(launch_.groups);
    }
    change(Phase::starting, "");
    begun_ns_ = now_ns();
    if (work_.container) {
      state_.limited_by = "the container engine";
    } else {
      groups_ = make_groups(launch_.groups, work_.limits);
      state_.limited_by = to_string(groups_);
      if (groups_.limits.size() < kAllLimits) log_.note("its limits are kept by " + state_.limited_by);
      take_own_ids();
    }
    start_program();
    while (!over_) turn();
    if (write_again_ns_ != kNever) write_state();
  }

 private:
  std::optional<ReplicaState> former_state() {
    auto text = read_file(disk_, files_.state, kMostLaunchBytes);
    if (!text) return std::nullopt;
    auto state = parse_state(*text);
    // What cannot be read may be that of a supervisor that was stopped by a full disk: look, to be sure.
    if (!state) return ReplicaState{};
    return *state;
  }

  int64_t now_ns() const { return clock_.monotonic_ns(); }

  // --- state ------------------------------------------------------------------------------------------------

  void change(Phase phase, const std::string& message) {
    if (phase != state_.phase || state_.since_ms == 0) state_.since_ms = clock_.wall_ms();
    state_.phase = phase;
    state_.message = message;
    if (!message.empty()) log_.note(message);
    write_state();
  }

  void write_state() {
    bool written = replace_file(files_.state, print_state(state_), 0600).has_value();
    write_again_ns_ = written ? kNever : now_ns() + kWriteAgain_ms * kMs;
  }

  void give_up(Reason reason, const std::string& message) {
    end_everything();
    end_guests();
    remove_groups(groups_.folders);
    state_.reason = reason;
    state_.healthy = false;
    state_.program.reset();
    over_ = true;
    change(Phase::failed, message);
  }

  // --- the program ------------------------------------------------------------------------------------------

  // One for all that runs in its place, one after the other and beside each other.
  void take_own_ids() {
    if (::geteuid() != 0 || work_.user == 0) return;
    auto made = make_ids();
    if (made && ::dup3(made->fd(), kIdsDescriptor, O_CLOEXEC) == kIdsDescriptor) {
      ids_ = Descriptor(kIdsDescriptor);
      return;
    }
    log_.note("no user namespace of its own: other programs of user " + std::to_string(work_.user) +
              " can look into it, and see its secrets");
  }

  LaunchRequest request_of(const std::vector<std::string>& argv) const {
    if (work_.container) return request_inside(state_.program.value_or(ProcessRecord{}).pid, argv);
    LaunchRequest request = request_in(files_, launch_, groups_, secrets_, argv);
    request.ids = ids_.fd();
    return request;
  }

  // As a process, or as a container for which a listener stands.
  Result<Launched> launch_program() {
    if (!work_.container) {
      auto launched = launch(request_of(work_.argv));
      if (!launched) return launched;
      if (auto identity = identify_process(launched->pid)) state_.program = record_of(*identity);
      return launched;
    }
    auto begun = start_container(files_, launch_, plain_, clock_, end_);
    if (!begun) return begun.error();
    stop_signal_ = begun->stop_signal;
    if (begun->program.pid > 0) state_.program = record_of(begun->program);
    return std::move(begun->listener);
  }

  // Why it cannot be started, and whether that is the end.
  void cannot_launch(const Error& error) {
    Reason reason = Reason::cannot_start;
    if (work_.container && error.code == Code::unavailable) reason = Reason::no_engine;
    if (work_.container && error.code == Code::conflict) reason = Reason::port_in_use;
    // An engine that is being restarted is waited for.
    const bool wait = reason == Reason::no_engine && now_ns() - begun_ns_ < work_.health.start_within_ms * kMs;
    if (!was_healthy_ && !wait) return give_up(reason, error.message);
    state_.reason = reason;
    back_off(error.message);
  }

  void start_program() {
    // In a group that was killed the kernel ends what is born there later as well.
    if (std::exchange(killed_, false)) {
      remove_groups(groups_.folders);
      groups_ = make_groups(launch_.groups, work_.limits);
    }
    restart_at_ns_ = kNever;
    if (work_.port && is_port_taken(*work_.port)) {
      const std::string message = "port " + std::to_string(*work_.port) + " is in use";
      if (!was_healthy_) return give_up(Reason::port_in_use, message);
      state_.reason = Reason::port_in_use;
      return back_off(message);
    }
    if (may_start_ != nullptr) {
      if (auto may = may_start_(work_, std::exchange(started_before_, true)); !may) return cannot_launch(may.error());
    }
    ::unlink(files_.socket.c_str());
    memory_kills_ = memory_kills(groups_.folders);
    auto launched = launch_program();
    if (!launched) return cannot_launch(launched.error());
    program_ = launched->pid;
    output_.open(std::move(launched->out), std::move(launched->err));
    if (!launched->own_view && ::geteuid() == 0 && !said_no_view_) {
      said_no_view_ = true;
      log_.note("no view of the file system of its own: file permissions alone protect what it must not see");
    }
    started_ns_ = now_ns();
    start_deadline_ns_ = started_ns_ + work_.health.start_within_ms * kMs;
    good_ = bad_ = 0;
    quick_ms_ = kFirstProbe_ms;
    next_probe_ns_ = started_ns_;
    change(Phase::starting,
           work_.container ? "started as container " + launch_.mark : "started as process " + std::to_string(program_));
  }

  // The kernel ended it for that in its control group; or, where none bounds memory, it failed when what it had
  // reached the limit that allocations meet.
  bool used_up_memory(int status, const rusage& usage) const {
    if (work_.container) return end_.out_of_memory;
    if (memory_kills(groups_.folders) > memory_kills_) return true;
    if (status == 0 || std::ranges::find(groups_.limits, "memory") != groups_.limits.end()) return false;
    return static_cast<uint64_t>(usage.ru_maxrss) * 1024 >= work_.limits.memory_bytes / 10 * 9;
  }

  void program_ended(int status, const rusage& usage) {
    const pid_t pid = std::exchange(program_, -1);
    state_.program.reset();
    state_.healthy = false;
    const bool no_memory = used_up_memory(status, usage);
    const std::string how = no_memory
                                ? "used up its " + std::to_string(work_.limits.memory_bytes >> 20) + " MB of memory"
                                : end_text(status);
    if (no_memory) state_.reason = Reason::out_of_memory;
    if (state_.phase == Phase::stopping) {
      log_.note((work_.container ? "container" : "process " + std::to_string(pid)) + " " + how);
      return;
    }
    end_everything();
    if (now_ns() - started_ns_ >= work_.restarts.calm_ms * kMs) crashes_ = 0;
    ended(how);
  }

  // The program is gone, with all that it started; what now?
  void ended(const std::string& how) {
    crashes_++;
    if (!was_healthy_ && crashes_ >= work_.restarts.crashes) {
      Reason reason = state_.reason == Reason::out_of_memory ? Reason::out_of_memory : Reason::crash_loop;
      return give_up(reason, "it " + how + ", " + std::to_string(crashes_) + " times without ever being healthy");
    }
    if (crashes_ < work_.restarts.crashes) return back_off("it " + how);
    if (state_.reason != Reason::out_of_memory) state_.reason = Reason::crash_loop;
    if (crashes_ == work_.restarts.crashes) log_.note("crash loop: it is started again ever less often");
    back_off("it " + how + ", " + std::to_string(crashes_) + " times in a row");
  }

  void back_off(const std::string& why) {
    int64_t wait_ms = work_.restarts.first_after_ms;
    for (uint32_t i = 1; i < std::max(crashes_, 1U) && wait_ms < work_.restarts.last_after_ms; ++i) wait_ms *= 2;
    wait_ms = std::min(wait_ms, work_.restarts.last_after_ms);
    restart_at_ns_ = now_ns() + wait_ms * kMs;
    next_probe_ns_ = start_deadline_ns_ = kNever;
    state_.restarts++;
    change(Phase::backing_off, why + "; starts again in " + std::to_string(wait_ms) + " ms");
  }

  void begin_stop() {
    if (state_.phase == Phase::stopping) return;
    probe_.cancel();
    next_probe_ns_ = start_deadline_ns_ = restart_at_ns_ = kNever;
    state_.healthy = false;
    change(Phase::stopping, "stopping");
    kill_at_ns_ = now_ns() + work_.grace_ms * kMs;
    tell_all(SIGTERM);
  }

  void end_stop() {
    kill_at_ns_ = kNever;
    end_everything();
    end_guests();
    remove_groups(groups_.folders);
    over_ = true;
    change(Phase::stopped, "stopped");
  }

  // --- everything that it started ---------------------------------------------------------------------------

  // A container's own processes are the engine's children; its first one hears what the container is told.
  void tell_all(int signal) {
    if (!work_.container) return tell_descendants(program_, signal);
    if (command_.pid > 0 && signal == SIGKILL) ::kill(-command_.pid, SIGKILL);
    if (!state_.program) return;
    auto program = ProcessHandle::open(identity_of(*state_.program));
    if (program) (void)program->send(signal == SIGTERM ? stop_signal_ : signal);
  }

  // The listener may wait for an engine that does not answer.
  void end_listener(int rounds) {
    if (program_ > 0 && (!state_.program || rounds > kListenerRounds)) ::kill(-program_, SIGKILL);
  }

  void end_everything() {
    probe_.cancel();
    for (int round = 0;; ++round) {
      int status = 0;
      pid_t pid = 0;
      while ((pid = ::waitpid(-1, &status, WNOHANG)) > 0) {
        if (pid == program_) program_ = -1;
        if (pid == command_.pid) command_ = {};
      }
      if (pid < 0 && errno == ECHILD) break;
      kill_groups(groups_.folders);
      killed_ = true;
      tell_all(SIGKILL);
      if (work_.container) end_listener(round);
      pollfd wait{.fd = signals_.fd(), .events = POLLIN, .revents = 0};
      ::poll(&wait, 1, kKillRound_ms);
      take_signals();
      // What a listener still has to say must not wait for room in its pipe.
      while (work_.container && (output_.pump(Stream::out) || output_.pump(Stream::err))) {
      }
    }
    output_.close();
    if (!work_.container) return;
    if (auto ended = end_container(launch_, clock_); !ended)
      log_.note("its container is left: " + ended.error().message);
  }

  // Commands that somebody else runs in its place: no descendants, but of its group, and with its mark.
  void end_guests() { end_leftovers(groups_.folders, launch_.mark); }

  // Whether a stop was asked for.
  bool take_signals() {
    signalfd_siginfo info{};
    while (::read(signals_.fd(), &info, sizeof info) == sizeof info) {
      if (info.ssi_signo != SIGCHLD) stop_asked_ = true;
    }
    return stop_asked_;
  }

  void reap() {
    for (;;) {
      siginfo_t info{};
      if (::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0) {
        if (errno == ECHILD && state_.phase == Phase::stopping) end_stop();
        return;
      }
      if (info.si_pid == 0) return;
      const pid_t pid = info.si_pid;
      // While it is not waited for, no other group can have its number.
      if (pid == program_ && state_.phase != Phase::stopping) ::kill(-pid, SIGKILL);
      int status = 0;
      rusage usage{};
      ::wait4(pid, &status, 0, &usage);
      if (pid == command_.pid) {
        command_ended(status);
      } else if (pid == program_) {
        program_ended(status, usage);
      }
      if (over_) return;
    }
  }

  // --- health -----------------------------------------------------------------------------------------------

  void begin_probe() {
    next_probe_ns_ = kNever;
    if (work_.health.by == HealthBy::command) {
      auto launched = launch(request_of(work_.health.command));
      probe_.begin(now_ns());
      if (!launched) return probe_.command_ended(false, "cannot be asked: " + launched.error().message, now_ns());
      command_ = std::move(*launched);
      command_said_.clear();
      return;
    }
    if (work_.health.by == HealthBy::http) log_.expect_check(work_.health.path);
    probe_.begin(now_ns());
  }

  // Takes what the command says, so that it never waits for that. Only its beginning is kept.
  void hear_command(Descriptor& from, bool kept) {
    std::array<char, 4096> chunk{};
    while (from) {
      ssize_t got = ::read(from.fd(), chunk.data(), chunk.size());
      if (got < 0) return;
      if (got == 0) return from.reset();
      const size_t room = kept ? kCommandWords - std::min(kCommandWords, command_said_.size()) : 0;
      command_said_.append(chunk.data(), std::min(room, static_cast<size_t>(got)));
    }
  }

  void command_ended(int status) {
    hear_command(command_.out, true);
    const std::string said = command_said_.substr(0, command_said_.find('\n'));
    command_ = {};
    bool healthy = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    probe_.command_ended(healthy, "fails its check, which " + end_text(status) + (said.empty() ? "" : ": " + said),
                         now_ns());
  }

  void hear(const Answer& answer) {
    if (program_ < 0) return;
    const bool starting = state_.phase == Phase::starting;
    if (answer.healthy) {
      good_++;
      bad_ = 0;
      state_.latency_us = answer.latency_us;
      if (!state_.healthy && good_ >= work_.health.healthy_after) {
        state_.healthy = was_healthy_ = true;
        state_.reason = Reason::none;
        start_deadline_ns_ = kNever;
        change(Phase::running, "is healthy after " + std::to_string((now_ns() - started_ns_) / kMs) + " ms");
      }
    } else {
      bad_++;
      good_ = 0;
      why_not_ = answer.message;
      // Whoever waits for it can read what it answers, and not only at the end.
      if (const std::string now = "is not healthy yet: it " + why_not_; starting && state_.message != now) {
        state_.message = now;
        write_state();
      }
      if (command_.pid > 0) ::kill(-command_.pid, SIGKILL);
      if (state_.healthy && bad_ >= work_.health.unhealthy_after) {
        state_.healthy = false;
        change(Phase::running, "is unhealthy: it " + why_not_);
      }
    }
    int64_t wait_ms = work_.health.interval_ms;
    if (starting && !state_.healthy) {
      wait_ms = std::min(wait_ms, quick_ms_);
      quick_ms_ = std::min(quick_ms_ + quick_ms_ / 2, kLastQuickProbe_ms);
    }
    if (work_.health.by != HealthBy::none) next_probe_ns_ = now_ns() + wait_ms * kMs;
  }

  void miss_start() {
    start_deadline_ns_ = kNever;
    const std::string how = "was not healthy within " + std::to_string(work_.health.start_within_ms) + " ms" +
                            (why_not_.empty() ? "" : ": it " + why_not_);
    if (!was_healthy_) return give_up(Reason::health_timeout, "it " + how);
    end_everything();
    state_.reason = Reason::health_timeout;
    state_.program.reset();
    ended(how);
  }

  // --- the loop ---------------------------------------------------------------------------------------------

  int wait_ms() const {
    int64_t due = std::min({next_probe_ns_, start_deadline_ns_, restart_at_ns_, kill_at_ns_, write_again_ns_,
                            probe_.open() ? probe_.deadline_ns() : kNever});
    if (due == kNever) return -1;
    int64_t wait_ns = std::max<int64_t>(due - now_ns(), 0);
    return static_cast<int>(std::min<int64_t>((wait_ns + kMs - 1) / kMs, INT_MAX));
  }

  void turn() {
    std::array<pollfd, 6> wait{{{.fd = signals_.fd(), .events = POLLIN, .revents = 0},
                                {.fd = output_.fd(Stream::out), .events = POLLIN, .revents = 0},
                                {.fd = output_.fd(Stream::err), .events = POLLIN, .revents = 0},
                                {.fd = probe_.fd(), .events = probe_.events(), .revents = 0},
                                {.fd = command_.out.fd(), .events = POLLIN, .revents = 0},
                                {.fd = command_.err.fd(), .events = POLLIN, .revents = 0}}};
    ::poll(wait.data(), wait.size(), wait_ms());
    if (wait[1].revents != 0) output_.pump(Stream::out);
    if (wait[2].revents != 0) output_.pump(Stream::err);
    if (wait[4].revents != 0) hear_command(command_.out, true);
    if (wait[5].revents != 0) hear_command(command_.err, false);
    take_signals();
    reap();
    if (over_) return;
    if (stop_asked_) begin_stop();
    const int64_t now = now_ns();
    if (now >= write_again_ns_) write_state();
    if (now >= kill_at_ns_) return end_stop();
    if (now >= restart_at_ns_) start_program();
    if (over_) return;
    if (now >= next_probe_ns_ && !probe_.open()) begin_probe();
    probe_.look(now_ns());
    if (auto answer = probe_.answer()) hear(*answer);
    if (!over_ && now >= start_deadline_ns_) miss_start();
    // A stop without anything to stop, and one that was asked for while nothing ran.
    if (!over_ && state_.phase == Phase::stopping) reap();
  }

  const MayStart may_start_;
  bool started_before_ = false;
  RealDisk disk_;
  RealClock clock_;
  ReplicaFiles files_;
  Launch launch_;
  const Workload& work_;
  HandedSecrets secrets_;
  Secrets plain_;  // of a container
  ContainerEnd& end_ = shared_end();
  int stop_signal_ = SIGTERM;
  ReplicaLog log_;
  ProgramOutput output_{log_};
  Probe probe_;
  Descriptor signals_, ids_;
  ReplicaState state_;
  MadeGroups groups_;
  bool killed_ = false;  // the groups, since they were made

  pid_t program_ = -1;  // -1: it does not run
  Launched command_;    // the health check, by command
  std::string command_said_;
  bool over_ = false, stop_asked_ = false, was_healthy_ = false, said_no_view_ = false;
  uint32_t crashes_ = 0, good_ = 0, bad_ = 0;
  uint64_t memory_kills_ = 0;
  std::string why_not_;
  int64_t quick_ms_ = kFirstProbe_ms;
  int64_t begun_ns_ = 0, started_ns_ = 0;
  int64_t next_probe_ns_ = kNever, start_deadline_ns_ = kNever, restart_at_ns_ = kNever, kill_at_ns_ = kNever,
          write_again_ns_ = kNever;
};

int say(const std::string& message) {
  (void)std::fprintf(stderr, "%s\n", message.c_str());
  return 1;
}

int supervise_replica(const std::string& folder, MayStart may_start) {
  RealDisk disk;
  auto text = read_file(disk, ReplicaFiles(folder).launch, kMostLaunchBytes);
  if (!text) return say(text.error().message);
  auto launch = parse_launch(*text);
  if (!launch) return say(to_string(launch.error()));
  auto bytes = read_all(kSecretsDescriptor);
  if (!bytes) return say(bytes.error().message);
  auto secrets = HandedSecrets::take(*bytes, launch->workload.secrets_as);
  if (!secrets) return say(secrets.error().message);
  auto self = identify_this_process();
  if (!self) return say(self.error().message);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  ::prctl(PR_SET_NAME, "sluice-replica", 0, 0, 0);
  Secrets plain;
  if (launch->workload.container) {
    auto unsealed = unseal(*bytes);
    if (!unsealed) return say(unsealed.error().message);
    plain = std::move(*unsealed);
  }
  Supervisor(folder, std::move(*launch), std::move(*secrets), std::move(plain), *self, may_start).run();
  return 0;
}

}  // namespace

std::optional<int> supervise(int count, char** words, MayStart may_start) {
  if (count != 3 || words[1] != kSuperviseWord) return std::nullopt;
  // Whoever started it waits for the first of the two, and is nobody's parent.
  pid_t pid = fork_here();
  if (pid < 0) return 1;
  if (pid > 0) ::_exit(0);
  ::fcntl(kLockDescriptor, F_SETFD, FD_CLOEXEC);
  ::fcntl(kSecretsDescriptor, F_SETFD, FD_CLOEXEC);
  return supervise_replica(words[2], may_start);
}

}  // namespace sluice::process
