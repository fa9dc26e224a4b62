// sluice replicas: the control planes that share a store.
#include <boost/json.hpp>

#include "base/json.h"
#include "base/json_reader.h"
#include "base/table.h"
#include "cli/all_commands.h"
#include "cli/context.h"
#include "cli/opening.h"
#include "cli/outputs.h"
#include "crypto/hex.h"
#include "host/exchange.h"
#include "host/home_store.h"
#include "host/link/membership.h"
#include "host/postgres_home.h"
#include "host/problem.h"
#include "host/remote_door.h"

namespace sluice::cli {
namespace replicas_commands {

// The control plane that commands go to.
Result<std::unique_ptr<host::RemoteDoor>> door_of(Context& context, const Clock& clock) {
  auto opening = opening_of(context);
  if (!opening) return opening.error();
  const host::RemoteWords words{.purpose = context.given.command->name};
  if (opening->server) return host::RemoteDoor::open(*opening->server, clock, words);
  auto door = host::RemoteDoor::open(host::socket_of(opening->home), clock, words);
  if (door || door.error().code != Code::not_found) return door;
  return Error{.code = Code::not_found,
               .message = "sluice serve does not run, so nobody here knows of replicas",
               .next = "sluice serve --replica NAME --store postgresql://USER@HOST/DATABASE"};
}

Result<Code> list(Context& context) {
  RealClock clock;
  auto door = door_of(context, clock);
  if (!door) return door.error();
  auto status = (*door)->status();
  if (!status) return status.error();
  const json::value* rows = status->if_contains("replicas");
  if (rows == nullptr) {
    return Error{.code = Code::conflict,
                 .message = "the store of this control plane is in its home, so it has no replicas",
                 .next = "sluice serve --store postgresql://USER@HOST/DATABASE"};
  }
  auto replicas = read<std::vector<outputs::KnownReplica>>(*rows);
  if (!replicas) return replicas.error();
  context.output.print(to_json(*replicas), [&](const Terminal& terminal) {
    Table table{.columns = {{"REPLICA"}, {"ROLE"}, {"URL"}, {"HEARD OF", Align::right}}, .rows = {}, .empty = ""};
    for (const auto& each : *replicas) {
      table.rows.push_back({{printable(each.name)},
                            {each.leads ? "leads" : "follows", each.leads ? Style::good : Style::plain},
                            {printable(each.url)},
                            {std::to_string(each.silentMs / 1000) + " s ago"}});
    }
    return render(table, terminal);
  });
  return Code::ok;
}

Result<Code> token(Context& context) {
  RealClock clock;
  auto door = door_of(context, clock);
  if (!door) return door.error();
  auto made = (*door)->join_token();
  if (!made) return made.error();
  auto shown = read<outputs::JoinToken>(json::value(*made));
  if (!shown) return shown.error();
  context.output.print(to_json(*shown), [&](const Terminal&) { return shown->token + "\n"; });
  context.output.note("It is good once, until " + shown->expires + "; in an empty home on the other machine: sluice " +
                      "replicas join " + shown->url + " --token …");
  return Code::ok;
}

Result<Code> join(Context& context) {
  auto home = home_of(context);
  if (!home) return home.error();
  const std::string url = context.given.text("url"), token = context.given.text("token");
  if (token.empty()) {
    return Error{.code = Code::usage,
                 .message = "a home joins with a token, which is missing",
                 .next = "sluice replicas token, at the control plane to join"};
  }
  for (const char* each : {"store/store.db", "keys/operator.pem", "keys/cluster.key"}) {
    const std::string path = (home->root() / each).string();
    auto exists = context.disk.exists(path);
    if (!exists) return exists.error();
    if (!*exists) continue;
    return Error{.code = Code::conflict,
                 .message = "this home is in use already: there is " + path + "; nothing was sent",
                 .next = "take an empty home: export SLUICE_HOME=/another/folder"};
  }
  RealClock clock;
  auto server = host::server_of_token(url, token, "sluice replicas token", clock);
  if (!server) return server.error();
  auto client = host::connect_to(*server, clock);
  if (!client) return client.error();
  auto reply = host::exchange(**client, host::post({"v1", "replicas", "join"}, json::object{{"token", token}}));
  if (!reply) return reply.error();
  if (reply->refused()) return host::error_in(reply->body);
  const json::object* said = reply->body.if_object();
  const json::value* hex = said != nullptr ? said->if_contains("key") : nullptr;
  auto bytes = crypto::from_hex(hex != nullptr && hex->is_string() ? std::string_view(hex->get_string()) : "");
  if (!bytes || bytes->empty()) return Error{.message = "the server's answer has no key"};
  const auto key = crypto::SecretBuffer::copy_of(*bytes);
  crypto::wipe(*bytes);
  if (auto stored = host::store_cluster_key(context.disk, *home, key); !stored) return stored.error();
  const outputs::Joined shown{.joined = url};
  context.output.print(to_json(shown), [&](const Terminal& terminal) {
    return terminal.paint(Style::good, "joined") + "  " + printable(url) + "\n";
  });
  context.output.note("next: sluice serve --replica NAME --listen ADDRESS:PORT --tls-own --store URL");
  return Code::ok;
}

}  // namespace replicas_commands

void add_replicas_commands(Commands& commands) {
  using namespace replicas_commands;
  commands.add_noun({.name = "replicas",
                     .group = Group::operate,
                     .summary = "Run several control planes on one store in PostgreSQL"});
  commands.add({.name = "replicas list",
                .summary = "List who shares the store, and which of them leads",
                .example = "sluice replicas list",
                .run = list});
  commands.add({.name = "replicas token",
                .summary = "Make a token with which another home may join",
                .details = "It is good once and for an hour, and names the authority that certifies this server. Who "
                           "has it can open everything that is sealed in the store, so it is for the operator of the "
                           "other machine alone.",
                .example = "sluice replicas token",
                .run = token});
  commands.add({.name = "replicas join",
                .summary = "Make an empty home one of a replica",
                .details = "The home gets the key of the cluster, in keys/cluster.key, with which it opens what is "
                           "sealed in the store; sluice serve --replica brings the rest.",
                .args = {{.name = "url", .help = "of a replica, such as https://sluice.example:8443"}},
                .options = {{.name = "token", .value = "TOKEN", .help = "from sluice replicas token"}},
                .example = "sluice replicas join https://sluice.example:8443 --token slj_TOKEN",
                .run = join});
}

}  // namespace sluice::cli
