// One pass over the words: options as they come, then the command's words, then its arguments.
#include "cli/parse.h"

#include <algorithm>

#include "base/nearest.h"
#include "base/terminal.h"

namespace sluice::cli {
namespace {

std::string in_quotes(std::string_view word) { return "'" + truncate_to_width(printable(word), 60) + "'"; }

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? " or " : ", ";
    text += words[i];
  }
  return text;
}

Error usage(std::string message, std::string next) {
  return Error{.code = Code::usage, .message = std::move(message), .next = std::move(next)};
}

// What people who come from other tools type first, and what is called so here.
struct OtherWord {
  std::string_view word, command;
};
constexpr OtherWord kOtherWords[] = {{"build", "bundles build"},
                                     {"canary", "rollout start"},
                                     {"create", "init"},
                                     {"deployments", "bundles list"},
                                     {"destroy", "down"},
                                     {"doctor", "env doctor"},
                                     {"events", "audit list"},
                                     {"history", "traffic history"},
                                     {"info", "status"},
                                     {"inspect", "bundles inspect"},
                                     {"kill", "down"},
                                     {"launch", "up"},
                                     {"list", "status"},
                                     {"ls", "status"},
                                     {"metrics", "router stats"},
                                     {"new", "init"},
                                     {"proxy", "router run"},
                                     {"ps", "status"},
                                     {"publish", "up"},
                                     {"push", "up"},
                                     {"redeploy", "up"},
                                     {"release", "up"},
                                     {"remove", "down"},
                                     {"rm", "down"},
                                     {"run", "up"},
                                     {"services", "bundles list"},
                                     {"setup", "up"},
                                     {"shell", "exec"},
                                     {"ship", "up"},
                                     {"split", "traffic set"},
                                     {"ssh", "exec"},
                                     {"start", "up"},
                                     {"tail", "logs"},
                                     {"top", "router stats"},
                                     {"undo", "traffic rollback"},
                                     {"versions", "revisions list"}};

// An environment may be called by its whole name or the short one everywhere.
bool is_spelled(const Option& option, const std::string& given) {
  return (option.name == "env" && given == "environment") || (option.name == "environment" && given == "env");
}

class Parser {
 public:
  Parser(std::span<const std::string> words, const Commands& commands) : words_(words), commands_(commands) {}

  Result<Given> run() {
    bool only_arguments = false;
    while (at_ < words_.size()) {
      const std::string& word = words_[at_++];
      Result<void> taken;
      if (!only_arguments && word == "--") {
        only_arguments = true;
      } else if (!only_arguments && word.size() > 1 && word.starts_with('-')) {
        mean_verb(word);
        taken = word.starts_with("--") ? take_long(word) : take_short(word);
      } else {
        taken = given_.command == nullptr ? take_command_word(word) : take_argument(word);
      }
      if (!taken) return std::move(taken).error();
    }
    auto complete = check_complete();
    if (!complete) return std::move(complete).error();
    return std::move(given_);
  }

 private:
  std::string help_command() const { return given_.words.empty() ? "sluice help" : "sluice help " + given_.words; }

  std::vector<const Option*> options() const {
    std::vector<const Option*> options;
    if (given_.command != nullptr) {
      for (const Option& option : given_.command->options) options.push_back(&option);
    }
    for (const Option& option : global_options()) options.push_back(&option);
    return options;
  }

  Result<void> take_long(const std::string& word) {
    size_t equals = word.find('=');
    std::string name = word.substr(2, equals == std::string::npos ? equals : equals - 2);
    std::vector<std::string> known;
    for (const Option* option : options()) {
      if (option->name == name || is_spelled(*option, name)) {
        return take_option(
            *option, "--" + name,
            equals == std::string::npos ? std::nullopt : std::optional<std::string>(word.substr(equals + 1)));
      }
      known.push_back(option->name);
    }
    auto meant = nearest(name, known);
    return usage("unknown option " + in_quotes("--" + name) + (meant ? "; did you mean --" + *meant + "?" : ""),
                 help_command());
  }

  Result<void> take_short(const std::string& word) {
    for (const Option* option : options()) {
      if (option->letter == 0 || option->letter != word[1]) continue;
      std::string shown = word.substr(0, 2);
      if (word.size() == 2) return take_option(*option, shown, std::nullopt);
      if (!option->value.empty()) return take_option(*option, shown, word.substr(word[2] == '=' ? 3 : 2));
    }
    return usage("unknown option " + in_quotes(word), help_command());
  }

  Result<void> take_option(const Option& option, const std::string& shown, std::optional<std::string> value) {
    if (!option.repeated && given_.has(option.name)) return usage(shown + " is given twice", help_command());
    if (option.value.empty()) {
      if (value) return usage(shown + " takes no value", help_command());
      given_.set(option.name, "");
      return {};
    }
    std::vector<std::string> choices = option.choices;
    for (const Option& own : given_.command ? global_options_of(*given_.command) : std::vector<Option>{}) {
      if (own.name == option.name) choices = own.choices;
    }
    if (!value && at_ < words_.size()) value = words_[at_++];
    if (!value) return usage(shown + " needs a value: " + expectation(option.value, choices), help_command());
    return keep(option.name, shown, option.kind, choices, std::move(*value));
  }

  static std::string expectation(const std::string& name, const std::vector<std::string>& choices) {
    return choices.empty() ? name : joined(choices);
  }

  Result<void> keep(const std::string& name, const std::string& shown, Kind kind,
                    const std::vector<std::string>& choices, std::string value) {
    if (!choices.empty() && std::find(choices.begin(), choices.end(), value) == choices.end()) {
      auto meant = nearest(value, choices);
      return usage(shown + " is " + joined(choices) + ", not " + in_quotes(value) +
                       (meant ? "; did you mean " + *meant + "?" : ""),
                   help_command());
    }
    auto read = read_value(kind, value);
    if (!read) return usage(shown + ": " + read.error().message, help_command());
    given_.set(name, std::move(value));
    return {};
  }

  // `sluice deploy --env local` means the noun's own verb; what every command takes says nothing of that.
  void mean_verb(const std::string& option) {
    if (given_.command != nullptr || noun_.empty()) return;
    const std::string name = option.substr(0, option.find('='));
    for (const Option& each : global_options()) {
      if (name == "--" + each.name || (each.letter != 0 && name == std::string{'-', each.letter})) return;
    }
    mean_own_verb();
  }

  bool mean_own_verb() {
    const Noun* noun = commands_.find_noun(noun_);
    if (noun == nullptr || noun->verb.empty()) return false;
    given_.words = noun_ + ' ' + noun->verb;
    given_.command = commands_.find(given_.words);
    return true;
  }

  Result<void> take_command_word(const std::string& word) {
    std::string name = noun_.empty() ? word : noun_ + ' ' + word;
    if (const Command* command = commands_.find(name)) {
      given_.command = command;
      given_.words = name;
      return {};
    }
    if (noun_.empty() && commands_.find_noun(word) != nullptr) {
      noun_ = word;
      given_.words = name;
      return {};
    }
    auto known = noun_.empty() ? commands_.first_words() : commands_.verbs_of(noun_);
    auto meant = nearest(word, known);
    const auto* other = std::ranges::find(kOtherWords, word, &OtherWord::word);
    const bool foreign = noun_.empty() && other != std::end(kOtherWords);
    if (foreign) meant = other->command;
    if (!noun_.empty() && mean_own_verb()) return take_argument(word);
    std::string message =
        noun_.empty() ? "unknown command " + in_quotes(word) : noun_ + " has no verb " + in_quotes(word);
    if (meant) message += "; did you mean 'sluice " + (noun_.empty() ? *meant : noun_ + ' ' + *meant) + "'?";
    return usage(message, foreign ? "sluice help " + *meant : help_command());
  }

  Result<void> take_argument(const std::string& word) {
    const std::vector<Arg>& args = given_.command->args;
    if (argument_ == args.size()) {
      return usage("'sluice " + given_.command->name + "' takes no further argument " + in_quotes(word),
                   help_command());
    }
    const Arg& arg = args[argument_];
    if (!arg.repeated) ++argument_;
    return keep(arg.name, '<' + arg.name + '>', arg.kind, arg.choices, word);
  }

  Result<void> check_complete() {
    if (given_.has("help") || given_.has("version")) return {};
    if (given_.command == nullptr && !noun_.empty()) mean_own_verb();
    if (given_.command == nullptr) {
      if (noun_.empty()) return {};
      return usage(noun_ + " needs a verb: " + joined(commands_.verbs_of(noun_)), help_command());
    }
    // Whoever asks what a command takes need not give it.
    const std::vector<Option>& options = given_.command->options;
    if (std::ranges::find(options, "schema", &Option::name) != options.end() && given_.has("schema")) return {};
    for (const Arg& arg : given_.command->args) {
      if (arg.optional || given_.has(arg.name)) continue;
      return usage("<" + arg.name + "> is missing: " + expectation(arg.help, arg.choices), help_command());
    }
    return {};
  }

  std::span<const std::string> words_;
  const Commands& commands_;
  Given given_;
  std::string noun_;
  size_t at_ = 0;
  size_t argument_ = 0;
};

}  // namespace

Result<Given> parse(std::span<const std::string> words, const Commands& commands) {
  return Parser(words, commands).run();
}

Given parse_globals(std::span<const std::string> words) {
  const Commands none;
  Given given;
  for (size_t i = 0; i < words.size() && words[i] != "--"; ++i) {
    if (!words[i].starts_with('-')) continue;
    for (size_t length : {1, 2}) {
      if (i + length > words.size()) continue;
      auto alone = parse(words.subspan(i, length), none);
      if (!alone) continue;
      for (const Option& option : global_options()) {
        if (alone->has(option.name) && !given.has(option.name)) given.set(option.name, alone->text(option.name));
      }
      break;
    }
  }
  return given;
}

}  // namespace sluice::cli
