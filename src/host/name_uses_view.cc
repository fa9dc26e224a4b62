// Records that name the environment stay what they are: a journal is never rewritten.
#include "host/name_uses_view.h"

#include <algorithm>
#include <boost/json.hpp>

#include "deploy/views/names.h"
#include "engine/journal/record_reader.h"
#include "engine/journal/step.h"

namespace sluice::host {
namespace {

namespace views = deploy::views;

Result<void> add_records(const HostReading& reading, const std::string& file, NameUsesDocument& document) {
  std::optional<Error> failed;
  engine::RecordReader records(reading.store);
  auto read = reading.store.journal_from(1, [&](const store::JournalRow& row) {
    auto record = records.read(row);
    if (record && record->find(R"("caller":")") == std::string_view::npos) return true;
    auto step = record ? engine::read_step(*record) : Result<engine::Step>(record.error());
    if (!step) {
      failed = step.error();
      return false;
    }
    if (!step->root || step->kind == engine::Step::Kind::child) return true;
    const json::value* environment = step->root->input.if_contains("environment");
    if (environment == nullptr || *environment != json::value(document.name)) return true;
    document.findings.push_back({.level = views::UseLevel::info,
                                 .kind = "audit",
                                 .file = file,
                                 .key = "journal/" + std::to_string(step->seq),
                                 .what = step->action + " by " + step->caller.name + " at " + utc_text(step->at_ms)});
    return true;
  });
  if (!read) return read.error();
  if (failed) return *failed;
  return {};
}

Result<NameUsesDocument> read_name_uses(const HostReading& reading, const NameUsesQuery& query) {
  const views::States states(reading.rows);
  auto target = views::find_environment(states, query.environment);
  if (!target) return target.error();
  if (reading.beside == nullptr)
    return Error{.code = Code::unavailable, .message = "there is no home beside this store"};
  const auto names = states.env().other_names(target->id).values();
  const std::string file = (reading.beside->home.root() / "store" / "store.db").string();
  NameUsesDocument document{
      .environment = target->id.text(),
      .name = query.name,
      .exists = states.env().has(deploy::env::EnvId(query.name)),
      .aliased = std::ranges::any_of(names, [&](const auto& each) { return each.name == query.name; }),
      .findings =
          views::uses_of_environment(reading.rows, reading.beside->disk, {query.name, target->id.text()}, file)};
  if (auto warning = views::alias_warning(states, query.environment)) document.warning = *warning;
  if (auto read = add_records(reading, file, document); !read) return read.error();
  return document;
}

}  // namespace

std::vector<HostView> name_uses_views() {
  return {lang::make_view("name-uses", "Where the name of an environment is used", read_name_uses)};
}

}  // namespace sluice::host
