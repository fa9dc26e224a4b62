// Revisions go by their ids: each process numbers them anew.
#include "router/table/pins_handover.h"

#include <map>

#include "base/document.h"
#include "base/json.h"
#include "base/json_reader.h"
#include "base/json_writer.h"
#include "crypto/base64.h"

namespace sluice::router {

struct SavedRevision {
  std::string id;
  int64_t number = 0;
};
BOOST_DESCRIBE_STRUCT(SavedRevision, (), (id, number))

struct SavedDeployment {
  std::string id;
  std::vector<SavedRevision> revisions;
  std::string pins;
};
BOOST_DESCRIBE_STRUCT(SavedDeployment, (), (id, revisions, pins))

std::string saved_pins(const Table& table) {
  std::vector<SavedDeployment> all;
  table.for_each([&](const std::shared_ptr<const Deployment>& deployment) {
    if (!deployment->memory->pins) return;
    SavedDeployment saved{.id = deployment->id, .pins = crypto::to_base64(deployment->memory->pins->save())};
    if (saved.pins.empty()) return;
    for (const Revision& each : deployment->revisions) saved.revisions.push_back({each.id, each.memory->number});
    all.push_back(std::move(saved));
  });
  return write(to_json(all));
}

void take_pins(const Table& table, std::string_view saved) {
  auto parsed = parse_json(saved);
  auto all =
      parsed ? read<std::vector<SavedDeployment>>(*parsed) : Result<std::vector<SavedDeployment>>(parsed.error());
  if (!all) return;
  for (const SavedDeployment& each : *all) {
    const auto* deployment = table.named(each.id);
    auto pins = crypto::from_base64(each.pins);
    if (deployment == nullptr || !(*deployment)->memory->pins || !pins) continue;
    std::map<uint32_t, uint32_t> numbers;
    for (const SavedRevision& revision : each.revisions) {
      if (const Revision* known = (*deployment)->named(revision.id)) {
        numbers[static_cast<uint32_t>(revision.number)] = known->memory->number;
      }
    }
    (*deployment)->memory->pins->take(*pins, [&](uint32_t number) -> std::optional<uint32_t> {
      auto found = numbers.find(number);
      if (found == numbers.end()) return std::nullopt;
      return found->second;
    });
  }
}

}  // namespace sluice::router
