// Answers are a JSON object in the binding.
#include "deploy/views/port_range.h"

#include <boost/json.hpp>
#include <charconv>

#include "base/json.h"
#include "deploy/views/states.h"
#include "env.gen.h"

namespace sluice::deploy::views {

std::optional<PortRange> parse_port_range(std::string_view text) {
  PortRange range;
  const char* end = text.data() + text.size();
  auto first = std::from_chars(text.data(), end, range.first);
  if (first.ec != std::errc() || first.ptr == end || *first.ptr != '-') return std::nullopt;
  auto last = std::from_chars(first.ptr + 1, end, range.last);
  if (last.ec != std::errc() || last.ptr != end || range.first == 0 || range.last < range.first) return std::nullopt;
  return range;
}

std::optional<PortRange> port_range(const lang::Snapshot& snapshot, const std::string& environment) {
  for (const env::EnvPack& each : States(snapshot).env().packs(env::EnvId(environment)).values()) {
    if (each.slot != "deployer" || !each.answers) continue;
    auto answers = parse_json(*each.answers);
    const json::object* fields = answers ? answers->root.if_object() : nullptr;
    const json::value* range = fields == nullptr ? nullptr : fields->if_contains("port_range");
    if (range != nullptr && range->is_string()) return parse_port_range(range->get_string());
  }
  return std::nullopt;
}

}  // namespace sluice::deploy::views
