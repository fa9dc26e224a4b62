// sluice do: any action of the kit by its name, for those that have no command of their own.
#include <boost/json.hpp>

#include "base/json.h"
#include "cli/action_command.h"
#include "cli/action_input.h"
#include "cli/all_commands.h"
#include "cli/call_options.h"
#include "cli/command_door.h"
#include "cli/opening.h"
#include "deploy/deploy_kit.h"

namespace sluice::cli {
namespace do_commands {

Result<Code> run(Context& context) {
  const std::string action = context.given.text("action");
  auto place = kit_place_of(context, std::string(deploy::kKitFolder));
  if (!place) return place.error();
  lang::Checked checked = check_kit_at(context, *place);
  if (!checked.kit) return host::kit_has_errors(*place, checked);
  auto called = find_action(checked.kit->symbols(), action);
  if (!called) return called.error();
  if (wants_schema(context)) return print_schema(context, action);
  called->command = "sluice do";
  called->file_option = "--answers";
  auto input = input_from_words(*called, context.given.texts("values"), Whole::no);
  if (!input) return input.error();
  auto full = with_answers(context, *std::move(input));
  if (!full) return full.error();
  if (auto whole = check_whole(*called, *full); !whole) return whole.error();
  auto door = CommandDoor::open(context);
  if (!door) return door.error();
  auto wait = host::wait_named(context.given.text("wait"));
  auto answer = context.given.flag("dry-run") ? (*door)->would(action, *full)
                                              : (*door)->call(action, *full, wait.value_or(host::WaitFor::answer));
  if (!answer) return answer.error();
  if (answer->code != Code::ok) return refusal_in_words(context, *answer);
  print_answer(context, *answer);
  return Code::ok;
}

}  // namespace do_commands

void add_do_commands(Commands& commands) {
  commands.add(
      {.name = "do",
       .group = Group::team,
       .summary = "Call any action of the kit by its name",
       .details = "Values are text, or JSON where the action wants a number, true or false, a list or a "
                  "record. sluice kit show deploy lists the actions, and --schema prints what one takes.",
       .args = {{.name = "action", .help = "as Concept/action"},
                {.name = "values", .help = "its arguments, as name=value", .optional = true, .repeated = true}},
       .options = changing_options({{.name = "wait",
                                     .value = "FOR",
                                     .help = "return with the answer, when the flow is settled, or its "
                                             "follow-ups too",
                                     .choices = {"answer", "settled", "all"},
                                     .fallback = "answer"},
                                    {.name = "dry-run", .help = "say how it would end, and change nothing"}}),
       .example = "sluice do Env/open",
       .run = do_commands::run});
}

}  // namespace sluice::cli
