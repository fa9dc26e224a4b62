// sluice audit: who decided what, and the proof that nothing was changed since.
#include <boost/json.hpp>

#include "base/atomic_file.h"
#include "base/clock.h"
#include "base/table.h"
#include "cli/all_commands.h"
#include "cli/context.h"
#include "cli/flow_view.h"
#include "cli/opening.h"
#include "crypto/key_file.h"
#include "engine/audit.h"
#include "engine/engine_time.h"
#include "engine/record_reader.h"
#include "engine/step.h"
#include "host/home_engine.h"
#include "host/home_store.h"
#include "host/kit_place.h"
#include "host/loaded_concepts.h"

namespace sluice::cli {
namespace audit_commands {

using engine::Step;

// ---------------------------------------------------------------------------------------------------------- list

json::value step_json(const Step& step) {
  json::object object{{"seq", step.seq}, {"at", utc_text(step.at_ms)}, {"caller", step.caller.name}};
  if (!step.caller.reason.empty()) object["reason"] = step.caller.reason;
  object["step"] = name_of(step.kind);
  if (!step.action.empty()) object["action"] = step.action;
  if (step.flow != Ulid()) object["flow"] = to_string(step.flow);
  if (step.invocation != Ulid()) object["id"] = to_string(step.invocation);
  if (step.root) object["input"] = step.root->input;
  if (step.end) object["outcome"] = step.end->variant;
  if (step.count != 0) object["count"] = step.count;
  return object;
}

std::string outcome_of(const Step& step) {
  if (step.end) return step.end->variant;
  if (step.kind == Step::Kind::denied) return "denied × " + std::to_string(step.count);
  return std::string(name_of(step.kind));
}

std::string table_of(const std::vector<Step>& steps, const Terminal& terminal) {
  Table table{.columns = {{"SEQ", Align::right},
                          {"TIME"},
                          {"CALLER"},
                          {"ACTION"},
                          {"OUTCOME"},
                          {.title = "FLOW", .whole = true},
                          {"REASON"}},
              .empty = "No records with a caller."};
  for (const Step& step : steps) {
    table.rows.push_back({{std::to_string(step.seq)},
                          {utc_text(step.at_ms)},
                          {step.caller.name},
                          {step.action},
                          {outcome_of(step)},
                          {step.flow == Ulid() ? "" : to_string(step.flow)},
                          {step.caller.reason}});
  }
  return render(table, terminal);
}

Result<Code> list(Context& context) {
  RealClock clock;
  auto opening = opening_of(context);
  if (!opening) return opening.error();
  auto home = host::open_for_reading(*opening, clock);
  if (!home) return home.error();
  std::vector<Step> steps;
  if (*home) {
    auto snapshot = (*home)->store->read();
    if (!snapshot) return snapshot.error();
    std::optional<Ulid> flow;
    if (context.given.has("flow")) {
      auto row = find_flow(**snapshot, context.given.text("flow"));
      if (!row) return row.error();
      flow = row->id;
    }
    int64_t since_ms = 0;
    if (auto age = context.given.number("since")) since_ms = clock.wall_ms() - *age;
    std::optional<Error> failed;
    engine::RecordReader records(**snapshot);
    auto read = (*snapshot)->journal_from(1, [&](const store::JournalRow& row) {
      if (flow && row.flow != *flow) return true;
      // Most records have no caller, and those need not be read whole.
      auto record = records.read(row);
      if (record && record->find(R"("caller":")") == std::string_view::npos) return true;
      auto step = record ? engine::read_step(*record) : Result<Step>(record.error());
      if (!step) {
        failed = step.error();
        return false;
      }
      // A follow-up flow has its parent's caller, who decided nothing anew.
      bool decided = !step->caller.name.empty() && step->kind != Step::Kind::child;
      if (decided && step->at_ms >= since_ms) steps.push_back(*std::move(step));
      return true;
    });
    if (!read) return read.error();
    if (failed) return *failed;
  } else if (context.given.has("flow")) {
    return host::nothing_has_run();
  }
  json::array array;
  for (const Step& step : steps) array.push_back(step_json(step));
  context.output.print(array, [&](const Terminal& terminal) { return table_of(steps, terminal); });
  return Code::ok;
}

// -------------------------------------------------------------------------------------------------------- verify

constexpr size_t kMaxKeyBytes = 64 << 10;
constexpr const char* kKeyNext =
    "openssl pkey -in $SLUICE_HOME/keys/operator.pem -pubout, where the journal was signed, prints the public key";

// The keys whose signatures count: the one given, else the operator's own.
Result<std::vector<crypto::PublicKey>> trusted_keys(const Context& context, const host::HomeStore& home, Disk& disk) {
  std::vector<crypto::PublicKey> keys;
  if (context.given.has("key")) {
    std::string path = context.given.text("key");
    auto text = read_file(disk, path, kMaxKeyBytes);
    if (!text) {
      Error error = text.error();
      error.next = kKeyNext;
      return error;
    }
    auto key = crypto::PublicKey::from_pem(*text);
    if (!key) {
      return Error{.code = Code::invalid,
                   .message = path +
                              " is no public key: expected a line \"-----BEGIN PUBLIC KEY-----\" and what "
                              "follows it in PEM",
                   .next = kKeyNext};
    }
    keys.push_back(*key);
    return keys;
  }
  auto exists = disk.exists(home.operator_key_path);
  if (!exists) return exists.error();
  if (!*exists) return keys;
  auto key = crypto::load_private_key(disk, home.operator_key_path);
  if (!key) return key.error();
  keys.push_back(key->public_key());
  return keys;
}

// There are heads, but whoever signed them is not known here: they prove nothing.
bool by_strangers(const engine::AuditReport& report) { return report.heads == 0 && report.unsigned_heads > 0; }

// A head is signed every 1,000 records; one that was late by this many was taken away.
constexpr uint64_t kMostUnproven = 10'000;

// A head is signed with the first record of a home, and at the end of every command.
bool lacks_heads(const engine::AuditReport& report) {
  return report.records > 0 && report.heads == 0 && report.unsigned_heads == 0;
}

// The home's own heads end long before the journal does.
void tell_missing_heads(engine::AuditReport& report) {
  if (report.fault || lacks_heads(report) || by_strangers(report) || report.records - report.proven_to <= kMostUnproven)
    return;
  report.fault = {.seq = report.proven_to + 1,
                  .what = "no head was signed from here on, for " + std::to_string(report.records - report.proven_to) +
                          " records: heads are missing"};
}

json::value report_json(const engine::AuditReport& report) {
  json::object object{{"holds", report.holds() && !by_strangers(report) && !lacks_heads(report)},
                      {"records", report.records},
                      {"packed", report.packed},
                      {"heads", report.heads},
                      {"unsignedHeads", report.unsigned_heads},
                      {"provenTo", report.proven_to},
                      {"chain", report.chain}};
  json::array rows, missing;
  for (const engine::StateFault& each : report.state) {
    rows.push_back(json::object{{"relation", each.relation}, {"key", printable(each.key)}, {"what", each.what}});
  }
  for (uint64_t seq : report.missing_heads) missing.push_back(seq);
  object["rows"] = report.rows;
  object["rowsThatDiffer"] = std::move(rows);
  object["missingHeads"] = std::move(missing);
  object["notProven"] = json::array(report.unproven.begin(), report.unproven.end());
  if (report.fault) object["fault"] = json::object{{"seq", report.fault->seq}, {"what", report.fault->what}};
  return object;
}

std::string counted(uint64_t count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

std::string report_text(const engine::AuditReport& report, const Terminal& terminal) {
  if (report.fault) {
    return terminal.paint(Style::bad, "The journal does not hold.") + "\nrecord " + std::to_string(report.fault->seq) +
           ": " + printable(report.fault->what) + "\n";
  }
  bool proven = report.holds() && !by_strangers(report) && !lacks_heads(report);
  std::string text = proven                  ? terminal.paint(Style::good, "The journal holds.")
                     : !report.state.empty() ? terminal.paint(Style::bad, "State is not what the journal says.")
                     : by_strangers(report)  ? terminal.paint(Style::bad, "The journal is not proven.")
                                             : terminal.paint(Style::bad, "Signed heads are missing.");
  text += "\n" + counted(report.records, "record");
  if (report.packed > 0) text += ", " + std::to_string(report.packed) + " of them packed";
  text += "; chain " + report.chain + "\n";
  if (report.heads > 0) {
    text += "complete up to record " + std::to_string(report.proven_to) + ", by " +
            counted(report.heads, "signed head") + "\n";
  } else {
    text += "no signed head proves that it is complete\n";
  }
  if (report.bound_from > 0 && report.state.empty()) {
    text += counted(report.rows, "row") + " of state as the journal says\n";
  }
  for (const engine::StateFault& each : report.state) {
    text += each.relation + " " + printable(each.key) + ": " + each.what + "\n";
  }
  for (uint64_t seq : report.missing_heads) {
    text += "the head of record " + std::to_string(seq) + " was signed, and is missing\n";
  }
  if (report.unsigned_heads > 0) {
    text += counted(report.unsigned_heads, "head") + " signed by another key than the one that counts here\n";
  }
  for (const std::string& each : report.unproven) text += "not proven: " + each + "\n";
  if (lacks_heads(report) || !report.missing_heads.empty()) {
    text += "next:  sluice audit verify --heads COPY, with a copy of audit.heads that was kept elsewhere\n";
  }
  if (!report.state.empty()) text += "next:  go back to a copy of the store, or correct the rows by actions\n";
  if (by_strangers(report)) {
    text += "next:  sluice audit verify --key FILE, with the public key of whoever signed them\n";
  }
  return text;
}

Result<Code> verify(Context& context) {
  RealClock clock;
  auto opening = opening_of(context);
  if (!opening) return opening.error();
  auto home = host::open_for_reading(*opening, clock, false);
  if (!home) return home.error();
  if (!*home && context.given.has("heads")) return host::nothing_has_run();
  if (!*home) {
    Error nothing = host::nothing_has_run();
    context.output.print(nullptr,
                         [&](const Terminal&) { return "Nothing has run here yet.\nnext:  " + nothing.next + "\n"; });
    return Code::ok;
  }
  Disk& disk = context.disk;
  std::string path = context.given.has("heads") ? context.given.text("heads") : (*home)->heads_path;
  if (context.given.has("heads")) {
    auto exists = disk.exists(path);
    if (!exists) return exists.error();
    if (!*exists) {
      return Error{.code = Code::not_found,
                   .message = "there is no file " + path,
                   .next = "name a copy of " + (*home)->heads_path + ", or leave --heads out"};
    }
  }
  auto heads = engine::read_heads(disk, path);
  if (!heads) return heads.error();
  auto keys = trusted_keys(context, **home, disk);
  if (!keys) return keys.error();
  auto snapshot = (*home)->store->read();
  if (!snapshot) return snapshot.error();
  auto report = engine::verify(**snapshot, heads->heads, *keys);
  if (!report) return report.error();
  if (!context.given.has("heads")) {
    tell_missing_heads(*report);
  } else {
    // A copy ends where it was made.
    uint64_t last = heads->heads.empty() ? 0 : heads->heads.back().head.seq;
    std::erase_if(report->missing_heads, [&](uint64_t seq) { return seq > last; });
  }
  context.output.print(report_json(*report), [&](const Terminal& terminal) { return report_text(*report, terminal); });
  if (heads->torn) context.output.note("The last line of " + path + " has no end and counts for nothing.");
  bool proven = report->holds() && !by_strangers(*report) && !lacks_heads(*report);
  return proven ? Code::ok : Code::verification_failed;
}

// --------------------------------------------------------------------------------------------------------- clock

Result<Code> clock(Context& context) {
  RealClock clock;
  auto opening = opening_of(context);
  if (!opening) return opening.error();
  auto home = host::open_for_reading(*opening, clock);
  if (!home) return home.error();
  if (!*home) return host::nothing_has_run();
  auto snapshot = (*home)->store->read();
  if (!snapshot) return snapshot.error();
  engine::EngineTime time(clock, engine::this_boot((*home)->disk));
  if (auto resumed = time.resume(**snapshot); !resumed) return resumed.error();
  time.tick();
  json::object shown{{"recorded", utc_text(time.now_ms())}, {"system", utc_text(time.wall_ms())}};
  json::array corrections;
  for (const engine::TimeCorrection& each : time.kept().corrections) {
    corrections.push_back(json::object{{"seq", each.seq}, {"byMs", each.by_ms}});
  }
  shown["corrections"] = corrections;
  if (time.jump()) {
    shown["jump"] =
        json::object{{"at", utc_text(time.jump()->at_ms)}, {"byMs", time.jump()->by_ms}, {"over", time.jump()->over}};
  }
  context.output.print(shown, [&](const Terminal&) {
    std::string text = "recorded  " + utc_text(time.now_ms()) + "\nsystem    " + utc_text(time.wall_ms()) + "\n";
    if (time.jump()) {
      text += time.jump()->what + (time.jump()->over ? "; they agree again\n" : "\n");
    }
    if (time.is_apart()) text += "next:  set the system's clock right; if it is right: sluice audit correct-clock\n";
    return text;
  });
  return Code::ok;
}

Result<Code> correct_clock(Context& context) {
  std::string folder;
  {
    RealClock clock;
    auto opening = opening_of(context);
    if (!opening) return opening.error();
    auto home = host::open_home_store(*opening, clock, host::MakeStore::no);
    if (!home) return home.error();
    if (!*home) return host::nothing_has_run();
    auto snapshot = (*home)->store->read();
    if (!snapshot) return snapshot.error();
    engine::EngineTime time(clock, engine::this_boot((*home)->disk));
    if (auto resumed = time.resume(**snapshot); !resumed) return resumed.error();
    (void)time.tick();
    if (!time.is_apart()) {
      context.output.print(json::object{{"position", (*snapshot)->position()}}, [](const Terminal&) {
        return std::string("Recorded time and the system's clock agree to within five minutes; nothing was changed.\n");
      });
      return Code::ok;
    }
    auto kit = host::kit_of_flow(**snapshot, "");
    if (!kit) return kit.error();
    folder = *std::move(kit);
  }
  auto place = kit_place_of(context, folder);
  if (!place) return place.error();
  if (auto exists = host::must_exist(*place); !exists) return exists.error();
  lang::Checked checked = check_kit_at(context, *place);
  if (!checked.kit) return host::kit_has_errors(*place, checked);
  auto kit = std::make_shared<const lang::CheckedKit>(*std::move(checked.kit));
  if (auto fits = host::check_handlers(concepts_of(context), *kit); !fits) return fits.error();
  uint64_t position = 0;
  auto opening = opening_of(context);
  if (!opening) return opening.error();
  auto home =
      host::HomeEngine::start(*opening, kit, place->folder, {.kind = engine::Decision::Kind::correct_clock}, position);
  if (!home) return home.error();
  context.output.print(json::object{{"position", position}}, [&](const Terminal&) {
    return "Recorded time is that of the system's clock from record " + std::to_string(position) + " on.\n";
  });
  return Code::ok;
}

}  // namespace audit_commands

void add_audit_commands(Commands& commands) {
  using namespace audit_commands;
  commands.add_noun({.name = "audit", .group = Group::operate, .summary = "See who decided what, and prove it"});
  commands.add(
      {.name = "audit list",
       .summary = "List what people and programs decided from outside",
       .options = {{.name = "since",
                    .value = "TIME",
                    .help = "only what is not older than this, as 90m or 7d",
                    .kind = Kind::duration},
                   {.name = "flow", .value = "FLOW", .help = "only this flow: its id, a part of it, or latest"},
                   lock_timeout_option()},
       .example = "sluice audit list --since 7d",
       .run = list});
  commands.add(
      {.name = "audit verify",
       .summary = "Prove that the journal is complete and unchanged",
       .details = "Follows the chain of hashes through the whole journal and compares it with the signed heads: "
                  "it is complete up to the last head that is given. Then compares every row of state with what the "
                  "journal says was written, and names each that differs. What could not be proven is said. Exit code "
                  "11 says that something does not hold, that all heads were signed by keys that are not known here, "
                  "or that heads are missing that were signed.",
       .options = {{.name = "heads",
                    .value = "FILE",
                    .help = "a copy of audit.heads that was kept elsewhere; else the home's own",
                    .kind = Kind::path},
                   {.name = "key",
                    .value = "FILE",
                    .help = "the operator's public key as PEM; else the home's own",
                    .kind = Kind::path},
                   lock_timeout_option()},
       .example = "sluice audit verify",
       .run = verify});
  commands.add({.name = "audit clock",
                .summary = "Compare the time that is recorded with the system's clock",
                .details =
                    "Recorded time never goes back. When the system's clock is set by more than five minutes, recorded "
                    "time does not follow at once: it runs at double or at half speed until both agree, and nothing is "
                    "removed for its age meanwhile. Timers and deadlines do not depend on the clock.",
                .options = {lock_timeout_option()},
                .example = "sluice audit clock",
                .run = clock});
  commands.add({.name = "audit correct-clock",
                .summary = "Set recorded time to the system's clock",
                .details =
                    "For a home in which things were recorded while the clock was wrong by months, or whose clock was "
                    "wrong until now. Make sure that the system's clock is right. The correction is a record of the "
                    "journal with who made it; earlier records stay as they are. Timers that are open keep the time "
                    "that they have left.",
                .options = {{.name = "reason", .value = "TEXT", .help = "why, for the audit"}, lock_timeout_option()},
                .example = "sluice audit correct-clock --reason 'the battery of the clock was empty'",
                .run = correct_clock});
}

}  // namespace sluice::cli
