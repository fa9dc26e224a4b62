// Labels that were given back are not given out again before all others were: a neighbour that has not heard of the
// change yet must not take one flow for another.
#include "mesh/ledger.h"

#include <algorithm>
#include <boost/json.hpp>

#include "base/json.h"
#include "base/json_reader.h"
#include "base/json_writer.h"
#include "mesh/artifact.h"

namespace sluice::mesh {

constexpr uint32_t kFirstLabel = 16;

Result<Ledger> parse_ledger(std::string_view text, std::string file) {
  auto document = parse_json(text, std::move(file), {.max_bytes = size_t{1} << 30, .max_nodes = 50'000'000});
  if (!document) return document.error();
  auto ledger = read<Ledger>(*document);
  if (!ledger) return ledger;
  if (ledger->schema != "sluice.mesh.ledger.v1")
    return Error{.code = Code::invalid, .message = "this is not a sluice.mesh.ledger.v1", .path = "/schema"};
  for (const auto& [key, link] : ledger->links) {
    for (const LabelSpace* space : {&link.to_a, &link.to_b}) {
      std::set<uint32_t> seen;
      for (const auto& [use, label] : space->labels) {
        if (label < kFirstLabel || label > kMaxLabel || !seen.insert(label).second) {
          return Error{
              .code = Code::invalid,
              .message = "the link " + key + " has the label " + std::to_string(label) + " twice, or out of its range",
              .path = "/links"};
        }
      }
    }
  }
  return ledger;
}

std::string print_ledger(const Ledger& ledger) { return write_pretty(to_json(ledger)); }

Labelling::Labelling(LabelSpace& space) : space_(space) {
  for (const auto& [use, label] : space.labels) highest_ = std::max(highest_, label);
}

Result<uint32_t> Labelling::label_of(const std::string& use) {
  if (auto known = space_.labels.find(use); known != space_.labels.end()) {
    asked_.insert(known->second);
    return known->second;
  }
  if (space_.labels.size() > kMaxLabel - kFirstLabel)
    return Error{.code = Code::limit, .message = "all labels of a link are taken"};
  if (space_.next < kFirstLabel || space_.next > kMaxLabel) space_.next = kFirstLabel;
  // In the first round nothing is above the next one; after it the labels must be looked at.
  if (highest_ >= space_.next) {
    if (taken_.empty()) {
      for (const auto& each : space_.labels) taken_.insert(each.second);
    }
    while (taken_.contains(space_.next)) space_.next = space_.next == kMaxLabel ? kFirstLabel : space_.next + 1;
  }
  const uint32_t label = space_.next;
  space_.next = label == kMaxLabel ? kFirstLabel : label + 1;
  space_.labels.emplace(use, label);
  highest_ = std::max(highest_, label);
  if (!taken_.empty()) taken_.insert(label);
  asked_.insert(label);
  return label;
}

void Labelling::forget_others() {
  std::erase_if(space_.labels, [&](const auto& each) { return !asked_.contains(each.second); });
}

std::string take_name(std::set<std::string>& taken, const std::string& wish, const std::string& second) {
  const auto fitting = [](std::string name) {
    if (name.size() > 60) name.resize(60);
    while (name.ends_with('-')) name.pop_back();
    return name;
  };
  for (const std::string& each : {fitting(wish), fitting(second)}) {
    if (taken.insert(each).second) return each;
  }
  for (int number = 2;; ++number) {
    std::string name = fitting(second.substr(0, 50)) + "-" + std::to_string(number);
    if (taken.insert(name).second) return name;
  }
}

}  // namespace sluice::mesh
