// Recursive descent over `.concept`. After an error the parser goes on at the next action, invariant or section.
#include "lang/syntax/concept_parser.h"

#include <algorithm>
#include <array>
#include <boost/json.hpp>

#include "base/nearest.h"
#include "lang/syntax/cursor.h"
#include "lang/syntax/expression_parser.h"
#include "lang/syntax/invariant_parser.h"
#include "lang/syntax/next_parser.h"
#include "lang/syntax/provides_parser.h"
#include "lang/syntax/text.h"
#include "lang/syntax/type_parser.h"

namespace sluice::lang {
namespace {

constexpr std::array<std::string_view, 16> kSections = {
    "purpose", "state", "actions",    "capabilities", "invariant", "parallel", "example",   "forall",
    "always",  "never", "eventually", "scenario",     "action",    "kind",     "routed by", "provides"};
constexpr std::array<std::string_view, 4> kConceptAnnotations = {"version", "gate", "category", "visibility"};
constexpr std::array<std::string_view, 10> kActionClauses = {
    "description", "right", "effect", "runs", "retry", "deadline", "callers", "reversal", "fixture", "-> variant"};

constexpr uint32_t kSectionDepth = 1;  // braces around a section
constexpr uint32_t kActionDepth = 2;
constexpr uint32_t kClauseDepth = 3;

class ConceptParser {
 public:
  ConceptParser(std::string_view text, const std::string& file, Diagnostics& found) : cursor_(text, file, found) {
    concept_.file = file;
  }

  Concept parse() {
    while (cursor_.at("@")) parse_annotation();
    if (!cursor_.at("concept")) {
      cursor_.fail_here("`concept`", "a file is one `concept Name { … }`");
      cursor_.recover(0, {"concept"});
      if (cursor_.ended()) return std::move(concept_);  // told already
    }
    concept_.at = cursor_.peek().at;
    cursor_.expect("concept", "");
    concept_.name = cursor_.expect_name("the concept's name").text;
    if (cursor_.accept("[")) {
      while (!cursor_.at("]") && !cursor_.ended()) {
        concept_.params.push_back(cursor_.expect_name("a type parameter"));
        bool more = cursor_.at(",") || cursor_.at_word();
        if (!cursor_.at("]") && more) cursor_.expect(",", "between type parameters");
        if (!more) break;
      }
      cursor_.expect("]", "after the type parameters");
    }
    cursor_.expect("{", "before the concept's sections");
    bool headless = cursor_.stopped();
    resume_at_section();
    if (headless && cursor_.ended()) return std::move(concept_);
    while (!cursor_.at("}") && !cursor_.ended()) {
      parse_section();
      cursor_.skip_separators();
      resume_at_section();
    }
    cursor_.expect("}", "to close the concept");
    if (!cursor_.ended()) cursor_.fail_here("the end of the file", "a file holds one concept");
    concept_.comments = cursor_.take_comments();
    lift_comments(concept_.comments, wrappers_);
    return std::move(concept_);
  }

 private:
  void resume_at_section() {
    cursor_.recover(kSectionDepth, {"purpose", "state", "actions", "capabilities", "invariant", "example", "always",
                                    "never", "eventually", "scenario", "parallel", "kind", "routed", "provides"});
  }

  // True if this is the first `what` of the concept; otherwise reports.
  bool once(const Token& at, std::string_view what) {
    for (std::string_view seen : seen_) {
      if (seen != what) continue;
      cursor_.report(at, "a second `" + std::string(what) + "`", "a concept has one", "repeated-section");
      return false;
    }
    seen_.push_back(what);
    return true;
  }

  void parse_annotation() {
    At at = cursor_.take().at;
    Token name = cursor_.peek();
    cursor_.expect_name("an annotation's name after `@`");
    auto known = std::ranges::find(kConceptAnnotations, name.text);
    if (cursor_.stopped()) return;
    if (known == kConceptAnnotations.end()) {
      auto near = nearest(name.text, kConceptAnnotations);
      cursor_.fail(name, "unknown annotation `@" + name.text + "`",
                   !near ? "the annotations are @version @gate @category @visibility" : "write `@" + *near + "`",
                   "unknown-annotation");
      return;
    }
    once(name, *known);
    if (name.text == "gate") {
      concept_.gate = true;
      concept_.gate_at = at;
      return;
    }
    cursor_.expect("(", "after `@" + name.text + "`");
    if (name.text == "version") {
      Token number = cursor_.peek();
      if (number.kind != Token::Kind::integer || number.value.as_int64() < 1) {
        cursor_.fail_here("a whole number from 1");
      } else {
        concept_.version = cursor_.take().value.as_int64();
        concept_.version_at = at;
      }
    } else {
      std::string& value = name.text == "category" ? concept_.category : concept_.visibility;
      value = cursor_.expect_string("a string");
      (name.text == "category" ? concept_.category_at : concept_.visibility_at) = at;
    }
    cursor_.expect(")", "after the annotation's value");
  }

  void parse_section() {
    if (cursor_.at("@")) return parse_annotation();
    Token word = cursor_.peek();
    if (word.is("action") || word.is("invariant") || is_invariant_kind(word)) {
      parse_invariants(cursor_, concept_.invariants, wrappers_);
      return;
    }
    if (!cursor_.at_word()) return cursor_.fail_here("a section", "sections are purpose, state, actions and invariant");
    if (word.is("purpose")) {
      once(word, "purpose");
      concept_.purpose_at = word.at;
      cursor_.take();
      concept_.purpose = cursor_.expect_prose("the purpose");
    } else if (word.is("state")) {
      once(word, "state");
      concept_.state_at = word.at;
      parse_state();
    } else if (word.is("actions")) {
      once(word, "actions");
      concept_.actions_at = word.at;
      parse_actions();
    } else if (word.is("capabilities")) {
      once(word, "capabilities");
      concept_.capabilities_at = word.at;
      parse_capabilities();
    } else if (word.is("parallel")) {
      once(word, "parallel");
      parse_parallel();
    } else if (word.is("kind")) {
      once(word, "kind");
      concept_.kind_at = cursor_.take().at;
      cursor_.expect(":", "after `kind`");
      concept_.kind = cursor_.expect_string("the kind as a string");
    } else if (word.is("routed")) {
      once(word, "routed by");
      concept_.routed_by_at = cursor_.take().at;
      cursor_.expect("by", "after `routed`");
      cursor_.expect(":", "after `routed by`");
      concept_.routed_by = cursor_.expect_name("an argument's or a field's name");
    } else if (word.is("provides")) {
      const size_t before = cursor_.errors();
      Provides provides = parse_provides(cursor_);
      if (cursor_.errors() == before) concept_.provides.push_back(std::move(provides));
    } else {
      auto near = nearest(word.text, kSections);
      cursor_.fail(
          word, "unknown section `" + word.text + "`",
          !near
              ? "sections are purpose, state, actions, capabilities, parallel, kind, routed by, provides and invariant"
              : "write `" + *near + "`",
          "unknown-section");
    }
  }

  void parse_parallel() {
    concept_.parallel_at = cursor_.take().at;
    cursor_.expect(":", "after `parallel`");
    Token number = cursor_.peek();
    if (number.kind != Token::Kind::integer || number.value.as_int64() < 1) {
      return cursor_.fail_here("a whole number from 1");
    }
    concept_.parallel = cursor_.take().value.as_int64();
  }

  void parse_state() {
    cursor_.take();
    cursor_.expect("{", "after `state`");
    cursor_.skip_separators();
    while (!cursor_.at("}") && !cursor_.ended()) {
      Name name = cursor_.expect_name("a component's name or `}`");
      if (cursor_.accept("{")) {
        cursor_.skip_separators();
        if (cursor_.at("}")) cursor_.fail_here("a component of the group " + name.text);
        while (!cursor_.at("}") && !cursor_.ended()) parse_component(name, cursor_.expect_name("a component's name"));
        cursor_.expect("}", "to close the group " + name.text);
        cursor_.skip_separators();
      } else {
        parse_component({}, name);
      }
    }
    cursor_.expect("}", "to close the state");
  }

  void parse_component(const Name& group, const Name& name) {
    StateField field{.at = name.at, .group_at = group.at, .group = group.text, .name = name.text};
    cursor_.expect(":", "after the component's name");
    field.type = parse_type(cursor_);
    if (!cursor_.stopped()) concept_.state.push_back(std::move(field));
    cursor_.skip_separators();
  }

  void parse_capabilities() {
    cursor_.take();
    cursor_.expect("{", "after `capabilities`");
    cursor_.skip_separators();
    while (!cursor_.at("}") && !cursor_.ended()) {
      cursor_.expect("requires", "before a capability's name");
      Token last = cursor_.peek();
      Name name = cursor_.expect_name("a capability's name");
      // Hyphens join words here alone: a name such as full-compute.
      while (cursor_.at("-") && last.touches(cursor_.peek())) {
        cursor_.take();
        last = cursor_.peek();
        name.text += "-" + cursor_.expect_name("the rest of the capability's name").text;
      }
      concept_.capabilities.push_back(std::move(name));
      cursor_.skip_separators();
    }
    cursor_.expect("}", "to close the capabilities");
  }

  void parse_actions() {
    cursor_.take();
    cursor_.expect("{", "after `actions`");
    while (!cursor_.at("}") && !cursor_.ended()) {
      parse_action();
      cursor_.skip_separators();
      cursor_.recover(kActionDepth, {"action"});
    }
    cursor_.expect("}", "to close the actions");
  }

  void parse_action() {
    const size_t before_action = cursor_.errors();
    Action action;
    action.at = cursor_.peek().at;
    cursor_.expect("action", "or `}` to close the actions");
    action.name = cursor_.expect_name("the action's name").text;
    cursor_.expect("(", "after the action's name");
    action.params = parse_fields(cursor_, ")");
    cursor_.expect("{", "before the action's variants");
    const size_t before = cursor_.errors();
    while (!cursor_.at("}") && !cursor_.ended()) {
      if (cursor_.at("action")) return close_missing(action);
      parse_clause(action);
      cursor_.skip_separators();
      cursor_.recover(kClauseDepth, {"->", "description", "right", "effect", "runs", "retry", "deadline", "callers",
                                     "reversal", "fixture", "action"});
    }
    if (cursor_.at("}") && action.variants.empty() && cursor_.errors() == before) {
      cursor_.report(cursor_.peek(), "action `" + action.name + "` has no variant", "write `-> ok`", "no-variant");
    }
    cursor_.expect("}", "to close the action");
    if (cursor_.errors() == before_action) concept_.actions.push_back(std::move(action));
  }

  // The next action begins before this one is closed.
  void close_missing(const Action& action) {
    cursor_.report(cursor_.peek(), "expected `}` to close action `" + action.name + "`, found `action`", "write `}`",
                   "syntax");
    cursor_.assume_depth(kActionDepth);
  }

  void parse_clause(Action& action) {
    Token word = cursor_.peek();
    if (word.is("->")) return parse_variant(action);
    if (word.is("fixture")) {
      action.fixtures.push_back(parse_fixture(cursor_, true));
      return;
    }
    if (word.is("description")) {
      action.description_at = cursor_.take().at;
      if (!action.description.empty()) cursor_.fail(word, "a second `description`", "keep one", "repeated-clause");
      action.description = cursor_.expect_prose("the description");
      return;
    }
    if (word.is("right")) return parse_right(action);
    if (word.is("effect")) return parse_impact(action);
    if (word.is("runs")) return parse_runs(action);
    if (word.is("retry")) return parse_retry(action);
    if (word.is("deadline")) return parse_deadline(action);
    if (word.is("callers")) return parse_callers(action);
    if (word.is("reversal")) return parse_reversal(action);
    if (!cursor_.at_word()) return cursor_.fail_here("a variant (`-> ok(…)`), a clause or `}`");
    auto near = nearest(word.text, kActionClauses);
    cursor_.fail(word, "unknown clause `" + word.text + "` in action `" + action.name + "`",
                 !near
                     ? "clauses are description, right, effect, runs, retry, deadline, callers, reversal, fixture and "
                       "`-> variant(…)`"
                     : "write `" + *near + "`",
                 "unknown-clause");
  }

  // Takes `word ":"`; a clause that was written before is an error.
  At clause(std::optional<At>& written) {
    Token word = cursor_.peek();
    cursor_.take();
    if (written) cursor_.fail(word, "a second `" + word.text + "`", "keep one", "repeated-clause");
    written = word.at;
    cursor_.expect(":", "after `" + word.text + "`");
    return word.at;
  }

  void parse_right(Action& action) {
    clause(action.right_at);
    action.right = cursor_.expect_name("the right that a caller needs").text;
  }

  void parse_impact(Action& action) {
    clause(action.impact_at);
    for (Impact each : {Impact::none, Impact::changes, Impact::shifts, Impact::destroys}) {
      if (!cursor_.accept(name_of(each))) continue;
      action.impact = each;
      return;
    }
    cursor_.fail_here("what is at stake", "write none, changes, shifts or destroys");
  }

  void parse_runs(Action& action) {
    clause(action.runs_at);
    if (cursor_.accept("pure")) {
      action.runs = Runs::pure;
    } else if (cursor_.accept("query")) {
      action.runs = Runs::query;
    } else if (cursor_.accept("effect")) {
      action.runs = Runs::effect;
    } else if (cursor_.accept("answered")) {
      action.runs = cursor_.accept("outside") ? Runs::answered_outside : Runs::answered;
    } else {
      cursor_.fail_here("how the action runs", "write pure, query, effect, answered or answered outside");
    }
  }

  void parse_retry(Action& action) {
    clause(action.retry_at);
    if (cursor_.accept("never")) {
      action.retry = Retry::never;
    } else if (cursor_.accept("safe")) {
      action.retry = Retry::safe;
    } else if (cursor_.accept("probe")) {
      action.retry = Retry::probe;
    } else {
      cursor_.fail_here("how the effect is repeated", "write safe, probe or never");
    }
  }

  void parse_deadline(Action& action) {
    clause(action.deadline_at);
    const Token& token = cursor_.peek();
    bool duration = token.kind == Token::Kind::duration || token.kind == Token::Kind::integer;
    if (!duration || token.value.as_int64() < 1)
      return cursor_.fail_here("a duration", "write seconds: `90s`, or `5m`");
    action.deadline_s = cursor_.take().value.as_int64();
  }

  void parse_callers(Action& action) {
    clause(action.callers_at);
    if (!cursor_.accept("syncs"))
      return cursor_.fail_here("who calls the action", "write syncs, or leave `callers:` out");
    action.callers = Callers::syncs;
  }

  void parse_reversal(Action& action) {
    std::optional<At> written;
    if (action.reversal) written = action.reversal->at;
    Reversal reversal{.at = clause(written)};
    Name name = cursor_.expect_name("the compensating action's name, or none");
    if (name.text != "none") reversal.action = name.text;
    if (!reversal.action.empty() && cursor_.accept("(")) {
      while (!cursor_.at(")") && !cursor_.ended()) {
        reversal.variants.push_back(cursor_.expect_name("a variant"));
        cursor_.skip_separators();
      }
      cursor_.expect(")", "after the variants");
    }
    action.reversal = std::move(reversal);
  }

  void parse_variant(Action& action) {
    Variant variant;
    variant.at = cursor_.take().at;
    variant.name = cursor_.expect_name("a variant's name after `->`").text;
    if (cursor_.accept("(")) variant.fields = parse_fields(cursor_, ")");
    if (cursor_.accept("@")) {
      cursor_.expect("code", "after `@`: a variant has no other annotation");
      cursor_.expect("(", "after `@code`");
      variant.code = cursor_.expect_name("a code's name");
      cursor_.expect(")", "after the code's name");
    }
    if (cursor_.at("{")) variant.prose = cursor_.expect_prose("the variant");
    variant.next = parse_next_steps(cursor_, Dialect::field);
    action.variants.push_back(std::move(variant));
  }

  Cursor cursor_;
  Concept concept_;
  std::vector<std::string_view> seen_;
  std::vector<Span> wrappers_;  // `invariant { … }`, which the canonical form leaves out
};

}  // namespace

Concept parse_whole_parts(std::string_view text, const std::string& file, Diagnostics& found) {
  if (!check_source(text, file, found)) return {};
  Concept parsed = ConceptParser(text, file, found).parse();
  parsed.blank_lines = blank_lines(text);
  return parsed;
}

std::optional<Concept> parse_concept(std::string_view text, const std::string& file, Diagnostics& found) {
  size_t before = found.errors();
  Concept parsed = parse_whole_parts(text, file, found);
  if (found.errors() > before) return std::nullopt;
  return parsed;
}

std::optional<Concept> load_concept(const std::string& path, Diagnostics& found) {
  auto text = read_source(path);
  if (!text) {
    found.add(unreadable(path, text.error()));
    return std::nullopt;
  }
  return parse_concept(*text, path, found);
}

}  // namespace sluice::lang
