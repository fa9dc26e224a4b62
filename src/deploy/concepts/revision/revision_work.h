// What Revision's effects work on, as it is journaled between begin and perform.
#pragma once

#include "revision.gen.h"

namespace sluice::deploy::revision {

struct FetchWork {
  std::string revision;
  std::string deployment;
  std::string environment;
  std::string source;
  std::string bundle;
  std::string config;
  std::string overrides;
  std::string revocation_list;
  std::optional<std::vector<std::string>> unset;  // if it is given, settings are carried over but for these
};
BOOST_DESCRIBE_STRUCT(FetchWork, (),
                      (revision, deployment, environment, source, bundle, config, overrides, revocation_list, unset))

struct ExamineWork {
  std::string revision;
  std::string artifact;
  std::string archive;
  std::string tree;
  RevisionNeeds needs;
  std::string revocation_list;
};
BOOST_DESCRIBE_STRUCT(ExamineWork, (), (revision, artifact, archive, tree, needs, revocation_list))

struct PickWork {
  std::string deployment;
  std::string environment;
  std::string manifest;
  std::string tree;
  std::string settings;
  std::string runtime_refs;
  std::vector<std::string> unset;
  std::string overrides;
  std::optional<int64_t> drain_s;
  std::optional<std::string> running;
};
BOOST_DESCRIBE_STRUCT(PickWork, (),
                      (deployment, environment, manifest, tree, settings, runtime_refs, unset, overrides, drain_s,
                       running))

// What is free is seen when it is done.
struct FreeWork {
  std::string asked_at;
};
BOOST_DESCRIBE_STRUCT(FreeWork, (), (asked_at))

struct CompareWork {
  std::string deployment;
};
BOOST_DESCRIBE_STRUCT(CompareWork, (), (deployment))

}  // namespace sluice::deploy::revision
