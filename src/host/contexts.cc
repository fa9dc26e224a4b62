// One small file, replaced whole.
#include "host/contexts.h"

#include <charconv>

#include "base/atomic_file.h"
#include "base/json.h"
#include "base/json_reader.h"
#include "base/json_writer.h"
#include "base/lock_file.h"
#include "host/openid.h"

namespace sluice::host {
namespace {

constexpr size_t kMaxBytes = size_t{1} << 20U;

std::string file_in(const std::filesystem::path& keys) { return (keys / "contexts.json").string(); }

}  // namespace

std::optional<ServerContext> Contexts::server() const {
  auto found = servers.find(current);
  return found == servers.end() ? std::nullopt : std::optional(found->second);
}

Result<Contexts> read_contexts(Disk& disk, const Home& home) {
  auto keys = home.check("keys");
  if (!keys) return keys.error();
  const std::string path = file_in(*keys);
  auto text = read_file(disk, path, kMaxBytes);
  if (!text && text.error().code == Code::not_found) return Contexts();
  if (!text) return text.error();
  auto document = parse_json(*text, path);
  if (!document) return document.error();
  return ::sluice::read<Contexts>(*document);
}

Result<void> write_contexts(Disk& disk, const Home& home, const Contexts& contexts) {
  auto keys = home.folder("keys");
  if (!keys) return keys.error();
  return write_atomically(disk, file_in(*keys), write(::sluice::to_json(contexts)) + "\n", 0600);
}

Result<Contexts> read_renewed_contexts(Disk& disk, const Home& home, Clock& clock) {
  constexpr int64_t kBefore_s = 30;
  constexpr int64_t kRenew_ms = 20'000;
  auto is_due = [&](const Contexts& contexts) {
    auto server = contexts.server();
    if (!server || !server->sso) return false;
    const std::string ends = unverified_claim(server->token, "exp");
    int64_t ends_s = 0;
    std::from_chars(ends.data(), ends.data() + ends.size(), ends_s);
    return ends_s - kBefore_s <= clock.wall_ms() / 1000;
  };
  auto contexts = read_contexts(disk, home);
  if (!contexts || !is_due(*contexts)) return contexts;
  auto keys = home.folder("keys");
  if (!keys) return keys.error();
  auto lock = LockFile::acquire(disk, clock, (*keys / "contexts.lock").string(), kRenew_ms);
  if (!lock) return lock.error();
  contexts = read_contexts(disk, home);
  if (!contexts || !is_due(*contexts)) return contexts;
  ServerContext& server = contexts->servers.at(contexts->current);
  auto tokens = refresh_tokens(server.sso->token_endpoint, server.sso->client, server.sso->refresh_token, clock);
  if (!tokens) {
    return Error{.code = tokens.error().code,
                 .message = "the login at " + server.url + " has ended: " + tokens.error().message,
                 .next = "sluice login " + server.url + " --sso --name " + contexts->current};
  }
  server.token = tokens->id_token;
  if (!tokens->refresh_token.empty()) server.sso->refresh_token = tokens->refresh_token;
  if (auto kept = write_contexts(disk, home, *contexts); !kept) return kept.error();
  return contexts;
}

Result<ServerAddress> address_in(const std::string& url) {
  constexpr std::string_view kScheme = "http://", kTlsScheme = "https://";
  const bool tls = url.starts_with(kTlsScheme);
  std::string rest = tls ? url.substr(kTlsScheme.size()) : url.starts_with(kScheme) ? url.substr(kScheme.size()) : "";
  if (rest.ends_with('/')) rest.pop_back();
  const bool bare = rest.find(':') == std::string::npos || rest.ends_with(']');
  if (tls && bare && !rest.empty()) rest += ":443";
  const size_t colon = rest.rfind(':');
  ServerAddress where{.address = rest.substr(0, colon == std::string::npos ? 0 : colon), .tls = tls};
  if (where.address.starts_with('[') && where.address.ends_with(']')) {
    where.address = where.address.substr(1, where.address.size() - 2);
  }
  if (!tls && where.address == "localhost") where.address = "127.0.0.1";
  const std::string port = colon == std::string::npos ? "" : rest.substr(colon + 1);
  auto [end, failure] = std::from_chars(port.data(), port.data() + port.size(), where.port);
  if (where.address.empty() || port.empty() || failure != std::errc() || end != port.data() + port.size()) {
    return Error{.code = Code::usage,
                 .message = "'" + url + "' is no address of a server",
                 .next = "write https://HOST:PORT, or http://127.0.0.1:PORT on this machine"};
  }
  if (!tls && !where.address.starts_with("127.") && where.address != "::1") {
    return Error{
        .code = Code::usage,
        .message = url + " is not on this machine, and the token would cross the network in the clear",
        .next = "log in to https://" + where.address + ", or lead a port of this machine there, as ssh -L does"};
  }
  return where;
}

}  // namespace sluice::host
