// Runs one concept's handlers in a test, as the engine would, on rows in memory and without any other concept.
//
//   Harness harness(rollout_binding());
//   auto done = harness.invoke(Begin{.plan = "p1", .strategy = "canary", .steps = {"50", "25"}});
//   EXPECT_EQ(done.as<Begin::InvalidStrategy>().message, "step 2: weight 25 is below step 1's 50");
//
// An effect goes through begin, perform (up to five times while it says Again) and finish; its work passes through
// text, as it does in the journal. An answered action is answered by what answer_with was given, else it ends in
// engine.unanswered. What a handler throws ends in engine.fault, with the step's writes dropped.
//
// Each variant that an action ends in is noted as an empty file `Concept.action.variant` in the folder that the
// environment variable SLUICE_VARIANTS_SEEN names, if it does: cmake/check_variants.py finds those never reached.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>

#include "base/json_reader.h"
#include "base/json_writer.h"
#include "lang/run/bind.h"
#include "lang/run/binding.h"
#include "lang/run/memory_rows.h"

namespace sluice::lang {

// How an action ended, in words: `ok {"rollout":"…"}`, `engine.fault: …`.
std::string to_text(const Ending& ending);

// The end of an invocation of Ask.
template <class Ask>
class Invoked {
 public:
  explicit Invoked(Ending ending) : ending_(std::move(ending)) {}

  const Ending& ending() const { return ending_; }

  template <class Variant>
  bool is() const {
    static_assert(std::is_constructible_v<typename Ask::Result, Variant>, "not a variant of this action");
    const auto* completion = std::get_if<Completion>(&ending_);
    return completion && completion->variant == Variant::kVariant;
  }

  // The variant, which it must have ended in; anything else throws and so fails the test with what it was.
  template <class Variant>
  Variant as() const {
    if (!is<Variant>()) {
      throw std::runtime_error("expected " + std::string(Variant::kVariant) + ", got " + to_text(ending_));
    }
    auto variant = read<Variant>(json::value(std::get<Completion>(ending_).fields));
    if (!variant) throw std::runtime_error(to_string(variant.error()));
    return *std::move(variant);
  }

  // How the engine ended it.
  const EngineEnd& engine() const {
    const auto* end = std::get_if<EngineEnd>(&ending_);
    if (!end) throw std::runtime_error("expected an engine outcome, got " + to_text(ending_));
    return *end;
  }

 private:
  Ending ending_;
};

class Harness {
 public:
  // `binding` must outlive it.
  explicit Harness(const ConceptBinding& binding);
  Harness(const Harness&) = delete;
  Harness& operator=(const Harness&) = delete;
  ~Harness();

  // The concept's rows: `State state(harness.rows());`
  MemoryRows& rows() { return rows_; }
  // What performs will find in Effect::tool.
  Tools& tools() { return tools_; }

  // A handle that performs can open, and the value behind one.
  Sealed seal(std::string value);
  std::string opened(const Sealed& sealed) const;

  // How the next answered action is answered. With names, fields may be left out for finish to fill.
  template <class Variant>
  void answer_with(const Variant& variant) {
    answer_ = bind::completion_of(variant);
  }
  void answer_with(Completion answer) { answer_ = std::move(answer); }
  // The next effect or answered action is ended by the engine before it is performed or answered.
  void end_with(EngineEnd end) { answer_ = std::move(end); }

  template <class Ask>
  Invoked<Ask> invoke(const Ask& ask) {
    auto ending = run(Ask::kAction, to_json(ask).as_object());
    if (!ending) throw std::runtime_error(to_string(ending.error()));
    return Invoked<Ask>(*std::move(ending));
  }

  // What probe says of the work that begin makes of this; the action stays open and is forgotten.
  template <class Ask>
  ProbedAction probe(const Ask& ask) {
    return run_probe(Ask::kAction, to_json(ask).as_object());
  }

  // The same from JSON; an Error if the action or its arguments do not fit.
  Result<Ending> run(std::string_view action, const json::object& ask);

 private:
  class TestAttempt;
  class OwnSnapshot;

  Result<Ending> step(const ActionBinding& action, const json::object& ask);
  Result<Ending> open(const ActionBinding& action, const json::object& ask);
  Ending perform(const ActionBinding& action, const json::value& work);
  ProbedAction run_probe(std::string_view action, const json::object& ask);
  void note(std::string_view action, const Ending& ending);

  const ConceptBinding& binding_;
  MemoryRows rows_;
  Tools tools_;
  std::map<std::string, std::string> sealed_;
  std::optional<Ending> answer_;
  int invocations_ = 0;
};

}  // namespace sluice::lang
