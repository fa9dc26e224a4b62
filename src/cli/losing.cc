// Who cannot answer is not asked.
#include "cli/losing.h"

#include <boost/json.hpp>
#include <ostream>

#include "cli/outputs.h"
#include "cli/prompt.h"
#include "host/kit_place.h"

namespace sluice::cli {

Result<bool> confirmed(Context& context, const std::string& what) {
  if (context.given.flag("yes")) return true;
  if (!context.output.settings().err.tty || !context.output.settings().in.tty) {
    return Error{
        .code = Code::usage,
        .message = "this is no terminal, so nobody can confirm that you want to " + what + "; nothing was changed",
        .next = "add --yes"};
  }
  context.output.progress_stream() << "Really " << printable(what) << "? [y/N] " << std::flush;
  std::string line;
  auto read = read_line(context, line);
  if (!read) {
    context.output.progress_stream() << std::endl;
    return read.error();
  }
  if (line == "y" || line == "yes") return true;
  context.output.note("nothing was changed");
  return false;
}

void add_count(std::vector<std::string>& loses, size_t count, const std::string& noun) {
  if (count > 0) loses.push_back(host::counted(count, noun));
}

Code print_loss(Context& context, const Loss& loss) {
  std::string all;
  for (const std::string& each : loss.loses) {
    all += (all.empty() ? ", with " : ", ") + printable(each);
  }
  context.output.print(to_json(outputs::Loss{.would = loss.what, .loses = loss.loses}),
                       [&](const Terminal&) { return "would " + printable(loss.what) + all + "\n"; });
  return Code::ok;
}

Result<Code> tell_loss(Context& context, CommandDoor& door, const Loss& loss) {
  auto would = door.would(loss.action, loss.input);
  if (!would) return would.error();
  if (would->code != Code::ok) return door.refusal(*would);
  return print_loss(context, loss);
}

}  // namespace sluice::cli
