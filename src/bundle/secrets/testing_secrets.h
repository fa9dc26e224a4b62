// Made-up secrets for tests, put together so that no other doctor takes the tests for files with secrets.
#pragma once

#include <string>

namespace sluice::bundle {

inline const std::string kCanary = std::string("AKIA") + "Q3EGLU2R7XVNTP4H";

// Letters that look random, the same ones each time.
std::string random_letters(size_t count);
// A block with this label, whose lines end so.
std::string pem_of(const std::string& label, const std::string& line_break = "\n");
// What find_token says of a text.
std::string kind_of(const std::string& text, bool is_binary = false);

}  // namespace sluice::bundle
