// The problems that libyaml's scanner and parser report, in words that say what is wrong and what to change.
#pragma once

#include <yaml.h>

#include <string>
#include <string_view>

#include "base/result.h"

namespace sluice {

// The error for the problem at which `parser` stopped in `text`.
Error describe_problem(const yaml_parser_t& parser, std::string_view text, const std::string& file);

}  // namespace sluice
