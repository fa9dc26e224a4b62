// What people see of definitions, releases and pins, as far as nothing has to run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/atomic_file.h"
#include "cli/testing_objects.h"

namespace sluice::cli {
namespace release_commands_test {

using testing::AllOf;
using testing::HasSubstr;

constexpr const char* kShop = R"(apiVersion: openchoreo.dev/v1alpha1
kind: ComponentTypeDefinition
metadata: {name: app}
spec:
  workloadType: bundle
  resources:
    - template:
        apiVersion: sluice.dev/v1
        kind: BundleDeployment
        metadata: {name: "${metadata.name}"}
        spec: {bundle: "${build.image}"}
---
apiVersion: openchoreo.dev/v1alpha1
kind: Component
metadata: {name: shop}
spec: {componentType: bundle/app}
---
apiVersion: openchoreo.dev/v1alpha1
kind: Workload
metadata: {name: shop}
spec: {image: "sha256:1"}
---
apiVersion: openchoreo.dev/v1alpha1
kind: DeploymentPipeline
metadata: {name: main}
spec:
  promotionPaths:
    - {sourceEnvironmentRef: {name: local}, targetEnvironmentRefs: [{name: staging}]}
)";

class ReleaseCommands : public testing::Test {
 protected:
  std::string file(const std::string& text) {
    RealDisk disk;
    const std::string path = home.folder.path("shop.yaml");
    EXPECT_TRUE(write_atomically(disk, path, text, 0644));
    return path;
  }
  ObjectsHome home;
};

TEST_F(ReleaseCommands, WhatIsAppliedIsListedAndShown) {
  EXPECT_EQ(home.run({"get"}).out, "Nothing is applied.\n");
  const std::string path = file(kShop);
  EXPECT_THAT(home.run({"apply", "-f", path, "--plan"}).out, HasSubstr("+ Component shop"));
  EXPECT_EQ(home.run({"get"}).out, "Nothing is applied.\n") << "a plan changes nothing";
  EXPECT_THAT(home.run({"apply", "-f", path}).out,
              AllOf(HasSubstr("+ ComponentTypeDefinition app"), HasSubstr("+ DeploymentPipeline main")));
  EXPECT_EQ(home.run({"apply", "-f", path}).out, "nothing changes\n");
  EXPECT_THAT(home.run({"get", "components"}).out, AllOf(HasSubstr("shop"), testing::Not(HasSubstr("app"))));
  EXPECT_THAT(home.run({"describe", "workload", "shop"}).out, HasSubstr("image: sha256:1\n"));
  EXPECT_EQ(home.run({"describe", "component", "cart"}).exit, 5);
  Ran unknown = home.run({"get", "cats"});
  EXPECT_EQ(unknown.exit, 2);
  EXPECT_THAT(unknown.err, HasSubstr("there is no kind 'cats'"));
  EXPECT_THAT(home.run({"delete", "workload", "shop"}).out, HasSubstr("deleted  Workload shop"));
  EXPECT_EQ(home.run({"delete", "workload", "shop"}).exit, 5);
  EXPECT_EQ(home.run({"apply"}).exit, 2);
}

TEST_F(ReleaseCommands, AFaultHasItsPlaceAndChangesNothing) {
  Ran bad = home.run({"apply", "-f", file(std::string(kShop) + "---\nkind: Cat\n")});
  EXPECT_EQ(bad.exit, 1);
  EXPECT_THAT(bad.err, AllOf(HasSubstr("shop.yaml:"), HasSubstr("nothing was changed")));
  EXPECT_EQ(home.run({"get"}).out, "Nothing is applied.\n");
}

TEST_F(ReleaseCommands, ReleasesAreCutComparedAndRejected) {
  home.run({"apply", "-f", file(kShop)});
  EXPECT_THAT(home.run({"releases", "create", "shop", "--name", "one"}).out, HasSubstr("released  one"));
  EXPECT_THAT(home.run({"releases", "create", "shop"}).out, HasSubstr("one, which was there already"));
  home.run({"releases", "create", "shop", "--name", "two", "--image", "sha256:2"});
  EXPECT_THAT(home.run({"releases", "diff", "one", "two"}).out,
              AllOf(HasSubstr("workload shop /spec/image"), HasSubstr("- \"sha256:1\""), HasSubstr("+ \"sha256:2\"")));
  EXPECT_EQ(home.run({"releases", "diff", "one", "one"}).out, "they are the same\n");
  EXPECT_THAT(home.run({"releases", "show", "two"}).out, HasSubstr("image: sha256:2\n"));
  EXPECT_THAT(home.run({"releases", "export", "two"}).out,
              AllOf(HasSubstr("kind: Release"), HasSubstr("name: two"), HasSubstr("componentType: bundle/app"),
                    testing::Not(HasSubstr("status:"))));
  // What is exported packed is the same release elsewhere.
  const std::string exported = home.run({"releases", "export", "two", "--gzip"}).out;
  EXPECT_THAT(exported, AllOf(HasSubstr("compressed: "), HasSubstr("openchoreo.dev/compression: gzip")));
  std::string third = exported;
  third.replace(third.find("name: two"), 9, "name: again");
  EXPECT_EQ(home.run({"apply", "-f", file(third)}).exit, 0);
  EXPECT_EQ(home.run({"releases", "diff", "two", "again"}).out, "they are the same\n");
  EXPECT_EQ(home.run({"releases", "history"}).out, "Nothing has run yet.\n");
  EXPECT_EQ(home.run({"releases", "reject", "two", "--reason", "slow"}).exit, 0);
  EXPECT_THAT(home.run({"releases", "list"}).out, HasSubstr("rejected"));
  EXPECT_EQ(home.run({"releases", "gc", "--dry-run"}).exit, 0);
  EXPECT_EQ(home.run({"delete", "release", "two"}).exit, 0);
  EXPECT_EQ(home.run({"releases", "show", "two"}).exit, 5);
  EXPECT_EQ(home.run({"releases", "create", "cart"}).exit, 5);
}

TEST_F(ReleaseCommands, WithoutPinsNothingIsPromoted) {
  EXPECT_EQ(home.run({"pins", "list"}).out, "Nothing is pinned.\n");
  EXPECT_EQ(home.run({"promote", "--from", "local"}).exit, 2);
  Ran none = home.run({"promote", "--from", "local", "--to", "staging"});
  EXPECT_EQ(none.exit, 5);
  EXPECT_THAT(none.err, HasSubstr("nothing is pinned in local"));
  EXPECT_EQ(home.run({"pins", "history", "shop", "local"}).exit, 5);
  EXPECT_EQ(home.run({"pins", "rollback", "shop", "local"}).exit, 5);
  home.run({"apply", "-f", file(kShop)});
  EXPECT_THAT(home.run({"pipelines", "list"}).out, HasSubstr("local -> staging"));
  EXPECT_EQ(home.run({"pipelines", "stop", "main", "--reason", "fire"}).exit, 0);
  EXPECT_THAT(home.run({"pipelines", "list"}).out, HasSubstr("stopped: fire"));
  EXPECT_EQ(home.run({"pipelines", "resume", "main"}).exit, 0);
}

}  // namespace release_commands_test
}  // namespace sluice::cli
