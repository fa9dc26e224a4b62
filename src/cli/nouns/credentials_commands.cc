// sluice credentials: whether what deploys to an environment may do what it must, and what it deploys with.
#include <unistd.h>

#include <boost/json.hpp>
#include <cerrno>
#include <cstring>

#include "base/table.h"
#include "cli/action_command.h"
#include "cli/all_commands.h"
#include "cli/call_options.h"
#include "cli/secret_input.h"
#include "crypto/secret_buffer.h"

namespace sluice::cli {
namespace credentials_commands {

std::string table_of_checks(const json::array& checks, const Terminal& terminal) {
  Table table{.columns = {{"CAPABILITY"}, {"RESULT"}, {"WHY"}}, .empty = "The deployer needs nothing."};
  for (const json::value& each : checks) {
    auto text = [&](const char* name) { return std::string(each.at(name).as_string()); };
    const std::string status = text("status"), fix = text("fix");
    const Style style = status == "pass" ? Style::good : status == "fail" ? Style::bad : Style::warning;
    std::string why = status == "pass" ? text("description") : text("reason");
    if (status == "fail") why = "missing " + text("capability") + ": " + why + (fix.empty() ? "" : "; fix with " + fix);
    table.rows.push_back({{text("capability")}, {status, style}, {why}});
  }
  return render(table, terminal);
}

Result<Code> requirements(Context& context) {
  auto door = CommandDoor::open(context);
  if (!door) return door.error();
  // The environment local is made when something first looks for it.
  const json::object environment{{"environment", context.given.text("env")}};
  if (auto there = (*door)->view("environment", environment); !there) return there.error();
  auto answer = (*door)->call("Credentials/requirements", environment);
  if (!answer) return answer.error();
  if (answer->variant != "ok" && answer->variant != "missing") return refusal_in_words(context, *answer);
  json::object shown = answer->fields;
  shown["result"] = answer->variant == "ok" ? "pass" : "fail";
  context.output.print(shown, [&](const Terminal& terminal) {
    return table_of_checks(answer->fields.at("checks").as_array(), terminal);
  });
  return answer->code;
}

constexpr size_t kMostAdminBytes = 1 << 20;

// What an administrator hands over, from an open descriptor: it has been neither on the disk nor in a command line.
Result<crypto::SecretBuffer> read_descriptor(int64_t fd) {
  crypto::SecretBuffer bytes(kMostAdminBytes);
  size_t size = 0;
  while (size < kMostAdminBytes) {
    const ssize_t got = ::read(static_cast<int>(fd), bytes.writable().data() + size, kMostAdminBytes - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      return Error{.code = Code::usage,
                   .message = "the descriptor " + std::to_string(fd) + " cannot be read: " + std::strerror(errno)};
    }
    if (got == 0) break;
    size += static_cast<size_t>(got);
  }
  if (size > 0 && bytes.reveal()[size - 1] == '\n') --size;
  bytes.shrink(size);
  return bytes;
}

// So that it is not left out: what nobody reads any more need not be written.
template <class Text>
void wipe(Text& text) {
  volatile char* bytes = text.data();
  for (size_t i = 0; i < text.size(); ++i) bytes[i] = 0;
}

Result<Code> print_checked(Context& context, const host::Answer& answer, const std::string& line) {
  if (answer.variant != "ok" && answer.variant != "missing") return refusal_in_words(context, answer);
  context.output.print(answer.fields, [&](const Terminal& terminal) {
    return line + "\n" + table_of_checks(answer.fields.at("checks").as_array(), terminal);
  });
  return answer.code;
}

std::string until(const host::Answer& answer) {
  const std::string expires = answer.text("expiresAt");
  return expires.empty() ? "" : ", good until " + expires;
}

Result<Code> bootstrap(Context& context) {
  const std::string environment = context.given.text("env");
  crypto::SecretBuffer admin;
  if (auto fd = context.given.number("admin-fd")) {
    auto read = read_descriptor(*fd);
    if (!read) return read.error();
    admin = *std::move(read);
  } else {
    auto read = read_unfiled_value(context, "the administrator's credential");
    if (!read) return read.error();
    admin = crypto::SecretBuffer::copy_of(*read);
    wipe(*read);
  }
  if (admin.empty()) {
    return Error{.code = Code::usage, .message = "the administrator's credential is empty; nothing was changed"};
  }
  auto door = CommandDoor::open(context);
  if (!door) return door.error();
  if (auto there = (*door)->view("environment", {{"environment", environment}}); !there) return there.error();
  json::object input{{"environment", environment},
                     {"profile", context.given.text("admin-profile")},
                     {"admin", std::string(admin.reveal())}};
  auto answer = (*door)->call("Credentials/bootstrap", input);
  wipe(input.at("admin").get_string());
  if (!answer) return answer.error();
  return print_checked(context, *answer,
                       answer->variant != "ok" ? answer->text("message")
                       : answer->fields.at("issued") == json::value(true)
                           ? "bootstrapped  " + environment + until(*answer) + "; rules in " + answer->text("rules")
                           : "advised  " + environment + " takes no credential; rules in " + answer->text("rules"));
}

Result<Code> rotate(Context& context) {
  const std::string environment = context.given.text("env");
  auto door = CommandDoor::open(context);
  if (!door) return door.error();
  if (auto there = (*door)->view("environment", {{"environment", environment}}); !there) return there.error();
  json::object input{{"environment", environment}};
  if (context.given.flag("if-needed")) input["ifNeeded"] = true;
  auto answer = (*door)->call("Credentials/rotate", input);
  if (!answer) return answer.error();
  return print_checked(context, *answer,
                       answer->variant != "ok" ? answer->text("message")
                       : answer->fields.at("issued") == json::value(true)
                           ? "rotated  " + environment + until(*answer)
                           : "unchanged  " + environment + until(*answer));
}

}  // namespace credentials_commands

void add_credentials_commands(Commands& commands) {
  using namespace credentials_commands;
  commands.add_noun({.name = "credentials",
                     .group = Group::operate,
                     .summary = "Check what an environment's deployer must be able to do"});
  commands.add({.name = "credentials requirements",
                .summary = "Check every capability that the deployer needs",
                .details = "The result is kept: while something is missing, nothing new is warmed in the environment.",
                .args = {environment_arg()},
                .options = call_options(),
                .example = "sluice credentials requirements local",
                .run = requirements});
  std::vector<Option> admin{{.name = "admin-profile", .value = "NAME", .help = "whose credential it is, for the audit"},
                            {.name = "admin-fd",
                             .value = "N",
                             .help = "an open descriptor to read it from; else what is piped in or typed",
                             .kind = Kind::count}};
  for (Option& each : call_options()) admin.push_back(std::move(each));
  commands.add({.name = "credentials bootstrap",
                .summary = "Create the deployer's credential as an administrator",
                .details =
                    "The credential is piped in, typed, or read from a descriptor; it is used once, wiped, and kept "
                    "nowhere. The low-privilege one that comes of it becomes a secret of the environment. "
                    "rules/ENV/ in the home has what was made, signed, for an administrator to look at.",
                .args = {environment_arg()},
                .options = std::move(admin),
                .example = "sluice credentials bootstrap local --admin-profile ops",
                .run = bootstrap});
  std::vector<Option> rotating{{.name = "if-needed", .help = "only if four fifths of its life are over"}};
  for (Option& each : call_options()) rotating.push_back(std::move(each));
  commands.add({.name = "credentials rotate",
                .summary = "Renew the deployer's credential, and check it again",
                .args = {environment_arg()},
                .options = std::move(rotating),
                .example = "sluice credentials rotate local --if-needed",
                .run = rotate});
}

}  // namespace sluice::cli
