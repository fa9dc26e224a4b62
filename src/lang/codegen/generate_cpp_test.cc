// What stands in the generated C++, and what is refused; that it compiles and runs is shown by tests/lang.
#include "lang/codegen/generate_cpp.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lang/syntax/concept_parser.h"

namespace sluice::lang {
namespace generate_cpp_test {

using testing::HasSubstr;
using testing::Not;

Result<CppFiles> generate(const std::string& actions) {
  Diagnostics found;
  std::string text = "concept Box [B] {\n  purpose { Keep things. }\n  state { size: B -> Int }\n  actions {\n" +
                     actions + "\n  }\n}\n";
  auto spec = parse_concept(text, "box.concept", found);
  EXPECT_TRUE(spec) << render(found, text);
  return generate_cpp(spec.value_or(Concept{}), {.ns = "kit::box",
                                                 .stem = "box",
                                                 .source = "box.concept",
                                                 .work_header = "kit/box_work.h",
                                                 .handlers = {"state.find_by_size(1)"}});
}

TEST(GenerateCpp, MakesAStructAnActionWithItsVariants) {
  auto files =
      generate("action open(box: B) { description { Lift the lid. } -> ok(concept: String) { Open. } -> open }");
  ASSERT_TRUE(files);
  EXPECT_THAT(files->header,
              HasSubstr("// Box: Keep things.\n// Made by conceptc from box.concept; changes belong there.\n"));
  EXPECT_THAT(files->header, HasSubstr("\n// Lift the lid.\nstruct Open {\n  BoxId box;\n\n  // Open.\n  struct Ok {\n"
                                       "    std::string concept_;\n"));
  EXPECT_THAT(files->header,
              HasSubstr("  using Result = lang::OneOf<Ok, Open_>;\n  enum class Variant { ok, open };\n"));
  EXPECT_THAT(files->header, HasSubstr("  static Open::Result open(const Open& ask, State& state);\n"));
  EXPECT_THAT(files->header, Not(HasSubstr("Outcome")));
  EXPECT_THAT(files->source, HasSubstr("lang::bind::pure<Open, State>(&Box::open),\n"));
}

TEST(GenerateCpp, GivesHandlersTheShapeOfHowTheyRun) {
  auto files = generate(
      "action a() { runs: query -> ok }\n action b() { runs: effect retry: probe deadline: 5m -> ok }\n"
      "action c() { runs: effect retry: safe -> ok }\n action d() { runs: answered outside retry: probe -> ok }");
  ASSERT_TRUE(files);
  for (const char* line :
       {"static A::Result a(const A& ask, const State& state);", "static B::Begun begin_b(const B& ask, State& state);",
        "static B::Performed perform_b(const BWork& work, Effect& effect);",
        "static lang::Probed<B::Result> probe_b(const BWork& work, Effect& effect);",
        "static B::Outcome finish_b(const B& ask, const B::Outcome& outcome, State& state);",
        "static D::Begun begin_d(const D& ask, State& state);", "struct BWork;\nstruct CWork;\n"}) {
    EXPECT_THAT(files->header, HasSubstr(line));
  }
  EXPECT_THAT(files->header, Not(HasSubstr("probe_c")));
  EXPECT_THAT(files->header, Not(HasSubstr("perform_d")));
  EXPECT_THAT(files->header, Not(HasSubstr("probe_d")));
  EXPECT_THAT(files->source, HasSubstr("#include \"kit/box_work.h\"\n"));
  EXPECT_THAT(files->source, HasSubstr("lang::bind::query<A, State>(&Box::a),"));
  EXPECT_THAT(files->source,
              HasSubstr("lang::bind::probed_effect<B, BWork, State>(300, &Box::begin_b, &Box::perform_b, "
                        "&Box::finish_b, &Box::probe_b),"));
  EXPECT_THAT(files->source, HasSubstr("lang::bind::effect<C, CWork, State>(lang::Retry::safe, 60, "));
  EXPECT_THAT(files->source, HasSubstr("lang::bind::answered<D, State>(lang::Runs::answered_outside, 60, "));
}

TEST(GenerateCpp, IsTheSameEveryTime) {
  auto once = generate("action open(box: B) { -> ok }");
  auto twice = generate("action open(box: B) { -> ok }");
  EXPECT_EQ(once->header, twice->header);
  EXPECT_EQ(once->source, twice->source);
}

TEST(GenerateCpp, GivesClashingTypesAnotherName) {
  auto files = generate(
      "action boxRecord() { -> ok }\n action boxId(box: B) { -> boxId(box: B) -> ok }\n"
      "action ship() { runs: effect -> shipWork -> engine }\n action shipWork() { -> NULL }");
  ASSERT_TRUE(files);
  for (const char* line : {"struct BoxRecordAction {", "struct BoxIdAction {", "  struct BoxId_ {",
                           "  struct ShipWork_ {", "  enum class Ended { shipWork, engine_, engine };",
                           "struct ShipWorkAction {", "  enum class Variant { NULL_ };", "  struct NULLType {"}) {
    EXPECT_THAT(files->header, HasSubstr(line));
  }
  EXPECT_THAT(files->header,
              HasSubstr("static ShipWorkAction::Result ship_work(const ShipWorkAction& ask, State& state);"));
}

TEST(GenerateCpp, RefusesNamespacesAndStemsThatCppCannotHave) {
  EXPECT_TRUE(check_options({.ns = "sluice::deploy", .stem = "rollout"}));
  EXPECT_EQ(check_options({.ns = "sluice::class", .stem = "rollout"}).error().message,
            "--namespace: \"sluice::class\" is no namespace that C++ can have");
  Error stem = check_options({.ns = "sluice", .stem = "2nd"}).error();
  EXPECT_EQ(stem.message, "--stem: \"2nd\" is no name that C++ can have");
  EXPECT_EQ(stem.next, "write letters, digits and underscores, a letter first: n2nd");
}

}  // namespace generate_cpp_test
}  // namespace sluice::lang
