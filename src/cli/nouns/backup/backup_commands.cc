// sluice backup and sluice store: copies of all that a control plane must not lose, and the way back from them.
#include <boost/json.hpp>
#include <filesystem>

#include "base/atomic_file.h"
#include "base/clock.h"
#include "base/table.h"
#include "base/utc_time.h"
#include "cli/action_command.h"
#include "cli/all_commands.h"
#include "cli/backup_outputs.h"
#include "cli/call_options.h"
#include "cli/command_door.h"
#include "cli/opening.h"
#include "crypto/recipient.h"
#include "host/restoring.h"
#include "host/upgrading.h"
#include "store/backup/backup.h"

namespace sluice::cli {
namespace backup_commands {

constexpr size_t kMostKeyBytes = 4096;

std::string text_in(const json::value& object, std::string_view name) {
  const json::value* value = object.as_object().if_contains(name);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : "";
}

int64_t number_in(const json::value& object, std::string_view name) {
  const json::value* value = object.as_object().if_contains(name);
  return value != nullptr && value->is_int64() ? value->get_int64() : 0;
}

std::string megabytes(int64_t bytes) {
  constexpr int64_t kMegabyte = 1'000'000;
  return std::to_string((bytes + kMegabyte - 1) / kMegabyte) + " MB";
}

// As the control plane will read it, which runs in another folder.
std::string absolute(const std::string& path) {
  std::error_code ignored;
  return path.empty() ? path : std::filesystem::absolute(path, ignored).lexically_normal().string();
}

// The text of a recipient, or of the file that has it.
Result<std::string> recipient_in(Context& context) {
  std::string given = context.given.text("recipient");
  if (given.empty() || crypto::check_recipient(given)) return given;
  auto text = read_file(context.disk, given, kMostKeyBytes);
  if (!text) return text.error();
  while (text->ends_with('\n')) text->pop_back();
  if (auto known = crypto::check_recipient(*text); !known) {
    Error error = known.error();
    error.message = given + ": " + error.message;
    error.next = "sluice backup key --out FILE makes one, and puts it into FILE.pub";
    return error;
  }
  return text;
}

Result<host::Answer> call(CommandDoor& door, Context& context, const std::string& action, const json::object& input) {
  auto answer = door.call(action, input, host::WaitFor::answer);
  if (!answer) return answer.error();
  if (answer->code != Code::ok) return refusal_in_words(context, *answer);
  return answer;
}

Result<Code> key(Context& context) {
  const std::string path = context.given.text("out");
  if (path.empty()) return Error{.code = Code::usage, .message = "say with --out where the key is to be"};
  for (const std::string& each : {path, path + ".pub"}) {
    auto there = context.disk.exists(each);
    if (!there) return there.error();
    if (*there) {
      return Error{.code = Code::conflict,
                   .message = each + " is there already; nothing was written",
                   .next = "choose another file"};
    }
  }
  const auto made = crypto::RecipientKey::generate();
  std::string text = std::string(made.text().reveal()) + "\n";
  auto kept = write_atomically(context.disk, path, text, 0600);
  crypto::wipe(text);
  if (!kept) return kept.error();
  if (auto put = write_atomically(context.disk, path + ".pub", made.recipient() + "\n", 0644); !put) return put.error();
  const outputs::RecipientMade shown{.recipient = made.recipient(), .key = path};
  context.output.print(to_json(shown), [&](const Terminal&) { return shown.recipient + "\n"; });
  context.output.note("Keep " + path +
                      " apart from the backups and from this machine: nothing is restored without it. Next: sluice "
                      "backup configure FOLDER --recipient " +
                      path + ".pub");
  return Code::ok;
}

Result<Code> configure(Context& context) {
  auto recipient = recipient_in(context);
  if (!recipient) return recipient.error();
  const bool off = context.given.flag("off");
  if (off == context.given.has("folder")) {
    return Error{.code = Code::usage, .message = "say the folder, or --off"};
  }
  json::object input{{"folder", off ? "" : absolute(context.given.text("folder"))}, {"recipient", *recipient}};
  for (const auto& [option, field] : {std::pair{"limit", "limit"}, {"keep", "keep"}, {"keep-days", "keepDays"}}) {
    if (auto number = context.given.number(option)) input[field] = *number;
  }
  auto door = CommandDoor::open(context);
  if (!door) return door.error();
  auto answer = call(**door, context, "Backup/configure", input);
  if (!answer) return answer.error();
  context.output.print(answer->fields, [&](const Terminal& terminal) {
    return off ? terminal.paint(Style::good, "off") + "  nothing more is archived\n"
               : terminal.paint(Style::good, "configured") + "  " + printable(answer->text("folder")) + "\n";
  });
  if (!off) context.output.note("sluice serve archives what it commits there. sluice backup list shows how far it is.");
  return Code::ok;
}

Result<Code> create_in(Context& context, const std::string& folder, const std::string& done) {
  auto recipient = recipient_in(context);
  if (!recipient) return recipient.error();
  json::object input;
  if (!folder.empty()) input["folder"] = absolute(folder);
  if (!recipient->empty()) input["recipient"] = *recipient;
  auto door = CommandDoor::open(context);
  if (!door) return door.error();
  auto answer = call(**door, context, "Backup/create", input);
  if (!answer) return answer.error();
  context.output.print(answer->fields, [&](const Terminal& terminal) {
    return terminal.paint(Style::good, done) + "  " + printable(answer->text("folder")) + "\nposition  " +
           std::to_string(number_in(answer->fields, "position")) + "\nsigned by " + answer->text("signer") + "\n";
  });
  context.output.note("Note who signed it: a restore asks for that key's id.");
  return Code::ok;
}

Result<Code> create(Context& context) { return create_in(context, context.given.text("to"), "created"); }
Result<Code> store_export(Context& context) { return create_in(context, context.given.text("folder"), "exported"); }

std::string kept_in_words(int64_t backups, int64_t days) {
  if (backups == 0 && days == 0) return "everything";
  std::string text;
  if (backups > 0) text = backups == 1 ? "the last backup" : "the last " + std::to_string(backups) + " backups";
  if (backups > 0 && days > 0) text += ", and ";
  if (days > 0) text += "every moment of the last " + std::to_string(days) + " days";
  return text;
}

Result<Code> list(Context& context) {
  auto door = CommandDoor::open(context);
  if (!door) return door.error();
  auto answer = call(**door, context, "Backup/list", {});
  if (!answer) return answer.error();
  context.output.print(answer->fields, [&](const Terminal& terminal) {
    Table table{.columns = {{.title = "BACKUP", .whole = true},
                            {"POSITION", Align::right},
                            {"MADE"},
                            {"SIZE", Align::right},
                            {"FOLDER"}},
                .empty = "There are no backups. Next: sluice backup create --to FOLDER --recipient FILE.pub"};
    for (const json::value& each : answer->fields.at("backups").as_array()) {
      const bool present = each.at("present").as_bool();
      table.rows.push_back({{text_in(each, "backup"), present ? Style::strong : Style::bad},
                            {std::to_string(number_in(each, "position"))},
                            {text_in(each, "madeAt").substr(0, 19)},
                            {megabytes(number_in(each, "bytes"))},
                            {printable(text_in(each, "folder")) + (present ? "" : " (is not there)")}});
    }
    std::string text = render(table, terminal);
    const json::value whole(answer->fields);
    if (const std::string folder = text_in(whole, "folder"); !folder.empty()) {
      text += "\narchive   " + printable(folder) + ", up to " + std::to_string(number_in(whole, "archived")) + ", " +
              std::to_string(number_in(whole, "behind")) + " s behind\n";
      if (const std::string since = text_in(whole, "sinceAt"); !since.empty()) {
        text +=
            "moments   since position " + std::to_string(number_in(whole, "since")) + ", " + since.substr(0, 19) + "\n";
      }
      text += "kept      " + kept_in_words(number_in(whole, "keep"), number_in(whole, "keepDays")) + "\n";
    }
    if (const std::string trouble = text_in(whole, "trouble"); !trouble.empty()) {
      text += terminal.paint(Style::bad, "trouble") + "   " + printable(trouble) + "\n";
    }
    const std::string drilled = text_in(whole, "drilledAt");
    text +=
        "drilled   " + (drilled.empty() ? "never" : drilled.substr(0, 19) + ", " + text_in(whole, "drilled")) + "\n";
    if (const std::string problem = text_in(whole, "drillProblem"); !problem.empty()) {
      text += terminal.paint(Style::bad, "drill") + "     the last one failed: " + printable(problem) + "\n";
    }
    return text;
  });
  return Code::ok;
}

std::string proven(const host::Answer& answer, const Terminal& terminal) {
  const auto number = [&](std::string_view name) { return std::to_string(number_in(answer.fields, name)); };
  return terminal.paint(Style::good, "holds") + "  " + answer.text("backup") + " at " + number("position") + ": " +
         number("records") + " records, " + number("rows") + " rows, " + number("files") + " files\n";
}

Result<Code> verify(Context& context) {
  auto door = CommandDoor::open(context);
  if (!door) return door.error();
  auto answer = call(**door, context, "Backup/verify", {{"backup", context.given.text("backup")}});
  if (!answer) return answer.error();
  context.output.print(answer->fields, [&](const Terminal& terminal) { return proven(*answer, terminal); });
  return Code::ok;
}

Result<Code> drill(Context& context) {
  auto door = CommandDoor::open(context);
  if (!door) return door.error();
  auto answer = call(**door, context, "Backup/drill", {});
  if (!answer) return answer.error();
  context.output.print(answer->fields, [&](const Terminal& terminal) { return proven(*answer, terminal); });
  return Code::ok;
}

using deploy::views::MeantNames;

Result<json::object> backup_alone(Context& context, const MeantNames&) {
  return json::object{{"backup", context.given.text("backup")}};
}

Result<ActionCommand::Loss> loss_of(Context& context, CommandDoor&, const MeantNames&) {
  return ActionCommand::Loss{.what = "remove the backup " + context.given.text("backup"),
                             .loses = {"the moments that only it begins"}};
}

std::string backup_name(const MeantNames&, const host::Answer& answer) { return answer.text("backup"); }

// A position, or a time.
Result<store::RestoreMoment> moment_in(const std::string& text) {
  if (text.empty()) return store::RestoreMoment{};
  if (text.find_first_not_of("0123456789") == std::string::npos) {
    return store::RestoreMoment{.position = std::strtoull(text.c_str(), nullptr, 10)};
  }
  auto at = parse_utc(text);
  if (!at) {
    return Error{
        .code = Code::usage,
        .message = "--at is a position of the journal or a time such as 2026-02-20T10:00:00Z, not '" + text + "'"};
  }
  return store::RestoreMoment{.at_ms = *at};
}

Result<std::string> signer_in(Context& context, const std::string& folder) {
  std::string signer = context.given.text("signer");
  if (!signer.empty()) return signer;
  auto all = store::backups_in(context.disk, folder);
  if (!all) return all.error();
  if (all->empty()) {
    return Error{
        .code = Code::not_found, .message = "there is no backup in " + folder, .next = "name a folder of backups"};
  }
  auto said = store::signer_of(context.disk, all->back().folder);
  if (!said) return said.error();
  return Error{.code = Code::usage,
               .message = "whose key must have signed the backup is missing; the newest there says that it is " + *said,
               .next = "compare it with what you noted, then add --signer " + *said};
}

// Where the store is, if it is not in the home.
std::string store_address(const Context& context) {
  const std::string given = context.given.text("store");
  return given.empty() ? context.variables("SLUICE_STORE").value_or("") : given;
}

Result<Code> bring_back(Context& context, bool moved) {
  const std::string folder = absolute(context.given.text("folder"));
  if (context.given.text("key").empty()) {
    return Error{.code = Code::usage,
                 .message = "what is sealed in a backup opens with the recipient's key, which is missing",
                 .next = "--key FILE, the one that sluice backup key made"};
  }
  auto text = read_file(context.disk, context.given.text("key"), kMostKeyBytes);
  if (!text) return text.error();
  auto key = crypto::RecipientKey::from_text(*text);
  crypto::wipe(*text);
  if (!key) return key.error();
  auto moment = moved ? Result<store::RestoreMoment>(store::RestoreMoment{}) : moment_in(context.given.text("at"));
  if (!moment) return moment.error();
  auto signer = signer_in(context, folder);
  if (!signer) return signer.error();
  auto opening = opening_of(context);
  if (!opening) return opening.error();
  opening->server.reset();
  const std::string address = store_address(context);
  if (!address.empty()) opening->store = host::StoreElsewhere{.address = address, .replica = "restore", .url = ""};
  RealClock clock;
  auto report = host::restore_home(*opening, clock,
                                   {.folder = folder,
                                    .key = *key,
                                    .signer = *signer,
                                    .moment = *moment,
                                    .moved = moved,
                                    .history_of = moved ? "" : context.given.text("history-of")});
  if (!report) return report.error();
  const outputs::Restored shown{.backup = report->backup,
                                .position = static_cast<int64_t>(report->position),
                                .at = utc_text(report->at_ms),
                                .contents = report->contents,
                                .knownTo = static_cast<int64_t>(report->known_to),
                                .history = static_cast<int64_t>(report->history),
                                .revoked = static_cast<int64_t>(report->revoked),
                                .mayHaveHappened = report->may_have,
                                .unread = report->unread};
  context.output.print(to_json(shown), [&](const Terminal& terminal) {
    std::string said = terminal.paint(Style::good, moved ? "imported" : "restored") + "  " + shown.backup + " to " +
                       std::to_string(shown.position) + ", " + shown.at + "\n";
    if (shown.history > 0) {
      said += "later     " + std::to_string(shown.history) + " records are kept in store/history-" +
              std::to_string(shown.position) + ".jsonl\n";
    }
    if (shown.revoked > 0)
      said += "revoked   " + std::to_string(shown.revoked) + " times later, and again at the next start\n";
    for (const std::string& each : shown.mayHaveHappened) said += "may have happened  " + printable(each) + "\n";
    for (const std::string& each : shown.unread) {
      said += terminal.paint(Style::bad, "damaged") + "   " + printable(each) +
              ": what was revoked later in it is not known, and may hold again\n";
    }
    return said;
  });
  context.output.note(address.empty() ? "next: sluice serve" : "next: sluice serve --store URL");
  return Code::ok;
}

Result<Code> restore(Context& context) { return bring_back(context, false); }
Result<Code> store_import(Context& context) { return bring_back(context, true); }

Result<Code> prune(Context& context) {
  auto door = CommandDoor::open(context);
  if (!door) return door.error();
  auto answer = call(**door, context, "Backup/prune", {});
  if (!answer) return answer.error();
  context.output.print(answer->fields, [&](const Terminal& terminal) {
    std::string text;
    for (const json::value& each : answer->fields.at("removed").as_array()) {
      text += terminal.paint(Style::good, "removed") + "  " + printable(std::string(each.as_string())) + "\n";
    }
    const int64_t segments = number_in(answer->fields, "segments");
    return text + std::to_string(segments) + (segments == 1 ? " segment" : " segments") + " removed\n";
  });
  return Code::ok;
}

Result<Code> store_upgrade(Context& context) {
  auto recipient = recipient_in(context);
  if (!recipient) return recipient.error();
  auto opening = opening_of(context);
  if (!opening) return opening.error();
  if (const std::string address = store_address(context); !address.empty()) {
    opening->store = host::StoreElsewhere{.address = address, .replica = "upgrade", .url = ""};
  }
  RealClock clock;
  auto report =
      host::upgrade_store(*opening, clock, {.folder = absolute(context.given.text("to")), .recipient = *recipient});
  if (!report) return report.error();
  const outputs::StoreUpgraded shown{.from = report->from,
                                     .to = report->to,
                                     .backup = report->backup,
                                     .signer = report->signer,
                                     .position = static_cast<int64_t>(report->position),
                                     .at = report->at_ms == 0 ? "" : utc_text(report->at_ms)};
  const bool done = shown.from != shown.to;
  context.output.print(to_json(shown), [&](const Terminal& terminal) {
    std::string said = done ? terminal.paint(Style::good, "upgraded") + "  format " + std::to_string(shown.from) +
                                  " to " + std::to_string(shown.to) + "\n"
                            : "unchanged  format " + std::to_string(shown.to) + " is what this Sluice works on\n";
    if (!shown.backup.empty()) said += "backup    " + printable(shown.backup) + ", made before, " + shown.at + "\n";
    if (!shown.signer.empty()) said += "signed by " + shown.signer + "\n";
    return said;
  });
  if (done) {
    context.output.note("The way back, with the earlier Sluice and an empty home: sluice backup restore " +
                        folder_of(shown.backup) + " --at " + std::to_string(shown.position) + ". Next: sluice serve");
  }
  return Code::ok;
}

Option recipient_option() {
  return {.name = "recipient", .value = "KEY", .help = "for whom keys and secrets are sealed: slr_… or a file with it"};
}

std::vector<Option> with_call_options(std::vector<Option> own) {
  for (Option& each : call_options()) own.push_back(std::move(each));
  return own;
}

std::vector<Option> way_back() {
  return {{.name = "key", .value = "FILE", .help = "the recipient's key", .kind = Kind::path},
          {.name = "signer", .value = "ID", .help = "the operator's key that must have signed it"},
          {.name = "store", .value = "URL", .help = "put it into this empty PostgreSQL instead of the home"}};
}

}  // namespace backup_commands

void add_backup_commands(Commands& commands) {
  using namespace backup_commands;
  commands.add_noun(
      {.name = "backup", .group = Group::operate, .summary = "Make, prove and restore backups of the control plane"});
  commands.add({.name = "backup key",
                .summary = "Make the key that backups are sealed for",
                .details = "The key goes into the file, and the recipient, which is public, into FILE.pub. Who makes "
                           "backups needs the recipient alone; who restores one needs the key.",
                .options = {{.name = "out", .value = "FILE", .help = "where the key is to be", .kind = Kind::path}},
                .example = "sluice backup key --out backup.key",
                .run = key});
  commands.add(
      {.name = "backup configure",
       .summary = "Archive every commit, so that any moment can be restored",
       .details = "The folder is one of the control plane's machine, best on another disk or machine. A backup "
                  "is made there first; what is committed afterwards is written behind it, about a second "
                  "later, while sluice serve runs. With --keep or --keep-days, backups and segments that neither "
                  "needs are removed by themselves; with both, what either needs is kept. 0 keeps everything.",
       .args = {{.name = "folder", .help = "where backups go", .kind = Kind::path, .optional = true}},
       .options = with_call_options(
           {recipient_option(),
            {.name = "limit", .value = "N", .help = "how many backups there may be", .kind = Kind::count},
            {.name = "keep", .value = "N", .help = "keep the last N backups there", .kind = Kind::count},
            {.name = "keep-days", .value = "N", .help = "keep every moment of the last N days", .kind = Kind::count},
            {.name = "off", .help = "archive nothing more"}}),
       .example = "sluice backup configure backups --recipient backup.key.pub",
       .run = configure});
  commands.add({.name = "backup create",
                .summary = "Make a backup of everything, as it is now",
                .details =
                    "It has the journal, all state, secrets, keys, the content of bundles and what else the home "
                    "must not lose, at one position of the journal, signed with the operator's key.",
                .options = with_call_options({{.name = "to",
                                               .value = "FOLDER",
                                               .help = "make it below this folder instead of the configured one",
                                               .kind = Kind::path},
                                              recipient_option()}),
                .example = "sluice backup create --to backups --recipient backup.key.pub",
                .action = "Backup/create",
                .run = create});
  commands.add({.name = "backup list",
                .summary = "List the backups, and how far the archive has come",
                .options = reading_options(),
                .example = "sluice backup list",
                .run = list});
  commands.add({.name = "backup verify",
                .summary = "Read all of a backup and prove that it is whole",
                .args = {{.name = "backup", .help = "its id, as backup list shows it"}},
                .options = call_options(),
                .example = "sluice backup verify 01JR2V0000000000000000000A",
                .run = verify});
  commands.add({.name = "backup drill",
                .summary = "Restore the newest backup for a trial, and verify all of it",
                .options = call_options(),
                .example = "sluice backup drill",
                .action = "Backup/drill",
                .run = drill});
  commands.add(command_of({.name = "backup remove",
                           .action = "Backup/remove",
                           .summary = "Remove a backup with its files",
                           .example = "sluice backup remove 01JR2V0000000000000000000A --yes",
                           .args = {{.name = "backup", .help = "its id, as backup list shows it"}},
                           .fill = backup_alone,
                           .loses = loss_of,
                           .done = "removed",
                           .what = backup_name}));
  commands.add({.name = "backup prune",
                .summary = "Remove what --keep and --keep-days do not need",
                .details = "It happens by itself as soon as a newer backup takes the place of an older one; this says "
                           "what it removes.",
                .options = call_options(),
                .example = "sluice backup prune",
                .run = prune});
  auto options = way_back();
  options.push_back(
      {.name = "at", .value = "MOMENT", .help = "a position of the journal or a time; the newest if it is not said"});
  options.push_back({.name = "history-of",
                     .value = "STORE",
                     .help = "keep the later records of this store.db or postgresql://… as well"});
  commands.add({.name = "backup restore",
                .summary = "Restore a backup into an empty home",
                .details = "The home is this machine's, and sluice serve starts on it afterwards. Generations and the "
                           "lease's token go on above all that was seen, what was revoked later stays revoked, and the "
                           "effects that may have happened after the moment are listed.",
                .args = {{.name = "folder", .help = "of backups", .kind = Kind::path}},
                .options = options,
                .example = "sluice backup restore backups --key backup.key --signer 0123456789abcdef0123456789abcdef",
                .run = restore});
  commands.add_noun({.name = "store", .group = Group::operate, .summary = "Move or upgrade the store"});
  commands.add({.name = "store export",
                .summary = "Write the whole store and home into a folder, to move it",
                .args = {{.name = "folder", .help = "where it goes, in a folder of its own", .kind = Kind::path}},
                .options = with_call_options({recipient_option()}),
                .example = "sluice store export moved --recipient backup.key.pub",
                .run = store_export});
  commands.add(
      {.name = "store import",
       .summary = "Fill an empty home or PostgreSQL with what was exported",
       .details = "As backup restore, but nothing is raised: whoever exported must not go on with the old store.",
       .args = {{.name = "folder", .help = "of the export", .kind = Kind::path}},
       .options = way_back(),
       .example = "sluice store import moved --key backup.key --signer 0123456789abcdef0123456789abcdef",
       .run = store_import});
  commands.add({.name = "store upgrade",
                .summary = "Bring a store of an earlier Sluice up to this one",
                .details =
                    "Every other command refuses an older format. A backup is made first, verified, and restored "
                    "for a trial; then all is changed in one transaction, or nothing. The backup is the way "
                    "back. Nobody may have the store open.",
                .options = {{.name = "to", .value = "FOLDER", .help = "where the backup goes", .kind = Kind::path},
                            recipient_option(),
                            {.name = "store", .value = "URL", .help = "the PostgreSQL that has the store"}},
                .example = "sluice store upgrade --to backups --recipient backup.key.pub",
                .run = store_upgrade});
}

}  // namespace sluice::cli
