// Where a backup lies, its key, and the programs that PostgreSQL's need.
#include "deploy/concepts/migration/migration_backup.h"

#include <cstdlib>

#include "base/clock.h"
#include "crypto/hex.h"
#include "crypto/sha256.h"
#include "deploy/migrate_means.h"
#include "deploy/views/answers.h"
#include "migrate/backup.h"
#include "migrate/rehearsal.h"

namespace sluice::deploy::migration {
namespace {

namespace tool = sluice::migrate;

constexpr int64_t kLongestRunMs = int64_t{24} * 60 * 60 * 1000;

Result<crypto::Aead> make_key(Effect& effect, const std::string& environment, const std::string& name) {
  auto answers = views::answers_of_slot(effect.read(), effect.tool<Disk>(), environment, "secrets");
  if (!answers) return answers.error();
  return effect.tool<MigrateMeans>().keys().make({.environment = environment,
                                                  .backup = name,
                                                  .made_by = effect.id(),
                                                  .key_file = answers->text("key_file"),
                                                  .key_command = answers->text("key_command")});
}

Result<void> run_program(Effect& effect, const std::vector<std::string>& argv,
                         std::map<std::string, std::string> environment) {
  const char* path = std::getenv("PATH");
  environment["PATH"] = path == nullptr ? "/usr/bin:/bin" : path;
  auto ran = effect.tool<MigrateMeans>().runner().run(
      {.argv = argv, .folder = "/", .environment = std::move(environment), .deadline_ms = kLongestRunMs},
      [&] { return effect.cancelled(); });
  if (!ran) {
    return Error{.code = Code::unavailable,
                 .message = argv.front() + " cannot be started: " + ran.error().message,
                 .next = "apt install postgresql-client"};
  }
  if (ran->good()) return {};
  std::string said;
  for (const std::string& line : process::last_lines(*ran, 3)) said += "; " + line;
  return Error{.code = Code::failed, .message = argv.front() + " " + process::to_string(*ran) + said};
}

tool::RunProgram runner_of(Effect& effect) {
  return [&effect](const std::vector<std::string>& argv, const std::map<std::string, std::string>& environment) {
    return run_program(effect, argv, environment);
  };
}

tool::BackupTools tools_of(Effect& effect, const crypto::Aead& key) {
  return {.disk = effect.tool<Disk>(),
          .random = effect.tool<MigrateMeans>().random(),
          .key = key,
          .run = runner_of(effect)};
}

// The same for each attempt at an effect, so that what a killed one has left is removed by the next.
std::string name_of(Effect& effect) { return crypto::to_hex(crypto::sha256(effect.id())).substr(0, 16); }

}  // namespace

Result<std::string> make_backup(Effect& effect, const std::string& environment, tool::Database& database,
                                const std::string& address) {
  const std::string name = name_of(effect);
  auto file = effect.tool<MigrateMeans>().backup_file(name);
  if (!file) return file.error();
  auto key = make_key(effect, environment, name);
  if (!key) return key.error();
  auto made = tool::back_up(database, address, tools_of(effect, *key), *file);
  if (!made) return made.error();
  return name;
}

Result<void> restore_backup(Effect& effect, const std::string& environment, const std::string& name,
                            const std::string& address, const std::string& into) {
  auto file = effect.tool<MigrateMeans>().backup_file(name);
  if (!file) return file.error();
  auto key = effect.tool<MigrateMeans>().keys().find(environment, name);
  if (!key) return key.error();
  if (address.empty()) return tool::restore_sqlite(tools_of(effect, *key), *file, into);
  return tool::restore_postgres(tools_of(effect, *key), *file, address, into);
}

Result<void> rehearse(Effect& effect, tool::Database& database, const tool::Migrations& migrations,
                      const std::string& address, bool contracts) {
  std::string dump;  // SQLite's copy is in memory
  if (!address.empty()) {
    auto file = effect.tool<MigrateMeans>().backup_file(name_of(effect));
    if (!file) return file.error();
    dump = *file + ".schema";
  }
  return tool::rehearse(database, migrations, effect.tool<Clock>(),
                        {.disk = effect.tool<Disk>(),
                         .random = effect.tool<MigrateMeans>().random(),
                         .run = runner_of(effect),
                         .address = address,
                         .file = dump},
                        contracts);
}

}  // namespace sluice::deploy::migration
