// Where replicas touch the system.
#include "process/system.h"

#include <fcntl.h>
#include <linux/sched.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <fstream>

#include "base/atomic_file.h"
#include "base/disk.h"
#include "base/real_disk.h"

namespace sluice::process {
namespace {

constexpr int kFirstGiven = 3;
constexpr int kAboveGiven = 100;
constexpr size_t kReadBytes = 64 << 10;
constexpr size_t kMaxKernelText = 16 << 20;  // an environment is the largest

Result<void> write_whole(int fd, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    ssize_t put = ::write(fd, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return error_from(errno, "write", path);
    bytes.remove_prefix(static_cast<size_t>(put));
  }
  return {};
}

}  // namespace

void Descriptor::reset() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

Result<Descriptor> open_path(const std::string& path, int flags, mode_t mode) {
  int fd = ::open(path.c_str(), flags | O_CLOEXEC, mode);
  if (fd < 0) return error_from(errno, "open", path);
  return Descriptor(fd);
}

Result<std::optional<Descriptor>> take_lock(const std::string& path) {
  auto file = open_path(path, O_RDWR | O_CREAT, 0600);
  if (!file) return file.error();
  if (::flock(file->fd(), LOCK_EX | LOCK_NB) == 0) return std::optional(std::move(*file));
  if (errno == EWOULDBLOCK) return std::optional<Descriptor>();
  return error_from(errno, "lock", path);
}

Result<void> write_control(const std::string& path, std::string_view text) {
  auto file = open_path(path, O_WRONLY);
  if (!file) return file.error();
  if (::write(file->fd(), text.data(), text.size()) < 0) return error_from(errno, "write", path);
  return {};
}

Result<void> replace_file(const std::string& path, std::string_view bytes, mode_t mode) {
  const std::string beside = path + ".new";
  auto written = [&]() -> Result<void> {
    auto file = open_path(beside, O_WRONLY | O_CREAT | O_TRUNC, mode);
    if (!file) return file.error();
    if (::fchmod(file->fd(), mode) != 0) return error_from(errno, "change", beside);
    return write_whole(file->fd(), bytes, beside);
  }();
  if (written) written = move_file(beside, path);
  if (!written) ::unlink(beside.c_str());
  return written;
}

Result<void> move_file(const std::string& from, const std::string& to) {
  if (::rename(from.c_str(), to.c_str()) != 0) return error_from(errno, "rename", from);
  return {};
}

Result<void> give_to(const std::string& path, uid_t user) {
  if (::lchown(path.c_str(), user, user) != 0) return error_from(errno, "give away", path);
  return {};
}

Result<Descriptor> sealed_memory(const std::string& name, std::string_view bytes) {
  Descriptor file(::memfd_create(name.c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file) return error_from(errno, "make a file in memory for", name);
  if (auto written = write_whole(file.fd(), bytes, name); !written) return written.error();
  ::lseek(file.fd(), 0, SEEK_SET);
  if (::fcntl(file.fd(), F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) != 0) {
    return error_from(errno, "seal", name);
  }
  return file;
}

Result<std::string> read_all(int fd) {
  std::string bytes;
  std::vector<char> chunk(kReadBytes);
  for (;;) {
    ssize_t got = ::pread(fd, chunk.data(), chunk.size(), static_cast<off_t>(bytes.size()));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return error_from(errno, "read", "a file in memory");
    if (got == 0) return bytes;
    bytes.append(chunk.data(), static_cast<size_t>(got));
  }
}

Result<ProcessHandle> ProcessHandle::open(const ProcessIdentity& process) {
  const Error gone{.code = Code::not_found, .message = "process " + std::to_string(process.pid) + " has ended"};
  Descriptor pidfd(static_cast<int>(::syscall(SYS_pidfd_open, process.pid, 0)));
  if (!pidfd) return errno == ESRCH ? gone : error_from(errno, "reach", "process " + std::to_string(process.pid));
  // Asked after the descriptor is there: if it is that process now, the descriptor is that process's for ever.
  auto same = is_running(process);
  if (!same) return same.error();
  if (!*same) return gone;
  return ProcessHandle(std::move(pidfd));
}

Result<void> ProcessHandle::send(int signal) const {
  if (::syscall(SYS_pidfd_send_signal, pidfd_.fd(), signal, nullptr, 0) == 0 || errno == ESRCH) return {};
  return error_from(errno, "signal", "a process");
}

bool ProcessHandle::wait_ms(int64_t at_most_ms) const {
  pollfd wait{.fd = pidfd_.fd(), .events = POLLIN, .revents = 0};
  return ::poll(&wait, 1, static_cast<int>(at_most_ms)) > 0;
}

Result<int> start_detached(const std::vector<std::string>& argv, std::span<const int> descriptors,
                           const std::string& messages) {
  // Copies above those that it gets, so that putting one in its place cannot overwrite another.
  std::vector<Descriptor> copies;
  for (int fd : descriptors) {
    copies.emplace_back(::fcntl(fd, F_DUPFD_CLOEXEC, kAboveGiven));
    if (!copies.back()) return error_from(errno, "hand over descriptors to", argv.front());
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, messages.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  for (size_t i = 0; i < copies.size(); ++i) {
    posix_spawn_file_actions_adddup2(&actions, copies[i].fd(), kFirstGiven + static_cast<int>(i));
  }
  posix_spawn_file_actions_addclosefrom_np(&actions, kFirstGiven + static_cast<int>(copies.size()));
  posix_spawn_file_actions_addchdir_np(&actions, "/");
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  std::vector<std::string> words = argv;
  std::vector<char*> pointers;
  for (std::string& each : words) pointers.push_back(each.data());
  pointers.push_back(nullptr);
  char* const environment[] = {nullptr};
  pid_t pid = -1;
  int failed = ::posix_spawn(&pid, argv.front().c_str(), &actions, &attributes, pointers.data(), environment);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) return error_from(failed, "run", argv.front());
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) return error_from(errno, "wait for", argv.front());
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int take_own_mounts() {
  if (::unshare(CLONE_NEWNS) != 0) return errno;
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0) return 0;
  // Where / is no mount of its own, as in a chroot, those that there are must be private already.
  if (errno != EINVAL) return errno;
  std::ifstream mounts("/proc/self/mountinfo");
  for (std::string line; std::getline(mounts, line);) {
    if (line.find(" shared:") != std::string::npos) return EINVAL;
  }
  return 0;
}

namespace {

// Every id that there is here, as itself. In a container these need not be all.
Result<std::string> same_ids(const std::string& map) {
  std::ifstream lines(map);
  std::string text;
  for (uint64_t inside = 0, outside = 0, count = 0; lines >> inside >> outside >> count;) {
    text += std::to_string(inside) + " " + std::to_string(inside) + " " + std::to_string(count) + "\n";
  }
  if (text.empty()) return Error{.code = Code::failed, .message = "there are no ids in " + map};
  return text;
}

// Only somebody outside can say which ids there are in the namespace that this child is in.
Result<Descriptor> name_ids(pid_t child) {
  const std::string folder = "/proc/" + std::to_string(child);
  for (const char* map : {"/uid_map", "/gid_map"}) {
    auto ids = same_ids(std::string("/proc/self") + map);
    if (!ids) return ids.error();
    if (auto written = write_control(folder + map, *ids); !written) return written.error();
  }
  return open_path(folder + "/ns/user", O_RDONLY);
}

}  // namespace

Result<Descriptor> make_ids() {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
    return error_from(errno, "make", "a socket");
  Descriptor here(ends[0]), there(ends[1]);
  const pid_t child = fork_here();
  if (child < 0) return error_from(errno, "start", "a process");
  int failed = 0;
  if (child == 0) {
    here.reset();
    failed = ::unshare(CLONE_NEWUSER) == 0 ? 0 : errno;
    // The namespace is there for as long as somebody holds it: until the other end is closed.
    if (::write(there.fd(), &failed, sizeof failed) == sizeof failed) (void)!::read(there.fd(), &failed, 1);
    ::_exit(0);
  }
  there.reset();
  if (::read(here.fd(), &failed, sizeof failed) != sizeof failed) failed = EIO;
  auto ids = failed == 0 ? name_ids(child) : error_from(failed, "make", "a user namespace");
  here.reset();
  while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  return ids;
}

int take_ids(int ids) { return ::setns(ids, CLONE_NEWUSER) == 0 ? 0 : errno; }

pid_t fork_here() { return ::fork(); }

pid_t fork_into(const std::string& group) {
  auto folder = open_path(group, O_RDONLY | O_DIRECTORY);
  if (!folder) return -1;
  clone_args arguments{};
  arguments.flags = CLONE_INTO_CGROUP;
  arguments.exit_signal = SIGCHLD;
  arguments.cgroup = static_cast<uint64_t>(folder->fd());
  return static_cast<pid_t>(::syscall(SYS_clone3, &arguments, sizeof arguments));
}

std::string kernel_text(const std::string& path) {
  RealDisk disk;
  auto text = read_file(disk, path, kMaxKernelText);
  return text ? *std::move(text) : "";
}

}  // namespace sluice::process
