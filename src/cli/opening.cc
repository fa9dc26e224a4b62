// Options that a command does not have are as if they were not given.
#include "cli/opening.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "base/atomic_file.h"
#include "crypto/x509.h"
#include "host/contexts.h"

namespace sluice::cli {
namespace {

// Whoever opens somebody else's home is denied there, and that is recorded: what its owner has logged in to is no
// matter.
Result<host::Contexts> contexts_of(const Context& context, const host::Home& home) {
  auto stat = context.disk.stat(home.root().string(), FollowLinks::no);
  if (stat && stat->kind == FileKind::folder && stat->owner != ::geteuid()) return host::Contexts();
  RealClock clock;
  return host::read_renewed_contexts(context.disk, home, clock);
}

// Where this command goes: to the server that --server names, by its context or its URL, else to the current one. A
// server that nobody has logged in to is called with the token in $SLUICE_TOKEN.
Result<std::optional<host::ServerContext>> server_of(const Context& context, const host::Contexts& contexts) {
  using Found = std::optional<host::ServerContext>;
  const std::string wanted = context.given.text("server");
  if (wanted.empty()) return contexts.server();
  if (wanted == host::kLocalContext) return Found();
  if (auto named = contexts.servers.find(wanted); named != contexts.servers.end()) return Found(named->second);
  if (wanted.find("://") == std::string::npos) {
    return Error{.code = Code::not_found,
                 .message = "there is no context " + wanted + ", and it is no URL",
                 .next = "sluice context list"};
  }
  if (auto address = host::address_in(wanted); !address) return address.error();
  const auto token = context.variables("SLUICE_TOKEN");
  for (const auto& [unused, known] : contexts.servers) {
    if (known.url == wanted && !token) return Found(known);
  }
  if (!token) {
    return Error{.code = Code::unauthenticated,
                 .message = "nobody has logged in to " + wanted + ", and $SLUICE_TOKEN has no token for it",
                 .next = "sluice login " + wanted};
  }
  host::ServerContext server{.url = wanted, .token = *token, .ca = ""};
  if (const auto file = context.variables("SLUICE_SERVER_CA")) {
    auto authority = read_file(context.disk, *file, crypto::kMaxChainBytes);
    if (!authority) return authority.error();
    server.ca = *std::move(authority);
  }
  return Found(std::move(server));
}

}  // namespace

bool takes(const Given& given, std::string_view option) {
  return given.command != nullptr &&
         std::ranges::find(given.command->options, option, &Option::name) != given.command->options.end();
}

Option lock_timeout_option() {
  return {.name = "lock-timeout",
          .value = "TIME",
          .help = "how long to wait for another process that has the store open",
          .kind = Kind::duration,
          .fallback = "10s"};
}

Option customer_option() {
  return {.name = "customer-id", .value = "NAME", .help = "whose, if several customers have one of this name"};
}

Result<host::Home> home_of(const Context& context) { return host::find_home(context.disk, context.variables); }

const host::LoadedConcepts& concepts_of(const Context& context) {
  static const host::LoadedConcepts kNone;
  return context.concepts != nullptr ? *context.concepts : kNone;
}

Result<host::Opening> opening_of(const Context& context) {
  auto home = home_of(context);
  if (!home) return home.error();
  auto contexts = contexts_of(context, *home);
  if (!contexts) return contexts.error();
  const Given& given = context.given;
  auto server = server_of(context, *contexts);
  if (!server) return server.error();
  return host::Opening{.disk = context.disk,
                       .home = *std::move(home),
                       .narrator = context.output,
                       .concepts = concepts_of(context),
                       .purpose = given.command != nullptr ? given.command->name : "",
                       .reason = takes(given, "reason") ? given.text("reason") : "",
                       .server = *std::move(server),
                       .lock_timeout_ms = takes(given, "lock-timeout") ? given.number("lock-timeout").value_or(0) : 0};
}

Result<host::KitPlace> kit_place_of(const Context& context, const std::string& given) {
  return host::place_of_kit(given, home_of(context), context.output);
}

std::string absolute_folder(const std::string& kit) {
  std::error_code ignored;
  return host::is_built_in(kit) ? kit : std::filesystem::absolute(kit, ignored).lexically_normal().string();
}

lang::Checked check_kit_at(const Context& context, const host::KitPlace& place, bool strict) {
  return host::check_place(place, strict, context.disk, context.output);
}

}  // namespace sluice::cli
