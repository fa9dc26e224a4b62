// The operator's key comes by way of the engine, which makes it and knows whether anything about trust was decided.
#include "cli/signing_key.h"

#include <algorithm>
#include <boost/json.hpp>

#include "cli/call_options.h"
#include "cli/call_words.h"
#include "cli/command_door.h"
#include "cli/opening.h"
#include "crypto/key_file.h"
#include "trust.gen.h"

namespace sluice::cli {

std::vector<Option> signing_options() {
  std::vector<Option> options = {{.name = "key",
                                  .value = "FILE",
                                  .help = "sign with this private key; else with the operator's",
                                  .kind = Kind::path}};
  for (Option& each : call_options()) options.push_back(std::move(each));
  return options;
}

namespace {

// Commands go to another server, which has no say in who signs here: no engine of this home makes the key then.
Result<crypto::PrivateKey> own_key(Context& context, const host::Home& home) {
  auto keys = home.folder("keys");
  if (!keys) return keys.error();
  const std::string path = (*keys / "operator.pem").string();
  auto exists = context.disk.exists(path);
  if (!exists) return exists.error();
  if (!*exists) {
    const auto made = crypto::PrivateKey::generate();
    if (auto stored = crypto::store_private_key(context.disk, path, made); !stored) return stored.error();
    context.output.note("made the operator's key " + made.public_key().key_id() +
                        "; a server runs what it signs once it is trusted there");
  }
  return crypto::load_private_key(context.disk, path);
}

}  // namespace

Result<crypto::PrivateKey> signing_key(Context& context) {
  if (context.given.has("key")) return crypto::load_private_key(context.disk, context.given.text("key"));
  auto home = home_of(context);
  if (!home) return home.error();
  auto opening = opening_of(context);
  if (!opening) return opening.error();
  if (opening->server) return own_key(context, *home);
  auto door = CommandDoor::open(context);
  if (!door) return door.error();
  auto trusted = (*door)->read<deploy::trust::List::Ok>("trust");
  if (!trusted) return trusted.error();
  auto operator_key = [&] {
    return crypto::load_private_key(context.disk, (home->root() / "keys" / "operator.pem").string());
  };
  // Where somebody is trusted, something was decided: nothing is left to write down, so nobody is waited for.
  if (!trusted->keys.empty()) {
    auto key = operator_key();
    if (!key && key.error().code == Code::not_found) {
      if (auto opened = (*door)->call("Env/open", {}, host::WaitFor::answer, "open"); !opened) return opened.error();
      key = operator_key();
    }
    if (!key) return key;
    const std::string id = key->public_key().key_id();
    if (std::ranges::none_of(trusted->keys, [&](const auto& each) { return each.key.text() == id; })) {
      context.output.warn("the operator's key " + id + " is not trusted here, so what it signs is not either");
      context.output.note("next:  sluice trust bootstrap --env local trusts it");
    }
    return key;
  }
  // The key is made with the first thing that is written.
  if (auto opened = (*door)->call("Env/open", {}, host::WaitFor::answer, "open"); !opened) return opened.error();
  auto key = operator_key();
  if (!key) return key;
  auto answer = (*door)->call("Trust/open", {{"publicKey", key->public_key().to_pem()}});
  if (!answer) return answer.error();
  if (answer->code != Code::ok) return refusal_in_words(context, *answer);
  if (answer->fields.at("trusted").as_bool()) {
    context.output.note("made the operator's key " + answer->text("key") + ", trusted for all bundles in local");
  }
  return key;
}

}  // namespace sluice::cli
