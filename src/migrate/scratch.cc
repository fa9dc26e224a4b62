// How they are made and removed.
#include "migrate/scratch.h"

#include <array>

#include "crypto/hex.h"

namespace sluice::migrate {

void Scratch::forget() {
  for (const char* ending : {"", "-journal", "-wal", "-shm"}) (void)disk_.remove(path_ + ending);
}

Result<ScratchDatabase> ScratchDatabase::make(Database& server, const std::string& address, Random& random) {
  std::array<uint8_t, 8> bytes{};
  random.fill(bytes);
  const std::string name = "sluice_scratch_" + crypto::to_hex(bytes);
  auto made = server.run("CREATE DATABASE " + name);
  if (!made) {
    if (made.error().code != Code::denied) return made.error();
    return Error{.code = Code::denied,
                 .message = "its user may not make a database, which is needed for a while",
                 .next = "ALTER ROLE … CREATEDB"};
  }
  auto there = address_of_database(address, name);
  if (!there) return there.error();
  return ScratchDatabase(server, name, *there);
}

ScratchDatabase::~ScratchDatabase() {
  if (server_ != nullptr) (void)server_->run("DROP DATABASE IF EXISTS " + name_ + " WITH (FORCE)");
}

Result<void> fill_database(const RunProgram& run, const std::string& dump, const std::string& address,
                           const std::string& database) {
  auto environment = environment_of(address);
  if (!environment) return environment.error();
  return run({"pg_restore", "--exit-on-error", "--no-owner", "--no-privileges", "--dbname=" + database, dump},
             *environment);
}

}  // namespace sluice::migrate
