// Queries over committed state, without an engine.
#include "engine/rules/snapshot_query.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "store/memory_store.h"

namespace sluice::engine {
namespace snapshot_query_test {

struct SnapshotQuery : testing::Test {
  SnapshotQuery() {
    lang::ActionBinding look{.name = "look", .runs = lang::Runs::query};
    look.query = [](const json::object& input, const lang::Rows& rows) -> Result<lang::Completion> {
      if (input.contains("fail")) throw std::runtime_error("no more");
      return lang::Completion{.variant = "ok",
                              .fields = {{"at", rows.now().ms}, {"rows", rows.scan("R", "", "", 9).size()}}};
    };
    binding.name = "Work";
    binding.actions = {look, {.name = "make"}};
  }
  Result<lang::Completion> ask(const json::object& input) {
    auto snapshot = store.read();
    return run_query(
        *find_query({&binding}, "Work/look"), "Work/look", input,
        {.snapshot = *std::move(snapshot), .indexed = std::make_shared<const IndexedFields>(), .now_ms = 17});
  }

  lang::ConceptBinding binding;
  store::MemoryStore store;
};

TEST_F(SnapshotQuery, IsFoundByItsName) {
  EXPECT_NE(find_query({&binding}, "Work/look"), nullptr);
  for (const char* none : {"Work/make", "Work/lok", "Wrk/look", "look", ""}) {
    EXPECT_EQ(find_query({&binding}, none), nullptr) << none;
  }
  EXPECT_EQ(no_such_query("Work/lok").message, "there is no query Work/lok");
}

TEST_F(SnapshotQuery, ReadsOneMoment) {
  auto answer = ask({});
  ASSERT_TRUE(answer) << to_string(answer.error());
  EXPECT_EQ(answer->variant, "ok");
  EXPECT_EQ(answer->fields, (json::object{{"at", 17}, {"rows", uint64_t{0}}}));
}

TEST_F(SnapshotQuery, EndsWithWhatItsHandlerThrows) {
  auto answer = ask({{"fail", true}});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().message, "Work/look: no more");
}

}  // namespace snapshot_query_test
}  // namespace sluice::engine
