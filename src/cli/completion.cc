// Every script does the same: it walks the words before the cursor to learn which noun and verb they are (the path) and
// how many arguments follow, skipping options and their values, and then offers what the table has there. A path is the
// words joined by a blank: "", "kit", "kit check". What a home has is asked of `sluice completion names KIND`.
#include "cli/completion.h"

#include <algorithm>
#include <functional>

#include "cli/topics.h"

namespace sluice::cli {
namespace {

struct Choice {
  std::string word;
  std::string help;
};

// What may stand in one place: fixed words, names that a home has, files.
struct Offer {
  std::vector<Choice> words = {};
  std::string_view names = {};  // a kind of completion_kinds()
  bool files = false;
};

// What may follow a path.
struct Place {
  std::string path;
  bool open = false;                 // a further word leads to another path
  std::vector<Offer> offers = {};    // by the number of arguments before
  bool repeated = false;             // the last of them holds for all that follow
  std::vector<Option> options = {};  // its own; the global ones stand everywhere
  std::vector<Option> globals = {};  // those of the global ones that take more here
};

// The kind of name that an argument or an option takes, as they are called all over the table; empty for any text.
std::string_view names_for(std::string_view command, std::string_view name) {
  struct Called {
    std::string_view name, kind;
  };
  constexpr Called kCalled[] = {{"env", "environments"},       {"extends", "environments"}, {"revision", "revisions"},
                                {"weights", "revisions"},      {"flow", "flows"},           {"bundle", "bundles"},
                                {"deployment", "deployments"}, {"customer-id", "customers"}};
  constexpr std::string_view kOfThings[] = {"logs", "exec", "runtime show", "runtime stop", "why", "scale"};
  const bool thing = name == "name" || name == "names" || name == "what" || name == "deployment";
  if (thing && std::ranges::find(kOfThings, command) != std::end(kOfThings)) return "things";
  if (name == "deployment" && command == "down") return "bundles";
  if (name == "bundle" && command == "up") return "";
  const auto* found = std::ranges::find(kCalled, name, &Called::name);
  return found == std::end(kCalled) ? std::string_view() : found->kind;
}

Choice first_word(const Commands& commands, const std::string& word) {
  const Noun* noun = commands.find_noun(word);
  return {word, noun != nullptr ? noun->summary : commands.find(word)->summary};
}

std::vector<Choice> first_words(const Commands& commands) {
  std::vector<Choice> choices;
  for (const std::string& word : commands.first_words()) choices.push_back(first_word(commands, word));
  return choices;
}

std::vector<Choice> verbs(const Commands& commands, const Noun& noun) {
  std::vector<Choice> choices;
  for (const std::string& verb : commands.verbs_of(noun.name)) {
    choices.push_back({verb, commands.find(noun.name + ' ' + verb)->summary});
  }
  return choices;
}

Place command_place(const Command& command) {
  Place place{.path = command.name, .options = command.options};
  for (Option& option : global_options_of(command)) {
    if (option.name == "output" && !command.formats.empty()) place.globals.push_back(std::move(option));
  }
  for (const Arg& arg : command.args) {
    Offer offer{.names = names_for(command.name, arg.name), .files = arg.kind == Kind::path};
    for (const std::string& word : arg.choices) offer.words.push_back({word, arg.help});
    place.offers.push_back(std::move(offer));
    place.repeated = arg.repeated;
  }
  return place;
}

std::vector<Place> places(const Commands& commands) {
  std::vector<Place> all = {{.path = "", .open = true, .offers = {{.words = first_words(commands)}}}};
  for (const Noun& noun : commands.nouns()) {
    all.push_back({.path = noun.name, .open = true, .offers = {{.words = verbs(commands, noun)}}});
  }
  for (const Command& command : commands.all()) {
    if (command.name != "help") all.push_back(command_place(command));
  }
  // help's own words are those of the table and the topics.
  Place help{.path = "help", .open = true, .offers = {{}}};
  for (const Topic& topic : topics()) help.offers[0].words.push_back({topic.name, topic.summary});
  for (const Choice& choice : first_words(commands)) help.offers[0].words.push_back(choice);
  all.push_back(std::move(help));
  for (const Noun& noun : commands.nouns()) {
    all.push_back({.path = "help " + noun.name, .offers = {{.words = verbs(commands, noun)}}});
  }
  return all;
}

// A word in single quotes, as all three shells read it.
std::string quoted(const std::string& text, const std::string& quote = "'\\''") {
  std::string safe = "'";
  for (char c : text) {
    if (c == '\'') {
      safe += quote;
    } else {
      safe += c;
    }
  }
  return safe + "'";
}

std::string join(const std::vector<std::string>& parts, const std::string& between) {
  std::string text;
  for (size_t i = 0; i < parts.size(); ++i) text += (i == 0 ? "" : between) + parts[i];
  return text;
}

std::vector<std::string> names(const Option& option) {
  std::vector<std::string> names = {"--" + option.name};
  if (option.letter != 0) names.push_back(std::string{'-', option.letter});
  return names;
}

// "--output|-o|…": every option that takes a value, anywhere in the table, as a case pattern. The walk over the words
// skips what follows one. An option that is a flag of one command and takes a value in another would confuse it.
std::string value_options(const Commands& commands) {
  std::vector<std::string> patterns;
  auto add = [&](const std::vector<Option>& options) {
    for (const Option& option : options) {
      if (option.value.empty()) continue;
      for (const std::string& name : names(option)) {
        if (std::find(patterns.begin(), patterns.end(), name) == patterns.end()) patterns.push_back(name);
      }
    }
  };
  add(global_options());
  for (const Command& command : commands.all()) add(command.options);
  return join(patterns, "|");
}

// The paths that a further word leads on from, as case patterns.
std::string open_paths(const std::vector<Place>& places, const std::string& between) {
  std::vector<std::string> patterns;
  for (const Place& place : places) {
    if (place.open) patterns.push_back(quoted(place.path));
  }
  return join(patterns, between);
}

// The arms of the case on "path:option" that offer an option's values; the global options' under any path.
std::string value_arms(const std::vector<Place>& places,
                       const std::function<std::string(const Option&, std::string_view names)>& offer) {
  std::string arms;
  auto add = [&](const std::string& path, const std::vector<Option>& options, const std::string& command) {
    for (const Option& option : options) {
      if (option.value.empty()) continue;
      std::vector<std::string> patterns;
      for (const std::string& name : names(option)) patterns.push_back(path + quoted(':' + name));
      arms += "    " + join(patterns, "|") + ") " + offer(option, names_for(command, option.name)) + " ;;\n";
    }
  };
  for (const Place& place : places) {
    add(quoted(place.path), place.options, place.path);
    add(quoted(place.path), place.globals, place.path);
  }
  add("*", global_options(), "");
  return arms;
}

// 'revisions warm:0', or 'logs:'* of what holds for all that follow.
std::string place_pattern(const Place& place, size_t at) {
  const bool last = at + 1 == place.offers.size() && place.repeated;
  return last ? quoted(place.path + ":") + "*" : quoted(place.path + ":" + std::to_string(at));
}

}  // namespace

const std::vector<std::string>& completion_kinds() {
  static const std::vector<std::string> kKinds = {"environments", "bundles",   "deployments", "revisions",
                                                  "flows",        "customers", "things"};
  return kKinds;
}

std::string bash_completion(const Commands& commands) {
  const std::vector<Place> all = places(commands);
  auto option_words = [](const std::vector<Option>& options) {
    std::vector<std::string> words;
    for (const Option& option : options) words.push_back("--" + option.name);
    return join(words, " ");
  };
  std::string arms, options;
  for (const Place& place : all) {
    if (!place.options.empty()) {
      options += "    " + quoted(place.path) + ") options=" + quoted(option_words(place.options)) + " ;;\n";
    }
    for (size_t i = 0; i < place.offers.size(); ++i) {
      const Offer& offer = place.offers[i];
      std::vector<std::string> words;
      for (const Choice& choice : offer.words) words.push_back(choice.word);
      arms += "    " + place_pattern(place, i) + ") words=" + quoted(join(words, " "));
      if (!offer.names.empty()) arms += " names=" + std::string(offer.names);
      if (offer.files) arms += " files=yes";
      arms += " ;;\n";
    }
  }
  std::string values = value_arms(all, [](const Option& option, std::string_view names) {
    if (!names.empty()) return "names=" + std::string(names);
    return option.kind == Kind::path ? std::string("files=yes") : "words=" + quoted(join(option.choices, " "));
  });
  return R"(# bash completion for sluice; made by: sluice completion bash
_sluice() {
  local current=${COMP_WORDS[COMP_CWORD]} option='' path='' word words='' options='' names='' files=no state=words args=0 i
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    # "--name=value" reaches us in three words.
    if [[ $word == = ]]; then continue; fi
    if [[ $state == value ]]; then state=words; option=''; continue; fi
    case $word in
    )" + value_options(commands) +
         R"() state=value; option=$word ;;
    -*) ;;
    *) case $path in
       )" +
         open_paths(all, "|") +
         R"() path="${path:+$path }$word" ;;
       *) args=$((args + 1)) ;;
       esac ;;
    esac
  done
  if [[ $current == = && $state == value ]]; then current=''; fi
  if [[ $state == value ]]; then
    case "$path:$option" in
)" + values +
         R"(    esac
  else
    case "$path:$args" in
)" + arms +
         R"(    esac
    if [[ $current == -* ]]; then
      case $path in
)" + options +
         R"(      esac
      words="$options )" +
         option_words(global_options()) +
         R"(" names='' files=no
    fi
  fi
  if [[ -n $names ]]; then words+=" $(${COMP_WORDS[0]} completion names $names 2>/dev/null) "; fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  if [[ $files == yes ]]; then
    compopt -o filenames 2>/dev/null
    while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -f -- "$current")
  fi
}
# Names such as hello@2 are one word.
COMP_WORDBREAKS=${COMP_WORDBREAKS//@/}
complete -F _sluice sluice
)";
}

std::string zsh_completion(const Commands& commands) {
  // Descriptions follow a colon, so one in the word itself is escaped.
  auto described = [](const std::string& word, const std::string& help) {
    std::string safe;
    for (char c : word) safe += c == ':' ? std::string("\\:") : std::string(1, c);
    return quoted(safe + ':' + help);
  };
  auto option_words = [&](const std::vector<Option>& options) {
    std::vector<std::string> words;
    for (const Option& option : options) words.push_back(described("--" + option.name, option.help));
    return join(words, " ");
  };
  const std::vector<Place> all = places(commands);
  std::string arms, options;
  for (const Place& place : all) {
    if (!place.options.empty()) {
      options += "    (" + quoted(place.path) + ")\n      options=(" + option_words(place.options) + ") ;;\n";
    }
    for (size_t i = 0; i < place.offers.size(); ++i) {
      const Offer& offer = place.offers[i];
      std::vector<std::string> words;
      for (const Choice& choice : offer.words) words.push_back(described(choice.word, choice.help));
      arms += "    (" + place_pattern(place, i) + ")\n      offers=(" + join(words, " ") + ")";
      if (!offer.names.empty()) arms += "\n      names=" + std::string(offer.names);
      if (offer.files) arms += "\n      files=yes";
      arms += " ;;\n";
    }
  }
  std::string values = value_arms(all, [](const Option& option, std::string_view names) {
    if (!names.empty()) return "names=" + std::string(names);
    std::vector<std::string> choices;
    for (const std::string& choice : option.choices) choices.push_back(quoted(choice));
    return option.kind == Kind::path ? std::string("files=yes") : "offers=(" + join(choices, " ") + ")";
  });
  return R"(#compdef sluice
# zsh completion for sluice; made by: sluice completion zsh
_sluice() {
  local option='' commandpath='' word names='' files=no state=words args=0 i
  local -a before=("${(@)words[2,CURRENT-1]}") offers=() options=()
  for word in "${before[@]}"; do
    if [[ $state == value ]]; then state=words; option=''; continue; fi
    case $word in
    )" + value_options(commands) +
         R"() state=value; option=$word ;;
    -*) ;;
    *) case $commandpath in
       )" +
         open_paths(all, "|") +
         R"() commandpath="${commandpath:+$commandpath }$word" ;;
       *) args=$((args + 1)) ;;
       esac ;;
    esac
  done
  if [[ $state == words && $PREFIX == --*=* ]]; then
    state=value
    option=${PREFIX%%=*}
    compset -P '*='
  fi
  if [[ $state == value ]]; then
    case "$commandpath:$option" in
)" + values +
         R"(    esac
  else
    case "$commandpath:$args" in
)" + arms +
         R"(    esac
    if [[ $PREFIX == -* ]]; then
      case $commandpath in
)" + options +
         R"(      esac
      offers=("${options[@]}" )" +
         option_words(global_options()) +
         R"() names='' files=no
    fi
  fi
  if [[ -n $names ]]; then offers+=($(${words[1]} completion names $names 2>/dev/null)); fi
  if (( ${#offers} )); then _describe -V sluice offers; fi
  if [[ $files == yes ]]; then _files; fi
}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then _sluice "$@"; else compdef _sluice sluice; fi
)";
}

std::string fish_completion(const Commands& commands) {
  auto fish_quoted = [](const std::string& text) { return quoted(text, "\\'"); };
  std::string lines;
  auto asked = [&](std::string_view kind) {
    return fish_quoted("(sluice completion names " + std::string(kind) + " 2>/dev/null)");
  };
  auto add_option = [&](const std::string& at, const Option& option, const std::string& command) {
    lines += at + " -l " + option.name + (option.letter == 0 ? "" : std::string(" -s ") + option.letter) + " -d " +
             fish_quoted(option.help);
    const std::string_view kind = option.value.empty() ? "" : names_for(command, option.name);
    if (!option.choices.empty()) lines += " -x -a " + fish_quoted(join(option.choices, " "));
    if (!kind.empty()) lines += " -x -a " + asked(kind);
    if (option.choices.empty() && kind.empty() && !option.value.empty())
      lines += option.kind == Kind::path ? " -r -F" : " -x";
    lines += '\n';
  };
  const std::vector<Place> all = places(commands);
  for (const Place& place : all) {
    std::string at = "complete -c sluice -n " + fish_quoted("__sluice_at " + quoted(place.path));
    for (size_t i = 0; i < place.offers.size(); ++i) {
      const Offer& offer = place.offers[i];
      const bool last = i + 1 == place.offers.size() && place.repeated;
      const std::string here = "complete -c sluice -n " + fish_quoted("__sluice_at " + quoted(place.path) + " " +
                                                                      std::to_string(i) + (last ? " more" : ""));
      for (const Choice& choice : offer.words) {
        lines += here + " -a " + fish_quoted(choice.word) + " -d " + fish_quoted(choice.help) + "\n";
      }
      if (!offer.names.empty()) lines += here + " -a " + asked(offer.names) + "\n";
      if (offer.files) lines += here + " -F\n";
    }
    for (const Option& option : place.options) add_option(at, option, place.path);
    for (const Option& option : place.globals) add_option(at, option, place.path);
  }
  for (const Option& option : global_options()) add_option("complete -c sluice", option, "");
  std::string value_words = value_options(commands);
  for (char& c : value_words) c = c == '|' ? ' ' : c;
  return R"(# fish completion for sluice; made by: sluice completion fish
# At a path, and behind so many arguments (or more) if that is asked.
function __sluice_at
    set -l path ''
    set -l args 0
    set -l skip no
    for word in (commandline -opc)[2..-1]
        if test $skip = yes
            set skip no
            continue
        end
        switch $word
            case )" +
         value_words +
         R"(
                set skip yes
            case '-*'
            case '*'
                switch $path
                    case )" +
         open_paths(all, " ") +
         R"(
                        set path (string trim -- "$path $word")
                    case '*'
                        set args (math $args + 1)
                end
        end
    end
    test "$path" = "$argv[1]"; or return 1
    if test (count $argv) -eq 3
        test $args -ge $argv[2]
    else if test (count $argv) -eq 2
        test $args -eq $argv[2]
    end
end
complete -c sluice -f
)" + lines;
}

}  // namespace sluice::cli
