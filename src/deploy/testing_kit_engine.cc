// The engine starts with the first action, so that rows put before are there as if it had written them.
#include "deploy/testing_kit_engine.h"

#include <boost/json.hpp>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include "base/json.h"
#include "base/real_disk.h"
#include "deploy/deploy_kit.h"
#include "engine/journal/record_reader.h"
#include "lang/check/check.h"
#include "lang/run/state.h"

namespace sluice::deploy {
namespace {

void note_variant(const std::string& action, const std::string& variant) {
  const char* folder =
      std::getenv("SLUICE_VARIANTS_SEEN");  // NOLINT(concurrency-mt-unsafe): tests set it before they run
  if (folder == nullptr || variant.starts_with("engine.")) return;
  std::string name = action + "." + variant;
  name[name.find('/')] = '.';
  RealDisk disk;
  auto file = disk.open(std::string(folder) + "/" + name, {.write = true, .create = true});
  if (!file) throw std::runtime_error(to_string(file.error()));
}

// The kit as its syncs see it: what only they call, a test of what it leads to calls, too. No rights are listed, since
// that has none.
Result<std::string> read_unmarked(const std::string& path) {
  auto text = read_kit_file(path);
  if (!text) return text;
  constexpr std::string_view kMark = "callers: syncs";
  for (size_t at = text->find(kMark); at != std::string::npos; at = text->find(kMark)) text->erase(at, kMark.size());
  if (const size_t at = text->find("\nrights:"); path.ends_with("/suite.yaml") && at != std::string::npos) {
    text->erase(at, text->find('\n', at + 1) - at);
  }
  return text;
}

}  // namespace

KitEngine::KitEngine(std::vector<lang::ConceptBinding> instead) : instead_(std::move(instead)) {}
KitEngine::~KitEngine() = default;

void KitEngine::put(const std::string& relation, const std::string& key, const json::value& value) {
  auto kept = store_.commit({.state = {{relation, key, 1, 0, write(value)}}});
  if (!kept) throw std::runtime_error(to_string(kept.error()));
}

void KitEngine::put_element(const std::string& relation, const std::string& key, int64_t number,
                            const json::value& value) {
  put(relation, lang::child_key(key, lang::rows::number_key(number)), value);
}

engine::Engine& KitEngine::engine() {
  if (engine_) return *engine_;
  lang::Checked checked = lang::check(lang::load_kit(std::string(kKitFolder), read_unmarked));
  if (!checked.kit) throw std::runtime_error("the kit has faults");
  std::vector<const lang::ConceptBinding*> all = concepts();
  if (!instead_.empty()) all.clear();
  for (const lang::ConceptBinding& each : instead_) all.push_back(&each);
  auto started = engine::Engine::start({.store = &store_,
                                        .clock = &clock_,
                                        .random = &random_,
                                        .tools = &tools_,
                                        .concepts = std::move(all),
                                        .fatal =
                                            [](const std::string& why) {
                                              std::fprintf(stderr, "%s\n", why.c_str());
                                              std::_Exit(1);
                                            }},
                                       std::make_shared<const lang::CheckedKit>(*std::move(checked.kit)));
  if (!started) throw std::runtime_error(to_string(started.error()));
  engine_ = *std::move(started);
  return *engine_;
}

engine::End KitEngine::run(const std::string& action, const json::object& input,
                           std::optional<uint64_t> expect_generation) {
  auto outcome = engine().invoke(
      {.action = action, .input = input, .caller = {.name = caller}, .expect_generation = expect_generation});
  if (!outcome) throw std::runtime_error(to_string(outcome.error()));
  note_variant(action, outcome->end.variant);
  auto settled = engine().wait(outcome->flow, engine::Engine::Until::all);
  if (!settled) throw std::runtime_error(to_string(settled.error()));
  return outcome->end;
}

Ulid KitEngine::start(const std::string& action, const json::object& input) {
  auto flow = engine().start({.action = action, .input = input, .caller = {.name = caller}});
  if (!flow) throw std::runtime_error(to_string(flow.error()));
  return *flow;
}

void KitEngine::cancel(const Ulid& flow) {
  auto done = engine().decide({.kind = engine::Decision::Kind::cancel, .flow = flow, .caller = {.name = caller}});
  if (!done) throw std::runtime_error(to_string(done.error()));
}

lang::Completion KitEngine::query(const std::string& action, const json::object& input) {
  auto answer = engine().query(action, input, {.name = "test"});
  if (!answer) throw std::runtime_error(to_string(answer.error()));
  note_variant(action, answer->variant);
  return *answer;
}

json::value KitEngine::row(const std::string& relation, const std::string& key) {
  auto snapshot = store_.read();
  if (!snapshot) throw std::runtime_error(to_string(snapshot.error()));
  auto found = (*snapshot)->get(relation, key);
  if (!found) throw std::runtime_error(to_string(found.error()));
  return *found ? parse_json((*found)->value).value().root : json::value();
}

std::map<std::string, json::value> KitEngine::rows(const std::string& relation) {
  auto snapshot = store_.read();
  if (!snapshot) throw std::runtime_error(to_string(snapshot.error()));
  std::map<std::string, json::value> all;
  auto read = (*snapshot)->scan(relation, "", [&](const store::StateRow& row) {
    all[row.key] = parse_json(row.value).value().root;
    return true;
  });
  if (!read) throw std::runtime_error(to_string(read.error()));
  return all;
}

std::vector<engine::End> KitEngine::ends(const std::string& action) {
  auto snapshot = store_.read();
  if (!snapshot) throw std::runtime_error(to_string(snapshot.error()));
  std::vector<engine::End> all;
  auto read = (*snapshot)->journal_from(1, [&](const store::JournalRow& row) {
    auto step = engine::read_step(row.record);
    if (step && step->action == action && step->end) all.push_back(*step->end);
    return true;
  });
  if (!read) throw std::runtime_error(to_string(read.error()));
  for (const engine::End& each : all) note_variant(action, each.variant);
  return all;
}

size_t KitEngine::count(const std::string& relation) { return rows(relation).size(); }

std::vector<json::value> KitEngine::elements(const std::string& relation, const std::string& key) {
  auto snapshot = store_.read();
  if (!snapshot) throw std::runtime_error(to_string(snapshot.error()));
  std::vector<json::value> all;
  auto read = (*snapshot)->scan(relation, lang::child_key(key), [&](const store::StateRow& row) {
    all.push_back(parse_json(row.value).value().root);
    return true;
  });
  if (!read) throw std::runtime_error(to_string(read.error()));
  return all;
}

}  // namespace sluice::deploy
