// Turns typed handlers into an ActionBinding; only generated sources include it. `Ask` is an action's generated struct:
// its Result is a std::variant of structs that each carry their name as kVariant.
#pragma once

#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include "base/json_reader.h"
#include "base/json_writer.h"
#include "lang/binding.h"
#include "lang/rows.h"

namespace sluice::lang::bind {

template <class Variant>
Completion completion_of(const Variant& variant) {
  return {.variant = std::string(Variant::kVariant), .fields = to_json(variant).as_object()};
}

template <class... Variants>
Completion completion_of(const std::variant<Variants...>& result) {
  return std::visit([](const auto& variant) { return completion_of(variant); }, result);
}

Error unknown_variant(std::string_view action, std::string_view variant);
Error not_readable(std::string_view what, std::string_view action, Error error);
// The fields of `given`, and those of `defaults` that it lacks.
json::object filled(const json::object& given, const json::object& defaults);

// The alternative of Into (a std::variant) that has this name, read from the fields.
template <class Ask, class Into, class First, class... Rest>
Result<Into> variant_named(const Completion& completion) {
  if constexpr (requires { First::kVariant; }) {
    if (completion.variant == First::kVariant) {
      auto fields = read<First>(json::value(filled(completion.fields, to_json(First{}).as_object())));
      if (!fields) return not_readable(completion.variant, Ask::kAction, fields.error());
      return Into(*std::move(fields));
    }
  }
  if constexpr (sizeof...(Rest) > 0) {
    return variant_named<Ask, Into, Rest...>(completion);
  } else {
    return unknown_variant(Ask::kAction, completion.variant);
  }
}

template <class Ask, class... Alternatives>
Result<std::variant<Alternatives...>> outcome_of(const Ending& ending,
                                                 std::type_identity<std::variant<Alternatives...>>) {
  using Outcome = std::variant<Alternatives...>;
  if (const auto* end = std::get_if<EngineEnd>(&ending)) return Outcome(*end);
  return variant_named<Ask, Outcome, Alternatives...>(std::get<Completion>(ending));
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
    auto typed = read<Ask>(json::value(ask));
    if (!typed) return typed.error();
    return {};
  };
  return action;
}

template <class Ask, class State>
ActionBinding pure(typename Ask::Result (*act)(const Ask&, State&)) {
  ActionBinding action = described<Ask>(Runs::pure, Retry::never, 60);
  action.act = [act](const json::object& ask, Rows& rows) -> Result<Completion> {
    auto typed = read<Ask>(json::value(ask));
    if (!typed) return typed.error();
    State state(rows);
    return completion_of(act(*typed, state));
  };
  return action;
}

template <class Ask, class State>
ActionBinding query(typename Ask::Result (*look)(const Ask&, const State&)) {
  ActionBinding action = described<Ask>(Runs::query, Retry::never, 60);
  action.query = [look](const json::object& ask, const Rows& rows) -> Result<Completion> {
    auto typed = read<Ask>(json::value(ask));
    if (!typed) return typed.error();
    ReadOnlyRows reads(rows);
    const State state(reads);
    return completion_of(look(*typed, state));
  };
  return action;
}

// `begin` and `finish`, which effects and answered actions share. Work is Opened for an answered one.
template <class Ask, class Work, class State>
void open_and_finish(ActionBinding& action, std::variant<Work, typename Ask::Result> (*begin)(const Ask&, State&),
                     typename Ask::Outcome (*finish)(const Ask&, const typename Ask::Outcome&, State&)) {
  action.begin = [begin](const json::object& ask, Rows& rows) -> Result<BegunAction> {
    auto typed = read<Ask>(json::value(ask));
    if (!typed) return typed.error();
    State state(rows);
    auto begun = begin(*typed, state);
    if (const auto* ended = std::get_if<typename Ask::Result>(&begun)) return BegunAction(completion_of(*ended));
    if constexpr (std::is_same_v<Work, Opened>) {
      return BegunAction(Started{});
    } else {
      return BegunAction(Started{to_json(std::get<Work>(begun))});
    }
  };
  action.finish = [finish](const json::object& ask, const Ending& ending, Rows& rows) -> Result<Ending> {
    auto typed = read<Ask>(json::value(ask));
    if (!typed) return typed.error();
    auto outcome = outcome_of<Ask>(ending, std::type_identity<typename Ask::Outcome>{});
    if (!outcome) return outcome.error();
    State state(rows);
    return std::visit(
        []<class Alternative>(const Alternative& finished) -> Ending {
          if constexpr (std::is_same_v<Alternative, EngineEnd>) {
            return finished;
          } else {
            return completion_of(finished);
          }
        },
        finish(*typed, *outcome, state));
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
    return std::visit(
        []<class Alternative>(const Alternative& performed) -> PerformedAction {
          if constexpr (std::is_same_v<Alternative, Again>) {
            return performed;
          } else {
            return completion_of(performed);
          }
        },
        perform(*work, attempt));
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
      return ProbedAction(Done<Completion>{completion_of(done->outcome)});
    }
    if (std::holds_alternative<NotDone>(probed)) return ProbedAction(NotDone{});
    return ProbedAction(Unsure{});
  };
  return action;
}

}  // namespace sluice::lang::bind
