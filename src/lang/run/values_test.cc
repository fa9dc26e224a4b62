// Text forms of times and bytes, and what is refused.
#include "lang/run/values.h"

#include <gtest/gtest.h>

#include "base/json_reader.h"
#include "base/json_writer.h"

namespace sluice::lang {
namespace values_test {

TEST(DateTime, IsUtcTextWithMilliseconds) {
  EXPECT_EQ(to_text(DateTime{0}), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(to_text(DateTime{1'893'456'000'123}), "2030-01-01T00:00:00.123Z");
  EXPECT_EQ(to_text(DateTime{-1}), "1969-12-31T23:59:59.999Z");
  EXPECT_EQ(to_text(DateTime{INT64_MAX}), "9999-12-31T23:59:59.999Z");
  EXPECT_EQ(to_text(DateTime{INT64_MIN}), "0000-01-01T00:00:00.000Z");
}

TEST(DateTime, ReadsWhatItWrites) {
  for (int64_t ms : {int64_t{0}, int64_t{-1}, int64_t{951'782'400'000}, int64_t{253'402'300'799'999}}) {
    EXPECT_EQ(*parse_date_time(to_text(DateTime{ms})), DateTime{ms});
  }
  EXPECT_EQ(parse_date_time("2030-01-01T00:00:00Z")->ms, 1'893'456'000'000);
  EXPECT_EQ(parse_date_time("2030-01-01T00:00:00.5Z")->ms, 1'893'456'000'500);
}

TEST(DateTime, RefusesWhatIsNoMoment) {
  for (const char* text : {"", "2030-01-01", "2030-02-30T00:00:00Z", "2030-01-01T24:00:00Z", "2030-01-01T00:60:00Z",
                           "2030-01-01T00:00:00", "2030-01-01T00:00:00.Z", "2030-01-01T00:00:00.1234Z",
                           "2030-01-01T00:00:00Z ", "2030-01-01T00:00:00+01:00", "203-01-01T00:00:00Z"}) {
    EXPECT_FALSE(parse_date_time(text)) << text;
  }
  EXPECT_EQ(parse_date_time("soon").error().message,
            "expected a UTC time such as \"2030-01-31T12:00:00.000Z\", found \"soon\"");
}

TEST(Bytes, AreBase64WithPadding) {
  EXPECT_EQ(to_base64(""), "");
  EXPECT_EQ(to_base64("f"), "Zg==");
  EXPECT_EQ(to_base64("fo"), "Zm8=");
  EXPECT_EQ(to_base64("foo"), "Zm9v");
  for (const std::string& bytes : {std::string("\0\xff\x80", 3), std::string("a\0", 2), std::string("foobar")}) {
    EXPECT_EQ(parse_base64(to_base64(bytes))->bytes, bytes);
  }
}

TEST(Bytes, HaveOneTextAlone) {
  for (const char* text : {"Zg", "Zg=", "Zh==", "Zm9=", "====", "Z===", "Zg==Zg==", "Zm 9", "Zm9v\n", "Zm-_"}) {
    EXPECT_FALSE(parse_base64(text)) << text;
  }
}

TEST(Id, IsAStringInJsonAndKeepsItsOwnerApart) {
  using BoxId = Id<struct BoxOwner>;
  EXPECT_EQ(to_json(BoxId("b1")), json::value("b1"));
  EXPECT_EQ(read<BoxId>(json::value("b1"))->text(), "b1");
  EXPECT_LT(BoxId("a"), BoxId("b"));
  static_assert(!std::is_convertible_v<BoxId, Request>);
  static_assert(!std::is_convertible_v<std::string, BoxId>);
}

TEST(Sealed, IsItsHandleEverywhere) {
  EXPECT_EQ(to_json(Sealed::of_handle("h1")), json::value("h1"));
  EXPECT_EQ(read<Sealed>(json::value("h1"))->handle(), "h1");
}

}  // namespace values_test
}  // namespace sluice::lang
