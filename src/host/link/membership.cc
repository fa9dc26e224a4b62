// The key is written before anything is asked for, and what says that the home has joined comes last.
#include "host/link/membership.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/json.hpp>

#include "base/atomic_file.h"
#include "base/json.h"
#include "base/json_reader.h"
#include "base/json_writer.h"
#include "base/random.h"
#include "base/ulid.h"
#include "crypto/base64.h"
#include "crypto/x509.h"
#include "host/exchange.h"
#include "host/join_tokens.h"
#include "host/link/joined_routers.h"
#include "host/problem.h"
#include "host/remote_door.h"

namespace sluice::host {
namespace {

constexpr size_t kMostMembership = size_t{1} << 20U;

struct JoinedAnswer {
  std::string certificate, environment;
  std::vector<std::string> trust, urls;
};
BOOST_DESCRIBE_STRUCT(JoinedAnswer, (), (certificate, environment, trust, urls))

std::string file_in(const Home& home, const char* name) { return (home.root() / "router" / name).string(); }

std::string own_machine() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

Result<crypto::SigningRequest> request_with(Disk& disk, const Home& home) {
  auto key = read_file(disk, file_in(home, "link.key"), kMostMembership);
  if (!key && key.error().code != Code::not_found) return key.error();
  auto request = crypto::make_signing_request({"router"}, key ? std::string_view(*key) : std::string_view());
  if (!request || key) return request;
  auto kept = write_atomically(disk, file_in(home, "link.key"), request->key_pem.reveal(), 0600);
  if (!kept) return kept.error();
  return request;
}

// The id that the router in this folder has from then on.
Result<std::string> identity_of_router(Disk& disk, const Clock& clock, const std::string& folder) {
  auto known = read_file(disk, folder + "/identity", 100);
  if (known && Ulid::parse(known->substr(0, Ulid::kTextLength))) return known->substr(0, Ulid::kTextLength);
  RealRandom random;
  UlidSource ids(clock, random);
  std::string made = to_string(ids.next());
  if (auto written = write_atomically(disk, folder + "/identity", made + "\n", 0600); !written) return written.error();
  return made;
}

Result<void> check_free(Disk& disk, const Home& home) {
  for (const char* each : {"store/store.db", "keys/operator.pem", "keys/cluster.key", "router/link.json"}) {
    const std::string path = (home.root() / each).string();
    auto exists = disk.exists(path);
    if (!exists) return exists.error();
    if (!*exists) continue;
    return Error{.code = Code::conflict,
                 .message = "this home is in use already: there is " + path + "; nothing was sent",
                 .next = "take an empty home: export SLUICE_HOME=/another/folder"};
  }
  return {};
}

Result<json::value> asked(const ServerContext& server, const Clock& clock, const char* last, const json::object& body,
                          int64_t patience_ms) {
  auto client = connect_to(server, clock);
  if (!client) {
    return Error{.code = client.error().code == Code::not_found ? Code::unavailable : client.error().code,
                 .message = "nobody answers at " + server.url + ": " + client.error().message};
  }
  auto reply = exchange(**client, post({"v1", "routers", last}, body), patience_ms);
  if (!reply) return reply.error();
  if (reply->refused()) return error_in(reply->body);
  return std::move(reply->body);
}

}  // namespace

Result<ServerContext> server_of_token(const std::string& url, const std::string& token, const std::string& again,
                                      const Clock& clock) {
  ServerContext server{.url = url, .token = "", .ca = ""};
  auto where = address_in(url);
  if (!where) return where.error();
  const std::string pinned = fingerprint_in(token);
  if (!where->tls || pinned.empty()) return server;
  auto chain = http::chain_shown_at(where->address, where->port, clock);
  if (!chain) return chain.error();
  auto facts = crypto::read_certificates(*chain);
  if (!facts) return facts.error();
  if (facts->back().fingerprint != pinned) {
    return Error{.code = Code::verification_failed,
                 .message = url + " shows the authority " + facts->back().fingerprint + ", and this token is for " +
                            pinned + "; nothing was sent",
                 .next = again + ", at the control plane that you mean"};
  }
  server.ca = chain->substr(chain->rfind("-----BEGIN CERTIFICATE-----"));
  return server;
}

Result<Membership> join_as_router(Disk& disk, const Home& home, const Clock& clock, const RouterJoin& join) {
  if (auto free = check_free(disk, home); !free) return free.error();
  auto server = server_of_token(join.url, join.token, "sluice router token", clock);
  if (!server) return server.error();
  auto routers = home.folder("router");
  if (!routers) return routers.error();
  Membership membership{
      .name = join.name.empty() ? own_machine() : join.name, .url = join.url, .ca = server->ca, .listen = join.listen};
  std::ranges::replace(membership.name, '.', '-');
  if (!is_router_name(membership.name)) {
    return Error{.code = Code::usage, .message = "--name: expected at most 40 letters, digits, - and _"};
  }
  const std::string folder = (*routers / membership.name).string();
  if (auto made = disk.make_folder(folder, 0700); !made && made.error().code != Code::conflict) return made.error();
  auto router = identity_of_router(disk, clock, folder);
  if (!router) return router.error();
  membership.router = *std::move(router);
  auto request = request_with(disk, home);
  if (!request) return request.error();
  auto said = asked(*server, clock, "join",
                    {{"token", join.token},
                     {"name", membership.name},
                     {"router", membership.router},
                     {"machine", own_machine()},
                     {"request", crypto::to_base64(request->der)}},
                    kExchange_ms);
  if (!said) return said.error();
  auto answer = read<JoinedAnswer>(*said);
  if (!answer) return answer.error();
  membership.environment = std::move(answer->environment);
  membership.trust = std::move(answer->trust);
  membership.urls = std::move(answer->urls);
  if (auto trusted = trusted_by(membership); !trusted) return trusted.error();
  auto kept = write_atomically(disk, file_in(home, "link.pem"), answer->certificate, 0600);
  if (kept) kept = write_membership(disk, home, membership);
  if (!kept) return kept.error();
  return membership;
}

Result<std::optional<Membership>> read_membership(Disk& disk, const Home& home) {
  auto text = read_file(disk, file_in(home, "link.json"), kMostMembership);
  if (!text && text.error().code == Code::not_found) return std::optional<Membership>();
  if (!text) return text.error();
  auto document = parse_json(*text, file_in(home, "link.json"));
  if (!document) return document.error();
  auto membership = read<Membership>(*document);
  if (!membership) return membership.error();
  return std::optional(*std::move(membership));
}

Result<void> write_membership(Disk& disk, const Home& home, const Membership& membership) {
  return write_atomically(disk, file_in(home, "link.json"), write(::sluice::to_json(membership)) + "\n", 0600);
}

Result<std::vector<crypto::PublicKey>> trusted_by(const Membership& membership) {
  std::vector<crypto::PublicKey> all;
  for (const std::string& each : membership.trust) {
    auto key = crypto::PublicKey::from_pem(each);
    if (!key) return key.error();
    all.push_back(*key);
  }
  return all;
}

Result<LinkIdentity> link_identity(Disk& disk, const Home& home) {
  auto chain = read_file(disk, file_in(home, "link.pem"), kMostMembership);
  if (!chain) return chain.error();
  auto key = read_file(disk, file_in(home, "link.key"), kMostMembership);
  if (!key) return key.error();
  auto facts = crypto::read_certificates(*chain);
  if (!facts) return facts.error();
  return LinkIdentity{*std::move(chain), *std::move(key), facts->front().until_ms};
}

std::vector<std::string> urls_of(const Membership& membership) {
  std::vector<std::string> all;
  auto add = [&](const std::string& url) {
    if (!url.empty() && std::ranges::find(all, url) == all.end()) all.push_back(url);
  };
  for (const std::string& each : membership.urls) add(each);
  add(membership.url);
  return all;
}

Result<void> renew_membership(Disk& disk, const Home& home, const Clock& clock, const Membership& membership,
                              int64_t patience_ms) {
  auto identity = link_identity(disk, home);
  if (!identity) return identity.error();
  auto request = request_with(disk, home);
  if (!request) return request.error();
  Error last{.code = Code::unavailable, .message = "no address of the control plane is known"};
  for (const std::string& url : urls_of(membership)) {
    auto said =
        asked({.url = url, .token = "", .ca = membership.ca}, clock, "renew",
              {{"certificate", identity->chain_pem}, {"request", crypto::to_base64(request->der)}}, patience_ms);
    const json::object* answer = said ? said->if_object() : nullptr;
    const json::value* chain = answer != nullptr ? answer->if_contains("certificate") : nullptr;
    if (chain != nullptr && chain->is_string()) {
      return write_atomically(disk, file_in(home, "link.pem"), std::string_view(chain->get_string()), 0600);
    }
    last = said ? Error{.message = "the answer of " + url + " has no certificate"} : said.error();
  }
  return last;
}

}  // namespace sluice::host
