// A load checker that never retries: router_checker upstream ENDPOINT NAME, or router_checker load ENDPOINT with
// options. What is counted is in checker_load.h.
#include <cstdlib>
#include <string>
#include <vector>

#include "checker_load.h"
#include "checker_upstream.h"
#include "checker_wire.h"

namespace sluice::checker {
namespace {

int load(const std::vector<std::string>& words) {
  Load wanted{.endpoint = words.at(1)};
  for (size_t i = 2; i < words.size(); ++i) {
    const std::string& name = words[i];
    auto value = [&] {
      if (i + 1 >= words.size()) give_up(name + " needs a value");
      return words[++i];
    };
    auto number = [&] { return std::atof(value().c_str()); };
    if (name == "--host") {
      wanted.host = value();
    } else if (name == "--connections") {
      wanted.connections = static_cast<int>(number());
    } else if (name == "--sockets") {
      wanted.sockets = static_cast<int>(number());
    } else if (name == "--no-reopen") {
      wanted.reopen_sockets = false;
    } else if (name == "--seconds") {
      wanted.seconds = number();
    } else if (name == "--requests") {
      wanted.requests = static_cast<uint64_t>(number());
    } else if (name == "--churn") {
      wanted.churn = static_cast<int>(number());
    } else if (name == "--post") {
      wanted.post_pct = static_cast<int>(number());
    } else if (name == "--rate") {
      wanted.rate = number();
    } else if (name == "--sticky") {
      wanted.sticky = true;
    } else if (name == "--sessions") {
      wanted.sessions = true;
    } else if (name == "--may-move") {
      wanted.may_move = true;
    } else if (name == "--size") {
      wanted.sizes = {static_cast<uint64_t>(number())};
    } else {
      give_up("unknown option " + name);
    }
  }
  return run(wanted);
}

}  // namespace
}  // namespace sluice::checker

int main(int count, char** words) {
  std::vector<std::string> given(words + 1, words + count);
  if (given.size() == 3 && given[0] == "upstream") sluice::checker::serve(given[1], given[2]);
  if (given.size() >= 2 && given[0] == "load") return sluice::checker::load(given);
  sluice::checker::give_up("usage: router_checker upstream ENDPOINT NAME | load ENDPOINT [OPTION…]");
}
