// What Env's effects work on, as it is journaled between begin and perform.
#pragma once

#include "env.gen.h"

namespace sluice::deploy::env {

struct DoctorWork {
  std::string environment;
  int64_t at_ms = 0;
  static constexpr std::string_view kDefaulted[] = {"at_ms"};
};
BOOST_DESCRIBE_STRUCT(DoctorWork, (), (environment, at_ms))

struct ResolveWork {
  std::string environment;
  std::string manifest;
  std::string file;
  std::string plan;
};
BOOST_DESCRIBE_STRUCT(ResolveWork, (), (environment, manifest, file, plan))

struct DiffWork {
  std::string a;
  std::string b;
  std::string manifest;
  std::string file;
};
BOOST_DESCRIBE_STRUCT(DiffWork, (), (a, b, manifest, file))

struct PlanWork {
  std::string apply;
  std::string environment;
  std::string document;
  bool prune = false;
};
BOOST_DESCRIBE_STRUCT(PlanWork, (), (apply, environment, document, prune))

}  // namespace sluice::deploy::env
