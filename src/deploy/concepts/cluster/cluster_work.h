// What Cluster's effects work on, as it is journaled between begin and perform: never a value or a manifest.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cluster.gen.h"
#include "deploy/executor/request.h"

namespace sluice::deploy::cluster {

struct RenderWork {
  executor::Request request;
  std::optional<lang::Sealed> values;
  std::optional<lang::Sealed> runtimeValues;
  std::optional<lang::Sealed> files;
  std::string snapshot;  // of what the instance has; empty: it has none
};
BOOST_DESCRIBE_STRUCT(RenderWork, (), (request, values, runtimeValues, files, snapshot))

struct DryRunWork : RenderWork {};
BOOST_DESCRIBE_STRUCT(DryRunWork, (RenderWork), ())

struct DiffWork : RenderWork {
  std::vector<std::string> halfDone;  // requests that have applied something since the last one that went well
};
BOOST_DESCRIBE_STRUCT(DiffWork, (RenderWork), (halfDone))

struct StatusWork {
  executor::Request request;
};
BOOST_DESCRIBE_STRUCT(StatusWork, (), (request))

struct CancelWork {
  std::string id;
  std::string host;
  std::string caller;
};
BOOST_DESCRIBE_STRUCT(CancelWork, (), (id, host, caller))

struct KeepWork {
  executor::Request request;
  std::optional<lang::Sealed> values;
  std::optional<lang::Sealed> runtimeValues;
  std::optional<lang::Sealed> files;
};
BOOST_DESCRIBE_STRUCT(KeepWork, (), (request, values, runtimeValues, files))

struct PrepareWork {
  executor::Request request;
  bool dryRun = false;
  std::string snapshot;  // that is to be applied; empty: what the request brought
  std::optional<lang::Sealed> secrets;
};
BOOST_DESCRIBE_STRUCT(PrepareWork, (), (request, dryRun, snapshot, secrets))

// Of apply, ready and prune.
struct StepWork {
  executor::Request request;
  std::string snapshot;
  int64_t wave = 0;
  std::optional<int64_t> next;  // the wave after this one
  int64_t timeout_ms = 0;       // how long to wait; 0: not at all
  std::vector<executor::Piece> pieces;
  std::vector<std::string> hidden;  // requests whose secrets may be in what the cluster says
};
BOOST_DESCRIBE_STRUCT(StepWork, (), (request, snapshot, wave, next, timeout_ms, pieces, hidden))

struct ApplyWork : StepWork {};
BOOST_DESCRIBE_STRUCT(ApplyWork, (StepWork), ())
struct ReadyWork : StepWork {};
BOOST_DESCRIBE_STRUCT(ReadyWork, (StepWork), ())
struct PruneWork : StepWork {};
BOOST_DESCRIBE_STRUCT(PruneWork, (StepWork), ())

struct SettleWork {
  executor::Request request;
  bool locked = false;          // it has the lock in the cluster
  bool perhaps_locked = false;  // it may have it
  bool done = false;            // all of it was done
  std::string manifestHash;
  std::string snapshot;
  std::vector<executor::Piece> pieces;
  std::vector<std::string> snapshots;  // that nobody can go back to any more
};
BOOST_DESCRIBE_STRUCT(SettleWork, (),
                      (request, locked, perhaps_locked, done, manifestHash, snapshot, pieces, snapshots))

}  // namespace sluice::deploy::cluster
