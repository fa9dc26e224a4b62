// What a plugin prints comes back whole: what is a credential among it is found by kube/access.h.
#include "deploy/executor/exec_plugin.h"

#include <unistd.h>

#include <map>
#include <string>

namespace sluice::deploy::executor {
namespace {

std::map<std::string, std::string> own_environment() {
  std::map<std::string, std::string> all;
  for (char** each = environ; each != nullptr && *each != nullptr; ++each) {
    const std::string entry(*each);
    const size_t equals = entry.find('=');
    if (equals != std::string::npos) all.emplace(entry.substr(0, equals), entry.substr(equals + 1));
  }
  return all;
}

}  // namespace

kube::RunPlugin plugin_runner(process::Runner& runner) {
  return [&runner](const kube::ExecPlugin& plugin) -> Result<std::string> {
    std::map<std::string, std::string> environment = plugin.environment;
    environment.merge(own_environment());
    auto ran = runner.run({.argv = plugin.command, .folder = "/", .environment = std::move(environment)},
                          [] { return false; });
    if (!ran) return ran.error();
    if (!ran->good()) {
      return Error{.code = Code::unauthenticated,
                   .message = plugin.command.front() + " " + process::to_string(*ran),
                   .next = plugin.hint};
    }
    return ran->tail;
  };
}

}  // namespace sluice::deploy::executor
