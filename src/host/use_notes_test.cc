// The first use, further ones, and one that waits for its hour.
#include "host/use_notes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sluice::host {
namespace use_notes_test {

using testing::ElementsAre;

TEST(UseNotes, WritesTheFirstUseAndThenOneAnHour) {
  UseNotes notes;
  EXPECT_THAT(notes.due({"a"}, 0), ElementsAre("a"));
  EXPECT_THAT(notes.due({"a", "b"}, 60'000'000'000), ElementsAre("b"));
  EXPECT_THAT(notes.due({}, kNoteUseEvery_ns - 1), ElementsAre());
  EXPECT_THAT(notes.due({}, kNoteUseEvery_ns), ElementsAre("a")) << "what was used in between is not forgotten";
  EXPECT_THAT(notes.due({}, 3 * kNoteUseEvery_ns), ElementsAre()) << "what was not used is not written";
}

}  // namespace use_notes_test
}  // namespace sluice::host
