// The parts of the checker, for its own files only. A Report gathers what is found; a Rule holds the variables of one
// sync or guard while it is walked; the functions below are the passes, in the order in which check.cc runs them.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "lang/check/check.h"
#include "lang/syntax/text.h"

namespace sluice::lang {

// A stretch of a file that a message points at.
struct Place {
  std::string_view file;
  At at;
  size_t length = 1;
};

class Report {
 public:
  Report(bool strict, const std::map<std::string, std::string>& sources) : strict_(strict), sources_(sources) {}

  Diagnostics found;
  // How many there are, to see whether something was told meanwhile.
  size_t told() const { return found.errors() + found.warnings(); }

  // Where a word is written, at a mark or after it on the same line: nodes are marked at their first character, and a
  // message points at the name.
  Place word(std::string_view file, const At& at, std::string_view word) const;

  void error(const Place& place, std::string_view rule, std::string text, std::string hint);
  void warning(const Place& place, std::string_view rule, std::string text, std::string hint);
  // A parameter given for one of another identity space: an error when strict.
  void misaligned(const Place& place, std::string text);

 private:
  void add(Diagnostic::Severity severity, const Place& place, std::string_view rule, std::string text,
           std::string hint);
  std::string_view line(std::string_view file, uint32_t number) const;

  bool strict_;
  const std::map<std::string, std::string>& sources_;
  // What is judged against several candidates is told once.
  static constexpr size_t kRemembered = 10'000;
  std::unordered_set<std::string> told_;
  mutable std::unordered_map<std::string, std::vector<size_t>> lines_;  // by file: where each begins; filled when asked
  struct Walked {
    std::string file;
    uint32_t line = 0, column = 1;
    size_t byte = 0;  // where that column is in its line
  };
  mutable Walked walked_;  // where word() last began to look
};

// "did you mean `x`?"; when no name is near, what there is: "there is `x`, `y` and `z`".
std::string did_you_mean(std::string_view word, const std::vector<std::string>& names);
// The first half alone: nothing when no name is near.
std::string near_name(std::string_view word, const std::vector<std::string>& names);
std::vector<std::string> names_of(const std::vector<FieldSymbol>& fields);
std::vector<std::string> names_of(const std::vector<VariantSymbol>& variants);
std::vector<std::string> names_of(const std::vector<ActionSymbol>& actions);
// Of the names that are missing, those that are not an unknown one misspelt, which is told of already.
std::vector<std::string> without_misspelt(std::vector<std::string> missing, const std::vector<std::string>& unknown);
// "a", "a and b", "a, b and c"
std::string join(const std::vector<std::string>& words, std::string_view last = "and");
std::string literal_text(const json::value& value);  // as JSON
Place place_of(std::string_view file, const Name& name);
Place place_of_variable(std::string_view file, const Name& name);  // a name that is kept without its `?`
Place place_of(std::string_view file, const Expr& expr);

// Names of the engine outcomes, as in `engine.fault`.
bool is_engine_outcome(std::string_view name);
// What a record of this engine outcome carries.
std::vector<FieldSymbol> engine_fields(std::string_view outcome);

// The type of a list or record as it is written, of the types of its parts: a list's elements are of one type. A text
// among them is a union of itself, so that it may stand where a union is wanted. `apart` is told the first element and
// another one, which is of another type.
TypeId type_of_parts(Types& types, const Expr& expr, const std::function<TypeId(const Expr&)>& type_of,
                     const std::function<void(const Expr&, TypeId, const Expr&, TypeId)>& apart);
// Whether two values may be compared; a literal is more pliant than its type.
Fit compared(const Types& types, const Expr& left, TypeId left_type, const Expr& right, TypeId right_type);

class Rule {
 public:
  enum class In { pattern, where, then };

  Rule(Symbols& symbols, const std::unordered_set<std::string>& absent, Report& report, std::string_view file,
       std::string label)
      : symbols(symbols), types(symbols.types), absent(absent), report(report), file(file), label(std::move(label)) {}

  const Symbols& symbols;
  Types& types;  // rules have types that no concept names, such as those of lists
  const std::unordered_set<std::string>& absent;
  Report& report;
  std::string_view file;
  std::string label;                  // "sync `X`"
  std::string_view clause = "when";   // the clause being walked
  std::string_view opening = "when";  // the clause whose patterns bind: "before" or "over" in a guard
  std::vector<VariableSymbol> variables;
  // Patterns walked so far, for hints at what could bind a variable.
  std::vector<std::pair<const Pattern*, PatternSymbol>> patterns;
  std::optional<QuerySymbol> over;  // what a guard looks at

  PatternSymbol pattern(const Pattern& pattern);
  std::optional<QuerySymbol> condition(const Condition& condition);
  std::optional<QuerySymbol> query(const Query& query, bool negated);
  // The concept and action that are written, or an error.
  std::optional<size_t> concept_named(const Name& name);
  std::optional<size_t> action_named(size_t concept_, const Name& name);

  // Checks that a value may be given for `to`; `what` names the receiver: "`plan` of DeployPlan/execute".
  void give(const Expr& value, TypeId to, const std::string& what, std::string_view field);
  TypeId type_of(const Expr& expr, In in, TypeId wanted = kUnknownType, std::string_view field = {});
  // The same of a value that is only named so far: a text is a union of itself.
  TypeId type_of_named(const Expr& expr, In in);
  void must_hold(const Expr& expr);

  // Told at each name that stands there a second time; `kind` is "argument" or "field".
  void once_each(const std::vector<Argument>& arguments, std::string_view kind);
  void once_each(const std::vector<FieldPattern>& fields, std::string_view kind);

  // Takes over what another clause of the same rule has bound.
  void adopt(const std::vector<VariableSymbol>& bound);

  bool is_bound(const std::string& name) const { return bound_.contains(name); }
  // The requests that a bound variable may stand for, for `answer`.
  const std::vector<ActionRef>* requests(const std::string& name) const;
  // Whether it stands for each of them, so that an answer must suit all.
  bool is_each_answered(const std::string& name) const { return each_answered_.contains(name); }
  TypeId variable_type(const std::string& name) const;
  // `answers`: the variant with which a request is answered, when the variable is the answer's target.
  void unbound(const Place& place, const std::string& name, TypeId wanted, std::string_view field,
               std::string_view answers = {});
  // The last name of a path: `?t.name`.
  Place place_of_field(const Expr& path) const;

 private:
  struct Bound {
    size_t variable;
    std::vector<ActionRef> requests;
  };

  void match(const Expr& match, TypeId type, const std::string& what, In in, bool negated, size_t owner);
  void second_name(const Name& name, TypeId type, const std::string& what, bool negated, size_t owner);
  void bind(const std::string& name, TypeId type, std::vector<ActionRef> requests);
  TypeId variable(const std::string& name, const Place& place, In in, TypeId wanted, std::string_view field);
  void compare(const Expr& expr, In in);
  TypeId call(const Expr& expr, In in);
  TypeId branches(const Expr& expr, In in);
  void narrow(const Expr& condition);
  TypeId path(const Expr& expr, In in);
  void once_each_key(const Expr& record);
  std::string binders(const std::string& name, TypeId wanted, std::string_view field, std::string_view answers) const;
  std::vector<std::string> request_binders(const std::string& name, std::string_view answers) const;
  std::vector<ActionRef> answered_actions(std::optional<size_t> concept_) const;
  std::vector<ActionRef> candidates(const Pattern& tree, PatternSymbol& symbol);
  bool alternatives(const Pattern& tree, const std::vector<ActionRef>& actions);
  void bind_unjudged(const Pattern& tree);

  std::unordered_map<std::string, Bound> bound_;
  std::unordered_set<std::string> each_answered_;
  std::unordered_map<std::string, TypeId> any_;  // variables that a `no` query has to itself
};

// Checks what is given by name for the fields of an action or a variant, whose title is "Order/pay => ok": which field
// each of them is, 0 if there is none of that name; then it is one of `unknown`. `kind` is "argument" or "field".
std::vector<size_t> give_each(Rule& rule, const std::vector<Argument>& given, const std::vector<FieldSymbol>& fields,
                              const std::string& title, std::string_view kind, std::vector<std::string>& unknown);

// check_concept.cc: declares all concepts, then checks what is inside them.
Symbols declare(const Kit& kit, Report& report);
void check_concepts(const Kit& kit, Symbols& symbols, Report& report);

// check_reversal.cc
void check_reversal(ConceptSymbol& owner, ActionSymbol& action, const Symbols& symbols, Report& report);

// check_suite.cc
void check_suite(const Kit& kit, const Symbols& symbols, Report& report);

// check_fixture.cc, check_invariant.cc
void check_fixtures(const ConceptSymbol& owner, Symbols& symbols, Report& report);
void check_invariants(const ConceptSymbol& owner, Symbols& symbols, Report& report);

// check_sync.cc, check_guard.cc
SyncSymbol check_sync(const Kit& kit, size_t index, Symbols& symbols, const std::unordered_set<std::string>& absent,
                      Report& report);
GuardSymbol check_guard(const Kit& kit, size_t index, Symbols& symbols, const std::unordered_set<std::string>& absent,
                        Report& report);
// check_next.cc: one next step, and those of all variants
void check_next(const Next& next, const Kit& kit, Rule& rule);
void check_next_of_variants(const Kit& kit, Symbols& symbols, const std::unordered_set<std::string>& absent,
                            Report& report);
// check_unused.cc
void check_unused(const Sync& sync, Report& report);
void check_unused(const Guard& guard, Report& report);
// Marks the fields that queries look rows up by.
void mark_indexed(const Kit& kit, const std::vector<SyncSymbol>& syncs, const std::vector<GuardSymbol>& guards,
                  Symbols& symbols);

// check_flow.cc: what follows from what.
struct Kinds;  // check_kinds.h
void check_flow(const Kit& kit, const Symbols& symbols, const std::vector<SyncSymbol>& syncs, const Kinds& kinds,
                const std::vector<Cycle>& cycles, size_t unlisted, Report& report);

// check_cause.cc: causes that cannot be.
void check_causes(const Kit& kit, const Symbols& symbols, const std::vector<SyncSymbol>& syncs, const Kinds& kinds,
                  Report& report);

// cycles.cc: every strongly connected part of the graph of syncs gives one cycle.
// Of each part so many as cycles.cc says; `unlisted` syncs are on other endless cascades.
std::vector<Cycle> find_cycles(const Kit& kit, const Symbols& symbols, const std::vector<SyncSymbol>& syncs,
                               size_t& unlisted);

}  // namespace sluice::lang
