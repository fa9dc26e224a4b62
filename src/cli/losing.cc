// The answers come first, so that the question is about what is done.
#include "cli/losing.h"

#include <boost/json.hpp>
#include <istream>

#include "host/kit_place.h"

namespace sluice::cli {

Result<bool> confirmed(Context& context, const std::string& what) {
  if (context.given.flag("yes")) return true;
  if (!context.output.settings().err.tty || !context.output.settings().in.tty) {
    return Error{.code = Code::usage,
                 .message = "nobody can be asked here whether to " + what + "; nothing was changed",
                 .next = "add --yes"};
  }
  context.output.progress_stream() << "Really " << printable(what) << "? [y/N] " << std::flush;
  std::string line;
  std::getline(context.in, line);
  if (line == "y" || line == "yes") return true;
  context.output.note("nothing was changed");
  return false;
}

void add_count(std::vector<std::string>& loses, size_t count, const std::string& noun) {
  if (count > 0) loses.push_back(host::counted(count, noun));
}

Code print_loss(Context& context, const Loss& loss) {
  json::array loses;
  std::string all;
  for (const std::string& each : loss.loses) {
    loses.emplace_back(each);
    all += (all.empty() ? ", with " : ", ") + printable(each);
  }
  context.output.print(json::object{{"would", loss.what}, {"loses", std::move(loses)}},
                       [&](const Terminal&) { return "would " + printable(loss.what) + all + "\n"; });
  return Code::ok;
}

Result<Code> tell_loss(Context& context, Objects& objects, const Loss& loss) {
  auto would = objects.would(loss.action, loss.input);
  if (!would) return would.error();
  if (would->code != Code::ok) return refusal_in_words(*would);
  return print_loss(context, loss);
}

Result<std::optional<Answer>> lose(Context& context, Objects& objects, Loss loss) {
  auto input = with_answers(context, std::move(loss.input));
  if (!input) return input.error();
  loss.input = *std::move(input);
  if (context.given.flag("dry-run")) {
    auto told = tell_loss(context, objects, loss);
    if (!told) return told.error();
    return std::optional<Answer>();
  }
  auto sure = confirmed(context, loss.what);
  if (!sure) return sure.error();
  if (!*sure) return std::optional<Answer>();
  auto answer = objects.change(loss.action, loss.input);
  if (!answer) return answer.error();
  return std::optional(*std::move(answer));
}

}  // namespace sluice::cli
