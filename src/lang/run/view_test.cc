// A view of a small state: what is asked, answered and refused.
#include "lang/run/view.h"

#include <gtest/gtest.h>

#include "base/json.h"
#include "lang/run/memory_rows.h"

namespace sluice::lang {
namespace view_test {

struct Query {
  std::string shelf;
  int64_t limit = 10;
  bool empty = false;
  std::vector<std::string> items;
  static constexpr std::string_view kDefaulted[] = {"limit", "empty", "items"};
};
BOOST_DESCRIBE_STRUCT(Query, (), (shelf, limit, empty, items))

struct Answer {
  std::string text;
  OrNull<std::string> note;
};
BOOST_DESCRIBE_STRUCT(Answer, (), (text, note))

Result<std::vector<Answer>> read_shelf(const Reading& reading, const Query& query) {
  if (query.shelf == "gone") return Error{.code = Code::not_found, .message = "there is no shelf gone"};
  return std::vector{Answer{.text = query.shelf + " at " + std::to_string(reading.position) + ", " +
                                    std::to_string(query.limit) + (query.empty ? ", empty" : "") + ", " +
                                    std::to_string(query.items.size())}};
}

class NoRows final : public Snapshot {
 public:
  const Rows& rows_of(std::string_view) const override { return rows_; }

 private:
  MemoryRows rows_;
};

struct Views : testing::Test {
  NoRows rows;
  Tools tools;
  Reading reading{.rows = rows, .tools = tools, .position = 7};
  View view = make_view("shelf", "What is on a shelf", read_shelf);
};

TEST_F(Views, AnswersWhatIsAskedByItsType) {
  auto query = query_of_texts(view, {{"shelf", "a"}, {"limit", "3"}, {"empty", ""}, {"items", "x,y"}});
  ASSERT_TRUE(query) << to_string(query.error());
  EXPECT_EQ(write(*query), R"({"shelf":"a","limit":3,"empty":true,"items":["x","y"]})");
  EXPECT_EQ(write(view.read(reading, *query).value()), R"([{"text":"a at 7, 3, empty, 2","note":null}])");
  EXPECT_EQ(query_of_texts(view, texts_of_query(*query)).value(), *query);
}

TEST_F(Views, RefusesWhatItDoesNotKnow) {
  EXPECT_EQ(view.read(reading, {{"shelf", "a"}, {"limits", "3"}}).error().message,
            "unknown field, did you mean \"limit\"?");
  EXPECT_EQ(view.read(reading, {}).error().message, "missing field, expected a string");
  EXPECT_EQ(view.read(reading, {{"shelf", "gone"}}).error().code, Code::not_found);
  EXPECT_EQ(query_of_texts(view, {{"limit", "3x"}}).error().message, "limit is a whole number, not '3x'");
  EXPECT_EQ(query_of_texts(view, {{"empty", "no"}}).error().message, "empty is true or false, not 'no'");
}

TEST_F(Views, ItsSchemasComeFromItsTypes) {
  EXPECT_EQ(view.query_schema().at("properties").at("limit").at("default"), 10);
  EXPECT_EQ(write(view.query_schema().at("required")), R"(["shelf"])");
  const json::value schema = view.schema();
  EXPECT_EQ(schema.at("title"), "What is on a shelf");
  EXPECT_EQ(schema.at("type"), "array");
  const json::object& definitions = schema.at("$defs").as_object();
  ASSERT_EQ(definitions.size(), 1U);
  EXPECT_EQ(write(definitions.begin()->value().at("properties").at("note")),
            R"({"anyOf":[{"type":"string"},{"type":"null"}]})");
}

}  // namespace view_test
}  // namespace sluice::lang
