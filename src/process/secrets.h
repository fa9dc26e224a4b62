// How secrets reach a program without a file, a command line or another process's environment seeing them: the
// controller writes them into a sealed file in memory that the supervisor inherits; the program gets each as a variable
// of its own, or as a sealed file in memory of which the variable names the path.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "process/system.h"
#include "process/workload.h"

namespace sluice::process {

using Secrets = std::map<std::string, std::string>;

// What the supervisor inherits.
Result<Descriptor> seal(const Secrets& secrets);

// What is in it. Errors quote nothing.
Result<Secrets> unseal(std::string_view sealed);

// What the program inherits.
class HandedSecrets {
 public:
  static Result<HandedSecrets> take(std::string_view sealed, SecretsAs as);

  const std::map<std::string, std::string>& variables() const { return variables_; }
  // Files, in the order in which the variables name them from descriptor 3 on.
  std::vector<int> descriptors() const;

 private:
  std::map<std::string, std::string> variables_;
  std::vector<Descriptor> files_;
};

}  // namespace sluice::process
