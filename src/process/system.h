// The calls to the system that replicas stand on, each a thin face over one or two: descriptors, locks that outlive an
// exec, pidfds, files in memory. This and spawn.h are where src/process touches the system's files and processes.
#pragma once

#include <sys/types.h>

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/process_identity.h"
#include "base/result.h"

namespace sluice::process {

// Closes what it holds.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor() { reset(); }

  int fd() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  void reset();

 private:
  int fd_ = -1;
};

// All descriptors here are closed on exec.
Result<Descriptor> open_path(const std::string& path, int flags, mode_t mode = 0600);
// The file's lock, or nothing while another has it. It belongs to the open file: whoever inherits the descriptor holds
// it too, and it is free when the last of them has ended.
Result<std::optional<Descriptor>> take_lock(const std::string& path);

// Writes to a control file of the kernel, which takes it whole or refuses it.
Result<void> write_control(const std::string& path, std::string_view text);
// Replaces a file whole, for readers; not for power cuts. Leaves the old one on failure.
Result<void> replace_file(const std::string& path, std::string_view bytes, mode_t mode);
Result<void> move_file(const std::string& from, const std::string& to);
Result<void> give_to(const std::string& path, uid_t user);

// A file without a name that nobody can change any more.
Result<Descriptor> sealed_memory(const std::string& name, std::string_view bytes);
Result<std::string> read_all(int fd);

// That very process, held by a descriptor: a signal sent through it cannot reach another with the same pid.
class ProcessHandle {
 public:
  // `not_found` if it has ended.
  static Result<ProcessHandle> open(const ProcessIdentity& process);

  Result<void> send(int signal) const;
  // Waits until it has ended, but not longer than so; says whether it has.
  bool wait_ms(int64_t at_most_ms) const;
  int fd() const { return pidfd_.fd(); }

 private:
  explicit ProcessHandle(Descriptor pidfd) : pidfd_(std::move(pidfd)) {}

  Descriptor pidfd_;
};

// Starts the program in a session of its own with nothing but these descriptors, which it finds at 3, 4 and so on, and
// waits for it to end: it is one that leaves a child behind and ends at once. Its exit code.
Result<int> start_detached(const std::vector<std::string>& argv, std::span<const int> descriptors,
                           const std::string& messages);

// From here on, what this process mounts reaches nobody else. 0, or errno.
int take_own_mounts();

// A user namespace of its own, in which every id is what it is here, for take_ids: processes of one user id cannot look
// into each other, nor trace each other, if they are in different ones (cap_ptrace_access_check in the kernel). For
// root; an error where the system does not let it have one, as in a chroot. Only for processes with one thread.
Result<Descriptor> make_ids();
// From here on this process is in that namespace. 0, or errno.
int take_ids(int ids);

// A child of this process that runs on in the same program; 0 in the child. Only for processes with one thread.
pid_t fork_here();
// The same, born in a control group of the second version; -1 where the system does not let it.
pid_t fork_into(const std::string& group);

// The text of a file of the kernel's, in /proc or a control group; empty if it cannot be read, as when what it tells of
// has ended, be it between the opening and the reading.
std::string kernel_text(const std::string& path);

}  // namespace sluice::process
