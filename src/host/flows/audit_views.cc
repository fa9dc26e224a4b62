// The journal is read once, in order: how something ended that was decided is a later record of the same flow.
#include <boost/json.hpp>
#include <map>

#include "base/atomic_file.h"
#include "base/terminal.h"
#include "crypto/key_file.h"
#include "deploy/views/names.h"
#include "deploy/views/states.h"
#include "deployment.gen.h"
#include "engine/engine_time.h"
#include "engine/journal/audit.h"
#include "engine/journal/record_reader.h"
#include "engine/journal/step.h"
#include "host/flows/audit_documents.h"
#include "host/flows/flow_views.h"
#include "host/home_store.h"
#include "revision.gen.h"
#include "rollout.gen.h"

namespace sluice::host {
namespace {

using engine::Step;

// ----------------------------------------------------------------------------------------------------------- list

// What a call is about: the environment, and the revision or the deployment, as people call it.
struct About {
  std::optional<std::string> environment, name;
};

// By the arguments that name one; what is gone by now has no name.
About about_of(const deploy::views::States& states, const json::object& input) {
  auto text = [&](std::string_view name) {
    const json::value* value = input.if_contains(name);
    return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
  };
  About about;
  std::string deployment = text("deployment"), revision = text("revision");
  if (auto rollout = states.rollout().get(deploy::rollout::RolloutId(text("rollout")))) {
    deployment = rollout->deployment;
    revision = rollout->concept_;
  }
  const deploy::revision::RevisionId id(revision);
  if (auto found = states.revision().get(id)) {
    about = {found->environment, deploy::views::name_of({id, *found})};
  } else if (auto one = states.deployment().get(deploy::deployment::DeploymentId(deployment))) {
    about = {one->environment, one->bundle};
  }
  if (std::string named = text("environment"); !named.empty()) about.environment = named;
  return about;
}

// How it ended; what a call made is named by its answer alone.
void ended(AuditedStep& one, const engine::End& end, const deploy::views::States& states) {
  one.outcome = end.variant;
  if (!one.about) one.about = about_of(states, end.fields).name;
}

AuditedStep audited(const Step& step, const deploy::views::States& states) {
  AuditedStep one{
      .seq = step.seq, .at = {.ms = step.at_ms}, .caller = step.caller.name, .step = std::string(name_of(step.kind))};
  if (!step.caller.token.empty()) one.token = step.caller.token;
  if (step.root) {
    About about = about_of(states, step.root->input);
    one.environment = std::move(about.environment);
    one.about = std::move(about.name);
  }
  if (!step.caller.reason.empty()) one.reason = step.caller.reason;
  if (!step.action.empty()) one.action = step.action;
  if (step.flow != Ulid()) one.flow = to_string(step.flow);
  if (step.invocation != Ulid()) one.id = to_string(step.invocation);
  if (step.root) one.input = step.root->input;
  if (step.end) ended(one, *step.end, states);
  if (step.count != 0) one.count = step.count;
  return one;
}

// A follow-up flow has its parent's caller, who decided nothing anew.
bool is_decision(const Step& step) { return !step.caller.name.empty() && step.kind != Step::Kind::child; }

// Nobody decides from outside that a program is given a secret; who was given which belongs into the audit all the
// same.
bool is_reading(const Step& step) {
  return step.kind == Step::Kind::finish && step.action == "Secret/resolve" && step.end && step.end->variant == "ok";
}

AuditedStep reading_of_secret(const Step& step) {
  auto text = [&](std::string_view name) {
    const json::value* value = step.end->fields.if_contains(name);
    return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
  };
  const std::string secret = text("secret");  // "ENV/BUNDLE/NAME"
  const size_t slash = std::min(secret.find('/'), secret.size());
  const std::string name = secret.substr(std::min(slash + 1, secret.size()));
  return {.seq = step.seq,
          .at = {.ms = step.at_ms},
          .caller = text("reader"),
          .reason = name + " version " + text("version") + ", for " + text("purpose"),
          .step = "read",
          .environment = secret.substr(0, slash),
          .action = step.action,
          .flow = to_string(step.flow),
          .id = to_string(step.invocation),
          .input = json::object{{"name", name}, {"version", text("version")}, {"purpose", text("purpose")}},
          .outcome = step.end->variant};
}

bool is_told(const Step& step) { return is_decision(step) || is_reading(step); }

// Most records have no caller, and those need not be read whole.
bool may_be_told(std::string_view record) {
  return record.find(R"("caller":")") != std::string_view::npos ||
         record.find(R"("Secret/resolve")") != std::string_view::npos;
}

// The record at which the newest decisions begin, as many as are asked for. The journal is read backwards, a piece at a
// time, so that a long one costs nothing.
Result<uint64_t> first_of_newest(const HostReading& reading, const AuditQuery& query, std::optional<Ulid> flow) {
  constexpr uint64_t kPiece = 512;
  const uint64_t lowest = std::max<uint64_t>(query.from, 1);
  engine::RecordReader records(reading.store);
  std::optional<Error> failed;
  uint64_t first = reading.position + 1;
  uint64_t missing = query.limit == 0 ? UINT64_MAX : query.limit;
  bool older = false;
  for (uint64_t end = first; end > lowest && missing > 0 && !older;) {
    const uint64_t begin = end > lowest + kPiece ? end - kPiece : lowest;
    std::vector<uint64_t> decided;
    auto read = reading.store.journal_from(begin, [&](const store::JournalRow& row) {
      if (row.seq >= end) return false;
      if (flow && row.flow != *flow) return true;
      auto record = records.read(row);
      if (record && !may_be_told(*record)) return true;
      auto step = record ? engine::read_step(*record) : Result<Step>(record.error());
      if (!step) {
        failed = step.error();
        return false;
      }
      if (query.since && step->at_ms < query.since->ms) {
        older = true;
      } else if (is_told(*step)) {
        decided.push_back(row.seq);
      }
      return true;
    });
    if (!read) return read.error();
    if (failed) return *failed;
    if (decided.size() >= missing) return decided[decided.size() - missing];
    if (!decided.empty()) first = decided.front();
    missing -= decided.size();
    end = begin;
  }
  return first;
}

Result<std::vector<AuditedStep>> read_audit(const HostReading& reading, const AuditQuery& query) {
  std::optional<Ulid> flow;
  if (!query.flow.empty()) {
    if (reading.position == 0) return nothing_has_run();
    auto row = find_flow(reading.store, query.flow);
    if (!row) return row.error();
    flow = row->id;
  }
  uint64_t from = std::max<uint64_t>(query.from, 1);
  if (query.newest) {
    auto first = first_of_newest(reading, query, flow);
    if (!first) return first.error();
    from = *first;
  }
  const deploy::views::States states(reading.rows);
  std::vector<AuditedStep> steps;
  std::map<Ulid, size_t> open;  // flows whose call has not ended, with its place
  std::optional<Error> failed;
  engine::RecordReader records(reading.store);
  auto full = [&] { return query.limit != 0 && steps.size() >= query.limit; };
  auto read = reading.store.journal_from(from, [&](const store::JournalRow& row) {
    if (flow && row.flow != *flow) return true;
    auto record = records.read(row);
    auto begun = open.find(row.flow);
    const bool called = !full() && record && may_be_told(*record);
    if (record && !called && begun == open.end()) return !full() || !open.empty();
    auto step = record ? engine::read_step(*record) : Result<Step>(record.error());
    if (!step) {
      failed = step.error();
      return false;
    }
    if (begun != open.end() && step->end && step->invocation == row.flow && step->kind != Step::Kind::late) {
      ended(steps[begun->second], *step->end, states);
      steps[begun->second].endedAt = lang::DateTime{.ms = step->at_ms};
      open.erase(begun);
    }
    const bool decided = called && is_told(*step);
    if (!decided || (query.since && step->at_ms < query.since->ms)) return true;
    if (!step->end && step->root && step->invocation == row.flow) open[row.flow] = steps.size();
    steps.push_back(is_decision(*step) ? audited(*step, states) : reading_of_secret(*step));
    return true;
  });
  if (!read) return read.error();
  if (failed) return *failed;
  return steps;
}

// --------------------------------------------------------------------------------------------------------- verify

constexpr const char* kKeyNext =
    "openssl pkey -in $SLUICE_HOME/keys/operator.pem -pubout, where the journal was signed, prints the public key";
// A head is signed every 1,000 records; one that was late by this many was taken away.
constexpr uint64_t kMostUnproven = 10'000;

// The keys whose signatures count: the one given, else the operator's own.
Result<std::vector<crypto::PublicKey>> counted_keys(const Beside& beside, const std::string& pem) {
  if (!pem.empty()) {
    auto key = crypto::PublicKey::from_pem(pem);
    if (key) return std::vector{*key};
    return Error{.code = Code::invalid,
                 .message =
                     "that is no public key: expected a line \"-----BEGIN PUBLIC KEY-----\" and what follows it "
                     "in PEM",
                 .next = kKeyNext};
  }
  const std::string path = (beside.home.root() / "keys" / "operator.pem").string();
  auto exists = beside.disk.exists(path);
  if (!exists) return exists.error();
  if (!*exists) return std::vector<crypto::PublicKey>();
  auto key = crypto::load_private_key(beside.disk, path);
  if (!key) return key.error();
  return std::vector{key->public_key()};
}

Result<AuditReportDocument> read_audit_report(const HostReading& reading, const AuditReportQuery& query) {
  if (reading.position == 0 && query.copied) return nothing_has_run();
  if (reading.beside == nullptr) return Error{.code = Code::unavailable, .message = "there are no signed heads here"};
  const Beside& beside = *reading.beside;
  auto heads = query.copied ? engine::parse_heads(query.heads, "the copy of audit.heads")
                            : engine::read_heads(beside.disk, (beside.home.root() / "store" / "audit.heads").string());
  if (!heads) return heads.error();
  auto keys = counted_keys(beside, query.key);
  if (!keys) return keys.error();
  if (!query.copied) {
    std::erase_if(heads->heads, [&](const engine::SignedHead& each) {
      return each.head.seq > reading.position && each.head.at_ms >= reading.now_ms;  // signed after this moment
    });
  }
  auto report = engine::verify(reading.store, heads->heads, *keys);
  if (!report) return report.error();
  if (query.copied) {
    // A copy ends where it was made.
    const uint64_t last = heads->heads.empty() ? 0 : heads->heads.back().head.seq;
    std::erase_if(report->missing_heads, [&](uint64_t seq) { return seq > last; });
  }
  AuditReportDocument document{.records = report->records,
                               .packed = report->packed,
                               .heads = report->heads,
                               .unsignedHeads = report->unsigned_heads,
                               .provenTo = report->proven_to,
                               .chain = report->chain,
                               .rows = report->rows,
                               .stateBound = report->bound_from > 0,
                               .missingHeads = report->missing_heads,
                               .notProven = report->unproven,
                               .torn = heads->torn};
  for (const engine::StateFault& each : report->state) {
    document.rowsThatDiffer.push_back({each.relation, printable(each.key), each.what});
  }
  if (report->fault) document.fault = {report->fault->seq, report->fault->what};
  const uint64_t unproven = report->records - report->proven_to;
  // The home's own heads end long before the journal does.
  if (!query.copied && !document.fault && !document.lacks_heads() && !document.by_strangers() &&
      unproven > kMostUnproven) {
    document.fault = {report->proven_to + 1, "no head was signed from here on, for " + std::to_string(unproven) +
                                                 " records: heads are missing"};
  }
  document.holds = report->holds() && !document.fault && !document.by_strangers() && !document.lacks_heads();
  return document;
}

// ---------------------------------------------------------------------------------------------------------- clock

Result<ClockDocument> read_clock(const HostReading& reading, const NothingAsked&) {
  if (reading.position == 0 || reading.beside == nullptr) return nothing_has_run();
  engine::EngineTime time(reading.beside->clock, engine::this_boot(reading.beside->disk));
  if (auto resumed = time.resume(reading.store); !resumed) return resumed.error();
  time.tick();
  ClockDocument document{.recorded = {.ms = time.now_ms()}, .system = {.ms = time.wall_ms()}, .apart = time.is_apart()};
  for (const engine::TimeCorrection& each : time.kept().corrections) {
    document.corrections.push_back({each.seq, each.by_ms});
  }
  if (const auto& jump = time.jump()) {
    document.jump = {.at = {.ms = jump->at_ms}, .byMs = jump->by_ms, .over = jump->over, .what = jump->what};
  }
  return document;
}

}  // namespace

std::vector<HostView> audit_views() {
  HostView report = lang::make_view("audit-report", "Whether the journal is complete and unchanged", read_audit_report);
  report.no_copy = true;
  return {lang::make_view("audit",
                          "What people and programs decided from outside, how it ended, and who was given a secret",
                          read_audit),
          std::move(report), lang::make_view("clock", "How recorded time stands to the system's clock", read_clock)};
}

}  // namespace sluice::host
