// Only what must be known to make weights of words is checked here; what a split must be is Traffic's to say.
#include "cli/traffic_split.h"

#include <optional>

#include "base/basis_points.h"
#include "base/terminal.h"

namespace sluice::cli {
namespace {

Error bad_weight(const std::string& message) {
  return {.code = Code::usage, .message = message, .next = "sluice traffic set ENV shop@2=1% shop@1=rest"};
}

}  // namespace

Result<std::vector<WeightWord>> read_weights(std::span<const std::string> words) {
  std::vector<WeightWord> weights;
  std::optional<size_t> rest;
  int64_t sum = 0;
  for (const std::string& word : words) {
    size_t equals = word.rfind('=');
    if (equals == std::string::npos || equals == 0) {
      return bad_weight("expected REVISION=WEIGHT, found '" + printable(word) + "'");
    }
    WeightWord weight{.revision = word.substr(0, equals)};
    const std::string text = word.substr(equals + 1);
    if (text == "rest") {
      if (rest) return bad_weight("only one revision gets the rest");
      rest = weights.size();
    } else {
      auto share = parse_basis_points(text);
      if (!share) return bad_weight(weight.revision + ": " + share.error().message);
      weight.weight_bps = *share;
      sum += *share;
    }
    weights.push_back(std::move(weight));
  }
  if (rest) {
    if (sum > kAllBasisPoints) return bad_weight("the others have more than 100% already, so there is no rest");
    weights[*rest].weight_bps = kAllBasisPoints - sum;
  }
  return weights;
}

}  // namespace sluice::cli
