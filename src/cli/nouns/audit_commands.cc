// sluice audit: who decided what, and the proof that nothing was changed since. Each is a view of the host.
#include <boost/json.hpp>

#include "base/atomic_file.h"
#include "base/clock.h"
#include "base/json_writer.h"
#include "base/table.h"
#include "cli/all_commands.h"
#include "cli/command_door.h"
#include "cli/fitting_table.h"
#include "cli/opening.h"
#include "cli/outputs.h"
#include "crypto/ed25519.h"
#include "host/flows/audit_documents.h"
#include "host/flows/flow_views.h"
#include "host/home_store.h"
#include "host/kit_place.h"

namespace sluice::cli {
namespace audit_commands {

// ---------------------------------------------------------------------------------------------------------- list

std::string outcome_of(const host::AuditedStep& step) {
  if (step.outcome) return *step.outcome;
  if (step.step == "put" && step.count) return "put " + std::to_string(*step.count) + " bytes";
  if (step.count) return "denied × " + std::to_string(*step.count);
  return step.step == "begin" ? "open" : step.step;
}

Result<Code> list(Context& context) {
  host::AuditQuery query{.flow = context.given.text("flow")};
  if (auto age = context.given.number("since")) query.since = lang::DateTime{.ms = RealClock().wall_ms() - *age};
  auto door = CommandDoor::open_any(context);
  if (!door) return door.error();
  auto steps = (*door)->read<std::vector<host::AuditedStep>>("audit", to_json(query).as_object());
  if (!steps) return steps.error();
  context.output.print(to_json(*steps), [&](const Terminal& terminal) {
    Table table{.columns = {{"SEQ", Align::right},
                            {"TIME"},
                            {"CALLER"},
                            {"ACTION"},
                            {"OUTCOME"},
                            {.title = "FLOW", .whole = true},
                            {"REASON"}},
                .empty = "No records with a caller."};
    for (const host::AuditedStep& step : *steps) {
      table.rows.push_back({{std::to_string(step.seq)},
                            {utc_text(step.at.ms)},
                            {step.caller},
                            {step.action.value_or("")},
                            {outcome_of(step)},
                            {step.flow.value_or("")},
                            {step.reason.value_or("")}});
    }
    return render_fitting(std::move(table), terminal, {"FLOW"});
  });
  return Code::ok;
}

// -------------------------------------------------------------------------------------------------------- verify

constexpr size_t kMaxKeyBytes = 64 << 10;
constexpr size_t kMaxHeadsBytes = size_t{64} << 20U;
constexpr const char* kKeyNext =
    "openssl pkey -in $SLUICE_HOME/keys/operator.pem -pubout, where the journal was signed, prints the public key";

std::string counted(uint64_t count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

std::string report_text(const host::AuditReportDocument& report, const Terminal& terminal) {
  if (report.fault) {
    return terminal.paint(Style::bad, "The journal does not hold.") + "\nrecord " + std::to_string(report.fault->seq) +
           ": " + printable(report.fault->what) + "\n";
  }
  std::string text = report.holds ? terminal.paint(Style::good, "The journal holds.")
                     : !report.rowsThatDiffer.empty()
                         ? terminal.paint(Style::bad, "State is not what the journal says.")
                     : report.by_strangers() ? terminal.paint(Style::bad, "The journal is not proven.")
                                             : terminal.paint(Style::bad, "Signed heads are missing.");
  text += "\n" + counted(report.records, "record");
  if (report.packed > 0) text += ", " + std::to_string(report.packed) + " of them packed";
  text += "; chain " + report.chain + "\n";
  if (report.heads > 0) {
    text += "complete up to record " + std::to_string(report.provenTo) + ", by " +
            counted(report.heads, "signed head") + "\n";
  } else {
    text += "no signed head proves that it is complete\n";
  }
  if (report.stateBound && report.rowsThatDiffer.empty()) {
    text += counted(report.rows, "row") + " of state as the journal says\n";
  }
  for (const host::DifferentRow& each : report.rowsThatDiffer) {
    text += each.relation + " " + printable(each.key) + ": " + each.what + "\n";
  }
  for (uint64_t seq : report.missingHeads) {
    text += "the head of record " + std::to_string(seq) + " was signed, and is missing\n";
  }
  if (report.unsignedHeads > 0) {
    text += counted(report.unsignedHeads, "head") + " signed by another key than the one that counts here\n";
  }
  for (const std::string& each : report.notProven) text += "not proven: " + each + "\n";
  if (report.lacks_heads() || !report.missingHeads.empty()) {
    text += "next:  sluice audit verify --heads COPY, with a copy of audit.heads that was kept elsewhere\n";
  }
  if (!report.rowsThatDiffer.empty()) text += "next:  go back to a copy of the store, or correct the rows by actions\n";
  if (report.by_strangers()) {
    text += "next:  sluice audit verify --key FILE, with the public key of whoever signed them\n";
  }
  return text;
}

Result<Code> verify(Context& context) {
  host::AuditReportQuery query{.copied = context.given.has("heads")};
  if (query.copied) {
    auto text = read_file(context.disk, context.given.text("heads"), kMaxHeadsBytes);
    if (!text && text.error().code == Code::not_found) {
      return Error{.code = Code::not_found,
                   .message = "there is no file " + context.given.text("heads"),
                   .next = "name a copy of audit.heads, or leave --heads out"};
    }
    if (!text) return text.error();
    query.heads = *std::move(text);
  }
  if (context.given.has("key")) {
    auto text = read_file(context.disk, context.given.text("key"), kMaxKeyBytes);
    if (!text) {
      Error error = text.error();
      error.next = kKeyNext;
      return error;
    }
    if (!crypto::PublicKey::from_pem(*text)) {
      return Error{.code = Code::invalid,
                   .message = context.given.text("key") +
                              " is no public key: expected a line \"-----BEGIN PUBLIC KEY-----\" and what "
                              "follows it in PEM",
                   .next = kKeyNext};
    }
    query.key = *std::move(text);
  }
  auto door = CommandDoor::open_any(context);
  if (!door) return door.error();
  auto answer = (*door)->view("audit-report", to_json(query).as_object());
  if (!answer) return answer.error();
  auto report = read<host::AuditReportDocument>(answer->document);
  if (!report) return report.error();
  if (answer->position == 0) {
    Error nothing = host::nothing_has_run();
    context.output.print(nullptr,
                         [&](const Terminal&) { return "Nothing has run here yet.\nnext:  " + nothing.next + "\n"; });
    return Code::ok;
  }
  context.output.print(answer->document, [&](const Terminal& terminal) { return report_text(*report, terminal); });
  if (report->torn) context.output.note("The last line of the heads has no end and counts for nothing.");
  return report->holds ? Code::ok : Code::verification_failed;
}

// --------------------------------------------------------------------------------------------------------- clock

Result<Code> clock(Context& context) {
  auto door = CommandDoor::open_any(context);
  if (!door) return door.error();
  auto clock = (*door)->read<host::ClockDocument>("clock");
  if (!clock) return clock.error();
  context.output.print(to_json(*clock), [&](const Terminal&) {
    std::string text = "recorded  " + utc_text(clock->recorded.ms) + "\nsystem    " + utc_text(clock->system.ms) + "\n";
    if (clock->jump) text += clock->jump->what + (clock->jump->over ? "; they agree again\n" : "\n");
    if (clock->apart) text += "next:  set the system's clock right; if it is right: sluice audit correct-clock\n";
    return text;
  });
  return Code::ok;
}

Result<Code> correct_clock(Context& context) {
  auto look = CommandDoor::open_any(context);
  if (!look) return look.error();
  auto answer = (*look)->view("clock");
  if (!answer) return answer.error();
  auto clock = read<host::ClockDocument>(answer->document);
  if (!clock) return clock.error();
  if (!clock->apart) {
    context.output.print(to_json(outputs::Position{.position = answer->position}), [](const Terminal&) {
      return std::string("Recorded time and the system's clock agree to within five minutes; nothing was changed.\n");
    });
    return Code::ok;
  }
  auto newest = (*look)->read<host::FlowDocument>("flow", {{"flow", host::kLatest}});
  if (!newest) return newest.error();
  look->reset();  // and with it the store
  const std::string folder = newest->kit.value_or("");
  auto check = [&]() -> Result<std::shared_ptr<const lang::CheckedKit>> {
    auto place = kit_place_of(context, folder);
    if (!place) return place.error();
    if (auto exists = host::must_exist(*place); !exists) return exists.error();
    lang::Checked checked = check_kit_at(context, *place);
    if (!checked.kit) return host::kit_has_errors(*place, checked);
    auto kit = std::make_shared<const lang::CheckedKit>(*std::move(checked.kit));
    if (auto fits = host::check_handlers(concepts_of(context), *kit); !fits) return fits.error();
    return kit;
  };
  auto door = CommandDoor::open_any(context, {.folder = folder, .check = check});
  if (!door) return door.error();
  auto decided = (*door)->decide({.kind = engine::Decision::Kind::correct_clock});
  if (!decided) return decided.error();
  context.output.print(to_json(outputs::Position{.position = decided->position}), [&](const Terminal&) {
    return "Recorded time is that of the system's clock from record " + std::to_string(decided->position) + " on.\n";
  });
  return Code::ok;
}

}  // namespace audit_commands

void add_audit_commands(Commands& commands) {
  using namespace audit_commands;
  commands.add_noun({.name = "audit", .group = Group::team, .summary = "See who decided what, and prove it"});
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
                    .help = "a copy of audit.heads kept elsewhere; by default the home's",
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
