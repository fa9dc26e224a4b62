// Turns typed handlers into an ActionBinding; only generated sources include it. `Ask` is an action's generated struct:
// its Result is a std::variant of structs that each carry their name as kVariant.
#pragma once

#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include "base/json_reader.h"
#include "base/json_writer.h"
#include "lang/binding.h"
#include "lang/rows.h"

namespace sluice::lang::bind {

// All of this is compiled for every action of every concept, and is to be little: what can be said without the types is
// in bind.cc, alternatives are folded over instead of visited, and structs are read where they stand.
Error unknown_variant(std::string_view action, std::string_view variant);
Error not_readable(std::string_view what, std::string_view action, Error error);
// The fields of `given`, and those of `defaults` that it lacks.
json::object filled(const json::object& given, const json::object& defaults);

template <class T>
std::optional<Error> take(const json::object& fields, T& into) {
  return reader::read_struct(fields, Place(), into);
}

template <class Variant>
Completion completion_of(const Variant& variant) {
  return {.variant = std::string(Variant::kVariant), .fields = to_json(variant).as_object()};
}

template <class Told, class Alternative>
void tell(const Alternative* alternative, std::optional<Told>& told) {
  if (alternative == nullptr) return;
  if constexpr (requires { Alternative::kVariant; }) {
    told.emplace(completion_of(*alternative));
  } else {
    told.emplace(*alternative);
  }
}

// What a handler gave, as the engine keeps it.
template <class Told, class... Alternatives>
Told told_of(const std::variant<Alternatives...>& given) {
  std::optional<Told> told;
  (tell(std::get_if<Alternatives>(&given), told), ...);
  return *std::move(told);
}

template <class Alternative, class Outcome>
bool take_named(const Completion& completion, Outcome& into, std::optional<Error>& error) {
  if constexpr (requires { Alternative::kVariant; }) {
    if (completion.variant != Alternative::kVariant) return false;
    auto& variant = into.template emplace<Alternative>();
    error = take(filled(completion.fields, to_json(variant).as_object()), variant);
    return true;
  } else {
    return false;
  }
}

// The alternative that has the ending's name, read from its fields.
template <class... Alternatives>
std::optional<Error> take_ending(std::string_view action, const Ending& ending, std::variant<Alternatives...>& into) {
  if (const auto* end = std::get_if<EngineEnd>(&ending)) {
    into = *end;
    return std::nullopt;
  }
  const auto& completion = std::get<Completion>(ending);
  std::optional<Error> error;
  if (!(take_named<Alternatives>(completion, into, error) || ...)) return unknown_variant(action, completion.variant);
  if (error) return not_readable(completion.variant, action, *std::move(error));
  return std::nullopt;
}

template <class Ask>
ActionBinding described(Runs runs, Retry retry, int64_t deadline_s) {
  ActionBinding action{.name = std::string(Ask::kAction), .runs = runs, .retry = retry, .deadline_s = deadline_s};
  action.variants.assign(Ask::kVariants.begin(), Ask::kVariants.end());
  fields::for_each_member<Ask>([&]<class Member>(std::string_view name, Member Ask::*) {
    if constexpr (std::is_same_v<Member, Sealed> || std::is_same_v<Member, std::optional<Sealed>>) {
      action.sealed.emplace_back(name);
    }
  });
  action.check = [](const json::object& ask) -> Result<void> {
    Ask typed;
    if (auto error = take(ask, typed)) return *std::move(error);
    return {};
  };
  return action;
}

template <class Ask, class State>
ActionBinding pure(typename Ask::Result (*act)(const Ask&, State&)) {
  ActionBinding action = described<Ask>(Runs::pure, Retry::never, 60);
  action.act = [act](const json::object& ask, Rows& rows) -> Result<Completion> {
    Ask typed;
    if (auto error = take(ask, typed)) return *std::move(error);
    State state(rows);
    return told_of<Completion>(act(typed, state));
  };
  return action;
}

template <class Ask, class State>
ActionBinding query(typename Ask::Result (*look)(const Ask&, const State&)) {
  ActionBinding action = described<Ask>(Runs::query, Retry::never, 60);
  action.query = [look](const json::object& ask, const Rows& rows) -> Result<Completion> {
    Ask typed;
    if (auto error = take(ask, typed)) return *std::move(error);
    ReadOnlyRows reads(rows);
    const State state(reads);
    return told_of<Completion>(look(typed, state));
  };
  return action;
}

// `begin` and `finish`, which effects and answered actions share. Work is Opened for an answered one.
template <class Ask, class Work, class State>
void open_and_finish(ActionBinding& action, std::variant<Work, typename Ask::Result> (*begin)(const Ask&, State&),
                     typename Ask::Outcome (*finish)(const Ask&, const typename Ask::Outcome&, State&)) {
  action.begin = [begin](const json::object& ask, Rows& rows) -> Result<BegunAction> {
    Ask typed;
    if (auto error = take(ask, typed)) return *std::move(error);
    State state(rows);
    auto begun = begin(typed, state);
    if (const auto* ended = std::get_if<typename Ask::Result>(&begun)) return BegunAction(told_of<Completion>(*ended));
    if constexpr (std::is_same_v<Work, Opened>) {
      return BegunAction(Started{});
    } else {
      return BegunAction(Started{to_json(std::get<Work>(begun))});
    }
  };
  action.finish = [finish](const json::object& ask, const Ending& ending, Rows& rows) -> Result<Ending> {
    Ask typed;
    if (auto error = take(ask, typed)) return *std::move(error);
    typename Ask::Outcome outcome;
    if (auto error = take_ending(Ask::kAction, ending, outcome)) return *std::move(error);
    State state(rows);
    return told_of<Ending>(finish(typed, outcome, state));
  };
}

template <class Ask, class State>
ActionBinding answered(Runs runs, int64_t deadline_s,
                       std::variant<Opened, typename Ask::Result> (*begin)(const Ask&, State&),
                       typename Ask::Outcome (*finish)(const Ask&, const typename Ask::Outcome&, State&)) {
  ActionBinding action = described<Ask>(runs, Retry::never, deadline_s);
  open_and_finish<Ask, Opened, State>(action, begin, finish);
  return action;
}

template <class Ask, class Work>
Result<Work> work_of(const json::value& value) {
  auto work = read<Work>(value);
  if (!work) return not_readable("the work", Ask::kAction, work.error());
  return work;
}

template <class Ask, class Work, class State>
ActionBinding effect(Retry retry, int64_t deadline_s,
                     std::variant<Work, typename Ask::Result> (*begin)(const Ask&, State&),
                     typename Ask::Performed (*perform)(const Work&, Attempt&),
                     typename Ask::Outcome (*finish)(const Ask&, const typename Ask::Outcome&, State&)) {
  ActionBinding action = described<Ask>(Runs::effect, retry, deadline_s);
  open_and_finish<Ask, Work, State>(action, begin, finish);
  action.perform = [perform](const json::value& value, Attempt& attempt) -> Result<PerformedAction> {
    auto work = work_of<Ask, Work>(value);
    if (!work) return work.error();
    return told_of<PerformedAction>(perform(*work, attempt));
  };
  return action;
}

// The same with `probe`.
template <class Ask, class Work, class State>
ActionBinding probed_effect(int64_t deadline_s, std::variant<Work, typename Ask::Result> (*begin)(const Ask&, State&),
                            typename Ask::Performed (*perform)(const Work&, Attempt&),
                            typename Ask::Outcome (*finish)(const Ask&, const typename Ask::Outcome&, State&),
                            Probed<typename Ask::Result> (*probe)(const Work&, Attempt&)) {
  ActionBinding action = effect<Ask, Work, State>(Retry::probe, deadline_s, begin, perform, finish);
  action.probe = [probe](const json::value& value, Attempt& attempt) -> Result<ProbedAction> {
    auto work = work_of<Ask, Work>(value);
    if (!work) return work.error();
    auto probed = probe(*work, attempt);
    if (const auto* done = std::get_if<Done<typename Ask::Result>>(&probed)) {
      return ProbedAction(Done<Completion>{told_of<Completion>(done->outcome)});
    }
    if (std::holds_alternative<NotDone>(probed)) return ProbedAction(NotDone{});
    return ProbedAction(Unsure{});
  };
  return action;
}

}  // namespace sluice::lang::bind
