// A pack that is good, and one that says that it is.
#include "host/pack_trial.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/real_disk.h"
#include "base/testing_folder.h"
#include "pack/testing_packs.h"

namespace sluice::host {
namespace pack_trial_test {

std::string faults(const std::string& more, const std::string& program = pack::kNotesProgram) {
  TestingFolder folder, scratch;
  RealDisk disk;
  RealClock clock;
  std::string text;
  for (const TrialCheck& each : try_pack(
           disk, clock, [](const std::string&) { return std::nullopt; },
           pack::write_pack(folder.path("notes"), "acme.telemetry.notes@1.0.0", more, program), scratch.path())) {
    if (!each.fault.empty()) text += each.what + ": " + each.fault + "\n";
  }
  return text;
}

constexpr const char* kProof =
    "proofs: [{ fixture: first, file: notes.jsonl, contains: hello }, "
    "{ fixture: first, query: read, input: { note: n1 }, answers: { text: hello } }]\n";

TEST(PackTrial, WhatDoesWhatItSaysPasses) { EXPECT_EQ(faults(kProof), ""); }

TEST(PackTrial, WhatDoesNothingFails) {
  std::string idle = pack::kNotesProgram;
  size_t at = idle.find("file.write(");
  ASSERT_NE(at, std::string::npos);
  idle.replace(at, 11, "str(");
  EXPECT_THAT(faults(kProof, idle), testing::HasSubstr("proof of first: notes.jsonl does not contain hello"));
  EXPECT_THAT(faults(""), testing::HasSubstr("nothing shows that it does anything"));
}

}  // namespace pack_trial_test
}  // namespace sluice::host
