// What is needed for a while and must not stay: a file in the clear, and a database beside the real one.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/disk.h"
#include "base/random.h"
#include "base/result.h"
#include "migrate/database.h"

namespace sluice::migrate {

// Runs pg_dump or pg_restore with this environment, to its end.
using RunProgram = std::function<Result<void>(const std::vector<std::string>& argv,
                                              const std::map<std::string, std::string>& environment)>;

// A file, perhaps of SQLite, which is gone when this is; so is what an earlier one has left under its name.
class Scratch {
 public:
  Scratch(Disk& disk, std::string path) : disk_(disk), path_(std::move(path)) { forget(); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() { forget(); }

  const std::string& path() const { return path_; }

 private:
  void forget();

  Disk& disk_;
  std::string path_;
};

// A database of a name that nobody else has, on the server of the given one and dropped through it. `denied` without
// the right to make one.
class ScratchDatabase {
 public:
  static Result<ScratchDatabase> make(Database& server, const std::string& address, Random& random);
  ScratchDatabase(ScratchDatabase&& other) noexcept
      : server_(std::exchange(other.server_, nullptr)),
        name_(std::move(other.name_)),
        address_(std::move(other.address_)) {}
  ScratchDatabase& operator=(ScratchDatabase&&) = delete;
  ~ScratchDatabase();

  const std::string& name() const { return name_; }
  const std::string& address() const { return address_; }

 private:
  ScratchDatabase(Database& server, std::string name, std::string address)
      : server_(&server), name_(std::move(name)), address_(std::move(address)) {}

  Database* server_;
  std::string name_;
  std::string address_;
};

// pg_restore of a file that pg_dump has written, into a database at this address.
Result<void> fill_database(const RunProgram& run, const std::string& dump, const std::string& address,
                           const std::string& database);

}  // namespace sluice::migrate
