// Looks along PATH as a shell does.
#include "process/find_program.h"

#include <unistd.h>

#include <algorithm>

namespace sluice::process {

Result<std::string> find_program(const std::string& name, const std::string& folder,
                                 const std::map<std::string, std::string>& environment) {
  if (name.starts_with('/')) return name;
  if (name.find('/') != std::string::npos) return folder + "/" + name;
  auto found = environment.find("PATH");
  std::string path = found == environment.end() ? "" : found->second;
  for (size_t begin = 0; begin <= path.size();) {
    size_t end = std::min(path.find(':', begin), path.size());
    std::string candidate = path.substr(begin, end - begin) + "/" + name;
    begin = end + 1;
    if (candidate.starts_with('/') && ::access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return Error{.code = Code::not_found, .message = "there is no program " + name + " on PATH"};
}

}  // namespace sluice::process
