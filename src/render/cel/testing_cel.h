// Expressions in tests: what they give as JSON, or why they fail.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "render/cel/program.h"

namespace sluice::cel {

class CelTest : public testing::Test {
 protected:
  explicit CelTest(const TimeZones* zones = nullptr) : environment_(zones) {}

  Value run(std::string_view text, Budget budget = {});
  // The result as JSON; else what is at fault, from compiling or evaluating.
  std::string json_of(std::string_view text);
  std::string fault_of(std::string_view text, Budget budget = {});  // of the evaluation; "no fault"
  std::string refusal_of(std::string_view text);                    // of compiling, with its place; "" if there is none
  std::string type_of(std::string_view text);
  void declare(std::string name, const Type* type, const char* value);
  TypePool& types() { return environment_.types(); }

  Environment environment_;
  Arena arena_;
  std::vector<Value> values_;
  std::vector<std::unique_ptr<Program>> programs_;
};

}  // namespace sluice::cel
