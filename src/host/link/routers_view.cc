// Who the routers are is in the store; where they are is in the home.
#include "host/link/routers_view.h"

#include <algorithm>
#include <boost/json.hpp>

#include "base/atomic_file.h"
#include "base/json.h"
#include "deploy/views/states.h"
#include "env.gen.h"
#include "host/link/joined_routers.h"
#include "http/socket.h"
#include "router.gen.h"

namespace sluice::host {
namespace {

constexpr size_t kMostRouterRecord = size_t{64} << 10U;

std::vector<std::string> texts_of(const json::value* list) {
  std::vector<std::string> all;
  if (list == nullptr || !list->is_array()) return all;
  for (const json::value& each : list->get_array()) {
    if (each.is_string()) all.emplace_back(each.get_string());
  }
  return all;
}

void look_at_home(const Beside& beside, const std::vector<JoinedRouter>& joined, RouterRow& row) {
  const std::string folder = (beside.home.root() / "router" / row.name).string();
  auto text = read_file(beside.disk, folder + "/router.json", kMostRouterRecord);
  auto parsed = text ? parse_json(*text) : Result<Document>(text.error());
  const json::object* record = parsed ? parsed->root.if_object() : nullptr;
  row.reachable = http::connect_unix(folder + "/control.sock").has_value();
  if (record != nullptr) row.listen = texts_of(record->if_contains("listen"));
  auto known = std::ranges::find(joined, row.router, &JoinedRouter::router);
  if (known == joined.end()) return;
  row.machine = known->machine;
  row.certificate_s = (known->until_ms - beside.clock.wall_ms()) / 1'000;
  if (record == nullptr) return;
  const json::value* address = record->if_contains("address");
  if (address != nullptr && address->is_string() && !address->get_string().empty()) {
    row.address = std::string(address->get_string());
  }
  const json::value* said = record->if_contains("joined");
  if (said != nullptr && said->is_object()) row.listen = texts_of(said->get_object().if_contains("listen"));
}

Result<RoutersDocument> read_routers(const HostReading& reading, const RoutersQuery& query) {
  const deploy::views::States states(reading.rows);
  std::vector<JoinedRouter> joined;
  if (reading.beside != nullptr) {
    auto listed = JoinedRouters(reading.beside->disk, reading.beside->home).list();
    if (!listed) return listed.error();
    joined = *std::move(listed);
  }
  RoutersDocument document;
  for (const auto& table : states.router().all()) {
    if (!query.environment.empty() && table.id.text() != query.environment) continue;
    for (const auto& member : states.router().members(table.id).values()) {
      RouterRow row{.environment = table.id.text(),
                    .name = member.name,
                    .router = member.router,
                    .generation = member.acknowledged,
                    .newest = table.record.generation,
                    .trouble = member.trouble};
      if (reading.beside != nullptr) look_at_home(*reading.beside, joined, row);
      document.routers.push_back(std::move(row));
    }
  }
  // Those that have joined and were never heard of.
  for (const JoinedRouter& each : joined) {
    if (!query.environment.empty() && each.environment != query.environment) continue;
    if (!states.env().has(deploy::env::EnvId(each.environment))) continue;
    if (std::ranges::find(document.routers, each.router, &RouterRow::router) != document.routers.end()) continue;
    RouterRow row{.environment = each.environment, .name = each.name, .router = each.router};
    look_at_home(*reading.beside, joined, row);
    document.routers.push_back(std::move(row));
  }
  return document;
}

}  // namespace

std::vector<HostView> routers_views() {
  return {lang::make_view("router-list", "The routers here and on other machines, and what each obeys", read_routers)};
}

}  // namespace sluice::host
