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
};
BOOST_DESCRIBE_STRUCT(RenderWork, (), (request, values, runtimeValues, files))

struct DryRunWork : RenderWork {};
BOOST_DESCRIBE_STRUCT(DryRunWork, (RenderWork), ())

struct DiffWork : RenderWork {};
BOOST_DESCRIBE_STRUCT(DiffWork, (RenderWork), ())

struct StatusWork {
  executor::Request request;
};
BOOST_DESCRIBE_STRUCT(StatusWork, (), (request))

struct CancelWork {
  std::string id;
};
BOOST_DESCRIBE_STRUCT(CancelWork, (), (id))

struct KeepWork {
  std::string id;
  std::string environment;
  std::optional<lang::Sealed> values;
  std::optional<lang::Sealed> runtimeValues;
  std::optional<lang::Sealed> files;
};
BOOST_DESCRIBE_STRUCT(KeepWork, (), (id, environment, values, runtimeValues, files))

struct PrepareWork {
  executor::Request request;
  bool dryRun = false;
  std::string snapshot;  // that is to be applied; empty: what the request brought
};
BOOST_DESCRIBE_STRUCT(PrepareWork, (), (request, dryRun, snapshot))

// Of apply, ready and prune.
struct StepWork {
  executor::Request request;
  std::string snapshot;
  int64_t wave = 0;
  std::optional<int64_t> next;  // the wave after this one
  int64_t timeout_ms = 0;       // how long to wait; 0: not at all
  std::vector<executor::Piece> pieces;
};
BOOST_DESCRIBE_STRUCT(StepWork, (), (request, snapshot, wave, next, timeout_ms, pieces))

struct ApplyWork : StepWork {};
BOOST_DESCRIBE_STRUCT(ApplyWork, (StepWork), ())
struct ReadyWork : StepWork {};
BOOST_DESCRIBE_STRUCT(ReadyWork, (StepWork), ())
struct PruneWork : StepWork {};
BOOST_DESCRIBE_STRUCT(PruneWork, (StepWork), ())

struct SettleWork {
  executor::Request request;
  bool locked = false;  // it may have the lock in the cluster
  bool done = false;    // all of it was done
  std::string manifestHash;
  std::string snapshot;
  std::vector<executor::Piece> pieces;
  std::vector<std::string> snapshots;  // that nobody can go back to any more
};
BOOST_DESCRIBE_STRUCT(SettleWork, (), (request, locked, done, manifestHash, snapshot, pieces, snapshots))

}  // namespace sluice::deploy::cluster
