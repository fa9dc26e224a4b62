// RunSettings are what a deploy manifest says of how a component runs, over what its bundle.yaml says. They are a part
// of a revision's config, so another number of replicas is another revision.
//
//   {"replicas": 3, "health": {"path": "/ready", "start_within": "2m"}, "migrations": {"autoExpand": false}}
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/document.h"
#include "base/json_fields.h"
#include "base/result.h"
#include "bundle/manifest/manifest.h"

namespace sluice::deploy {

// What a manifest says of all its databases; what it leaves out is as each bundle says.
struct MigrationKeys {
  std::optional<bool> autoExpand;
  std::optional<bool> autoMigrate;
  std::optional<bool> autoContract;
  std::optional<bool> backupBefore;
  std::optional<uint32_t> contractApprovals;  // never fewer people than the bundle asks for
  bool operator==(const MigrationKeys&) const = default;
};
BOOST_DESCRIBE_STRUCT(MigrationKeys, (), (autoExpand, autoMigrate, autoContract, backupBefore, contractApprovals))

struct RunSettings {
  std::optional<uint32_t> replicas;
  std::optional<json::value> health;  // the fields of the bundle's `health` that are otherwise
  std::optional<MigrationKeys> migrations;
  bool operator==(const RunSettings&) const = default;
};
BOOST_DESCRIBE_STRUCT(RunSettings, (), (replicas, health, migrations))

// Strictly; the error names the field.
Result<RunSettings> read_run_settings(const json::value& value);
// Those of a revision's config, {"non_secret": …, "running": …}; none if it has none.
RunSettings run_settings_of(const std::string& config);

// How a program is checked: as its bundle says, but for the fields that are said otherwise.
Result<bundle::Health> health_over(const bundle::Health& own, const json::value& said);
bundle::Migrations migrations_over(bundle::Migrations own, const std::optional<MigrationKeys>& said);
// Whether these fields can be said of `health`; the error's path begins with /health.
Result<void> check_health(const std::optional<json::value>& said);

}  // namespace sluice::deploy
