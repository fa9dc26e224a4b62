// How the engine calls a concept that it does not know: a ConceptBinding lists the concept's relations and actions, and
// each action's handlers as functions from JSON to JSON. conceptc generates one a concept (`rollout_binding()`); the
// functions parse strictly, call the typed handler, and write its result back.
//
// Which functions an action has follows from `runs`:
//   pure                        act
//   query                       query
//   effect                      begin, perform, finish; probe with retry: probe
//   answered, answered outside  begin, finish
//
// An Error means that the arguments do not fit: nothing ran. Everything else is a value; what a handler throws passes
// through, and the engine makes it a fault.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/document.h"
#include "base/result.h"
#include "lang/run/handler.h"
#include "lang/run/rows.h"
#include "lang/syntax/ast.h"

namespace sluice::lang {

// One finished action: a declared variant and its fields.
struct Completion {
  std::string variant;
  json::object fields;

  bool operator==(const Completion&) const = default;
};

// What `finish` is given and gives back. As an answer from a sync, a Completion may lack fields: `finish` sees their
// defaults and fills them.
using Ending = std::variant<Completion, EngineEnd>;

// `begin`: open, with the work to journal (null for an answered action), or ended at once.
struct Started {
  json::value work;

  bool operator==(const Started&) const = default;
};
using BegunAction = std::variant<Started, Completion>;

using PerformedAction = std::variant<Completion, Again>;
using ProbedAction = Probed<Completion>;

struct ActionBinding {
  std::string name;
  Runs runs = Runs::pure;
  Retry retry = Retry::never;
  int64_t deadline_s = 60;
  std::vector<std::string> variants;  // in the order of the .concept
  std::vector<std::string> sealed;    // arguments that are sealed on their way in

  // Whether the arguments fit, without running anything.
  std::function<Result<void>(const json::object& ask)> check;
  std::function<Result<Completion>(const json::object& ask, Rows& rows)> act;
  std::function<Result<Completion>(const json::object& ask, const Rows& rows)> query;
  std::function<Result<BegunAction>(const json::object& ask, Rows& rows)> begin;
  std::function<Result<PerformedAction>(const json::value& work, Attempt& effect)> perform;
  std::function<Result<Ending>(const json::object& ask, const Ending& ending, Rows& rows)> finish;
  std::function<Result<ProbedAction>(const json::value& work, Attempt& effect)> probe;
};

// A relation of the concept's state; names as in lang/check/relations.h.
struct RelationBinding {
  std::string name;
  std::vector<std::string> fields;   // of a row, or of a record in a list or set
  std::vector<std::string> lookups;  // fields that the handlers look rows up by (`find_by_…`)
};

struct ConceptBinding {
  std::string name;
  int64_t version = 0;  // @version; 0 if it has none
  int64_t parallel = 32;
  std::vector<std::string> contract;  // of the .concept that the handlers were made from: lang/run/contract.h
  std::vector<RelationBinding> relations;
  std::vector<ActionBinding> actions;

  const ActionBinding* action(std::string_view action_name) const;
};

}  // namespace sluice::lang
