// Workload says what a replica is: the program, what it gets, what it may use, and when it counts as healthy. It is
// written beside the replica for its supervisor (process/supervisor.h), so it holds no secret: those go another way
// (process/secrets.h).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_fields.h"
#include "base/result.h"

namespace sluice::process {

// none: it is healthy when it has been started.
enum class HealthBy { none, http, tcp, command };
BOOST_DESCRIBE_ENUM(HealthBy, none, http, tcp, command)

struct HealthCheck {
  HealthBy by = HealthBy::none;
  std::string path = "/";            // by http: any status from 200 to 399 is healthy
  std::vector<std::string> command;  // by command: exit code 0 is; it runs as the program does
  int64_t interval_ms = 5'000;
  int64_t timeout_ms = 2'000;
  int64_t start_within_ms = 30'000;  // until it must be healthy for the first time
  uint32_t healthy_after = 1;        // good answers in a row
  uint32_t unhealthy_after = 3;      // bad ones

  bool operator==(const HealthCheck&) const = default;
};
BOOST_DESCRIBE_STRUCT(HealthCheck, (),
                      (by, path, command, interval_ms, timeout_ms, start_within_ms, healthy_after, unhealthy_after))

struct Limits {
  double cpu = 1;  // processors
  uint64_t memory_bytes = uint64_t{1} << 29;
  uint32_t processes = 512;
  uint32_t files = 4096;  // open at once

  bool operator==(const Limits&) const = default;
};
BOOST_DESCRIBE_STRUCT(Limits, (), (cpu, memory_bytes, processes, files))

// A program that ends is started again, later each time. One that was never healthy is given up after so many ends;
// one that was healthy once never is.
struct Restarts {
  int64_t first_after_ms = 100;  // then twice as long, and so on
  int64_t last_after_ms = 30'000;
  uint32_t crashes = 5;
  int64_t calm_ms = 60'000;  // after running for so long its ends are counted anew

  bool operator==(const Restarts&) const = default;
};
BOOST_DESCRIBE_STRUCT(Restarts, (), (first_after_ms, last_after_ms, crashes, calm_ms))

struct LogLimits {
  uint64_t file_bytes = uint64_t{10} << 20;
  uint32_t files = 5;  // the one being written among them

  bool operator==(const LogLimits&) const = default;
};
BOOST_DESCRIBE_STRUCT(LogLimits, (), (file_bytes, files))

// As variables, or as files in memory whose paths are in the variables.
enum class SecretsAs { env, file };
BOOST_DESCRIBE_ENUM(SecretsAs, env, file)

struct ContainerMount {
  std::string source;  // a folder of this machine
  std::string target;
  bool writable = false;

  bool operator==(const ContainerMount&) const = default;
};
BOOST_DESCRIBE_STRUCT(ContainerMount, (), (source, target, writable))

// What a program is started as that comes in an image: a container of an engine (container/engine.h) on this machine.
struct ContainerWork {
  std::string engine;                         // the path of its socket
  std::string image;                          // the engine's id of it
  std::string user;                           // as the engine takes it: "65532:65532"
  uint16_t port = 8080;                       // inside, where the workload has one
  bool writable = false;                      // its root
  uint64_t tmp_bytes = 0;                     // of /tmp, which is in memory
  std::string network;                        // of the deployment's own
  std::map<std::string, std::string> labels;  // kHomeLabel among them
  std::vector<ContainerMount> mounts;

  bool operator==(const ContainerWork&) const = default;
};
BOOST_DESCRIBE_STRUCT(ContainerWork, (), (engine, image, user, port, writable, tmp_bytes, network, labels, mounts))

// Whoever lacks this label with this home's id is never touched.
inline constexpr std::string_view kHomeLabel = "dev.sluice.home";

// What an operator lets this machine start is in a folder; by what this workload says it is, one finds what holds for
// it. Who supervises it asks whether it may be started (process/supervisor.h).
struct StartBound {
  std::string folder;
  std::string environment;
  std::string deployment;
  std::string statement;  // who signed it, a DSSE envelope; empty if nobody did

  bool operator==(const StartBound&) const = default;
};
BOOST_DESCRIBE_STRUCT(StartBound, (), (folder, environment, deployment, statement))

struct Workload {
  std::vector<std::string> argv;  // a name with / is a file below root, one without is looked up in PATH
  std::string root;               // the extracted bundle: where it runs, and what it cannot change
  std::map<std::string, std::string> environment;
  std::optional<uint16_t> port;  // its PORT; without one it gets a SLUICE_SOCKET
  std::string config = "{}";     // the text of the file that SLUICE_CONFIG names
  SecretsAs secrets_as = SecretsAs::env;
  HealthCheck health;
  Limits limits;
  Restarts restarts;
  LogLimits log;
  uint32_t user = 65532;                   // where Sluice is root
  int64_t grace_ms = 30'000;               // between SIGTERM and SIGKILL
  std::string hidden;                      // a folder of which it sees only what is its own; "" for none
  std::vector<std::string> writable;       // folders that it may change, and that are made its own
  std::optional<ContainerWork> container;  // else it is a process; its argv may be empty then: what the image says
  std::optional<StartBound> bound = {};    // without one anything may be started

  bool operator==(const Workload&) const = default;
};
BOOST_DESCRIBE_STRUCT(Workload, (),
                      (argv, root, environment, port, config, secrets_as, health, limits, restarts, log, user, grace_ms,
                       hidden, writable, container, bound))

// What cannot be started whatever the world is like: `invalid`, and the field at fault.
Result<void> check(const Workload& workload);

}  // namespace sluice::process
