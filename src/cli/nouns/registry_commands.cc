// sluice registry: the logins by which an environment pulls from OCI registries.
#include <boost/json.hpp>

#include "base/table.h"
#include "cli/action_command.h"
#include "cli/all_commands.h"
#include "cli/call_options.h"
#include "cli/secret_input.h"

namespace sluice::cli {
namespace registry_commands {

using deploy::views::MeantNames;

const Arg kHost{.name = "host", .help = "HOST or HOST:PORT, such as registry.example"};

Result<json::object> with_login(Context& context, const MeantNames&) {
  const std::string user = context.given.text("username");
  if (user.empty() || user.find(':') != std::string::npos) {
    return Error{.code = Code::usage, .message = "say with --username who logs in; a name has no colon"};
  }
  auto password = read_secret_value(context, "the password of " + user);
  if (!password) return password.error();
  return json::object{{"host", context.given.text("host")}, {"credentials", user + ":" + *password}};
}

Result<json::object> host_alone(Context& context, const MeantNames&) {
  return json::object{{"host", context.given.text("host")}};
}

std::string where(const MeantNames& meant, const host::Answer& answer) {
  return meant.environment + (answer.text("host").empty() ? "" : " at " + answer.text("host"));
}

Result<Code> list(Context& context) {
  auto door = CommandDoor::open(context);
  if (!door) return door.error();
  auto answer = (*door)->call("Registry/list", {{"environment", context.given.text("env")}});
  if (!answer) return answer.error();
  if (answer->code != Code::ok) return refusal_in_words(context, *answer);
  context.output.print(answer->fields.at("logins"), [&](const Terminal& terminal) {
    Table table{.columns = {{.title = "HOST", .whole = true}, {"SECRET"}, {"SINCE"}}, .empty = "There are no logins."};
    for (const json::value& each : answer->fields.at("logins").as_array()) {
      table.rows.push_back({{std::string(each.at("host").as_string())},
                            {std::string(each.at("secret").as_string())},
                            {std::string(each.at("since").as_string())}});
    }
    return render(table, terminal);
  });
  return Code::ok;
}

}  // namespace registry_commands

void add_registry_commands(Commands& commands) {
  using namespace registry_commands;
  commands.add_noun({.name = "registry", .group = Group::operate, .summary = "Log environments in to OCI registries"});
  commands.add(command_of(
      {.name = "registry login",
       .action = "Registry/login",
       .about = About::environment,
       .summary = "Try a login at a registry and keep it for an environment",
       .details = "The password is typed at a prompt, piped in, or read from a file; it becomes one of the "
                  "environment's secrets, and is used when the environment pulls from there.\n\nFor instance: sluice "
                  "registry login prod-eu registry.example --username ci --file password.txt",
       .example = "sluice registry login local 127.0.0.1:5000 --username ci --file password.txt",
       .args = {kHost},
       .options = {{.name = "username", .value = "NAME", .help = "who logs in"},
                   {.name = "file", .value = "FILE", .help = "read the password from this file", .kind = Kind::path}},
       .fill = with_login,
       .done = "logged in",
       .what = where}));
  commands.add(command_of({.name = "registry logout",
                           .action = "Registry/logout",
                           .about = About::environment,
                           .summary = "Forget an environment's login at a registry",
                           .example = "sluice registry logout local 127.0.0.1:5000",
                           .args = {kHost},
                           .fill = host_alone,
                           .done = "logged out",
                           .what = where}));
  commands.add({.name = "registry list",
                .summary = "List the registries that an environment is logged in to",
                .args = {environment_arg()},
                .options = reading_options(),
                .example = "sluice registry list local",
                .run = list});
}

}  // namespace sluice::cli
