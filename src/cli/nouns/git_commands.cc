// sluice git: branches that are kept applied.
#include <boost/json.hpp>

#include "base/table.h"
#include "cli/all_commands.h"
#include "cli/call_options.h"
#include "cli/command_door.h"

namespace sluice::cli {
namespace git_commands {

std::string text_in(const json::value& object, std::string_view name) {
  const json::value* value = object.as_object().if_contains(name);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : "";
}

// The last part of the URL: "shop" of https://git.example/acme/shop.git.
std::string name_of(std::string url) {
  while (url.ends_with('/')) url.pop_back();
  if (url.ends_with(".git")) url.resize(url.size() - 4);
  return url.substr(url.rfind('/') + 1);
}

Result<Code> tell_look(Context& context, CommandDoor& door, const std::string& source, std::string_view part) {
  auto answer = door.call("GitSource/look", {{"source", source}}, host::WaitFor::all, part);
  if (!answer) return answer.error();
  if (answer->code != Code::ok) return refusal_in_words(context, *answer);
  const std::string commit = answer->text("commit").substr(0, 12);
  print_done(context, *answer,
             answer->variant == "ok"     ? "applied"
             : answer->variant == "same" ? "nothing new"
                                         : "being looked at",
             source + (commit.empty() ? "" : " at " + commit));
  return Code::ok;
}

Result<Code> watch(Context& context) {
  const std::string url = context.given.text("url");
  const std::string name = context.given.has("name") ? context.given.text("name") : name_of(url);
  json::object input{
      {"name", name}, {"url", url}, {"branch", context.given.text("branch")}, {"prune", context.given.flag("prune")}};
  if (context.given.has("path")) input["path"] = context.given.text("path");
  auto door = CommandDoor::open(context);
  if (!door) return door.error();
  auto answer = (*door)->call("GitSource/watch", input, host::WaitFor::answer, "watch");
  if (!answer) return answer.error();
  if (answer->code != Code::ok) return refusal_in_words(context, *answer);
  context.output.note("watches " + name + ": sluice serve looks every 15 s");
  return tell_look(context, **door, name, "look");
}

Result<Code> sync(Context& context) {
  auto door = CommandDoor::open(context);
  if (!door) return door.error();
  return tell_look(context, **door, context.given.text("source"), "");
}

Result<Code> unwatch(Context& context) {
  auto door = CommandDoor::open(context);
  if (!door) return door.error();
  auto answer = (*door)->call("GitSource/unwatch", {{"source", context.given.text("source")}});
  if (!answer) return answer.error();
  if (answer->code != Code::ok) return refusal_in_words(context, *answer);
  print_done(context, *answer, "unwatched", context.given.text("source"));
  return Code::ok;
}

Result<Code> list(Context& context) {
  auto door = CommandDoor::open(context);
  if (!door) return door.error();
  auto view = (*door)->view("git-sources", {});
  if (!view) return view.error();
  context.output.print(view->document, [&](const Terminal& terminal) {
    Table table{
        .columns = {{.title = "SOURCE", .whole = true}, {"BRANCH"}, {"STATUS"}, {"COMMIT"}, {"APPLIED"}, {"MESSAGE"}},
        .empty = "No repository is watched. Next: sluice git watch URL"};
    for (const json::value& each : view->document.as_array()) {
      table.rows.push_back({{printable(text_in(each, "source")), Style::strong},
                            {printable(text_in(each, "branch"))},
                            {text_in(each, "status")},
                            {text_in(each, "commit").substr(0, 12)},
                            {text_in(each, "applied").substr(0, 12)},
                            {printable(text_in(each, "message"))}});
    }
    return render(table, terminal);
  });
  return Code::ok;
}

const Arg kSource{.name = "source", .help = "as git list shows it"};

}  // namespace git_commands

void add_git_commands(Commands& commands) {
  using namespace git_commands;
  commands.add_noun({.name = "git", .group = Group::promote, .summary = "Keep applied what a branch says"});
  commands.add({.name = "git watch",
                .summary = "Apply a branch now, and each new commit of it",
                .details = "Nothing is written to the repository. Each commit is tried once; pins move under the rules "
                           "of their pipeline, with the rights of whoever began to watch.",
                .args = {{.name = "url", .help = "an https:// URL"}},
                .options = changing_options({{.name = "branch", .value = "NAME", .help = "which", .fallback = "main"},
                                             {.name = "path", .value = "FOLDER", .help = "only what is below it"},
                                             {.name = "name", .value = "NAME", .help = "what to call it"},
                                             {.name = "prune", .help = "forget what the branch has no longer"}}),
                .example = "sluice git watch https://git.example/acme/infra.git --branch main",
                .run = watch});
  commands.add({.name = "git list",
                .summary = "List branches that are watched, and how the last commit went",
                .options = reading_options(),
                .example = "sluice git list",
                .run = list});
  commands.add({.name = "git sync",
                .summary = "Look now",
                .args = {kSource},
                .options = changing_options(),
                .example = "sluice git sync infra",
                .run = sync});
  commands.add({.name = "git unwatch",
                .summary = "Look there no more; what was applied stays",
                .args = {kSource},
                .options = changing_options(),
                .example = "sluice git unwatch infra",
                .run = unwatch});
}

}  // namespace sluice::cli
