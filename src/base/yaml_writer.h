// JSON values as YAML: block style, two blanks a level, members in their order.
//
// What is written reads back as the same value under the YAML 1.2 core schema, and under YAML 1.1 too where that reads
// JSON's numbers: every string that any of them could take for something else is quoted.
#pragma once

#include <boost/json/value.hpp>
#include <string>

namespace sluice {

// Ends with a line break.
std::string write_yaml(const boost::json::value& value);

}  // namespace sluice
