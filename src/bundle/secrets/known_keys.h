// Keys and tokens that are no secrets: those that everybody has, as a library carries them to test itself with, and as
// specifications show them.
#pragma once

#include <string_view>

namespace sluice::bundle {

// Whether a finding of this hash (SecretFinding::hash) is such a key.
bool is_public_test_key(std::string_view finding_hash);

}  // namespace sluice::bundle
