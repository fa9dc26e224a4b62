// Where programs of this machine find whom to trust: the system's store, which curl, git and most libraries read, and
// the stores of browsers (NSS). An authority of Sluice is put into them, and taken out again, under a name of its own.
#pragma once

#include <string>
#include <vector>

#include "base/disk.h"
#include "base/result.h"
#include "base/terminal.h"
#include "process/run.h"

namespace sluice::cli {

class MachineTrust {
 public:
  MachineTrust(Disk& disk, process::Runner& runner, const Variables& variables)
      : disk_(disk), runner_(runner), variables_(variables) {}

  // What was done or could not be: a store, and empty, or why not.
  struct Step {
    std::string store;
    std::string trouble;
  };
  // `label` is unique to the authority; stores that are not there are left out.
  std::vector<Step> install(const std::string& label, const std::string& pem);
  std::vector<Step> remove(const std::string& label);
  // The stores that have it.
  std::vector<std::string> holding(const std::string& label);

 private:
  std::string system_file(const std::string& label) const;
  std::vector<std::string> browser_stores();
  Result<process::Ran> run(std::vector<std::string> argv);
  std::string trouble_of(const Result<process::Ran>& ran);

  Disk& disk_;
  process::Runner& runner_;
  const Variables& variables_;
};

}  // namespace sluice::cli
