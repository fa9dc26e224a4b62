// Rows there and back, whatever bytes they hold.
#include "host/row_json.h"

#include <gtest/gtest.h>

#include <array>
#include <boost/json.hpp>

#include "base/json.h"

namespace sluice::host {
namespace row_json_test {

const std::string kBytes("k\0\xff\xfe", 4);

Ulid id(uint8_t n) {
  std::array<uint8_t, Ulid::kRandomBytes> bytes;
  bytes.fill(n);
  return Ulid::from(1'900'000'000'000, bytes);
}

template <typename Row>
void expect_same_back(const Row& row) {
  auto text = parse_json(write(to_json(row)));
  ASSERT_TRUE(text) << to_string(text.error());
  Row back;
  auto read = from_json(text->root, back);
  ASSERT_TRUE(read) << to_string(read.error());
  EXPECT_EQ(back, row);
}

TEST(RowJson, ReadsBackWhatItWrites) {
  expect_same_back(std::string("plain"));
  expect_same_back(std::string("nul\0inside", 10));
  expect_same_back(kBytes);
  expect_same_back(store::JournalRow{7, id(1), 3, R"({"chain":"0"})", kBytes});
}

TEST(RowJson, PlainTextIsPlain) {
  EXPECT_EQ(to_json(std::string("plain")), json::value("plain"));
  EXPECT_EQ(to_json(kBytes), (json::value{{"base64", "awD//g=="}}));
}

TEST(RowJson, RefusesWhatIsNoRow) {
  store::JournalRow row;
  for (const char* text : {"null", "{}", "[]", "7", R"({"base64":7})", R"({"base64":"!"})"}) {
    json::value value = json::parse(text);
    std::string bytes;
    EXPECT_EQ(from_json(value, bytes).error().message, "the answer holds a row that is none") << text;
    EXPECT_FALSE(from_json(value, row)) << text;
  }
  json::value wrong = to_json(store::JournalRow{});
  wrong.as_object()["seq"] = "9";
  EXPECT_FALSE(from_json(wrong, row));
  wrong = to_json(store::JournalRow{});
  wrong.as_object()["flow"] = "short";
  EXPECT_FALSE(from_json(wrong, row));
}

}  // namespace row_json_test
}  // namespace sluice::host
