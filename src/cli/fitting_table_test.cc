// A table on wide and narrow terminals.
#include "cli/fitting_table.h"

#include <gtest/gtest.h>

namespace sluice::cli {
namespace fitting_table_test {

Table flows() {
  Table table{.columns = {{"FLOW"}, {"AT"}, {"NAME"}, {"FAILURE"}}};
  table.rows.push_back({{"01J00000"}, {"2026-03-01T09:30:00.125Z"}, {"shop@2"}, {""}});
  return table;
}

TEST(FittingTable, StaysAsItIsWhereThereIsRoom) {
  EXPECT_EQ(render_fitting(flows(), {.width = 20}), render(flows(), {})) << "no terminal";
  EXPECT_EQ(render_fitting(flows(), {.tty = true, .width = 60}, {"FLOW"}), render(flows(), {}));
}

TEST(FittingTable, ShortensTimesThenDropsColumns) {
  EXPECT_EQ(render_fitting(flows(), {.tty = true, .width = 43}, {"FLOW"}),
            "FLOW      AT              NAME    FAILURE\n"
            "01J00000  03-01 09:30:00  shop@2\n");
  EXPECT_EQ(render_fitting(flows(), {.tty = true, .width = 34}, {"FLOW"}),
            "FLOW      AT              NAME\n"
            "01J00000  03-01 09:30:00  shop@2\n")
      << "nothing has failed";
  EXPECT_EQ(render_fitting(flows(), {.tty = true, .width = 24}, {"FLOW"}),
            "AT              NAME\n"
            "03-01 09:30:00  shop@2\n");
}

}  // namespace fitting_table_test
}  // namespace sluice::cli
