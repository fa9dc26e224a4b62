// What the parser makes of a text.
#include "lang/syntax/testing_rules.h"

#include <gtest/gtest.h>

#include "lang/syntax/sync_parser.h"

namespace sluice::lang {

SyncFile parsed_rules(std::string_view text) {
  Diagnostics found;
  auto file = parse_sync(text, "x.sync", found);
  EXPECT_TRUE(file) << render(found, text);
  return file.value_or(SyncFile{});
}

const Sync& sync_of(const SyncFile& file, size_t index) { return std::get<Sync>(file.rules.at(index)); }
const Guard& guard_of(const SyncFile& file, size_t index) { return std::get<Guard>(file.rules.at(index)); }

std::vector<std::string> faults_of_rules(std::string_view text) {
  Diagnostics found;
  auto file = parse_sync(text, "x.sync", found);
  EXPECT_EQ(file.has_value(), !found.failed());
  std::vector<std::string> lines;
  for (const auto& one : found.all()) {
    lines.push_back(std::to_string(one.mark.line) + ":" + std::to_string(one.mark.column) + " " + one.text +
                    (one.hint.empty() ? "" : " | " + one.hint));
  }
  return lines;
}

}  // namespace sluice::lang
