// The secrets are read from the supervisor itself, through /proc: they are nowhere else.
#include "process/replica_exec.h"

#include <fcntl.h>

#include <cstdio>
#include <vector>

#include "base/atomic_file.h"
#include "base/real_disk.h"
#include "process/replica_files.h"
#include "process/supervisor.h"

namespace sluice::process {
namespace {

constexpr int kCannot = 126, kNoProgram = 127;  // as shells say it

int refuse(const Error& error, int exit_code = kCannot) {
  (void)std::fprintf(stderr, "error: %s\n", error.message.c_str());
  if (!error.next.empty()) (void)std::fprintf(stderr, "next:  %s\n", error.next.c_str());
  return exit_code;
}

// What a supervisor has open at this number.
Result<Descriptor> held_by(const ProcessRecord& supervisor, int number) {
  const Error ended{.code = Code::not_found, .message = "the replica does not run"};
  auto handle = ProcessHandle::open(identity_of(supervisor));
  if (!handle) return ended;
  auto file = open_path("/proc/" + std::to_string(supervisor.pid) + "/fd/" + std::to_string(number), O_RDONLY);
  // What was opened is the supervisor's only if it is still there.
  auto runs = is_running(identity_of(supervisor));
  if (!runs || !*runs) return ended;
  return file;
}

// So that it sees what the program sees of itself. Where the program has no namespace, there is none to be in.
Descriptor ids_held_by(const ProcessRecord& supervisor) {
  auto held = held_by(supervisor, kIdsDescriptor);
  return held ? Descriptor(::fcntl(held->fd(), F_DUPFD_CLOEXEC, kIdsDescriptor)) : Descriptor();
}

// Comes back only if the command cannot be run: with the exit code for that.
int become_command(const std::string& folder, const std::vector<std::string>& argv) {
  RealDisk disk;
  const ReplicaFiles files(folder);
  auto launch_text = read_file(disk, files.launch, kMostLaunchBytes);
  if (!launch_text) return refuse(launch_text.error());
  auto launch = parse_launch(*launch_text);
  if (!launch) return refuse(launch.error());
  auto state_text = read_file(disk, files.state, kMostLaunchBytes);
  if (!state_text) return refuse(state_text.error());
  auto state = parse_state(*state_text);
  if (!state) return refuse(state.error());
  if (launch->workload.container) {
    if (!state->program) return refuse({.message = "the replica does not run"});
    const Error error = launch_here(request_inside(state->program->pid, argv));
    return refuse(error, error.code == Code::not_found ? kNoProgram : kCannot);
  }
  auto sealed = secrets_held_by(state->supervisor);
  if (!sealed) return refuse(sealed.error());
  auto secrets = HandedSecrets::take(*sealed, launch->workload.secrets_as);
  if (!secrets) return refuse(secrets.error());
  LaunchRequest request = request_in(files, *launch, groups_there(launch->groups), *secrets, argv);
  const Descriptor ids = ids_held_by(state->supervisor);
  request.ids = ids.fd();
  const Error error = launch_here(request);
  return refuse(error, error.code == Code::not_found ? kNoProgram : kCannot);
}

}  // namespace

Result<std::string> secrets_held_by(const ProcessRecord& supervisor) {
  auto file = held_by(supervisor, kSecretsDescriptor);
  if (!file) return file.error();
  return read_all(file->fd());
}

std::optional<int> exec_in_replica(int count, char** words) {
  if (count < 4 || words[1] != kExecWord) return std::nullopt;
  return become_command(words[2], std::vector<std::string>(words + 3, words + count));
}

}  // namespace sluice::process
