// Which row a call is about.
#include "engine/named_row.h"

#include <gtest/gtest.h>

#include "engine/testing_machine.h"

namespace sluice::engine {
namespace named_row_test {

const std::string kShelf = R"(concept Shelf [S, B] {
  state {
    shelves: set S
    books: set B
    title: B -> String
  }
  actions {
    action place(name: String, shelf: S, book: B) {
      -> ok(shelf: S)
    }
    action read(book: option B) {
      -> ok
    }
    action count() {
      -> ok
    }
    action move(books: list { book: B, to: option S }) {
      -> ok
    }
  }
}
)";

struct NamedRows : World {
  NamedRows() : World({kShelf}, "") {}
  std::string row(const std::string& action, const std::string& input) {
    const lang::Symbols& symbols = machine().kit().symbols();
    auto found = named_row(symbols, *symbols.find_action(action), object(input));
    return found ? found->relation + "/" + found->key : "none";
  }
};

TEST(NamedRow, ItIsTheFirstArgumentOfAnOwnTypeThatIsGiven) {
  NamedRows world;
  EXPECT_EQ(world.row("Shelf/place", R"({"name":"a","shelf":"s1","book":"b1"})"), "Shelf/s1");
  EXPECT_EQ(world.row("Shelf/place", R"({"name":"a","book":"b1"})"), "Shelf[B]/b1");
  EXPECT_EQ(world.row("Shelf/read", R"({"book":"b2"})"), "Shelf[B]/b2");
  EXPECT_EQ(world.row("Shelf/read", "{}"), "none");
  EXPECT_EQ(world.row("Shelf/count", "{}"), "none");
}

TEST(NamedRow, AKeyThatNoRowCanHaveIsRefusedWhereverItStands) {
  NamedRows world;
  const lang::Symbols& symbols = world.machine().kit().symbols();
  auto said = [&](const std::string& action, const std::string& input) {
    auto sound = check_keys(symbols, *symbols.find_action(action), object(input));
    return sound ? "sound" : sound.error().message + " at " + sound.error().path;
  };
  EXPECT_EQ(said("Shelf/place", R"({"name":"","shelf":"s1","book":"b1"})"), "sound");
  EXPECT_EQ(said("Shelf/place", R"({"name":"a","shelf":"","book":"b1"})"), "Shelf/place: shelf is empty at /shelf");
  EXPECT_EQ(said("Shelf/read", R"({"book":"b\u0000"})"), "Shelf/read: book has a NUL in it at /book");
  EXPECT_EQ(said("Shelf/read", "{}"), "sound");
  EXPECT_EQ(said("Shelf/read", R"({"book":null})"), "sound");
  EXPECT_EQ(said("Shelf/move", R"({"books":[{"book":"b1"},{"book":"b2","to":""}]})"),
            "Shelf/move: books/1/to is empty at /books/1/to");
}

}  // namespace named_row_test
}  // namespace sluice::engine
