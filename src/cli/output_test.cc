// Data, narration and errors in each format, to the byte.
#include "cli/output.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <sstream>

namespace sluice::cli {
namespace output_test {

struct Printed {
  std::string out;
  std::string err;
};

template <typename Use>
Printed printed(const Output::Settings& settings, Use use) {
  std::ostringstream out;
  std::ostringstream err;
  Output output(settings, out, err);
  use(output);
  return {out.str(), err.str()};
}

const json::value kValue = {{"name", "prod-eu"}, {"replicas", 3}};

Printed data(Format format) {
  return printed({.format = format}, [](Output& output) {
    output.print(kValue, [](const Terminal&) { return std::string("prod-eu  3\n"); });
  });
}

TEST(Output, PrintsDataInTheFormatThatWasAskedFor) {
  EXPECT_EQ(data(Format::table).out, "prod-eu  3\n");
  EXPECT_EQ(data(Format::json).out, "{\n  \"name\": \"prod-eu\",\n  \"replicas\": 3\n}\n");
  EXPECT_EQ(data(Format::yaml).out, "name: prod-eu\nreplicas: 3\n");
  EXPECT_EQ(data(Format::json).err, "");
}

TEST(Output, NarratesOnStderrAsMuchAsIsWanted) {
  auto narrate = [](Output& output) {
    output.note("note");
    output.detail("detail");
    output.warn("warning\x1b[2J");
  };
  EXPECT_EQ(printed({}, narrate).err, "note\nwarning: warning\\x1b[2J\n");
  EXPECT_EQ(printed({.verbose = true}, narrate).err, "note\ndetail\nwarning: warning\\x1b[2J\n");
  EXPECT_EQ(printed({.quiet = true}, narrate).err, "warning: warning\\x1b[2J\n");
  EXPECT_EQ(printed({}, narrate).out, "");
}

const Error kError{.code = Code::not_found,
                   .message = "there is no gate 'south'",
                   .next = "sluice gate list",
                   .path = "/gates/0",
                   .position = Position{"gates.yaml", 3, 7}};

TEST(Output, ReportsForPeopleOnStderrAndAsDataOnStdout) {
  auto report = [](Output& output) {
    output.report(kValue, [](const Terminal& terminal) { return terminal.paint(Style::bad, "x") + "\n"; });
    output.note("done", Style::good);
  };
  Printed table = printed({.quiet = true, .out = {.tty = true, .color = true}}, report);
  EXPECT_EQ(table.out, "");
  EXPECT_EQ(table.err, "x\n");
  EXPECT_EQ(printed({.err = {.tty = true, .color = true}}, report).err, "\x1b[1;31mx\x1b[0m\n\x1b[32mdone\x1b[0m\n");
  Printed yaml = printed({.format = Format::yaml}, report);
  EXPECT_EQ(yaml.out, "name: prod-eu\nreplicas: 3\n");
  EXPECT_EQ(yaml.err, "done\n");
}

TEST(Output, PrintsAnErrorAndTheNextStep) {
  auto print = [](Output& output) { output.error(kError); };
  EXPECT_EQ(printed({}, print).err,
            "error: gates.yaml:3:7: /gates/0: there is no gate 'south'\nnext:  sluice gate list\n");
  EXPECT_EQ(printed({.err = {.tty = true, .color = true}}, print).err,
            "\x1b[1;31merror:\x1b[0m gates.yaml:3:7: /gates/0: there is no gate 'south'\n"
            "\x1b[36mnext:\x1b[0m  sluice gate list\n");
  EXPECT_EQ(printed({}, [](Output& output) { output.error({.message = "no"}); }).err, "error: no\n");
}

TEST(Output, PrintsAProblemAsOneLineOfJson) {
  EXPECT_EQ(printed({.format = Format::json}, [](Output& output) { output.error(kError); }).err,
            R"({"type":"urn:sluice:problem:not_found","title":"there is no such object","status":404,)"
            R"("detail":"there is no gate 'south'","code":"not_found","next":"sluice gate list","path":"/gates/0",)"
            R"("position":{"file":"gates.yaml","line":3,"column":7}})"
            "\n");
  EXPECT_EQ(printed({.format = Format::json}, [](Output& output) { output.error({.message = "a\xff"}); }).err,
            R"({"type":"urn:sluice:problem:failed","title":"it was tried and did not work","status":500,)"
            R"("detail":"a\\xff","code":"failed"})"
            "\n");
}

TEST(Output, KnowsWhetherStdoutTookItAll) {
  std::ostringstream out;
  std::ostringstream err;
  Output output({}, out, err);
  output.print_text("x");
  EXPECT_TRUE(output.flush());
  out.setstate(std::ios::badbit);
  EXPECT_FALSE(output.flush());
}

}  // namespace output_test
}  // namespace sluice::cli
