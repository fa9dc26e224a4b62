// A sealed bundle opens with its passphrase alone.
#include "mesh/enrolment.h"

#include <gtest/gtest.h>

#include "base/json.h"
#include "mesh/testing_artifacts.h"

namespace sluice::mesh {
namespace enrolment_test {

TEST(Enrolment, OpensWithItsPassphraseAlone) {
  SeededRandom random(1);
  Enrolment enrolled{.node = "alpha", .trust = example_trust(), .identity = {{"ca.crt", "ca"}}};
  enrolled.artifacts.push_back(parse_json_value(signed_text(example_agent())).value());
  auto bundle = seal_enrolment(enrolled, "correct horse battery", random);
  ASSERT_TRUE(bundle);
  EXPECT_EQ(bundle->find("alpha"), std::string::npos);
  auto opened = open_enrolment(*bundle, "correct horse battery");
  ASSERT_TRUE(opened) << opened.error().message;
  EXPECT_EQ(opened->trust, example_trust());
  EXPECT_EQ(parse_all(opened->artifacts)->front().identity(), "alpha/mgmt/agent/agent");
  EXPECT_EQ(open_enrolment(*bundle, "wrong horse battery").error().code, Code::verification_failed);
  EXPECT_EQ(seal_enrolment(enrolled, "short", random).error().code, Code::invalid);
  EXPECT_FALSE(open_enrolment("{}", "correct horse battery"));
  EXPECT_FALSE(parse_all({json::value("x")}));
}

}  // namespace enrolment_test
}  // namespace sluice::mesh
