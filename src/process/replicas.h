// Replicas starts, finds, watches and stops the replicas on this machine. It owns none of them: each runs under a
// supervisor of its own (process/supervisor.h) and goes on when this process ends, however it ends; another Replicas on
// the same folder finds it again.
//
//   Replicas replicas(disk, clock, random, {.folder = home + "/runtime", .supervisor = {"/usr/bin/sluice"}});
//   auto begun = replicas.start("hello-1.0", workload, secrets);   // again is harmless: it is found, not started twice
//   auto state = replicas.await("hello-1.0", is_settled, 60'000, cancelled);
//   replicas.stop("hello-1.0");
//
// The truth about what runs is the lock on the replica's folder: it is taken before a supervisor is started, handed
// over to it open, and free only when it has ended. Who holds it is never guessed from a pid.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/disk.h"
#include "base/random.h"
#include "base/result.h"
#include "process/replica_log.h"
#include "process/replica_state.h"
#include "process/secrets.h"
#include "process/workload.h"

namespace sluice::process {

struct ReplicasPlace {
  std::string folder;  // absolute; a folder a replica is made below it
  std::vector<std::string>
      supervisor;  // the program that supervises when it is called with kSuperviseWord and a folder, and runs commands
                   // in a replica's place when it is called with kExecWord
  bool groups = true;  // whether control groups may be made; else rlimits alone bound what runs
};

// Running and healthy, or over.
bool is_settled(const ReplicaState& state);

// What a replica that was removed has said.
struct KeptLog {
  std::string replica;
  std::string of;      // SLUICE_REVISION of its environment; empty if it had none
  std::string folder;  // as log_of a replica that is there
  int64_t since_ms = 0;
};
inline constexpr int64_t kKeepLogs_ms = int64_t{7} * 24 * 3600 * 1000;

class Replicas {
 public:
  Replicas(Disk& disk, Clock& clock, Random& random, ReplicasPlace place);

  // Starts it, unless it runs with the same workload already; with another one it is a `conflict`. Returns before the
  // program is healthy. Names are letters, digits, dots, hyphens and underscores.
  Result<void> start(const std::string& name, const Workload& workload, const Secrets& secrets);

  // Gives one that runs another config: its file is replaced, and its program is sent SIGHUP. The same config again is
  // nothing new to it.
  Result<void> reconfigure(const std::string& name, const std::string& config);

  // `not_found` if there never was one. Of a supervisor that was killed it says `lost`.
  Result<ReplicaState> look(const std::string& name) const;

  // Waits until it is as wanted or at_most_ms have passed (`timeout`) or nobody wants to know any more (`failed`).
  Result<ReplicaState> await(const std::string& name, const std::function<bool(const ReplicaState&)>& as_wanted,
                             int64_t at_most_ms, const std::function<bool()>& cancelled) const;

  // Ends it and all that it has started, and waits for that. Stopping what does not run is no fault.
  Result<void> stop(const std::string& name, const std::function<bool()>& cancelled = {});
  // Stops it, and removes all that there is of it but its log, which is kept for a while.
  Result<void> remove(const std::string& name);
  // The logs of what was removed, the newest last.
  std::vector<KeptLog> kept_logs() const;
  // Removes what is left of starts and removals that were interrupted, of names that begin so. Nobody else may start
  // one of these meanwhile.
  void sweep(const std::string& prefix);

  // This process becomes a command in the replica's place (process/replica_exec.h). Comes back only with what went
  // wrong.
  Error exec(const std::string& name, const std::vector<std::string>& argv) const;
  // The command line of a process that becomes it: for whoever starts one of its own.
  Result<std::vector<std::string>> exec_words(const std::string& name, const std::vector<std::string>& argv) const;
  // What it was started with, from its supervisor, who alone has them.
  Result<Secrets> secrets(const std::string& name) const;

  // Ends all that run, and says that this is meant to stay so until `let_run`: how many that were.
  Result<size_t> stop_all();
  Result<void> let_run();
  bool are_to_rest() const;

  Result<std::vector<std::string>> list() const;
  // What it was started with last.
  Result<Workload> workload(const std::string& name) const;
  Result<std::vector<LogLine>> last_lines(const std::string& name, size_t most_lines) const;
  const std::string& folder() const { return place_.folder; }
  std::string folder_of_replica(const std::string& name) const { return place_.folder + "/" + name; }
  std::string log_of(const std::string& name) const { return folder_of_replica(name) + "/log"; }

 private:
  std::string rest_file() const { return place_.folder + ".rest"; }
  std::string kept_folder() const { return place_.folder + ".logs"; }
  void keep_log(const std::string& name, const std::string& aside, const std::string& of);
  Result<void> prepare(const std::string& folder, const Workload& workload, const std::string& name);

  Disk& disk_;
  Clock& clock_;
  Random& random_;
  ReplicasPlace place_;
};

}  // namespace sluice::process
