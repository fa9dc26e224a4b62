// The text of the .concept travels in the test, so that the test needs no file at run time.
#include "lang/codegen/generate_tests.h"

#include <algorithm>
#include <set>

#include "lang/codegen/cpp_names.h"

namespace sluice::lang {
namespace {

std::string kind_name(Invariant::Kind kind) {
  switch (kind) {
    case Invariant::Kind::example:
      return "Example";
    case Invariant::Kind::forall:
      return "Forall";
    case Invariant::Kind::always:
      return "Always";
    case Invariant::Kind::never:
      return "Never";
    case Invariant::Kind::eventually:
      return "Eventually";
    case Invariant::Kind::scenario:
      return "Scenario";
    case Invariant::Kind::contract:
      return "Contract";
  }
  return {};
}

// The text as adjacent literals, a line each: compilers bound the length of one.
std::string embedded(const std::string& text) {
  std::string result;
  size_t at = 0;
  while (at < text.size()) {
    size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    result += "    " + cpp_string(std::string_view(text).substr(at, end - at)) + "\n";
    at = end;
  }
  return result.empty() ? "    \"\"\n" : result;
}

}  // namespace

std::string test_name(const Invariant& invariant, size_t index) {
  std::string name = camel_case(invariant.kind == Invariant::Kind::contract ? invariant.action : invariant.name);
  return kind_name(invariant.kind) + (name.empty() ? std::to_string(index + 1) : name);
}

std::string generate_tests(const Concept& spec, const std::string& text, const TestOptions& options) {
  bool has_effects =
      std::ranges::any_of(spec.actions, [](const Action& action) { return action.runs == Runs::effect; });
  std::string suite = spec.name + "Conformance";
  std::string source = "// The fixtures and invariants of " + spec.name + " as tests.\n// Made by conceptc from " +
                       options.source + "; changes belong there.\n";
  source += "#include <gtest/gtest.h>\n\n#include <string_view>\n\n#include \"" + options.stem +
            ".gen.h\"\n#include \"lang/run/conformance.h\"\n\nnamespace " + options.ns + " {\n\n";
  if (has_effects)
    source += "// Gives the harness the tools of the effects; " + options.stem +
              "_test.cc defines it.\n"
              "void prepare(lang::Harness& harness);\n\n";
  source += "namespace {\n\nconstexpr std::string_view kSource =\n" + embedded(text);
  source.insert(source.size() - 1, ";");
  source += "\nconst lang::Conformance& conformance() {\n  static const lang::Conformance kConformance(" +
            options.stem + "_binding(), kSource, " + (has_effects ? "prepare" : "nullptr") +
            ");\n  return kConformance;\n}\n";
  // Two titles may be one name once they are in one word.
  std::set<std::string> names{"BindsEveryAction"};
  auto take = [&](std::string name) {
    while (!names.insert(name).second) name += "Again";
    return name;
  };
  for (const Action& action : spec.actions) {
    for (const Fixture& fixture : action.fixtures) {
      source += "\nTEST(" + suite + ", " +
                take("Fixture" + camel_case(fixture.name) + "Of" + camel_case(action.name) + "EndsIn" +
                     camel_case(fixture.variant)) +
                ") {\n  EXPECT_EQ(conformance().fixture(" + cpp_string(fixture.name) + "), \"\");\n}\n";
    }
  }
  for (size_t i = 0; i < spec.invariants.size(); i++) {
    source += "\nTEST(" + suite + ", " + take(test_name(spec.invariants[i], i)) +
              ") {\n  EXPECT_EQ(conformance().invariant(" + std::to_string(i) + "), \"\");\n}\n";
  }
  // A concept without either still checks that its binding and its text agree.
  source += "\nTEST(" + suite + ", BindsEveryAction) {\n";
  for (const Action& action : spec.actions) {
    source += "  EXPECT_NE(" + options.stem + "_binding().action(" + cpp_string(action.name) + "), nullptr);\n";
  }
  source += "  EXPECT_NO_THROW(conformance());\n}\n\n}  // namespace\n}  // namespace " + options.ns + "\n";
  return source;
}

std::string generate_variants(const Concept& spec) {
  std::string text;
  for (const Action& action : spec.actions) {
    for (const Variant& variant : action.variants) text += spec.name + "." + action.name + "." + variant.name + "\n";
  }
  return text;
}

}  // namespace sluice::lang
