// The topics of `sluice help`: what the commands assume that their reader knows. They need no network and no home.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sluice::cli {

struct Topic {
  std::string name;
  std::string summary;
  std::string text;  // paragraphs before the rows
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;  // as wide as the columns
};

// In the order in which they are listed.
const std::vector<Topic>& topics();

const Topic* find_topic(std::string_view name);

}  // namespace sluice::cli
