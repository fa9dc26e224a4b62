// Which commands are run for which stores; on a real machine it is tests/up/test_up_tls.py.
#include "cli/machine_trust.h"

#include <gtest/gtest.h>

#include "base/atomic_file.h"
#include "base/testing_volatile_disk.h"

namespace sluice::cli {
namespace machine_trust_test {

class RecordingRunner final : public process::Runner {
 public:
  Result<process::Ran> run(const process::RunRequest& request, const std::function<bool()>&) override {
    std::string line;
    for (const std::string& each : request.argv) line += (line.empty() ? "" : " ") + each;
    lines.push_back(line);
    if (fails) return process::Ran{.code = 1, .tail = "no such tool\n"};
    return process::Ran{};
  }
  std::vector<std::string> lines;
  bool fails = false;
};

class MachineTrustTest : public testing::Test {
 protected:
  MachineTrustTest() {
    std::string path;
    for (const char* each : {"/usr", "/local", "/share", "/ca-certificates"}) {
      path += each;
      (void)disk.make_folder(path, 0755);
    }
    path.clear();
    for (const char* each : {"/home", "/me", "/.pki", "/nssdb"}) {
      path += each;
      (void)disk.make_folder(path, 0755);
    }
    EXPECT_TRUE(write_atomically(disk, "/home/me/.pki/nssdb/cert9.db", "x", 0600));
  }

  VolatileDisk disk;
  RecordingRunner runner;
  Variables variables = [](const std::string& name) {
    return name == "HOME" ? std::optional<std::string>("/home/me") : std::nullopt;
  };
  MachineTrust machine{disk, runner, variables};
};

TEST_F(MachineTrustTest, InstallsIntoTheSystemAndBrowsers) {
  const auto steps = machine.install("sluice ca", "PEM");
  ASSERT_EQ(steps.size(), 2U);
  EXPECT_EQ(steps[0].store + steps[0].trouble, "the system");
  EXPECT_EQ(steps[1].store + steps[1].trouble, "/home/me/.pki/nssdb");
  EXPECT_EQ(read_file(disk, "/usr/local/share/ca-certificates/sluice-ca.crt", 100).value(), "PEM");
  EXPECT_EQ(runner.lines,
            (std::vector<std::string>{"update-ca-certificates", "certutil -D -d sql:/home/me/.pki/nssdb -n sluice ca",
                                      "certutil -A -d sql:/home/me/.pki/nssdb -t C,, -n sluice ca -i "
                                      "/usr/local/share/ca-certificates/sluice-ca.crt"}));
  EXPECT_EQ(machine.holding("sluice ca"), (std::vector<std::string>{"the system", "/home/me/.pki/nssdb"}));
  EXPECT_EQ(machine.remove("sluice ca").size(), 2U);
  EXPECT_EQ(machine.holding("sluice ca"), std::vector<std::string>{"/home/me/.pki/nssdb"})
      << "the runner knows no better";
}

TEST_F(MachineTrustTest, SaysWhatDidNotWork) {
  runner.fails = true;
  const auto steps = machine.install("sluice ca", "PEM");
  ASSERT_EQ(steps.size(), 2U);
  EXPECT_EQ(steps[0].trouble, "no such tool");
  EXPECT_EQ(machine.holding("sluice ca"), std::vector<std::string>{"the system"});
}

}  // namespace machine_trust_test
}  // namespace sluice::cli
