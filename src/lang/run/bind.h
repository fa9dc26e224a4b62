// Turns typed handlers into an ActionBinding; only generated sources include it. `Ask` is an action's generated struct:
// its Result is a OneOf of structs that each carry their name as kVariant, in the order of Ask::kVariants. What else an
// action can be given or give back (Begun, Performed, Outcome) is a OneOf of the same and then of one type more.
//
// All of this is compiled for every action of every concept, and is to be little: what can be said without the types is
// in bind.cc, and a handler is called through one type of function object, whatever its own type.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/json_reader.h"
#include "base/json_writer.h"
#include "lang/run/binding.h"
#include "lang/run/one_of.h"
#include "lang/run/rows.h"

namespace sluice::lang::bind {

// What is done with a variant whose type only its functions know.
struct VariantKind {
  std::string_view name;
  const one_of::Kind* kind;
  void* (*make)();
  std::optional<Error> (*take)(const json::object& fields, void* into);
  json::object (*written)(const void* variant);
};

template <class T>
std::optional<Error> take(const json::object& fields, void* into) {
  return reader::read_struct(fields, Place(), *static_cast<T*>(into));
}

template <class T>
json::object written(const void* variant) {
  return to_json(*static_cast<const T*>(variant)).as_object();
}

template <class Variants>
inline constexpr int kKinds = 0;
template <class... Variants>
inline constexpr std::array<VariantKind, sizeof...(Variants)> kKinds<OneOf<Variants...>>{
    VariantKind{.name = Variants::kVariant,
                .kind = &one_of::kKind<Variants>,
                .make = []() -> void* { return new Variants(); },
                .take = &take<Variants>,
                .written = &written<Variants>}...};

Completion completion(std::span<const VariantKind> kinds, size_t index, const void* variant);
// The variant that has the completion's name, read from its fields; those that it lacks have their defaults.
struct ReadVariant {
  size_t index;
  one_of::Box variant;
};
Result<ReadVariant> read_variant(std::string_view action, std::span<const VariantKind> kinds,
                                 const Completion& completion);
Error not_readable(std::string_view what, std::string_view action, Error error);

template <class Variant>
Completion completion_of(const Variant& variant) {
  return {.variant = std::string(Variant::kVariant), .fields = written<Variant>(&variant)};
}

template <class Ask, class... Types>
bool is_variant(const OneOf<Types...>& given) {
  return given.index() < Ask::kVariants.size();
}
template <class Ask, class... Types>
Completion completion_in(const OneOf<Types...>& given) {
  return completion(kKinds<typename Ask::Result>, given.index(), given.value());
}

// A handler, and how it is called: `run` knows its type.
using Handler = void (*)();
template <class Given, class... Args>
struct Call {
  Given (*run)(Handler handler, Args... args);
  Handler handler;

  Given operator()(Args... args) const { return run(handler, args...); }
};

template <class Function>
Handler handler_of(Function* function) {
  return reinterpret_cast<Handler>(function);
}

template <class Ask>
Result<void> check(const json::object& ask) {
  Ask typed;
  if (auto error = take<Ask>(ask, &typed)) return *std::move(error);
  return {};
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
  action.check = &check<Ask>;
  return action;
}

template <class Ask, class State>
Result<Completion> act(Handler handler, const json::object& ask, Rows& rows) {
  Ask typed;
  if (auto error = take<Ask>(ask, &typed)) return *std::move(error);
  State state(rows);
  return completion_in<Ask>(reinterpret_cast<typename Ask::Result (*)(const Ask&, State&)>(handler)(typed, state));
}

template <class Ask, class State>
ActionBinding pure(typename Ask::Result (*handler)(const Ask&, State&)) {
  ActionBinding action = described<Ask>(Runs::pure, Retry::never, 60);
  action.act = Call<Result<Completion>, const json::object&, Rows&>{&act<Ask, State>, handler_of(handler)};
  return action;
}

template <class Ask, class State>
Result<Completion> look(Handler handler, const json::object& ask, const Rows& rows) {
  Ask typed;
  if (auto error = take<Ask>(ask, &typed)) return *std::move(error);
  ReadOnlyRows reads(rows);
  const State state(reads);
  return completion_in<Ask>(
      reinterpret_cast<typename Ask::Result (*)(const Ask&, const State&)>(handler)(typed, state));
}

template <class Ask, class State>
ActionBinding query(typename Ask::Result (*handler)(const Ask&, const State&)) {
  ActionBinding action = described<Ask>(Runs::query, Retry::never, 60);
  action.query = Call<Result<Completion>, const json::object&, const Rows&>{&look<Ask, State>, handler_of(handler)};
  return action;
}

// Work is Opened for an answered action.
template <class Ask, class Work, class State>
Result<BegunAction> begin(Handler handler, const json::object& ask, Rows& rows) {
  Ask typed;
  if (auto error = take<Ask>(ask, &typed)) return *std::move(error);
  State state(rows);
  typename Ask::Begun begun = reinterpret_cast<typename Ask::Begun (*)(const Ask&, State&)>(handler)(typed, state);
  if (is_variant<Ask>(begun)) return BegunAction(completion_in<Ask>(begun));
  if constexpr (std::is_same_v<Work, Opened>) {
    return BegunAction(Started{});
  } else {
    return BegunAction(Started{to_json(get<Work>(begun))});
  }
}

template <class Ask, class State>
Result<Ending> finish(Handler handler, const json::object& ask, const Ending& ending, Rows& rows) {
  using Outcome = typename Ask::Outcome;
  Ask typed;
  if (auto error = take<Ask>(ask, &typed)) return *std::move(error);
  std::optional<Outcome> outcome;
  if (const auto* end = std::get_if<EngineEnd>(&ending)) {
    outcome.emplace(*end);
  } else {
    auto variant = read_variant(Ask::kAction, kKinds<typename Ask::Result>, std::get<Completion>(ending));
    if (!variant) return std::move(variant).error();
    outcome.emplace(variant->index, std::move(variant->variant));
  }
  State state(rows);
  Outcome given = reinterpret_cast<Outcome (*)(const Ask&, const Outcome&, State&)>(handler)(typed, *outcome, state);
  if (is_variant<Ask>(given)) return Ending(completion_in<Ask>(given));
  return Ending(get<EngineEnd>(given));
}

template <class Ask, class Work, class State>
void open_and_finish(ActionBinding& action, typename Ask::Begun (*opens)(const Ask&, State&),
                     typename Ask::Outcome (*ends)(const Ask&, const typename Ask::Outcome&, State&)) {
  action.begin = Call<Result<BegunAction>, const json::object&, Rows&>{&begin<Ask, Work, State>, handler_of(opens)};
  action.finish =
      Call<Result<Ending>, const json::object&, const Ending&, Rows&>{&finish<Ask, State>, handler_of(ends)};
}

template <class Ask, class State>
ActionBinding answered(Runs runs, int64_t deadline_s, typename Ask::Begun (*opens)(const Ask&, State&),
                       typename Ask::Outcome (*ends)(const Ask&, const typename Ask::Outcome&, State&)) {
  ActionBinding action = described<Ask>(runs, Retry::never, deadline_s);
  open_and_finish<Ask, Opened, State>(action, opens, ends);
  return action;
}

template <class Ask, class Work>
Result<Work> work_of(const json::value& value) {
  auto work = read<Work>(value);
  if (!work) return not_readable("the work", Ask::kAction, work.error());
  return work;
}

template <class Ask, class Work>
Result<PerformedAction> perform(Handler handler, const json::value& value, Attempt& attempt) {
  auto work = work_of<Ask, Work>(value);
  if (!work) return work.error();
  auto performed = reinterpret_cast<typename Ask::Performed (*)(const Work&, Attempt&)>(handler)(*work, attempt);
  if (is_variant<Ask>(performed)) return PerformedAction(completion_in<Ask>(performed));
  return PerformedAction(get<Again>(performed));
}

template <class Ask, class Work, class State>
ActionBinding effect(Retry retry, int64_t deadline_s, typename Ask::Begun (*opens)(const Ask&, State&),
                     typename Ask::Performed (*performs)(const Work&, Attempt&),
                     typename Ask::Outcome (*ends)(const Ask&, const typename Ask::Outcome&, State&)) {
  ActionBinding action = described<Ask>(Runs::effect, retry, deadline_s);
  open_and_finish<Ask, Work, State>(action, opens, ends);
  action.perform =
      Call<Result<PerformedAction>, const json::value&, Attempt&>{&perform<Ask, Work>, handler_of(performs)};
  return action;
}

template <class Ask, class Work>
Result<ProbedAction> probe(Handler handler, const json::value& value, Attempt& attempt) {
  auto work = work_of<Ask, Work>(value);
  if (!work) return work.error();
  auto probed = reinterpret_cast<Probed<typename Ask::Result> (*)(const Work&, Attempt&)>(handler)(*work, attempt);
  if (const auto* done = get_if<Done<typename Ask::Result>>(&probed)) {
    return ProbedAction(Done<Completion>{completion_in<Ask>(done->outcome)});
  }
  if (get_if<NotDone>(&probed) != nullptr) return ProbedAction(NotDone{});
  return ProbedAction(Unsure{});
}

// The same with `probe`.
template <class Ask, class Work, class State>
ActionBinding probed_effect(int64_t deadline_s, typename Ask::Begun (*opens)(const Ask&, State&),
                            typename Ask::Performed (*performs)(const Work&, Attempt&),
                            typename Ask::Outcome (*ends)(const Ask&, const typename Ask::Outcome&, State&),
                            Probed<typename Ask::Result> (*probes)(const Work&, Attempt&)) {
  ActionBinding action = effect<Ask, Work, State>(Retry::probe, deadline_s, opens, performs, ends);
  action.probe = Call<Result<ProbedAction>, const json::value&, Attempt&>{&probe<Ask, Work>, handler_of(probes)};
  return action;
}

}  // namespace sluice::lang::bind
