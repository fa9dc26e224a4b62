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

}  // namespace named_row_test
}  // namespace sluice::engine
