// The fields of a health check are read by the bundle's own reader, so that both are written in the same way.
#include "deploy/run_settings.h"

#include <algorithm>
#include <boost/json.hpp>

#include "base/json.h"
#include "base/json_reader.h"
#include "base/json_writer.h"

namespace sluice::deploy {
namespace {

constexpr uint32_t kMostReplicas = 1'000;

}  // namespace

Result<RunSettings> read_run_settings(const json::value& value) {
  auto settings = read<RunSettings>(value);
  if (!settings) return settings;
  if (settings->replicas && (*settings->replicas < 1 || *settings->replicas > kMostReplicas)) {
    return Error{.code = Code::invalid, .message = "expected 1 to 1000 replicas", .path = "/replicas"};
  }
  if (auto sound = check_health(settings->health); !sound) return sound.error();
  return settings;
}

Result<void> check_health(const std::optional<json::value>& said) {
  auto health = said ? health_over({}, *said) : Result<bundle::Health>(bundle::Health());
  if (health) return {};
  Error error = health.error();
  error.path = "/health" + error.path;
  return error;
}

RunSettings run_settings_of(const std::string& config) {
  auto document = parse_json(config.empty() ? "{}" : config, "config");
  const json::object* whole = document ? document->root.if_object() : nullptr;
  const json::value* running = whole == nullptr ? nullptr : whole->if_contains("running");
  if (running == nullptr) return {};
  auto settings = read_run_settings(*running);
  return settings ? *settings : RunSettings{};
}

Result<bundle::Health> health_over(const bundle::Health& own, const json::value& said) {
  if (!said.is_object()) return Error{.code = Code::invalid, .message = "expected an object"};
  json::value whole = to_json(own);
  for (const auto& each : said.get_object()) whole.as_object()[each.key()] = each.value();
  auto health = read<bundle::Health>(whole);
  if (health && health->by == bundle::HealthBy::command && health->command.empty()) {
    return Error{.code = Code::invalid, .message = "by command needs a command", .path = "/command"};
  }
  return health;
}

bundle::Migrations migrations_over(bundle::Migrations own, const std::optional<MigrationKeys>& said) {
  if (!said) return own;
  own.autoExpand = said->autoExpand.value_or(own.autoExpand);
  own.autoMigrate = said->autoMigrate.value_or(own.autoMigrate);
  own.autoContract = said->autoContract.value_or(own.autoContract);
  own.backupBefore = said->backupBefore.value_or(own.backupBefore);
  own.contractApprovals = std::max(own.contractApprovals, said->contractApprovals.value_or(0));
  return own;
}

}  // namespace sluice::deploy
