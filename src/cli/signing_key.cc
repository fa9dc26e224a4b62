// The operator's key comes by way of the engine, which makes it and knows whether anything about trust was decided.
#include "cli/signing_key.h"

#include <algorithm>
#include <boost/json.hpp>

#include "cli/deploy_home.h"
#include "crypto/key_file.h"

namespace sluice::cli {

std::vector<Option> signing_options() {
  std::vector<Option> options = {{.name = "key",
                                  .value = "FILE",
                                  .help = "sign with this private key; else with the operator's",
                                  .kind = Kind::path}};
  for (Option& each : call_options()) options.push_back(std::move(each));
  return options;
}

Result<crypto::PrivateKey> signing_key(Context& context) {
  if (context.given.has("key")) return crypto::load_private_key(context.disk, context.given.text("key"));
  auto home = open_deploy_home_to_read(context);
  if (!home) return home.error();
  std::vector<std::string> known;
  auto anybody_trusted = [&]() -> Result<bool> {
    auto listed = (*home)->ask("Trust/list", {});
    if (!listed) return listed.error();
    known.clear();
    for (const json::value& each : listed->fields.at("keys").as_array()) known.emplace_back(each.at("key").as_string());
    return !known.empty();
  };
  // Where somebody is trusted, something was decided: nothing is left to write down, so nobody is waited for.
  auto decided = *home ? anybody_trusted() : Result<bool>(false);
  if (!decided) return decided.error();
  if (!*decided && (!*home || (*home)->reads_copy())) {
    home->reset();
    auto to_write = DeployHome::open(context);
    if (!to_write) return to_write.error();
    *home = *std::move(to_write);
    decided = anybody_trusted();
    if (!decided) return decided.error();
  }
  auto key = (*home)->operator_key();
  if (!key) return key;
  if (*decided) {
    const std::string id = key->public_key().key_id();
    if (std::ranges::find(known, id) == known.end()) {
      context.output.warn("the operator's key " + id + " is not trusted here, so what it signs is not either");
      context.output.note("next:  sluice trust bootstrap --env local trusts it");
    }
    return key;
  }
  auto answer = (*home)->call("Trust/open", {{"publicKey", key->public_key().to_pem()}});
  if (!answer) return answer.error();
  if (answer->code != Code::ok) return refusal_of(*answer);
  if (answer->fields.at("trusted").as_bool()) {
    context.output.note("made the operator's key " + answer->text("key") + ", trusted for all bundles in local");
  }
  return key;
}

}  // namespace sluice::cli
