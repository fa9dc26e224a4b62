// A replica's program as a container. The engine makes and starts it; a process of the supervisor's own, its listener,
// stands for it: what the container says comes out of the listener's pipes, and the listener ends as the container
// ended. So a supervisor treats a container as it treats a program.
//
// A container is named by its replica's mark, which no other folder has. One of that name that lacks the home's label
// is somebody else's and is left alone.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/process_identity.h"
#include "base/result.h"
#include "process/launch.h"
#include "process/replica_files.h"
#include "process/replica_log.h"
#include "process/secrets.h"

namespace sluice::process {

// Where a program in a container finds what it is given.
inline constexpr std::string_view kInnerConfig = "/run/sluice/config";
inline constexpr std::string_view kInnerRun = "/run/sluice/run";
inline constexpr std::string_view kInnerSecrets = "/run/secrets";

// What a listener tells its supervisor besides how it ends, in memory that both have.
struct ContainerEnd {
  bool out_of_memory = false;
};

struct StartedContainer {
  Launched listener;
  ProcessIdentity program;  // the container's first process
  int stop_signal = 0;      // as the image wants it
};

// Makes and starts it, after removing what is left of one before. `unavailable`: the engine does not answer;
// `conflict`: the port is taken. For a process with one thread. `end` outlives the listener.
Result<StartedContainer> start_container(const ReplicaFiles& files, const Launch& launch, const Secrets& secrets,
                                         Clock& clock, ContainerEnd& end);

// What a container that another supervisor left has said and that is not in its log yet, with the ends of lines. It is
// waited for a little until it has ended.
struct Unheard {
  Stream stream = Stream::out;
  std::string text;
};
std::vector<Unheard> unheard_of(const ReplicaFiles& files, const Launch& launch, Clock& clock);

// Ends it and removes it, if it is there, with its secrets; `network` as well if nobody else is in it.
Result<void> end_container(const Launch& launch, Clock& clock, bool network = false);

}  // namespace sluice::process
