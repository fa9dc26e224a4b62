// What is refused before a server is asked; the rest is tested with real servers (tests/git).
#include "git/repositories.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/clock.h"
#include "base/real_disk.h"
#include "base/testing_folder.h"

namespace sluice::git::repositories_test {

class RepositoriesTest : public testing::Test {
 protected:
  Error refused(const Wanted& wanted) {
    auto read = repositories.read(wanted);
    EXPECT_FALSE(read);
    return read ? Error{} : read.error();
  }

  TestingFolder folder;
  RealDisk disk;
  RealClock clock;
  Repositories repositories{{.folder = folder.path("git")}, disk, clock};
};

TEST_F(RepositoriesTest, OnlyHttpsIsSpoken) {
  for (const char* url : {"http://git.example/a", "file:///etc", "ssh://git@git.example/a", "/etc", "ext::sh -c id"}) {
    EXPECT_EQ(refused({.url = url}).message, "a repository's URL begins with https://") << url;
  }
  EXPECT_EQ(refused({.url = "https://a:b@git.example/a"}).code, Code::invalid);
  EXPECT_EQ(refused({.url = "https://git.example/a?x=1"}).code, Code::invalid);
}

TEST_F(RepositoriesTest, AReferenceIsNoPatternAndNoOption) {
  for (const char* ref : {"", "--upload-pack=id", "a b", "refs/*", "a:b", "main^", "a..b", "x.lock", "/main"}) {
    EXPECT_EQ(refused({.url = "https://git.example/a", .ref = ref}).code, Code::invalid) << ref;
  }
}

TEST_F(RepositoriesTest, APathStaysInTheRepository) {
  for (const char* path : {"/etc", "..", "a/../../b"}) {
    EXPECT_NE(refused({.url = "https://git.example/a", .path = path}).code, Code::unavailable) << path;
  }
}

TEST_F(RepositoriesTest, HostsHaveTheirUsernames) {
  EXPECT_EQ(usual_username("github.com"), "x-access-token");
  EXPECT_EQ(usual_username("bitbucket.org"), "x-token-auth");
}

}  // namespace sluice::git::repositories_test
