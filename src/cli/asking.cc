// One question after the other; what is visible follows from the answers so far.
#include "cli/asking.h"

#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <boost/json.hpp>
#include <istream>
#include <ostream>

#include "base/json.h"
#include "base/table.h"
#include "cli/prompt.h"
#include "deploy/packs.h"
#include "deploy/views/documents.h"

namespace sluice::cli {
namespace {

// What is typed is not shown while it lives.
class HiddenTyping {
 public:
  explicit HiddenTyping(bool hides) : hides_(hides && ::tcgetattr(STDIN_FILENO, &before_) == 0) {
    if (!hides_) return;
    termios hidden = before_;
    hidden.c_lflag &= ~static_cast<tcflag_t>(ECHO);
    ::tcsetattr(STDIN_FILENO, TCSANOW, &hidden);
  }
  ~HiddenTyping() {
    if (hides_) ::tcsetattr(STDIN_FILENO, TCSANOW, &before_);
  }
  HiddenTyping(const HiddenTyping&) = delete;
  HiddenTyping& operator=(const HiddenTyping&) = delete;

 private:
  termios before_{};
  bool hides_;
};

std::string choices_of(const bundle::Question& question) {
  std::string text;
  for (const json::value& each : question.choices) {
    text += (text.empty() ? "" : "|") + (each.is_string() ? std::string(each.get_string()) : write(each));
  }
  return text;
}

std::string plain(const json::value& value) {
  return value.is_string() ? std::string(value.get_string()) : write(value);
}

std::string prompt_of(const bundle::Question& question) {
  std::string text = printable(question.question);
  if (!question.choices.empty()) text += " (" + printable(choices_of(question)) + ")";
  if (question.type == bundle::AnswerType::boolean) text += " (yes|no)";
  if (question.default_) text += " [" + printable(plain(*question.default_)) + "]";
  if (!question.default_ && !question.required) text += " [nothing]";
  return text + ": ";
}

class Interview {
 public:
  Interview(Context& context, Asking& asking) : context_(context), asking_(asking) {}

  Result<void> hold() {
    std::ostream& out = context_.output.progress_stream();
    for (const bundle::Question& each : asking_.questions) {
      if (!asking_.given.contains(each.name.text)) open_.push_back(&each);
    }
    if (!open_.empty()) {
      out << printable(asking_.what) << " asks for its settings; < goes back, ? explains.\n";
    }
    for (size_t at = 0; at < open_.size();) {
      const bundle::Question& question = *open_[at];
      if (!bundle::is_visible(question, asking_.questions, asking_.given)) {
        asking_.given.erase(question.name.text);
        ++at;
        continue;
      }
      auto turned = turn(question);
      if (!turned) return turned.error();
      if (*turned == Turn::next) ++at;
      if (*turned == Turn::back) at = before(at);
    }
    return {};
  }

 private:
  enum class Turn { next, again, back };

  size_t before(size_t at) {
    while (at > 0) {
      --at;
      asking_.given.erase(open_[at]->name.text);
      if (bundle::is_visible(*open_[at], asking_.questions, asking_.given)) break;
    }
    return at;
  }

  Result<Turn> turn(const bundle::Question& question) {
    std::ostream& out = context_.output.progress_stream();
    out << prompt_of(question) << std::flush;
    std::string line;
    auto more = [&] {
      HiddenTyping hidden(question.secret);
      return read_line(context_, line);
    }();
    if (question.secret || !more) out << "\n";
    if (!more) return more.error();
    if (!*more) {
      return Error{.code = Code::usage,
                   .message = question.name.text + " has no answer: " + question.question + "; nothing was changed",
                   .next = "--answers FILE gives all answers"};
    }
    if (line == "<") return Turn::back;
    if (line == "?") {
      out << "  " << printable(question.description.value_or("there is no further description")) << "\n";
      return Turn::again;
    }
    if (line.empty() && (question.default_ || !question.required)) return Turn::next;
    if (line.empty()) {
      out << "  " << printable(question.name.text) << " needs an answer\n";
      return Turn::again;
    }
    auto answer = bundle::typed_answer(question, line);
    if (!answer) {
      out << "  " << printable(answer.error().message) << "\n";
      return Turn::again;
    }
    asking_.given[question.name.text] = *std::move(answer);
    return Turn::next;
  }

  Context& context_;
  Asking& asking_;
  std::vector<const bundle::Question*> open_;
};

}  // namespace

Result<void> check_answers(bundle::Questions questions, const json::object& answers) {
  for (const auto& each : answers) {
    auto question = std::ranges::find_if(questions, [&](const auto& q) { return q.name.text == each.key(); });
    if (question == questions.end()) {
      if (auto asked = bundle::complete_answers(questions, {{each.key(), each.value()}}); !asked) return asked.error();
      continue;
    }
    const bool later = each.value().is_string() && each.value().get_string().starts_with("runtime://");
    if (each.value().is_null() || later) continue;
    std::string fault = bundle::fault_of_answer(*question, each.value());
    if (!fault.empty()) {
      return Error{.code = Code::invalid, .message = question->name.text + ": " + fault + "; nothing was changed"};
    }
  }
  return {};
}

Result<void> keep_secret_answers(bundle::Questions questions, json::object& answers, const KeepAnswer& keep) {
  std::vector<const bundle::Question*> secrets;
  for (const bundle::Question& each : questions) {
    const json::value* answer = each.secret ? answers.if_contains(each.name.text) : nullptr;
    if (answer == nullptr || !answer->is_string() || bundle::is_secret_reference(*answer)) continue;
    secrets.push_back(&each);
  }
  if (secrets.empty()) return {};
  if (auto sound = check_answers(questions, answers); !sound) return sound.error();
  for (const bundle::Question* each : secrets) {
    auto kept = keep(*each, std::string(answers.at(each->name.text).get_string()));
    if (!kept) return kept.error();
    answers.erase(each->name.text);
  }
  return {};
}

Error secret_on_command_line(const std::string& question, const std::string& environment, const std::string& name) {
  return {.code = Code::usage,
          .message = question +
                     " is a secret: a value on the command line can be read by every program; nothing was "
                     "changed",
          .next = "sluice secrets put " + environment + " " + name + ", which asks for it"};
}

Result<json::object> ask(Context& context, Asking asking) {
  // What is wrong with what was given is told before anybody is asked anything.
  if (auto sound = check_answers(asking.questions, asking.given); !sound) return sound.error();
  const Output::Settings& settings = context.output.settings();
  if (settings.in.tty && settings.err.tty) {
    if (auto held = Interview(context, asking).hold(); !held) return held.error();
  }
  auto complete = bundle::complete_answers(asking.questions, std::move(asking.given));
  if (!complete) {
    Error error = complete.error();
    error.path.clear();
    error.message += "; nothing was changed";
    if (error.next.empty()) error.next = "--answers FILE gives all answers, --schema shows what is asked";
    return error;
  }
  for (const bundle::Question& each : asking.questions) {
    json::value* answer = each.secret ? complete->if_contains(each.name.text) : nullptr;
    if (answer == nullptr || bundle::is_secret_reference(*answer)) continue;
    if (!asking.keep_secret) {
      return Error{.code = Code::unavailable,
                   .message = each.name.text + " is a secret, and nothing here keeps secrets"};
    }
    auto reference = asking.keep_secret(each.name.text, std::string(answer->as_string()));
    if (!reference) return reference.error();
    *answer = *std::move(reference);
  }
  return complete;
}

Result<std::string> keep_secret(CommandDoor& door, const std::string& environment, const std::string& name,
                                const std::string& value) {
  auto document = door.read<deploy::views::EnvironmentDocument>("environment", {{"environment", environment}});
  if (!document) return document.error();
  std::string provider;
  for (const deploy::views::PackDocument& each : document->packs) {
    if (each.slot != "secrets") continue;
    if (auto descriptor = deploy::parse_descriptor(each.kind)) provider = deploy::secrets_type_of(*descriptor);
  }
  if (provider.empty()) {
    return Error{.code = Code::conflict,
                 .message = "nothing serves the slot secrets of " + environment + ", so " + name + " cannot be kept",
                 .next = "sluice env-packs add " + environment + " sluice.secrets.store@1.0.0"};
  }
  auto kept =
      door.call("Secret/put", {{"name", name}, {"provider", provider}, {"environment", environment}, {"value", value}},
                host::WaitFor::answer, name);
  if (!kept) return kept.error();
  if (kept->code != Code::ok) {
    return Error{.code = kept->code, .message = name + " could not be kept as a secret: " + kept->text("message")};
  }
  return "secret://" + environment + "/" + name;
}

std::string questions_table(bundle::Questions questions, const Terminal& terminal) {
  Table table{.columns = {{"NAME"}, {"TYPE"}, {"DEFAULT"}, {"QUESTION"}}, .empty = "It asks for nothing."};
  for (const bundle::Question& each : questions) {
    std::string type(boost::describe::enum_to_string(each.type, ""));
    if (!each.choices.empty()) type = choices_of(each);
    if (each.secret) type += ", secret";
    std::string fallback = each.default_ ? plain(*each.default_) : each.required ? "" : "nothing";
    std::string question = each.question;
    if (each.visible_if) {
      const bundle::VisibleIf& condition = *each.visible_if;
      question += " (if " + condition.question.text + (condition.is ? " is " : " is not ") +
                  plain(condition.is ? *condition.is : *condition.is_not) + ")";
    }
    table.rows.push_back({{each.name.text}, {type}, {fallback}, {question}});
  }
  return render(table, terminal);
}

}  // namespace sluice::cli
