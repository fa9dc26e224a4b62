// What a file of variables means, and where it is wrong.
#include "deploy/dotenv.h"

#include <gtest/gtest.h>

namespace sluice::deploy {
namespace dotenv_test {

std::string value(const std::string& text, const std::string& name = "A") {
  auto parsed = parse_dotenv(text);
  if (auto* fault = std::get_if<DotenvFault>(&parsed)) return std::to_string(fault->line) + ": " + fault->what;
  return std::get<0>(parsed)[name];
}

TEST(Dotenv, ValuesArePlainOrInQuotes) {
  EXPECT_EQ(value("A=1"), "1");
  EXPECT_EQ(value("# note\n\nexport A = two words # note\r\nB=2\n"), "two words");
  EXPECT_EQ(value("A=a#b"), "a#b");
  EXPECT_EQ(value("A='it \\n # $X'  # note"), "it \\n # $X");
  EXPECT_EQ(value("A=\"line\\nnext \\\" end\""), "line\nnext \" end");
  EXPECT_EQ(value("A=\"over\nlines\"\nB=2\n", "B"), "2");
  EXPECT_EQ(value("A="), "");
  EXPECT_EQ(value("A=1\nA=2"), "2");
}

TEST(Dotenv, FaultsNameTheLineAndNothingElse) {
  EXPECT_EQ(value("B=1\nhunter2\n"), "2: there is no = in it");
  EXPECT_EQ(value("1A=2"), "1: what stands before the = is no variable's name");
  EXPECT_EQ(value("\nA=\"open\nB=1"), "2: its quote is not closed");
  EXPECT_EQ(value("A='x' y"), "1: there is more behind its quote");
}

}  // namespace dotenv_test
}  // namespace sluice::deploy
