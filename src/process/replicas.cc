// The controller's side. Everything here may be interrupted by a kill at any point and begun anew.
#include "process/replicas.h"

#include <poll.h>
#include <signal.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <optional>

#include "base/ascii.h"
#include "base/atomic_file.h"
#include "base/json.h"
#include "base/json_reader.h"
#include "base/json_writer.h"
#include "base/ulid.h"
#include "crypto/hex.h"
#include "crypto/sha256.h"
#include "process/container_program.h"
#include "process/control_group.h"
#include "process/process_tree.h"
#include "process/replica_exec.h"
#include "process/replica_files.h"
#include "process/supervisor.h"
#include "process/system.h"

namespace sluice::process {
namespace {

constexpr size_t kMostStateBytes = 1 << 20;
constexpr size_t kMostNoteBytes = 4096;
constexpr size_t kMostNameBytes = 128;
constexpr size_t kMarkDigits = 24;
constexpr std::string_view kRemoved = ".removed-";  // before the name of a replica that is being removed

// Beside a log that is kept.
struct KeptNote {
  std::string of;
  int64_t since_ms = 0;
};
BOOST_DESCRIBE_STRUCT(KeptNote, (), (of, since_ms))

constexpr int64_t kMs_ns = 1'000'000;
constexpr int64_t kLookAgain_ms = 5, kWatch_ms = 50;
constexpr int64_t kSupervisorMargin_ms = 30'000;  // for what a supervisor does besides waiting for its program

Result<void> check_name(const std::string& name) {
  auto good = [](char c) { return is_letter(c) || is_digit(c) || c == '.' || c == '-' || c == '_'; };
  if (!name.empty() && name.size() <= kMostNameBytes && name[0] != '.' && std::ranges::all_of(name, good)) return {};
  return Error{.code = Code::invalid,
               .message = "a replica's name is of letters, digits, dots, hyphens and underscores, not " + name};
}

// The same for a folder whoever asks, and of no other folder.
std::string mark_of(const std::string& folder) {
  return "sluice-" + crypto::to_hex(crypto::sha256(folder)).substr(0, kMarkDigits);
}

Result<Launch> read_launch(Disk& disk, const ReplicaFiles& files) {
  auto text = read_file(disk, files.launch, kMostStateBytes);
  if (!text) return text.error();
  return parse_launch(*text);
}

// What the supervisor of this start has said, if it has said anything yet.
std::optional<ReplicaState> read_state(Disk& disk, const ReplicaFiles& files, const std::string& start) {
  auto text = read_file(disk, files.state, kMostStateBytes);
  if (!text) return std::nullopt;
  auto state = parse_state(*text);
  if (!state || state->start != start) return std::nullopt;
  return *state;
}

bool supervisor_runs(const ReplicaState& state) {
  auto runs = is_running(identity_of(state.supervisor));
  return runs && *runs;
}

Result<void> make_folder_with(Disk& disk, const std::string& path, uint32_t mode) {
  auto made = disk.make_folder(path, mode);
  if (!made && made.error().code != Code::conflict) return made;
  return disk.chmod(path, mode);
}

}  // namespace

bool is_settled(const ReplicaState& state) {
  return is_over(state.phase) || (state.phase == Phase::running && state.healthy);
}

Replicas::Replicas(Disk& disk, Clock& clock, Random& random, ReplicasPlace place)
    : disk_(disk), clock_(clock), random_(random), place_(std::move(place)) {}

Result<void> Replicas::prepare(const std::string& folder, const Workload& workload, const std::string& name) {
  const ReplicaFiles files(folder);
  for (auto [path, mode] : {std::pair(files.log, 0700U), {files.config, 0755U}, {files.run, 0700U}}) {
    if (auto made = make_folder_with(disk_, path, mode); !made) return made;
  }
  if (::geteuid() == 0) {
    std::vector<std::string> own = workload.writable;
    own.push_back(files.run);
    for (const std::string& path : own) {
      if (auto given = give_to(path, workload.user); !given) return given;
      // Which number the name of an image's user stands for only the image knows.
      const bool named =
          workload.container && !workload.container->user.empty() && !is_digit(workload.container->user[0]);
      if (named) (void)disk_.chmod(path, 0777);
    }
  }
  if (auto written = replace_file(files.config_file, workload.config, 0444); !written) return written;
  UlidSource starts(clock_, random_);
  const std::string mark = mark_of(folder);
  const Launch launch{.start = name + "/" + to_string(starts.next()),
                      .mark = mark,
                      .groups = place_.groups && !workload.container ? plan_groups(mark) : std::vector<std::string>{},
                      .workload = workload};
  return replace_file(files.launch, print_launch(launch), 0600);
}

Result<void> Replicas::start(const std::string& name, const Workload& workload, const Secrets& secrets) {
  if (auto good = check_name(name); !good) return good;
  if (auto good = check(workload); !good) return good;
  const std::string folder = folder_of_replica(name);
  const ReplicaFiles files(folder);
  if (!workload.port && files.socket.size() >= sizeof(sockaddr_un::sun_path)) {
    return Error{.code = Code::invalid,
                 .message = "the path of the socket is too long for the system: " + files.socket,
                 .next = "use a home with a shorter path, or let the program listen on a port"};
  }
  if (auto made = make_folder_with(disk_, folder, 0755); !made) return made;
  const int64_t give_up_ns = clock_.monotonic_ns() + (workload.grace_ms + kSupervisorMargin_ms) * kMs_ns;
  for (;;) {
    auto lock = take_lock(files.lock);
    if (!lock) return lock.error();
    if (*lock) {
      if (auto prepared = prepare(folder, workload, name); !prepared) return prepared;
      auto sealed = seal(secrets);
      if (!sealed) return sealed.error();
      std::vector<std::string> argv = place_.supervisor;
      argv.emplace_back(kSuperviseWord);
      argv.push_back(folder);
      const std::array<int, 2> handed{(*lock)->fd(), sealed->fd()};
      auto code = start_detached(argv, handed, files.messages);
      if (!code) return code.error();
      if (*code != 0) {
        return Error{.message = "the supervisor of " + name + " ended with exit code " + std::to_string(*code),
                     .next = "read " + files.messages};
      }
      return {};
    }
    // Somebody has it: a supervisor that runs, begins or ends, or another that only looks.
    auto launch = read_launch(disk_, files);
    auto state = launch ? read_state(disk_, files, launch->start) : std::nullopt;
    if (state && supervisor_runs(*state) && !is_over(state->phase) && state->phase != Phase::stopping) {
      if (launch->workload == workload) return {};
      return Error{.code = Code::conflict,
                   .message = name + " runs with other settings",
                   .next = "stop it first, or start another replica"};
    }
    if (clock_.monotonic_ns() >= give_up_ns) {
      return Error{.code = Code::timeout, .message = "the supervisor of " + name + " neither answers nor ends"};
    }
    clock_.sleep_ms(kLookAgain_ms);
  }
}

// The launch is written last: a crash in between is told again.
Result<void> Replicas::reconfigure(const std::string& name, const std::string& config) {
  if (auto good = check_name(name); !good) return good;
  const ReplicaFiles files(folder_of_replica(name));
  auto launch = read_launch(disk_, files);
  if (!launch) return launch.error();
  if (launch->workload.config == config) return {};
  if (auto written = replace_file(files.config_file, config, 0444); !written) return written;
  auto state = look(name);
  if (!state) return state.error();
  if (state->program) {
    auto program = ProcessHandle::open(identity_of(*state->program));
    if (program) {
      if (auto sent = program->send(SIGHUP); !sent) return sent;
    } else if (program.error().code != Code::not_found) {
      return program.error();
    }
  }
  launch->workload.config = config;
  return replace_file(files.launch, print_launch(*launch), 0600);
}

Result<ReplicaState> Replicas::look(const std::string& name) const {
  if (auto good = check_name(name); !good) return good.error();
  const ReplicaFiles files(folder_of_replica(name));
  auto launch = read_launch(disk_, files);
  if (!launch && launch.error().code == Code::not_found) {
    return Error{.code = Code::not_found, .message = "there is no replica " + name};
  }
  if (!launch) return launch.error();
  // Read before the lock is tried: a supervisor that ends in between has said so before it let go.
  auto state = read_state(disk_, files, launch->start);
  if (state && (is_over(state->phase) || supervisor_runs(*state))) return *state;
  auto lock = take_lock(files.lock);
  if (!lock) return lock.error();
  bool held = !*lock;
  lock = std::optional<Descriptor>();
  auto again = read_state(disk_, files, launch->start);
  if (again && (is_over(again->phase) || supervisor_runs(*again))) return *again;
  if (!again) again = ReplicaState{.start = launch->start};
  if (held && !state) return *again;  // it has not said anything yet
  again->phase = Phase::lost;
  again->healthy = false;
  again->program.reset();
  again->message = "its supervisor was killed, and the program with it";
  return *again;
}

Result<ReplicaState> Replicas::await(const std::string& name, const std::function<bool(const ReplicaState&)>& as_wanted,
                                     int64_t at_most_ms, const std::function<bool()>& cancelled) const {
  // The supervisor replaces its file whenever something changes. Without the watch it would be seen a little later.
  Descriptor watch(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  if (watch) ::inotify_add_watch(watch.fd(), folder_of_replica(name).c_str(), IN_MOVED_TO | IN_ONLYDIR);
  const int64_t end_ns = clock_.monotonic_ns() + at_most_ms * kMs_ns;
  for (;;) {
    auto state = look(name);
    if (!state || as_wanted(*state)) return state;
    if (cancelled && cancelled()) return Error{.message = "nobody waits for " + name + " any more"};
    int64_t left_ms = (end_ns - clock_.monotonic_ns()) / kMs_ns;
    if (left_ms <= 0) {
      return Error{
          .code = Code::timeout,
          .message = name + " is not as wanted after " + std::to_string(at_most_ms) + " ms: " + state->message};
    }
    pollfd changed{.fd = watch.fd(), .events = POLLIN, .revents = 0};
    ::poll(&changed, 1, static_cast<int>(std::min(left_ms, kWatch_ms)));
    std::array<char, 4096> events{};
    while (watch && ::read(watch.fd(), events.data(), events.size()) > 0) {
    }
  }
}

Result<void> Replicas::stop(const std::string& name, const std::function<bool()>& cancelled) {
  if (auto good = check_name(name); !good) return good;
  const ReplicaFiles files(folder_of_replica(name));
  auto launch = read_launch(disk_, files);
  if (!launch && launch.error().code == Code::not_found) return {};
  if (!launch) return launch.error();
  const int64_t give_up_ns = clock_.monotonic_ns() + (launch->workload.grace_ms + kSupervisorMargin_ms) * kMs_ns;
  std::optional<ProcessRecord> told;
  for (;;) {
    auto lock = take_lock(files.lock);
    if (!lock) return lock.error();
    if (*lock) {
      auto state = read_state(disk_, files, launch->start);
      if (state && is_over(state->phase)) return {};
      // Its supervisor was killed. Nobody can start it while this holds the lock.
      end_leftovers(launch->groups, launch->mark);
      remove_groups(launch->groups);
      if (launch->workload.container) {
        if (auto ended = end_container(*launch, clock_); !ended) return ended;
      }
      ReplicaState stopped = state.value_or(ReplicaState{.start = launch->start});
      stopped.phase = Phase::stopped;
      stopped.message = "stopped; its supervisor had been killed";
      stopped.healthy = false;
      stopped.program.reset();
      return replace_file(files.state, print_state(stopped), 0600);
    }
    if (cancelled && cancelled()) return Error{.message = "nobody waits for the end of " + name + " any more"};
    if (clock_.monotonic_ns() >= give_up_ns) {
      return Error{.code = Code::timeout, .message = "the supervisor of " + name + " does not end"};
    }
    auto state = read_state(disk_, files, launch->start);
    auto handle = state ? ProcessHandle::open(identity_of(state->supervisor))
                        : Result<ProcessHandle>(Error{.code = Code::not_found});
    if (!handle) {
      clock_.sleep_ms(kLookAgain_ms);
      continue;
    }
    if (told != state->supervisor) {
      if (auto sent = handle->send(SIGTERM); !sent) return sent;
      told = state->supervisor;
    }
    handle->wait_ms(kWatch_ms);
  }
}

Result<void> Replicas::remove(const std::string& name) {
  if (auto stopped = stop(name); !stopped) return stopped;
  const std::string folder = folder_of_replica(name), aside = place_.folder + "/" + std::string(kRemoved) + name;
  std::error_code failure;
  std::filesystem::remove_all(aside, failure);
  if (auto launch = read_launch(disk_, ReplicaFiles(folder)); launch && launch->workload.container) {
    if (auto ended = end_container(*launch, clock_, true); !ended) return ended;
  }
  auto was = workload(name);
  const std::string revision = was ? was->environment["SLUICE_REVISION"] : "";
  // Away under its name first: whoever opened the lock meanwhile finds nothing to start.
  auto moved = disk_.rename(folder, aside);
  if (!moved && moved.error().code == Code::not_found) return {};
  if (!moved) return moved;
  keep_log(name, aside, revision);
  std::filesystem::remove_all(aside, failure);
  if (failure) return Error{.message = "cannot remove " + aside + ": " + failure.message()};
  return {};
}

// As far as that is possible: what is removed goes in any case.
void Replicas::keep_log(const std::string& name, const std::string& aside, const std::string& of) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  for (const KeptLog& each : kept_logs()) {
    const bool old = clock_.wall_ms() - each.since_ms > kKeepLogs_ms;
    if (old || each.replica == name) fs::remove_all(kept_folder() + "/" + each.replica, ignored);
  }
  const std::string kept = kept_folder() + "/" + name;
  fs::create_directories(kept, ignored);
  fs::permissions(kept_folder(), fs::perms::owner_all, ignored);
  static_cast<void>(disk_.rename(aside + "/log", kept + "/log"));
  const KeptNote note{.of = of, .since_ms = clock_.wall_ms()};
  static_cast<void>(replace_file(kept + "/note.json", write(to_json(note)), 0600));
}

std::vector<KeptLog> Replicas::kept_logs() const {
  std::vector<KeptLog> kept;
  auto entries = disk_.list(kept_folder());
  if (!entries) return kept;
  for (const FolderEntry& each : *entries) {
    const std::string folder = kept_folder() + "/" + each.name;
    auto text = read_file(disk_, folder + "/note.json", kMostNoteBytes);
    auto parsed = text ? parse_json(*text) : Result<Document>(text.error());
    auto note = parsed ? read<KeptNote>(*parsed) : Result<KeptNote>(parsed.error());
    if (note) kept.push_back({each.name, note->of, folder + "/log", note->since_ms});
  }
  std::ranges::sort(kept, {}, &KeptLog::since_ms);
  return kept;
}

void Replicas::sweep(const std::string& prefix) {
  auto entries = disk_.list(place_.folder);
  if (!entries) return;
  for (const FolderEntry& each : *entries) {
    if (each.name.starts_with(std::string(kRemoved) + prefix)) {
      std::error_code ignored;
      std::filesystem::remove_all(place_.folder + "/" + each.name, ignored);
    } else if (each.name.starts_with(prefix) && check_name(each.name)) {
      auto begun = disk_.exists(ReplicaFiles(folder_of_replica(each.name)).launch);
      if (begun && !*begun) static_cast<void>(remove(each.name));
    }
  }
}

Result<std::vector<std::string>> Replicas::exec_words(const std::string& name,
                                                      const std::vector<std::string>& argv) const {
  auto state = look(name);
  if (!state) return state.error();
  if (is_over(state->phase)) {
    return Error{.code = Code::unavailable, .message = name + " does not run: " + state->message};
  }
  std::vector<std::string> words = place_.supervisor;
  words.emplace_back(kExecWord);
  words.push_back(folder_of_replica(name));
  words.insert(words.end(), argv.begin(), argv.end());
  return words;
}

Error Replicas::exec(const std::string& name, const std::vector<std::string>& argv) const {
  auto words = exec_words(name, argv);
  if (!words) return words.error();
  std::vector<char*> pointers;
  for (std::string& each : *words) pointers.push_back(each.data());
  pointers.push_back(nullptr);
  std::array<char*, 1> nothing{};
  ::execve(pointers.front(), pointers.data(), nothing.data());
  return error_from(errno, "run", words->front());
}

Result<Secrets> Replicas::secrets(const std::string& name) const {
  auto state = look(name);
  if (!state) return state.error();
  if (is_over(state->phase)) return Error{.code = Code::not_found, .message = name + " does not run"};
  auto sealed = secrets_held_by(state->supervisor);
  if (!sealed) return sealed.error();
  return unseal(*sealed);
}

Result<size_t> Replicas::stop_all() {
  // First, so that nobody who looks meanwhile starts again what is stopped. A full disk is no reason not to stop.
  auto said = replace_file(rest_file(), "", 0600);
  auto names = list();
  if (!names) return names.error();
  size_t stopped = 0;
  for (const std::string& name : *names) {
    auto state = look(name);
    if (!state || is_over(state->phase)) continue;
    if (auto ended = stop(name); !ended) return ended.error();
    stopped++;
  }
  if (!said) return said.error();
  return stopped;
}

Result<void> Replicas::let_run() {
  auto removed = disk_.remove(rest_file());
  if (!removed && removed.error().code != Code::not_found) return removed;
  return {};
}

bool Replicas::are_to_rest() const { return disk_.stat(rest_file(), FollowLinks::no).has_value(); }

Result<std::vector<std::string>> Replicas::list() const {
  auto entries = disk_.list(place_.folder);
  if (!entries && entries.error().code == Code::not_found) return std::vector<std::string>{};
  if (!entries) return entries.error();
  std::vector<std::string> names;
  for (const FolderEntry& each : *entries) {
    if (each.kind != FileKind::folder || !check_name(each.name)) continue;
    auto there = disk_.exists(ReplicaFiles(folder_of_replica(each.name)).launch);
    if (there && *there) names.push_back(each.name);
  }
  return names;
}

Result<Workload> Replicas::workload(const std::string& name) const {
  if (auto good = check_name(name); !good) return good.error();
  auto launch = read_launch(disk_, ReplicaFiles(folder_of_replica(name)));
  if (!launch) return launch.error();
  return std::move(launch->workload);
}

Result<std::vector<LogLine>> Replicas::last_lines(const std::string& name, size_t most_lines) const {
  if (auto good = check_name(name); !good) return good.error();
  return last_log_lines(disk_, ReplicaFiles(folder_of_replica(name)).log, most_lines);
}

}  // namespace sluice::process
