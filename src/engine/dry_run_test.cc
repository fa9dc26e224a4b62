// What would come of an action is told, and nothing is written.
#include "engine/dry_run.h"

#include <gtest/gtest.h>

#include "engine/testing_engine.h"
#include "store/memory_store.h"

namespace sluice::engine {
namespace dry_run_test {

const std::string kShelf = R"(concept Shelf [S] {
  state {
    shelves: set S
    books: S -> Int
  }
  actions {
    action burn(shelf: S) {
      -> ok(shelf: S)
      -> none(shelf: S) @code(not_found)
      -> inUse(shelf: S, message: String) @code(conflict)
    }
    action fill(shelf: S, books: Int) {
      -> ok(shelf: S)
      -> tooMany(shelf: S) @code(limit)
    }
    action dust(shelf: S) {
      callers: syncs
      -> ok(shelf: S)
    }
    action move(shelf: S) {
      runs: answered
      -> ok(shelf: S)
      -> none(shelf: S)
    }
  }
}
)";
const std::string kGuards = R"(guard FullShelfStays
  before { Shelf/burn: [ shelf: ?s ] }
  where { Shelf: { ?s books: ?n } }
  require { filter(?n = 0) }
  else inUse[ shelf: ?s; message: "{{s}} holds {{n}} books" ]
guard FewBooks
  over { Shelf: { ?s books: ?n } }
  require { filter(?n < 100) }
  else tooMany[ shelf: ?s ]
)";

struct DryRun : testing::Test {
  DryRun() {
    using lang::Completion;
    lang::ActionBinding burn{.name = "burn"}, fill{.name = "fill"}, move{.name = "move", .runs = lang::Runs::answered};
    burn.act = [](const json::object& ask, lang::Rows& rows) -> Result<Completion> {
      bool there = rows.erase("Shelf", std::string(ask.at("shelf").as_string()));
      return Completion{there ? "ok" : "none", ask};
    };
    fill.act = [](const json::object& ask, lang::Rows& rows) -> Result<Completion> {
      rows.put("Shelf", std::string(ask.at("shelf").as_string()), json::object{{"books", ask.at("books")}});
      return Completion{"ok", {{"shelf", ask.at("shelf")}}};
    };
    move.begin = [](const json::object& ask, lang::Rows& rows) -> Result<lang::BegunAction> {
      if (rows.get("Shelf", std::string(ask.at("shelf").as_string()))) return lang::BegunAction(lang::Started{});
      return lang::BegunAction(Completion{"none", ask});
    };
    binding.name = "Shelf";
    lang::ActionBinding dust{.name = "dust", .act = burn.act};
    binding.actions = {burn, fill, move, dust};
    auto put =
        store.commit({.state = {{"Shelf", "full", 1, 0, R"({"books":3})"}, {"Shelf", "bare", 1, 0, R"({"books":0})"}}});
    EXPECT_TRUE(put);
  }
  Result<DryEnd> would(const std::string& action, json::object input) {
    return dry_run({.store = store, .indexed = {}, .kit = kit, .concepts = {&binding}, .now_ms = 17}, action, input);
  }

  std::shared_ptr<const lang::CheckedKit> kit = checked({kShelf}, kGuards);
  lang::ConceptBinding binding;
  store::MemoryStore store;
};

TEST_F(DryRun, TellsWhatGuardsAndHandlersSay) {
  auto refused = would("Shelf/burn", {{"shelf", "full"}});
  ASSERT_TRUE(refused) << to_string(refused.error());
  EXPECT_EQ(refused->end.variant, "inUse");
  EXPECT_EQ(refused->end.fields.at("message"), json::value("full holds 3 books"));
  EXPECT_EQ(refused->code, Code::conflict);
  EXPECT_EQ(would("Shelf/burn", {{"shelf", "gone"}})->code, Code::not_found);
  EXPECT_EQ(would("Shelf/burn", {{"shelf", "bare"}})->end.variant, "ok");
  EXPECT_EQ(would("Shelf/fill", {{"shelf", "bare"}, {"books", 100}})->end.variant, "tooMany");
  EXPECT_EQ(would("Shelf/move", {{"shelf", "bare"}})->end.variant, "ok") << "it would open";
  EXPECT_EQ(would("Shelf/move", {{"shelf", "gone"}})->end.variant, "none");
}

TEST_F(DryRun, ChangesNothing) {
  ASSERT_TRUE(would("Shelf/burn", {{"shelf", "bare"}}));
  auto snapshot = store.read();
  ASSERT_TRUE(snapshot);
  EXPECT_TRUE((*snapshot)->get("Shelf", "bare")->has_value());
  EXPECT_EQ((*snapshot)->position(), 0U);
}

TEST_F(DryRun, WhatOnlySyncsCallIsDenied) {
  auto denied = would("Shelf/dust", {{"shelf", "bare"}});
  ASSERT_FALSE(denied);
  EXPECT_EQ(denied.error().code, Code::denied);
}

TEST_F(DryRun, SaysThatThereIsNoSuchAction) {
  for (const char* none : {"Shelf/paint", "Rack/burn", "burn", ""}) {
    auto end = would(none, {});
    ASSERT_FALSE(end);
    EXPECT_EQ(end.error().message, "there is no action " + std::string(none));
  }
}

}  // namespace dry_run_test
}  // namespace sluice::engine
