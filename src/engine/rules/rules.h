// The parts that syncs and guards have in common, compiled: variables are slots in one array of values, names of
// fields stay names (a look-up in a small object), everything else is decided beforehand.
//
// What is not there: a field that is null or missing is not there. `?v` and literals need a value that is there, `_`
// and
// `?v?` take either, `null` only what is not there. In expressions a missing value counts as null, has no order, and
// shows as nothing in a text.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/journal/value.h"
#include "lang/check/symbols.h"
#include "lang/syntax/ast.h"

namespace sluice::engine {

// Values of a rule's variables by slot. A slot without a value is not bound yet; one with null is bound to what is
// not there, by a `bind` or by `?v?`, and fits nothing.
using Bindings = std::vector<Value>;

// The slots of one rule's variables, by name.
class Slots {
 public:
  Slots() = default;
  explicit Slots(const std::vector<lang::VariableSymbol>& variables);

  size_t slot(const std::string& name);  // makes one if there is none
  size_t size() const { return size_; }

  // Variables that stand in a `no` query alone are its own. Between begin and end, new names get slots that are
  // forgotten afterwards.
  void begin_own();
  void end_own();

 private:
  std::map<std::string, size_t> by_name_;
  std::vector<std::string> own_;
  bool in_own_ = false;
  size_t size_ = 0;
};

// What expressions need from the outside.
struct Moment {
  int64_t now_ms = 0;
  std::function<std::string()> new_id;  // for uuid()
};

class Expression {
 public:
  Expression() = default;
  Expression(const lang::Expr& source, Slots& slots);

  Value evaluate(const Bindings& bindings, const Moment& moment) const;
  bool holds(const Bindings& bindings, const Moment& moment) const;
  // Adds the slots that it reads.
  void gather(std::vector<size_t>& slots) const;

 private:
  enum class Call { none, uuid, now, concat, cond, name_of };

  Value call(const Bindings& bindings, const Moment& moment) const;
  bool compare(const Bindings& bindings, const Moment& moment) const;
  bool is_in(const Bindings& bindings, const Moment& moment) const;

  lang::Expr::Op op_ = lang::Expr::Op::literal;
  Call call_ = Call::none;
  json::value value_;
  size_t slot_ = 0;
  std::string name_;
  std::vector<std::string> keys_, parts_;
  std::vector<Expression> args_;
};

// What a field must be.
class Matcher {
 public:
  Matcher() = default;
  Matcher(const lang::Expr& source, Slots& slots);
  static Matcher variable(size_t slot);

  // Whether the value (null: not there) fits. Binds what is unbound yet; slots that it bound are noted in `bound`,
  // also when it does not fit in the end.
  bool fits(const json::value* value, Bindings& bindings, std::vector<size_t>& bound) const;
  void gather(std::vector<size_t>& slots) const;
  bool is_literal() const { return kind_ == Kind::literal; }
  bool is(const json::value* value) const;  // its literal
  // The value that it asks for, if that is one and known under these bindings.
  const json::value* wanted(const Bindings& bindings) const;

 private:
  enum class Kind { wildcard, literal, variable, record };

  Kind kind_ = Kind::wildcard;
  json::value literal_;
  size_t slot_ = 0;
  bool maybe_ = false;  // a variable that also takes what is not there
  std::vector<std::pair<std::string, Matcher>> fields_;
};

// `field: matcher`, the field a path with dots.
struct FieldMatcher {
  std::string field;
  Matcher matcher;
};

std::vector<FieldMatcher> compile_fields(const std::vector<lang::FieldPattern>& source, Slots& slots);
bool fit_all(const std::vector<FieldMatcher>& fields, const json::object& object, Bindings& bindings,
             std::vector<size_t>& bound);
void unbind(Bindings& bindings, std::vector<size_t>& bound, size_t down_to);

struct CompiledArgument {
  std::string name;
  Expression value;
};

std::vector<CompiledArgument> compile_arguments(const std::vector<lang::Argument>& source, Slots& slots);
// Arguments whose value is not there are left out.
json::object evaluate(const std::vector<CompiledArgument>& arguments, const Bindings& bindings, const Moment& moment);

// The name of a relation in the store, as in lang/check/relations.h: "Concept", "Concept[Domain]", "Concept[]" or
// "Concept.field".
std::string relation_name(const lang::Symbols& symbols, size_t concept_, size_t relation);

// Ids for uuid(): ULIDs of the step's time and a hash of (seed, counter), the same again when the step is replayed.
std::function<std::string()> id_source(int64_t now_ms, std::string seed);

}  // namespace sluice::engine
