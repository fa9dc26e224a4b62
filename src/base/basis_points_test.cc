// Every share from 0 to 10,000 goes both ways; nothing is rounded.
#include "base/basis_points.h"

#include <gtest/gtest.h>

namespace sluice {
namespace basis_points_test {

TEST(BasisPoints, ReadsPercentAndBasisPoints) {
  EXPECT_EQ(*parse_basis_points("1%"), 100);
  EXPECT_EQ(*parse_basis_points("0.05%"), 5);
  EXPECT_EQ(*parse_basis_points("0.5%"), 50);
  EXPECT_EQ(*parse_basis_points("25bps"), 25);
  EXPECT_EQ(*parse_basis_points("100%"), 10'000);
  EXPECT_EQ(*parse_basis_points("100.00%"), 10'000);
  EXPECT_EQ(*parse_basis_points("10000bps"), 10'000);
  EXPECT_EQ(*parse_basis_points("0%"), 0);
}

TEST(BasisPoints, ReadsBackWhatItPrints) {
  for (int bps = 0; bps <= kAllBasisPoints; ++bps) {
    EXPECT_EQ(*parse_basis_points(print_basis_points(bps)), bps);
    EXPECT_EQ(*parse_basis_points(std::to_string(bps) + "bps"), bps);
  }
  EXPECT_EQ(print_basis_points(5), "0.05%");
  EXPECT_EQ(print_basis_points(1250), "12.5%");
  EXPECT_EQ(print_basis_points(10'000), "100%");
}

TEST(BasisPoints, SaysWhatIsWrong) {
  auto why = [](std::string_view text) {
    auto bad = parse_basis_points(text);
    if (bad) return std::string("accepted");
    EXPECT_EQ(bad.error().code, Code::invalid);
    EXPECT_EQ(bad.error().next, "write it like 5%, 0.05% or 25bps");
    return bad.error().message;
  };
  EXPECT_EQ(why(""), "'' is not a share: expected a number followed by % or bps");
  EXPECT_EQ(why("5"), "'5' is not a share: expected a number followed by % or bps");
  EXPECT_EQ(why("%"), "'%' is not a share: expected a decimal number before the unit");
  EXPECT_EQ(why("-1%"), "'-1%' is not a share: expected a decimal number before the unit");
  EXPECT_EQ(why("1e2%"), "'1e2%' is not a share: expected a decimal number before the unit");
  EXPECT_EQ(why("1.%"), "'1.%' is not a share: expected a decimal number before the unit");
  EXPECT_EQ(why(".5%"), "'.5%' is not a share: expected a decimal number before the unit");
  EXPECT_EQ(why("1.2.3%"), "'1.2.3%' is not a share: expected a decimal number before the unit");
  EXPECT_EQ(why("05%"), "'05%' is not a share: the number begins with a needless 0");
  EXPECT_EQ(why("0.005%"), "'0.005%' is not a share: it is finer than a basis point (0.01%)");
  EXPECT_EQ(why("2.5bps"), "'2.5bps' is not a share: basis points are whole numbers");
  EXPECT_EQ(why("100.01%"), "'100.01%' is not a share: it is more than 100%");
  EXPECT_EQ(why("10001bps"), "'10001bps' is not a share: it is more than 10000bps");
  EXPECT_EQ(why("99999999999999999999%"), "'99999999999999999999%' is not a share: it is more than 100%");
}

}  // namespace basis_points_test
}  // namespace sluice
