// CEL expressions: checked once, evaluated as often as one likes.
//
//   Environment environment;
//   environment.declare("parameters", schema_type);
//   auto program = compile("parameters.replicas + 1", environment);      // faults with line and column
//   Arena arena;
//   Value result = program->run({from_json(parameters, arena)}, arena);  // result.failed() → result.fault->text
//
// An expression can neither change anything nor run for ever: steps, memory and depth are bounded. A program may be run
// by many threads at once, each with an arena of its own; the environment must outlive it.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "render/cel/library.h"
#include "render/cel/syntax.h"
#include "render/cel/type.h"

namespace sluice::cel {

class Environment {
 public:
  explicit Environment(const TimeZones* zones = nullptr) : zones_(zones) {}

  // Variables have the order in which they are declared. A name may have dots: "trait.name".
  void declare(std::string name, const Type* type);
  void declare_function(std::string_view signature, Native native) { own_.add(signature, native); }
  // "a.b": a name that is not found is looked for as "a.b.name" and "a.name" first.
  void set_container(std::string container) { container_ = std::move(container); }

  TypePool& types() { return types_; }
  const std::string& container() const { return container_; }
  const TimeZones* zones() const { return zones_; }
  const Function* function(std::string_view name) const;
  int32_t variable(std::string_view name) const;  // -1 if there is none
  const Type* type_of(int32_t variable) const { return variables_[static_cast<size_t>(variable)].type; }
  size_t variables() const { return variables_.size(); }
  const std::string& name_of(int32_t variable) const { return variables_[static_cast<size_t>(variable)].name; }

 private:
  struct Variable {
    std::string name;
    const Type* type;
  };

  std::vector<Variable> variables_;
  Library own_;
  TypePool types_;
  std::string container_;
  const TimeZones* zones_;
};

struct Budget {
  uint64_t steps = 1'000'000;
};

enum class Checking {
  strict,   // types must fit
  lenient,  // what does not fit fails when it is evaluated, if it is
};

class Program {
 public:
  const Type& type() const { return *type_; }
  const std::string& text() const { return expression_->text; }

  // `variables` are in the order of their declaration; a missing one, at the end, is a fault where it is used. The
  // result lies in the arena, in the program or in what the variables point at.
  Value run(std::span<const Value> variables, Arena& arena, Budget budget = {}) const;

 private:
  friend Result<Program> compile(std::string_view, Environment&, Checking);

  std::unique_ptr<Expression> expression_;
  const Environment* environment_ = nullptr;
  std::unique_ptr<TypePool> types_;
  const Type* type_ = nullptr;
  size_t slots_ = 0;
};

Result<Program> compile(std::string_view text, Environment& environment, Checking checking = Checking::strict);

}  // namespace sluice::cel
