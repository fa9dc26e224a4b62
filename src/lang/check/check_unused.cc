// unused-variable: a variable that a rule binds and never speaks of again. It selects nothing that leaving the field
// out would not, so most often another name was meant: a join that lacks its key, a guard that looks at everybody's
// rows.
//
// Not told of the variable that names a row (`{ ?r … }`), nor of those in the place of a concept or an action, which
// must stand there.
#include "lang/check/check_parts.h"

namespace sluice::lang {
namespace {

class BoundNames {
 public:
  explicit BoundNames(std::string_view file) : file_(file) {}

  void pattern(const Pattern& pattern) {
    for (const Name* name : {&pattern.concept_, &pattern.action}) {
      if (name->text.starts_with('?')) ++times_[name->text.substr(1)];
    }
    for (const auto* all : {&pattern.input, &pattern.output}) fields(*all);
    if (pattern.as) bound(*pattern.as, "take out " + quoted("as ?" + pattern.as->text));
  }

  void query(const Query& query) {
    if (query.key) ++times_[query.key->text];
    fields(query.fields);
  }

  void conditions(const std::vector<Condition>& all) {
    for (const Condition& each : all) {
      if (each.kind == Condition::Kind::query || each.kind == Condition::Kind::no) query(each.query);
      for (const Expr& expr : each.exprs) used(expr);
      fields(each.fields);
      if (each.kind == Condition::Kind::bind) bound({each.at, each.name}, "take the line out", true);
    }
  }

  void arguments(const std::vector<Argument>& all) {
    for (const Argument& each : all) used(each.value);
  }

  void used(std::string_view name) { ++times_[std::string(name)]; }
  void used(const Expr& expr) {
    if (expr.op == Expr::Op::variable) ++times_[expr.name];
    for (const Expr& part : expr.args) used(part);
  }

  void tell(const std::string& label, Report& report) const {
    for (const Binding& each : bindings_) {
      if (times_.at(each.name) > 1) continue;
      report.warning(each.place, "unused-variable", label + ": `?" + each.name + "` is bound and never used",
                     each.hint);
    }
  }

 private:
  struct Binding {
    std::string name;
    Place place;
    std::string hint;
  };

  void fields(const std::vector<FieldPattern>& all) {
    for (const FieldPattern& each : all) {
      matched(each.match);
      if (each.as) bound(*each.as, "take out " + quoted("as ?" + each.as->text));
    }
  }

  void matched(const Expr& match) {
    if (match.op == Expr::Op::variable) {
      ++times_[match.name];
      bindings_.push_back(
          {match.name, place_of(file_, match), "leave the field out, or write `_` if it must be there"});
    }
    for (const Expr& part : match.args) matched(part);
  }

  void bound(const Name& name, std::string hint, bool line = false) {
    ++times_[name.text];
    Place place = line ? Place{file_, name.at, 1} : place_of_variable(file_, name);
    bindings_.push_back({name.text, place, std::move(hint)});
  }

  std::string_view file_;
  std::unordered_map<std::string, size_t> times_;
  std::vector<Binding> bindings_;
};

}  // namespace

void check_unused(const Sync& sync, Report& report) {
  BoundNames names(sync.file);
  for (const Pattern& pattern : sync.when) names.pattern(pattern);
  names.conditions(sync.where);
  for (const Effect& effect : sync.then) {
    if (effect.request) names.used(effect.request->text);
    if (effect.concept_.text.starts_with('?')) names.used(effect.concept_.text.substr(1));
    names.arguments(effect.arguments);
  }
  names.tell("sync " + quoted(sync.name.text), report);
}

void check_unused(const Guard& guard, Report& report) {
  BoundNames names(guard.file);
  if (guard.before) names.pattern(*guard.before);
  if (guard.over) names.query(*guard.over);
  names.conditions(guard.where);
  names.conditions(guard.require);
  names.arguments(guard.arguments);
  for (const Next& next : guard.next) {
    names.arguments(next.arguments);
    if (next.text) names.used(*next.text);
    if (next.condition) names.used(*next.condition);
  }
  names.tell("guard " + quoted(guard.name.text), report);
}

}  // namespace sluice::lang
