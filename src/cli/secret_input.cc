// Nothing here prints what was given.
#include "cli/secret_input.h"

#include <termios.h>

#include <array>
#include <istream>

#include "base/atomic_file.h"
#include "base/utf8.h"
#include "cli/prompt.h"
#include "host/kit_watch.h"

namespace sluice::cli {
namespace {

constexpr size_t kMostBytes = 1 << 20;

// What is typed is not shown while this is there.
class Unseen {
 public:
  Unseen() : known_(tcgetattr(0, &before_) == 0) {
    if (!known_) return;
    termios quiet = before_;
    quiet.c_lflag &= ~static_cast<tcflag_t>(ECHO);
    tcsetattr(0, TCSAFLUSH, &quiet);
  }
  ~Unseen() {
    if (known_) tcsetattr(0, TCSAFLUSH, &before_);
  }
  Unseen(const Unseen&) = delete;
  Unseen& operator=(const Unseen&) = delete;

 private:
  termios before_{};
  bool known_ = false;
};

Result<std::string> checked(std::string value, const std::string& name) {
  if (value.empty()) {
    return Error{.code = Code::usage, .message = "the value of " + name + " is empty; nothing was changed"};
  }
  if (value.size() > kMostBytes) {
    return Error{.code = Code::invalid, .message = "the value of " + name + " has more than 1 MB; nothing was changed"};
  }
  if (!valid_utf8(value)) {
    return Error{.code = Code::invalid,
                 .message = "the value of " + name + " is no text in UTF-8; nothing was changed",
                 .next = "keep it in base64, and have the program decode it"};
  }
  return value;
}

}  // namespace

Result<std::string> read_secret_value(Context& context, const std::string& name) {
  if (context.given.has("file")) {
    auto text = read_file(context.disk, context.given.text("file"), kMostBytes + 1);
    if (!text) return text.error();
    return checked(*std::move(text), name);
  }
  return read_unfiled_value(context, name);
}

Result<std::string> read_unfiled_value(Context& context, const std::string& name) {
  std::string value;
  if (context.output.settings().in.tty && context.output.settings().err.tty) {
    const host::StopSignal held;  // before the question is seen: Ctrl-C is read_line's to answer
    context.output.progress_stream() << "Value of " << printable(name) << " (it is not shown): " << std::flush;
    auto read = [&] {
      const Unseen unseen;
      return read_line(context, value);
    }();
    context.output.progress_stream() << std::endl;
    if (!read) return read.error();
  } else {
    std::array<char, 64 << 10> piece{};
    while (value.size() <= kMostBytes + 1) {  // a byte more than fits, and a line break
      context.in.read(piece.data(), piece.size());
      if (context.in.gcount() == 0) break;
      value.append(piece.data(), static_cast<size_t>(context.in.gcount()));
    }
    if (value.ends_with('\n')) value.pop_back();
  }
  return checked(std::move(value), name);
}

Result<void> check_no_value_given(const Context& context) {
  const std::string name = context.given.text("name");
  const size_t equals = name.find('=');
  if (context.given.texts("value").empty() && equals == std::string::npos) return {};
  const std::string plain = "sluice " + context.given.command->name + " " + context.given.text("env") + " " +
                            printable(name.substr(0, equals));
  return Error{.code = Code::usage,
               .message =
                   "a value on the command line can be read by every program, and stays in the shell's history; "
                   "nothing was changed",
               .next = plain + ", which asks for it, or: " + plain + " --file FILE"};
}

}  // namespace sluice::cli
