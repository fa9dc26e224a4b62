// Rules of one file, for tests of their parser.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lang/syntax/ast.h"

namespace sluice::lang {

// Fails the test if there is a fault.
SyncFile parsed_rules(std::string_view text);
const Sync& sync_of(const SyncFile& file, size_t index = 0);
const Guard& guard_of(const SyncFile& file, size_t index = 0);

// All diagnostics as `line:column text | hint`.
std::vector<std::string> faults_of_rules(std::string_view text);

}  // namespace sluice::lang
