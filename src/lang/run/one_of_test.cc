// A OneOf holds one value of one of its types, copies it deeply, and fits into one of more types.
#include "lang/run/one_of.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace sluice::lang {
namespace one_of_test {

struct Ok {
  std::string text;
};
struct Bad {
  int code = 0;
};
struct Later;  // known by name alone, as the work of an effect is where its action is declared

using Answer = OneOf<Ok, Bad>;
using Begun = OneOf<Later, Bad, Ok>;

struct Later {
  std::shared_ptr<int> counted;
};

TEST(OneOf, KnowsWhichOfItsTypesItHolds) {
  Answer answer = Ok{"fine"};
  EXPECT_EQ(answer.index(), 0U);
  ASSERT_NE(get_if<Ok>(&answer), nullptr);
  EXPECT_EQ(get_if<Ok>(&answer)->text, "fine");
  EXPECT_EQ(get_if<Bad>(&answer), nullptr);
  answer = Bad{7};
  const Answer& seen = answer;
  ASSERT_NE(get_if<Bad>(&seen), nullptr);
  EXPECT_EQ(get_if<Bad>(&seen)->code, 7);
  EXPECT_EQ(get<Bad>(seen).code, 7);
  EXPECT_THROW(get<Ok>(seen), std::logic_error);
}

TEST(OneOf, ACopyIsItsOwn) {
  Answer first = Ok{"one"};
  Answer second = first;
  get_if<Ok>(&second)->text = "two";
  EXPECT_EQ(get_if<Ok>(&first)->text, "one");
  first = second;
  EXPECT_EQ(get_if<Ok>(&first)->text, "two");
}

TEST(OneOf, OfFewerTypesBecomesOneOfMore) {
  Answer answer = Ok{"fine"};
  Begun begun = answer;
  EXPECT_EQ(begun.index(), 2U);
  ASSERT_NE(get_if<Ok>(&begun), nullptr);
  EXPECT_EQ(get_if<Ok>(&begun)->text, "fine");
  EXPECT_EQ(get_if<Ok>(&answer)->text, "fine");
  static_assert(!std::is_convertible_v<Begun, Answer>);
  static_assert(!std::is_convertible_v<std::string, Answer>);
}

TEST(OneOf, EndsWhatItHolds) {
  auto counted = std::make_shared<int>(1);
  {
    Begun begun = Later{counted};
    Begun copy = begun;
    Begun moved = std::move(begun);
    EXPECT_EQ(counted.use_count(), 3);
    copy = Bad{};
    EXPECT_EQ(counted.use_count(), 2);
  }
  EXPECT_EQ(counted.use_count(), 1);
}

}  // namespace one_of_test
}  // namespace sluice::lang
