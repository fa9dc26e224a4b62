// The child tells of what goes wrong before its exec through a pipe that the exec closes. It is a copy of a process
// with one thread, so it may allocate.
#include "process/launch.h"

#include <fcntl.h>
#include <grp.h>
#include <linux/close_range.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <optional>

#include "base/disk.h"
#include "process/control_group.h"
#include "process/find_program.h"

namespace sluice::process {
namespace {

constexpr int kFirstHanded = 3;
constexpr int kAboveHanded = 64;

enum class Stage : int { group, limits, view, user, folder, exec, no_view, inside };

struct Report {
  Stage stage;
  int number;  // errno
};

bool make_folders(const std::string& path) {
  for (size_t at = path.find('/', 1);; at = path.find('/', at + 1)) {
    if (::mkdir(path.substr(0, at).c_str(), 0755) != 0 && errno != EEXIST && errno != EROFS) return false;
    if (at == std::string::npos) return true;
  }
}

// Folders that are to be seen, held open before what hides them is put over them.
struct Shown {
  std::string path;
  bool writable = false;
  Descriptor held = {};
};

int show(const Shown& shown) {
  struct stat there {};
  if (::stat(shown.path.c_str(), &there) != 0 && !make_folders(shown.path)) return errno;
  const std::string source = "/proc/self/fd/" + std::to_string(shown.held.fd());
  if (::mount(source.c_str(), shown.path.c_str(), nullptr, MS_BIND, nullptr) != 0) return errno;
  unsigned long flags = MS_REMOUNT | MS_BIND | MS_NOSUID | MS_NODEV | (shown.writable ? 0 : MS_RDONLY);
  if (::mount(nullptr, shown.path.c_str(), nullptr, flags, nullptr) != 0) return errno;
  return 0;
}

// The first folder on the way to a path that the user may not enter; "" if there is none.
std::string closed_on_the_way(const std::string& path, uint32_t user) {
  for (size_t at = path.find('/', 1); at != std::string::npos; at = path.find('/', at + 1)) {
    std::string folder = path.substr(0, at);
    struct stat found {};
    if (::stat(folder.c_str(), &found) != 0) return "";
    bool open = (found.st_mode & S_IXOTH) != 0 || (found.st_uid == user && (found.st_mode & S_IXUSR) != 0) ||
                (found.st_gid == user && (found.st_mode & S_IXGRP) != 0);
    if (!open) return folder;
  }
  return "";
}

// The folders that are hidden under empty ones: the one that is to be, and those that would keep the user from what is
// its own, such as root's home. Outer ones stand in place of those inside them.
std::vector<std::string> covers_of(const LaunchRequest& request, const std::vector<Shown>& shown) {
  std::vector<std::string> all;
  if (!request.hidden.empty()) all.push_back(request.hidden);
  for (const Shown& each : shown) {
    std::string closed = request.user == 0 ? "" : closed_on_the_way(each.path, request.user);
    if (!closed.empty()) all.push_back(closed);
  }
  std::ranges::sort(all);
  std::vector<std::string> covers;
  for (const std::string& each : all) {
    if (covers.empty() || !(each + "/").starts_with(covers.back() + "/")) covers.push_back(each);
  }
  return covers;
}

// A view of the file system that is this process's own. 0, or errno; nothing if it may have none.
std::optional<int> take_view(const LaunchRequest& request) {
  if (::geteuid() != 0) return std::nullopt;
  if (int failed = take_own_mounts(); failed != 0) {
    return failed == EPERM || failed == EACCES ? std::nullopt : std::optional(failed);
  }
  std::vector<Shown> shown;
  shown.push_back({.path = request.root});
  for (const std::string& path : request.read_only) shown.push_back({.path = path});
  for (const std::string& path : request.writable) shown.push_back({.path = path, .writable = true});
  for (Shown& each : shown) {
    auto held = open_path(each.path, O_PATH | O_DIRECTORY);
    if (!held) return errno;
    each.held = std::move(*held);
  }
  const std::vector<std::string> covers = covers_of(request, shown);
  constexpr unsigned long kPlain = MS_NOSUID | MS_NODEV;
  for (const std::string& each : covers) {
    if (::mount("sluice", each.c_str(), "tmpfs", kPlain, "mode=755,size=256k") != 0) return errno;
  }
  for (const Shown& each : shown) {
    if (int failed = show(each); failed != 0) return failed;
  }
  for (const std::string& each : covers) {
    if (::mount(nullptr, each.c_str(), nullptr, MS_REMOUNT | MS_BIND | MS_RDONLY | kPlain, nullptr) != 0) return errno;
  }
  return 0;
}

bool limit(int resource, uint64_t most) {
  rlimit now{};
  if (::getrlimit(static_cast<__rlimit_resource>(resource), &now) != 0) return false;
  now.rlim_cur = now.rlim_max = std::min<rlim_t>(most, now.rlim_max);
  return ::setrlimit(static_cast<__rlimit_resource>(resource), &now) == 0;
}

bool take_limits(const LaunchRequest& request) {
  auto grouped = [&](const char* what) { return std::ranges::find(request.grouped, what) != request.grouped.end(); };
  // What a program held in memory, its secrets among it, is written nowhere when it crashes. Not 0: at that limit a
  // program that collects crashes (core_pattern) is given it all the same, at 1 it is not.
  bool all = limit(RLIMIT_NOFILE, request.limits.files) && limit(RLIMIT_CORE, 1);
  if (!grouped("memory")) all = all && limit(RLIMIT_DATA, request.limits.memory_bytes);
  if (!grouped("pids")) all = all && limit(RLIMIT_NPROC, request.limits.processes);
  return all;
}

bool become(uint32_t user) {
  if (::geteuid() == 0 && user != 0) {
    if (::setgroups(0, nullptr) != 0 || ::setresgid(user, user, user) != 0 || ::setresuid(user, user, user) != 0) {
      return false;
    }
  }
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
}

// Puts the descriptors where the program looks for them; everything else is closed on exec.
bool hand_over(const std::vector<int>& descriptors) {
  std::vector<int> above;
  for (int fd : descriptors) above.push_back(::fcntl(fd, F_DUPFD_CLOEXEC, kAboveHanded));
  for (size_t i = 0; i < above.size(); ++i) {
    if (above[i] < 0 || ::dup2(above[i], kFirstHanded + static_cast<int>(i)) < 0) return false;
  }
  return ::close_range(static_cast<unsigned>(kFirstHanded + above.size()), ~0U, CLOSE_RANGE_CLOEXEC) == 0;
}

void reset_signals() {
  for (int each = 1; each < NSIG; ++each) ::signal(each, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

// Takes the bounds on, all but the groups. What failed, if something did; without a view of its own it goes on.
std::optional<Report> take_bounds(const LaunchRequest& request, bool& own_view) {
  auto view = take_view(request);
  own_view = view.has_value();
  if (view && *view != 0) return Report{.stage = Stage::view, .number = *view};
  if (!take_limits(request)) return Report{.stage = Stage::limits, .number = errno};
  if (request.ids >= 0 && request.user != 0) {
    if (int failed = take_ids(request.ids); failed != 0) return Report{.stage = Stage::user, .number = failed};
  }
  if (!become(request.user)) return Report{.stage = Stage::user, .number = errno};
  return std::nullopt;
}

// Does not come back, but for what failed.
Report run_here(const LaunchRequest& request, const std::string& program) {
  if (::chdir(request.root.c_str()) != 0) return {.stage = Stage::folder, .number = errno};
  ::umask(022);
  reset_signals();
  std::vector<std::string> words = request.argv, variables;
  for (const auto& [name, value] : request.environment) variables.push_back(name + "=" + value);
  std::vector<char*> argv, environment;
  for (std::string& each : words) argv.push_back(each.data());
  for (std::string& each : variables) environment.push_back(each.data());
  argv.push_back(nullptr);
  environment.push_back(nullptr);
  ::execve(program.c_str(), argv.data(), environment.data());
  return {.stage = Stage::exec, .number = errno};
}

Error explain(const Report& report, const LaunchRequest& request, const std::string& program);

// --- in the place of a container -----------------------------------------------------------------------------

// The number behind a word at the beginning of a line of /proc/PID/status.
uint32_t status_number(const std::string& status, const std::string& word) {
  const size_t at = status.find("\n" + word + ":\t");
  if (at == std::string::npos) return 0;
  uint32_t number = 0;
  const char* begin = status.data() + at + word.size() + 3;
  std::from_chars(begin, status.data() + status.size(), number);
  return number;
}

struct Inner {
  uint32_t user = 0, group = 0;
  std::string folder;
};

Inner inner_of(pid_t pid) {
  const std::string proc = "/proc/" + std::to_string(pid);
  const std::string status = kernel_text(proc + "/status");
  std::error_code failure;
  const std::string folder = std::filesystem::read_symlink(proc + "/cwd", failure).string();
  return {.user = status_number(status, "Uid"), .group = status_number(status, "Gid"), .folder = folder};
}

// Into its namespaces. 0, or errno.
int enter(pid_t pid) {
  std::vector<Descriptor> held;
  for (const char* each : {"ipc", "uts", "net", "pid", "cgroup", "mnt"}) {
    auto opened = open_path("/proc/" + std::to_string(pid) + "/ns/" + each, O_RDONLY);
    if (!opened) return ESRCH;
    held.push_back(std::move(*opened));
  }
  for (const Descriptor& each : held) {
    if (::setns(each.fd(), 0) != 0) return errno;
  }
  return 0;
}

bool become_inner(const Inner& inner) {
  for (int each = 0; ::prctl(PR_CAPBSET_READ, each, 0, 0, 0) >= 0; ++each) ::prctl(PR_CAPBSET_DROP, each, 0, 0, 0);
  ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  return ::setgroups(0, nullptr) == 0 && ::setresgid(inner.group, inner.group, inner.group) == 0 &&
         ::setresuid(inner.user, inner.user, inner.user) == 0 && ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
}

// Does not come back, but for what failed. A name without a slash is looked up in the container's PATH.
Report run_inside(const LaunchRequest& request) {
  ::umask(022);
  reset_signals();
  std::vector<std::string> words = request.argv, variables;
  for (const auto& [name, value] : request.environment) variables.push_back(name + "=" + value);
  std::vector<char*> argv, environment;
  for (std::string& each : words) argv.push_back(each.data());
  for (std::string& each : variables) environment.push_back(each.data());
  argv.push_back(nullptr);
  environment.push_back(nullptr);
  const std::string& name = request.argv.front();
  if (name.find('/') != std::string::npos) {
    ::execve(name.c_str(), argv.data(), environment.data());
    return {.stage = Stage::exec, .number = errno};
  }
  auto path = request.environment.find("PATH");
  const std::string folders = path == request.environment.end() ? "/usr/local/bin:/usr/bin:/bin" : path->second;
  int failure = ENOENT;
  for (size_t begin = 0; begin <= folders.size();) {
    const size_t end = std::min(folders.find(':', begin), folders.size());
    ::execve((folders.substr(begin, end - begin) + "/" + name).c_str(), argv.data(), environment.data());
    if (errno != ENOENT && errno != ENOTDIR) failure = errno;
    begin = end + 1;
  }
  return {.stage = Stage::exec, .number = failure};
}

// This process goes into the container; a child of it, which alone is one of the container's processes, becomes the
// command, and this process ends as it does. Comes back only with what failed before there was a child.
Report become_inside(const LaunchRequest& request, int report) {
  const Inner inner = inner_of(request.inside);
  if (int failed = enter(request.inside); failed != 0) return {.stage = Stage::inside, .number = failed};
  const pid_t pid = fork_here();
  if (pid < 0) return {.stage = Stage::inside, .number = errno};
  if (pid == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    Report failed{.stage = Stage::user, .number = 0};
    if (become_inner(inner)) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);  // the change of user forgets it
      if (inner.folder.empty() || ::chdir(inner.folder.c_str()) != 0) (void)!::chdir("/");
      failed = run_inside(request);
    } else {
      failed.number = errno;
    }
    if (report >= 0) {
      (void)!::write(report, &failed, sizeof failed);
    } else {
      const Error error = explain(failed, request, request.argv.front());
      (void)::dprintf(2, "error: %s\n", error.message.c_str());
    }
    ::_exit(failed.number == ENOENT ? 127 : 126);
  }
  if (report >= 0) ::close(report);
  ::signal(SIGINT, SIG_IGN);
  ::signal(SIGQUIT, SIG_IGN);
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  ::_exit(WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
}

[[noreturn]] void become_program(const LaunchRequest& request, const std::string& program, const std::string& born_in,
                                 pid_t parent, int input, int out, int err, int report) {
  auto say = [&](const Report& said) { (void)!::write(report, &said, sizeof said); };
  auto fail = [&](const Report& said) {
    say(said);
    ::_exit(127);
  };
  ::setsid();
  if (!join_groups(request.groups, born_in)) fail({.stage = Stage::group, .number = EACCES});
  report = ::fcntl(report, F_DUPFD_CLOEXEC, kAboveHanded + static_cast<int>(request.descriptors.size()));
  if (report < 0 || ::dup2(input, 0) < 0 || ::dup2(out, 1) < 0 || ::dup2(err, 2) < 0 ||
      !hand_over(request.descriptors)) {
    fail({.stage = Stage::limits, .number = errno});
  }
  if (request.inside > 0) fail(become_inside(request, report));
  bool own_view = false;
  if (auto failed = take_bounds(request, own_view)) fail(*failed);
  if (!own_view) say({.stage = Stage::no_view, .number = 0});
  // After the change of user, which forgets it. If the parent ended before, nobody would tell.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  if (::getppid() != parent) ::_exit(127);
  fail(run_here(request, program));
  ::_exit(127);
}

Error explain(const Report& report, const LaunchRequest& request, const std::string& program) {
  const std::string& name = request.argv.front();
  switch (report.stage) {
    case Stage::group:
      return {.code = Code::failed, .message = "cannot join the control groups of the replica"};
    case Stage::limits:
      return error_from(report.number, "set the limits of", name);
    case Stage::view:
      return error_from(report.number, "prepare the folders of", name);
    case Stage::user:
      return error_from(report.number, "become user " + std::to_string(request.user) + " for", name);
    case Stage::folder:
      return error_from(report.number, "enter as user " + std::to_string(request.user) + " the folder", request.root);
    case Stage::inside:
      return error_from(report.number, "enter the container for", name);
    case Stage::exec:
    case Stage::no_view:
      break;
  }
  if (request.inside > 0) {
    if (report.number == ENOENT)
      return {.code = Code::not_found, .message = "there is no program " + name + " in the image"};
    return error_from(report.number, "run in the container", name);
  }
  switch (report.number) {
    case ENOENT:
      if (::access(program.c_str(), F_OK) == 0) {
        return {.code = Code::not_found,
                .message = "cannot run " + name + ": there is no such interpreter as its first line names"};
      }
      return {.code = Code::not_found, .message = "there is no program " + name + " in the bundle"};
    case EACCES:
      return {.code = Code::denied,
              .message = name + " is not an executable file",
              .next = "chmod +x " + name + " and pack the bundle again"};
    case ENOEXEC:
      return {.code = Code::invalid, .message = name + " is not a program for this machine"};
    default:
      return error_from(report.number, "run", name);
  }
}

}  // namespace

LaunchRequest request_inside(pid_t program, const std::vector<std::string>& argv) {
  const std::string proc = "/proc/" + std::to_string(program);
  LaunchRequest request{.argv = argv, .inside = program};
  const std::string variables = kernel_text(proc + "/environ");
  for (size_t begin = 0; begin < variables.size();) {
    const size_t end = std::min(variables.find('\0', begin), variables.size());
    const std::string each = variables.substr(begin, end - begin);
    if (const size_t equals = each.find('='); equals != std::string::npos) {
      request.environment[each.substr(0, equals)] = each.substr(equals + 1);
    }
    begin = end + 1;
  }
  for (std::string folder : plan_groups(kernel_text("/proc/self/mountinfo"), kernel_text(proc + "/cgroup"), "")) {
    folder.pop_back();
    request.groups.push_back(std::move(folder));
  }
  return request;
}

Result<Launched> launch(const LaunchRequest& request) {
  auto program = request.inside > 0 ? Result<std::string>(request.argv.front())
                                    : find_program(request.argv.front(), request.root, request.environment);
  if (!program) return program.error();
  std::array<int, 2> out{}, err{}, report{};
  auto pipe = [](std::array<int, 2>& ends) { return ::pipe2(ends.data(), O_CLOEXEC) == 0; };
  if (!pipe(out)) return error_from(errno, "make a pipe for", *program);
  Descriptor out_read(out[0]), out_write(out[1]);
  if (!pipe(err)) return error_from(errno, "make a pipe for", *program);
  Descriptor err_read(err[0]), err_write(err[1]);
  if (!pipe(report)) return error_from(errno, "make a pipe for", *program);
  Descriptor report_read(report[0]), report_write(report[1]);
  auto input = open_path("/dev/null", O_RDONLY);
  if (!input) return input.error();
  const pid_t parent = ::getpid();
  std::string born_in = birth_group(request.groups);
  pid_t pid = born_in.empty() ? -1 : fork_into(born_in);
  if (pid < 0) {
    born_in.clear();
    pid = fork_here();
  }
  if (pid < 0) return error_from(errno, "start a process for", *program);
  if (pid == 0) {
    become_program(request, *program, born_in, parent, input->fd(), out_write.fd(), err_write.fd(), report_write.fd());
  }
  report_write.reset();
  Launched launched{.pid = pid, .out = std::move(out_read), .err = std::move(err_read), .own_view = true};
  Report said{};
  for (;;) {
    ssize_t got = ::read(report_read.fd(), &said, sizeof said);
    if (got < 0 && errno == EINTR) continue;
    if (got != sizeof said) break;
    if (said.stage == Stage::no_view) {
      launched.own_view = false;
      continue;
    }
    while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
    }
    return explain(said, request, *program);
  }
  ::fcntl(launched.out.fd(), F_SETFL, O_NONBLOCK);
  ::fcntl(launched.err.fd(), F_SETFL, O_NONBLOCK);
  return launched;
}

Error launch_here(const LaunchRequest& request) {
  if (request.inside > 0) {
    if (!join_groups(request.groups)) return explain({.stage = Stage::group, .number = EACCES}, request, "");
    return explain(become_inside(request, -1), request, request.argv.front());
  }
  auto program = find_program(request.argv.front(), request.root, request.environment);
  if (!program) return program.error();
  if (!join_groups(request.groups)) return explain({.stage = Stage::group, .number = EACCES}, request, *program);
  if (!hand_over(request.descriptors)) {
    return explain({.stage = Stage::limits, .number = errno}, request, *program);
  }
  bool own_view = false;
  auto failed = take_bounds(request, own_view);
  return explain(failed ? *failed : run_here(request, *program), request, *program);
}

}  // namespace sluice::process
