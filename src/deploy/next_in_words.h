// A message that ends with what to do about it: "there is no secret shop/KEY in prod; next: Secret/put
// environment=prod name=shop/KEY". Doors show the end as the next step, so whatever is said in addition goes before it.
#pragma once

#include <string>

namespace sluice::deploy {

// The message with more said, before its next step if it has one.
std::string with_words(const std::string& message, const std::string& words);

// Two messages as one: first what both say, then both next steps.
std::string both_said(const std::string& one, const std::string& other);

}  // namespace sluice::deploy
