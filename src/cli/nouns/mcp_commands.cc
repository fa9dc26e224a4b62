// sluice mcp: the tools of this home for an agent that starts this command and speaks the Model Context Protocol with
// it, line by line.
#include <iostream>

#include "base/clock.h"
#include "cli/all_commands.h"
#include "cli/context.h"
#include "cli/opening.h"
#include "host/background.h"
#include "host/home_store.h"
#include "host/remote_door.h"
#include "mcp/bridge.h"

namespace sluice::cli {
namespace mcp_commands {

Result<Code> run(Context& context) {
  auto opening = opening_of(context);
  if (!opening) return opening.error();
  RealClock clock;
  if (!opening->server) {
    auto started = host::ensure_serve(context.disk, opening->home, clock);
    if (!started) return started.error();
    if (*started) context.output.note("started sluice serve; sluice stop ends it");
  }
  mcp::Bridge bridge({.connect = [&]() -> Result<std::unique_ptr<http::Client>> {
                        if (!opening->server) return http::Client::to_unix(host::socket_of(opening->home), clock);
                        return host::connect_to(*opening->server, clock);
                      },
                      .token = opening->server ? opening->server->token : "",
                      .say =
                          [&](const std::string& line) {
                            context.output.print_text(line + "\n");
                            context.output.flush();
                          }});
  std::string line;
  while (std::getline(context.in, line)) bridge.take(line);
  bridge.finish();
  return Code::ok;
}

}  // namespace mcp_commands

void add_mcp_commands(Commands& commands) {
  commands.add(
      {.name = "mcp",
       .group = Group::team,
       .summary = "Let an agent use this home, over standard input and output",
       .details = "Speaks the Model Context Protocol, one message a line, as clients expect of a program that they "
                  "start. The agent may do what you may do, and what shifts traffic or destroys something only after "
                  "a preview. Starts sluice serve if it does not run; what it says goes to standard error. With "
                  "`sluice context use` the agent works on that server.\n\nAgents elsewhere send the same messages to "
                  "POST /mcp of a `sluice serve --listen`.",
       .example = "sluice mcp",
       .run = mcp_commands::run});
}

}  // namespace sluice::cli
