// Every fixture, invariant and proof runs with a folder of data of its own, which is empty.
#include "host/pack_trial.h"

#include <algorithm>
#include <boost/json.hpp>
#include <filesystem>
#include <map>

#include "base/json.h"
#include "bundle/archive/unfinished.h"
#include "deploy/deploy_kit.h"
#include "host/pack_binding.h"
#include "host/pack_concepts.h"
#include "lang/run/conformance.h"
#include "lang/run/memory_rows.h"
#include "lang/syntax/concept_parser.h"

namespace sluice::host {
namespace {

constexpr int64_t kHealthTrial_ms = 5'000;
constexpr size_t kMaxProofBytes = 1 << 20;

// A process that can be started anew, with or without what it has kept.
class TrialServer final : public PackServer {
 public:
  TrialServer(Disk& disk, Clock& clock, const pack::Pack& pack, const Variables& variables, std::string data)
      : disk_(disk), clock_(clock), data_(std::move(data)), program_(pack::program_in(pack, data_, variables)) {}

  Result<pack::PackProcess*> process() override {
    if (!process_) process_ = std::make_unique<pack::PackProcess>(clock_, program_);
    return process_.get();
  }
  json::object settings(const lang::Snapshot&, const std::string&) override { return {}; }

  void kill() { process_.reset(); }
  void start_over() {
    kill();
    (void)bundle::remove_tree(disk_, data_);
    (void)disk_.make_folder(data_, 0700);
  }
  // All files with their contents.
  std::map<std::string, std::string> files() const {
    std::map<std::string, std::string> found;
    std::error_code failed;
    for (const auto& each : std::filesystem::recursive_directory_iterator(data_, failed)) {
      if (each.is_regular_file(failed))
        found[each.path().string().substr(data_.size() + 1)] = text_of(each.path().string());
    }
    return found;
  }
  std::string text_of(const std::string& path) const {
    auto file = disk_.open(path, {});
    if (!file) return "";
    std::string text(kMaxProofBytes, '\0');
    auto got = (*file)->read_at(0, text);
    text.resize(got ? *got : 0);
    return text;
  }

 private:
  Disk& disk_;
  Clock& clock_;
  std::string data_;
  process::SpawnRequest program_;
  std::unique_ptr<pack::PackProcess> process_;
};

class Trial {
 public:
  Trial(Disk& disk, Clock& clock, const Variables& variables, const pack::Pack& pack,
        std::shared_ptr<const lang::CheckedKit> kit, const lang::Concept& spec, const std::string& scratch)
      : pack_(pack),
        spec_(spec),
        kind_(to_string(pack.manifest.kind)),
        server_(disk, clock, pack, variables, scratch + "/data"),
        binding_(pack_binding(std::move(kit), spec.name, spec.name, kind_, server_)),
        conformance_(binding_, pack.concept_text, [this](lang::Harness&) { server_.start_over(); }) {}

  std::vector<TrialCheck> run() {
    server_.start_over();
    if (!speaks()) return std::move(checks_);
    for (const lang::Action& action : spec_.actions) {
      for (const lang::Fixture& each : action.fixtures) {
        check("fixture " + each.name + " of " + action.name, conformance_.fixture(each.name));
      }
      if (action.fixtures.empty()) check("fixtures of " + action.name, "it has none: nothing tries it");
    }
    for (size_t i = 0; i < spec_.invariants.size(); ++i) {
      check("invariant " + (spec_.invariants[i].name.empty() ? std::to_string(i + 1) : spec_.invariants[i].name),
            conformance_.invariant(i));
    }
    for (const lang::Action& action : spec_.actions) {
      if (action.runs != lang::Runs::effect) continue;
      if (action.retry == lang::Retry::safe) repeats(action);
      proves(action);
    }
    return std::move(checks_);
  }

 private:
  void check(std::string what, std::string fault) { checks_.push_back({std::move(what), std::move(fault)}); }

  bool speaks() {
    auto process = server_.process();
    int greeted = 0;
    auto met = greet(**process, spec_, kind_, greeted);
    check("describe", met ? "" : met.error().message);
    if (!met) return false;
    pack::PackAnswer health = (*process)->ask("health", {}, kHealthTrial_ms);
    const json::value* said = health.message ? health.message->if_contains("complete") : nullptr;
    bool well = said != nullptr && said->is_object() && said->get_object().contains("healthy") &&
                said->at("healthy") == json::value(true);
    check("health", well ? "" : health.message ? "it does not say that it is healthy" : health.none.message);
    return true;
  }

  // The same effect asked for twice must leave what it left the first time.
  void repeats(const lang::Action& action) {
    auto fixture = std::ranges::find(action.fixtures, "ok", &lang::Fixture::variant);
    if (fixture == action.fixtures.end()) return;
    std::string fault;
    lang::ConceptBinding twice = binding_;
    for (lang::ActionBinding& each : twice.actions) {
      if (each.name != action.name) continue;
      each.perform = [&, once = each.perform](const json::value& work, lang::Attempt& attempt) {
        auto first = once(work, attempt);
        auto left = server_.files();
        auto second = once(work, attempt);
        if (server_.files() != left) fault = "asked twice for one effect, it did it twice: its files have changed";
        return first && second ? second : first;
      };
    }
    lang::Conformance again(twice, pack_.concept_text, [this](lang::Harness&) { server_.start_over(); });
    std::string failed = again.fixture(fixture->name);
    check("a repeat of " + action.name + " does no harm", failed.empty() ? fault : failed);
  }

  void proves(const lang::Action& action) {
    bool proven = false;
    for (const pack::Proof& proof : pack_.manifest.proofs) {
      auto fixture = std::ranges::find(action.fixtures, proof.fixture, &lang::Fixture::name);
      if (fixture == action.fixtures.end()) continue;
      proven = true;
      std::string failed = conformance_.fixture(proof.fixture);
      check("proof of " + proof.fixture, failed.empty() ? fault_of_proof(proof) : failed);
    }
    // What is only read leaves nothing; an example shows then that it is the right thing.
    bool shown = std::ranges::any_of(spec_.invariants, [&](const lang::Invariant& each) {
      auto speaks_of = [&](const lang::Step& step) { return step.action == action.name; };
      return std::ranges::any_of(each.after, speaks_of) || std::ranges::any_of(each.then, speaks_of);
    });
    if (!proven && !shown) {
      check("proof of " + action.name, "nothing shows that it does anything: add one to `proofs` of pack.yaml");
    }
  }

  std::string fault_of_proof(const pack::Proof& proof) {
    if (proof.file) {
      auto files = server_.files();
      auto file = files.find(proof.file->text);
      if (file == files.end()) return "there is no file " + proof.file->text + ": it did nothing";
      if (proof.contains && file->second.find(*proof.contains) == std::string::npos) {
        return proof.file->text + " does not contain " + *proof.contains;
      }
      return "";
    }
    // Whatever it only remembers is gone with the process.
    server_.kill();
    const lang::ActionBinding* query = binding_.action(*proof.query);
    if (query == nullptr || !query->query) return "the concept has no query " + *proof.query;
    lang::MemoryRows none;
    const json::object input = proof.input && proof.input->is_object() ? proof.input->get_object() : json::object();
    std::string fault;
    try {
      auto answer = query->query(input, none);
      if (!answer) return answer.error().message;
      for (const auto& each : proof.answers->is_object() ? proof.answers->get_object() : json::object()) {
        const json::value* said = answer->fields.if_contains(each.key());
        if (said != nullptr && *said == each.value()) continue;
        return "a process that was started afresh answers " + *proof.query + " with " + write(answer->fields) +
               ", not with " + write(*proof.answers);
      }
    } catch (const std::exception& failed) {
      return failed.what();
    }
    return fault;
  }

  const pack::Pack& pack_;
  const lang::Concept& spec_;
  const std::string kind_;
  TrialServer server_;
  lang::ConceptBinding binding_;
  lang::Conformance conformance_;
  std::vector<TrialCheck> checks_;
};

}  // namespace

std::vector<TrialCheck> try_pack(Disk& disk, Clock& clock, const Variables& variables, const std::string& path,
                                 const std::string& scratch) {
  std::vector<TrialCheck> checks;
  auto pack = pack::PackShelf(disk, "").open(path, scratch + "/pack");
  checks.push_back({"pack.yaml", pack ? "" : to_string(pack.error())});
  if (!pack) return checks;
  auto fits = fits_the_kit(*pack);
  checks.push_back({"concept", fits ? "" : fits.error().message});
  if (!fits) return checks;
  // Under its own name, so that its fixtures and invariants can be run as they are written.
  lang::Diagnostics found;
  auto spec = lang::parse_concept(pack->concept_text, pack->concept_file, found);
  lang::KitOptions options{.outside = outside_concepts({*pack})};
  options.outside.front().name = spec->name;
  lang::Checked checked = lang::check(lang::load_kit(
      std::string(deploy::kKitFolder), [](const std::string& file) { return deploy::read_kit_file(file); }, options));
  if (!checked.kit) {
    checks.back().fault = "its name " + spec->name + " is one of Sluice's own: give the concept another";
    return checks;
  }
  auto kit = std::make_shared<const lang::CheckedKit>(*std::move(checked.kit));
  auto tried = Trial(disk, clock, variables, *pack, kit, *spec, scratch).run();
  checks.insert(checks.end(), tried.begin(), tried.end());
  return checks;
}

}  // namespace sluice::host
