// Compiles, runs, and keeps what results point at.
#include "render/cel/testing_cel.h"

namespace sluice::cel {

Value CelTest::run(std::string_view text, Budget budget) {
  auto program = compile(text, environment_);
  if (!program) return arena_.fault(to_string(program.error()));
  programs_.push_back(std::make_unique<Program>(std::move(*program)));
  return programs_.back()->run(values_, arena_, budget);
}

std::string CelTest::json_of(std::string_view text) {
  auto made = to_json(run(text));
  return made ? json::serialize(*made) : made.error().message;
}

std::string CelTest::fault_of(std::string_view text, Budget budget) {
  const Value value = run(text, budget);
  return value.failed() ? std::string(value.fault->text) : "no fault";
}

std::string CelTest::refusal_of(std::string_view text) {
  auto program = compile(text, environment_);
  return program ? "" : to_string(program.error());
}

std::string CelTest::type_of(std::string_view text) {
  auto program = compile(text, environment_);
  return program ? to_string(program->type()) : to_string(program.error());
}

void CelTest::declare(std::string name, const Type* type, const char* value) {
  environment_.declare(std::move(name), type);
  values_.push_back(from_json(json::parse(value), arena_));
}

}  // namespace sluice::cel
