// Tables are compared whole, as a reader sees them.
#include "base/table.h"

#include <gtest/gtest.h>

namespace sluice {
namespace table_test {

Table sample() {
  return {.columns = {{"NAME"}, {"REPLICAS", Align::right}, {"NOTE"}},
          .rows = {{{"prod-eu"}, {"12"}, {"stable"}}, {{"日本"}, {"3"}, {""}}, {{"dev"}}},
          .empty = "No environments yet."};
}

TEST(Table, AlignsColumnsWithoutTrailingBlanks) {
  EXPECT_EQ(render(sample(), {}),
            "NAME     REPLICAS  NOTE\n"
            "prod-eu        12  stable\n"
            "日本            3\n"
            "dev\n");
}

TEST(Table, WithoutRowsIsASentence) {
  Table table = sample();
  table.rows.clear();
  EXPECT_EQ(render(table, {}), "No environments yet.\n");
}

TEST(Table, CutsTheWidestColumnOnANarrowTerminal) {
  Table table{.columns = {{"ID", Align::left, true}, {"MESSAGE"}, {"AGE", Align::right}},
              .rows = {{{"sha256:0123456789"}, {"a message that does not fit"}, {"5m"}}}};
  EXPECT_EQ(render(table, {.tty = true, .width = 40}),
            "ID                 MESSAGE           AGE\n"
            "sha256:0123456789  a message that…    5m\n");
  EXPECT_EQ(render(table, {.tty = false, .width = 40}),
            "ID                 MESSAGE                      AGE\n"
            "sha256:0123456789  a message that does not fit   5m\n");
  // Too narrow for anything: columns keep what tells them apart.
  EXPECT_EQ(render(table, {.tty = true, .width = 5}),
            "ID                 MESSAGE  AGE\n"
            "sha256:0123456789  a mess…   5m\n");
}

TEST(Table, PaintsTitlesAndCells) {
  Table table{.columns = {{"A"}, {"B"}}, .rows = {{{"x", Style::good}, {"y"}}}};
  EXPECT_EQ(render(table, {.color = true}),
            "\x1b[1mA\x1b[0m  \x1b[1mB\x1b[0m\n"
            "\x1b[32mx\x1b[0m  y\n");
}

TEST(Table, EscapesWhatWouldBreakALine) {
  Table table{.columns = {{"A"}}, .rows = {{{"one\ntwo\x1b[2J"}}}};
  EXPECT_EQ(render(table, {}), "A\none\\ntwo\\x1b[2J\n");
}

TEST(Table, WithoutTitlesHasNoHeader) {
  EXPECT_EQ(render({.columns = {{""}, {""}}, .rows = {{{"a"}, {"b"}}}}, {}), "a  b\n");
}

}  // namespace table_test
}  // namespace sluice
