// The tree of a home in which something is deployed and nothing runs; with routers and replicas it is tested end to
// end.
#include "cli/nouns/status_tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "cli/testing_objects.h"
#include "engine/journal/journal_search.h"
#include "store/sqlite_store.h"

namespace sluice::cli {
namespace status_tree_test {

using testing::HasSubstr;
using testing::MatchesRegex;

TEST(StatusTree, ShowsEnvironmentsDeploymentsAndRevisions) {
  ObjectsHome home;
  home.data({"bundles", "add", "local", home.archive()});
  Ran shown = home.run({"status"});
  EXPECT_EQ(shown.exit, 5);
  EXPECT_THAT(shown.out, MatchesRegex("not running\nlocal, no router\n"
                                      "└─ shop for local-dev \\([0-9A-Z]+\\)\n"
                                      "   └─ shop@1 staged, asked 0%, no router serves it yet\n"));
  json::value data = json::parse(home.run({"status", "-o", "json"}).out);
  json::value revision = data.at("environments").as_array()[0].at("deployments").as_array()[0].at("revisions");
  EXPECT_EQ(revision.as_array()[0].at("lifecycle"), json::value("staged"));
  EXPECT_TRUE(revision.as_array()[0].at("weight_obeyed_bps").is_null());
}

TEST(StatusTree, IsEmptyWhereNothingIsDeployed) {
  ObjectsHome home;
  EXPECT_EQ(home.run({"status"}).out, "not running\n");
  home.data({"env", "list"});
  EXPECT_EQ(home.run({"status"}).out, "not running\n");
}

TEST(StatusTree, SaysForHowLongACertificateHolds) {
  EXPECT_EQ(certificate_words({}), "");
  EXPECT_EQ(certificate_words(-1), "ended");
  EXPECT_EQ(certificate_words(86'399), "23 h");
  EXPECT_EQ(certificate_words(3 * 86'400), "3 d");
}

// Recorded time was in the future, as an earlier version left it; then it is corrected.
TEST(FirstWeek22, StatusAndTheDoctorShowAClockThatWasSetUntilItIsCorrected) {
  ObjectsHome home;
  home.data({"env", "list"});
  {
    RealDisk disk;
    auto store = store::SqliteStore::open(disk, home.folder.path("home/store/store.db"));
    ASSERT_TRUE(store) << to_string(store.error());
    auto end = engine::journal_end(**(*store)->read());
    engine::Step step{.seq = end->seq + 1,
                      .at_ms = end->at_ms + int64_t{730} * 24 * 3600 * 1000,
                      .kind = engine::Step::Kind::denied,
                      .count = 1};
    ASSERT_TRUE((*store)->commit({.journal = {{.seq = step.seq, .record = engine::write_step(step, end->chain)}}}));
  }
  EXPECT_EQ(home.run({"env", "doctor", "local"}).exit, 1);
  Ran doctor = home.run({"env", "doctor", "local"});
  EXPECT_THAT(doctor.err, HasSubstr("the system's clock went back by 729 d, noticed at "));
  EXPECT_THAT(home.run({"status"}).out, HasSubstr("clock  the system's clock went back by 729 d, noticed at "));
  EXPECT_THAT(json::parse(home.run({"status", "-o", "json"}).out).at("clock").at("what").as_string().c_str(),
              HasSubstr("went back by 729 d"));
  EXPECT_THAT(home.run({"audit", "clock"}).out, HasSubstr("if it is right: sluice audit correct-clock"));
  Ran corrected = home.run({"audit", "correct-clock"});
  EXPECT_EQ(corrected.exit, 0) << corrected.err;
  EXPECT_THAT(corrected.out, HasSubstr("Recorded time is that of the system's clock from record "));
  EXPECT_EQ(home.run({"status"}).out, "not running\n");
  EXPECT_EQ(home.run({"env", "doctor", "local"}).exit, 0);
  Ran again = home.run({"audit", "correct-clock"});
  EXPECT_EQ(again.exit, 0) << again.err;
  EXPECT_THAT(again.out, HasSubstr("nothing was changed"));
}

}  // namespace status_tree_test
}  // namespace sluice::cli
