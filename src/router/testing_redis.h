// A Redis as tests play it on a TestingWire: what it was asked, in words, and what it answers.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sluice::router {

// The commands in what was written to it, each as its words with blanks between them.
std::vector<std::string> redis_commands(std::string_view written);

// A bulk string, as Redis writes it.
std::string redis_bulk(std::string_view text);

}  // namespace sluice::router
