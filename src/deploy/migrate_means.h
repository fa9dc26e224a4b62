// MigrateMeans has the id by which a database knows to which Sluice it belongs. It is made when it is first asked for,
// and stays with the home, whatever becomes of its keys. `process` is another one in each process. Backups lie in a
// folder of the home.
#pragma once

#include <functional>
#include <mutex>
#include <string>

#include "base/disk.h"
#include "base/random.h"
#include "base/result.h"
#include "crypto/aead.h"
#include "process/run.h"

namespace sluice::deploy {

class MigrateMeans {
 public:
  struct Place {
    std::string id;       // the file with the id
    std::string backups;  // a folder
  };

  // Whose key is made, and by which effect: one that is repeated gets the same.
  struct KeyWish {
    std::string environment;
    std::string backup;
    std::string made_by;
    std::string key_file;  // where the environment's master key is, if its operator says so
    std::string key_command;
  };
  struct Keys {
    std::function<Result<crypto::Aead>(const KeyWish&)> make;
    std::function<Result<crypto::Aead>(const std::string& environment, const std::string& backup)> find;
  };

  MigrateMeans(Disk& disk, Random& random, process::Runner& runner, Keys keys, Place place);

  Result<std::string> sluice();
  const std::string& process() const { return process_; }
  // The file of a backup; its folder is there afterwards.
  Result<std::string> backup_file(const std::string& name);
  Random& random() { return random_; }
  process::Runner& runner() { return runner_; }
  const Keys& keys() const { return keys_; }

 private:
  std::string make_id();

  Disk& disk_;
  Random& random_;
  process::Runner& runner_;
  Keys keys_;
  Place place_;
  std::string process_;
  std::mutex making_;
};

}  // namespace sluice::deploy
