// sluice init: begins a bundle in a folder, after three questions.
#include <algorithm>
#include <boost/json.hpp>
#include <filesystem>
#include <istream>
#include <ostream>

#include "base/atomic_file.h"
#include "base/json_reader.h"
#include "base/yaml.h"
#include "bundle/manifest/guess.h"
#include "bundle/manifest/manifest.h"
#include "bundle/manifest/manifest_template.h"
#include "cli/all_commands.h"
#include "cli/bundle_words.h"
#include "cli/context.h"
#include "cli/outputs.h"
#include "cli/prompt.h"
#include "host/kit_watch.h"
#include "plan/app_manifest.h"

namespace sluice::cli {
namespace init_commands {

constexpr size_t kMaxAnswersBytes = 64 << 10;

// What --answers holds; what it leaves out is guessed.
struct AnswersFile {
  std::optional<bundle::Name> name;
  std::optional<std::variant<std::string, std::vector<std::string>>> run;
  std::optional<bundle::Listen> listen;
};
BOOST_DESCRIBE_STRUCT(AnswersFile, (), (name, run, listen))

// The three answers as texts, with what is proposed for each. An answer that was given is not asked for.
struct AskedFor {
  std::string option;
  std::string question;
  std::string proposal;
  std::optional<std::string> given;
};

std::string line_of(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) {
    bool plain = !word.empty() && word.find_first_of(" \t\r\n'\"\\") == std::string::npos;
    std::string quoted = word;
    for (size_t at = quoted.find('\''); at != std::string::npos; at = quoted.find('\'', at + 4)) {
      quoted.replace(at, 1, "'\\''");
    }
    line += (line.empty() ? "" : " ") + (plain ? word : "'" + quoted + "'");
  }
  return line;
}

Result<void> read_answers(Context& context, AskedFor& name, AskedFor& run, AskedFor& listen) {
  if (context.given.has("answers")) {
    const std::string file = context.given.text("answers");
    auto text = read_file(context.disk, file, kMaxAnswersBytes);
    if (!text) return text.error();
    auto document = parse_yaml(*text, file);
    if (!document) return document.error();
    auto answers = read<AnswersFile>(*document);
    if (!answers) return answers.error();
    if (answers->name) name.given = answers->name->text;
    if (answers->run) {
      const auto* words = std::get_if<std::vector<std::string>>(&*answers->run);
      run.given = words != nullptr ? line_of(*words) : std::get<std::string>(*answers->run);
    }
    if (answers->listen) listen.given = *answers->listen == bundle::Listen::port ? "port" : "unix";
  }
  for (AskedFor* each : {&name, &run, &listen}) {
    if (context.given.has(each->option)) each->given = context.given.text(each->option);
  }
  return {};
}

// An answer that `read` takes: the one that was given, or a person's, or what is proposed when nobody answers.
template <typename Read>
auto settle(Context& context, const AskedFor& asked, const Read& read) -> decltype(read(std::string())) {
  auto wrong = [&](const Error& error) {
    return Error{.code = Code::usage, .message = "--" + asked.option + ": " + error.message};
  };
  if (asked.given) {
    auto answer = read(*asked.given);
    return answer ? answer : wrong(answer.error());
  }
  const bool asks = !context.given.flag("yes");
  const host::StopSignal held;  // before the question is seen: Ctrl-C is read_line's to answer
  for (;;) {
    std::string line;
    if (asks) {
      context.output.progress_stream() << asked.question << (asked.proposal.empty() ? "" : " [" + asked.proposal + "]")
                                       << ' ' << std::flush;
    }
    const Result<bool> read_one = asks ? read_line(context, line) : Result<bool>(false);
    if (!read_one) context.output.progress_stream() << std::endl;
    if (!read_one) return read_one.error();
    const bool answered = *read_one;
    if (asks && !answered) context.output.progress_stream() << '\n';
    if (!answered && asked.proposal.empty()) {
      return Error{.code = Code::usage,
                   .message = "nothing in the folder says what to propose: " + asked.question,
                   .next = "add --" + asked.option};
    }
    auto answer = read(line.empty() ? asked.proposal : line);
    if (answer) return answer;
    if (!answered) return wrong(answer.error());
    context.output.note(answer.error().message);
  }
}

Result<std::vector<std::string>> read_run(const std::string& line) {
  auto words = bundle::words_of(line);
  if (words && words->empty()) return Error{.code = Code::invalid, .message = "expected a program and its arguments"};
  return words;
}

Result<bundle::Listen> read_listen(const std::string& line) {
  if (line == "port") return bundle::Listen::port;
  if (line == "unix" || line == "socket") return bundle::Listen::unix;
  return Error{.code = Code::invalid, .message = "expected port or unix, found '" + printable(line) + "'"};
}

Result<bundle::InitAnswers> ask(Context& context, const bundle::Guess& guess) {
  AskedFor name{"name", "What is the bundle called?", guess.name.text};
  AskedFor run{"run", "How is it run?", line_of(guess.run)};
  AskedFor listen{"listen", "Does it listen on a port ($PORT) or a unix socket ($SLUICE_SOCKET)?",
                  guess.listen == bundle::Listen::port ? "port" : "unix"};
  if (auto read = read_answers(context, name, run, listen); !read) return read.error();
  auto name_answer =
      settle(context, name, [](const std::string& text) { return JsonScalar<bundle::Name>::parse(text); });
  if (!name_answer) return name_answer.error();
  auto run_answer = settle(context, run, read_run);
  if (!run_answer) return run_answer.error();
  auto listen_answer = settle(context, listen, read_listen);
  if (!listen_answer) return listen_answer.error();
  return bundle::InitAnswers{.name = *name_answer, .run = *run_answer, .listen = *listen_answer};
}

// An app.deploy.yaml whose components are the bundles that the folder has.
Result<Code> init_manifest(Context& context, const std::string& folder) {
  const std::string path = (folder == "." ? "" : folder + "/") + std::string(plan::kAppManifestName);
  auto there = context.disk.exists(path);
  if (!there) return there.error();
  if (*there) {
    return Error{.code = Code::conflict,
                 .message = path + " is there already, and was left as it is",
                 .next = "edit it, or remove it first"};
  }
  auto names = context.disk.list(folder);
  if (!names) return names.error();
  std::vector<std::pair<std::string, std::string>> components;
  for (const auto& each : *names) {
    auto is_bundle = context.disk.exists(folder + "/" + each.name + "/" + std::string(bundle::kManifestName));
    if (is_bundle && *is_bundle) components.emplace_back(each.name, "./" + each.name);
  }
  std::error_code ignored;
  const std::string called = std::filesystem::weakly_canonical(folder, ignored).filename().string();
  auto own = context.disk.exists(folder + "/" + std::string(bundle::kManifestName));
  if (own && *own) components.emplace_back(called, ".");
  std::ranges::sort(components);
  if (components.empty()) {
    return Error{.code = Code::not_found,
                 .message = folder + " has no folder with a bundle.yaml",
                 .next = "sluice init FOLDER begins one"};
  }
  const std::string text = plan::app_manifest_template(called, components);
  if (context.given.flag("dry-run")) {
    context.output.print_text(text);
    return Code::ok;
  }
  if (auto written = write_atomically(context.disk, path, text, 0644); !written) return written.error();
  context.output.print(to_json(outputs::Begun{.file = path}), [&](const Terminal&) { return path + "\n"; });
  context.output.note("next: sluice deploy plan " + shell_word(folder) + " --env local");
  return Code::ok;
}

Result<Code> init(Context& context) {
  const bool manifest = context.given.flag("manifest");
  if (context.given.flag("schema") && manifest) {
    context.output.print_text(json::serialize(plan::app_manifest_schema()) + "\n");
    return Code::ok;
  }
  if (context.given.flag("schema")) {
    context.output.print_text(json::serialize(bundle::manifest_schema()) + "\n");
    return Code::ok;
  }
  std::string folder = context.given.has("folder") ? plain_folder(context.given.text("folder")) : ".";
  auto place = context.disk.stat(folder, FollowLinks::yes);
  if (!place && place.error().code == Code::not_found) {
    return Error{.code = Code::not_found,
                 .message = "there is no folder " + folder,
                 .next = "mkdir " + shell_word(folder) + ", put there what is to be shipped, and run this again"};
  }
  if (manifest) return init_manifest(context, folder);
  const std::string path = (folder == "." ? "" : folder + "/") + std::string(bundle::kManifestName);
  auto there = context.disk.stat(path, FollowLinks::no);
  if (there) {
    return Error{.code = Code::conflict,
                 .message = path + " is there already, and was left as it is",
                 .next = "edit it, or remove it first"};
  }
  if (there.error().code != Code::not_found) return there.error();
  std::error_code ignored;
  std::string called = std::filesystem::weakly_canonical(folder, ignored).filename().string();
  auto guess = bundle::guess_manifest(context.disk, folder, called);
  if (!guess) return guess.error();
  auto answers = ask(context, *guess);
  if (!answers) return answers.error();
  const std::string text = bundle::manifest_template(*answers);
  if (auto sound = bundle::parse_manifest(text, path); !sound) return sound.error();
  if (context.given.flag("dry-run")) {
    context.output.print_text(text);
    return Code::ok;
  }
  if (auto written = write_atomically(context.disk, path, text, 0644); !written) return written.error();
  context.output.print(to_json(outputs::Begun{.file = path,
                                              .name = answers->name.text,
                                              .run = answers->run,
                                              .listen = answers->listen == bundle::Listen::port ? "port" : "unix"}),
                       [&](const Terminal&) { return path + "\n"; });
  context.output.note("next: sluice up " + shell_word(folder));
  return Code::ok;
}

}  // namespace init_commands

void add_init_commands(Commands& commands) {
  using namespace init_commands;
  commands.add(
      {.name = "init",
       .group = Group::ship,
       .summary = "Start a bundle: write a commented bundle.yaml into a folder",
       .details =
           "Asks three questions, and proposes what it guesses from the folder: what the bundle is called, how it is "
           "run, and whether it listens on a port or a socket. An empty answer, and no answer at all, takes what is "
           "proposed. A bundle.yaml that is there is never overwritten.\n\n--answers is a YAML file with any of name, "
           "run (a line or a list) and listen.\n\n--schema prints what may stand in a bundle.yaml, for editors and "
           "other "
           "programs.",
       .args = {{.name = "folder", .help = "the folder; else this one", .kind = Kind::path, .optional = true}},
       .options = {{.name = "name", .value = "NAME", .help = "what the bundle is called"},
                   {.name = "run", .value = "LINE", .help = "how it is run, as in a shell: 'python3 main.py'"},
                   {.name = "listen",
                    .value = "WHERE",
                    .help = "on $PORT, or on the socket at $SLUICE_SOCKET",
                    .choices = {"port", "unix"}},
                   {.name = "answers", .value = "FILE", .help = "a file with the answers", .kind = Kind::path},
                   {.name = "yes", .letter = 'y', .help = "ask nothing, take what is proposed"},
                   {.name = "dry-run", .help = "print it, and write nothing"},
                   {.name = "manifest", .help = "write an app.deploy.yaml of the bundles in the folder instead"},
                   {.name = "schema", .help = "print the JSON Schema of bundle.yaml, and write nothing"}},
       .example = "sluice init tasks --run ./serve --yes",
       .run = init});
}

}  // namespace sluice::cli
