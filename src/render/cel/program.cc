// Parse, check, and evaluate when asked.
#include "render/cel/program.h"

#include "render/cel/check.h"
#include "render/cel/evaluate.h"

namespace sluice::cel {

void Environment::declare(std::string name, const Type* type) { variables_.push_back({std::move(name), type}); }

const Function* Environment::function(std::string_view name) const {
  const auto* found = own_.find(name);
  return found ? found : standard_library().find(name);
}

int32_t Environment::variable(std::string_view name) const {
  for (size_t index = 0; index < variables_.size(); ++index) {
    if (variables_[index].name == name) return static_cast<int32_t>(index);
  }
  return -1;
}

Value Program::run(std::span<const Value> variables, Arena& arena, Budget budget) const {
  return evaluate(*expression_, *environment_, variables, slots_, arena, budget);
}

Result<Program> compile(std::string_view text, Environment& environment, Checking checking) {
  auto expression = parse(text);
  if (!expression) return expression.error();
  auto types = std::make_unique<TypePool>();
  auto checked = check(**expression, environment, *types, checking);
  if (!checked) return checked.error();
  Program program;
  program.expression_ = std::move(*expression);
  program.environment_ = &environment;
  program.types_ = std::move(types);
  program.type_ = checked->type;
  program.slots_ = checked->slots;
  return program;
}

}  // namespace sluice::cel
