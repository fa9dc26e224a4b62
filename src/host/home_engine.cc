// Puts the parts together.
#include "host/home_engine.h"

#include <algorithm>
#include <boost/json.hpp>
#include <cstdlib>
#include <filesystem>

#include "base/atomic_file.h"
#include "crypto/key_file.h"
#include "crypto/sha256.h"
#include "deploy/providers/runtime/local/local_host.h"
#include "deploy/router_fleet.h"
#include "engine/caller_words.h"
#include "host/flows/flow_views.h"
#include "host/home.h"
#include "host/kit_place.h"
#include "host/restoring.h"

namespace sluice::host {
namespace {

// What is on the disk is right, this process is not: it must not write anything more.
[[noreturn]] void stop_at_once(Narrator& narrator, const std::string& why, bool unknown) {
  Error error{.message = why, .next = "nothing that was committed is lost; run the command again"};
  if (unknown) {
    error = {.code = Code::timeout,
             .message = why + "; whether the last change was kept is not known",
             .next = "sluice audit list shows whether it was; nothing that was acknowledged is lost"};
  }
  narrator.last_words(error);
  std::_Exit(exit_code(error.code));
}

}  // namespace

Result<std::unique_ptr<HomeEngine>> HomeEngine::start(const Opening& opening,
                                                      const std::shared_ptr<const lang::CheckedKit>& kit,
                                                      const std::string& folder) {
  return start(opening, kit, folder, std::nullopt);
}

Result<std::unique_ptr<HomeEngine>> HomeEngine::start(const Opening& opening,
                                                      const std::shared_ptr<const lang::CheckedKit>& kit,
                                                      const std::string& folder, engine::Decision decision,
                                                      uint64_t& position) {
  auto started = start(opening, kit, folder, std::optional(std::move(decision)));
  if (!started) return started;
  HomeEngine& self = **started;
  if (!*self.decided_) return self.decided_->error();
  position = **self.decided_;
  return started;
}

Result<std::unique_ptr<HomeEngine>> HomeEngine::start(const Opening& opening,
                                                      const std::shared_ptr<const lang::CheckedKit>& kit,
                                                      const std::string& folder,
                                                      std::optional<engine::Decision> first) {
  std::unique_ptr<HomeEngine> made(new HomeEngine());
  HomeEngine& self = *made;
  self.caller_ = {.name = calling_user(), .reason = opening.reason};
  self.first_ = std::move(first);
  if (self.first_) self.first_->caller = self.caller_;
  auto opened = open_home_store(opening, self.clock_, {.make = MakeStore::yes});
  if (!opened) return opened.error();
  self.home_ = *std::move(opened);
  auto archiving = std::make_unique<store::ArchivingStore>(std::move(self.home_->store), self.clock_);
  self.archiving_ = archiving.get();
  self.home_->store = std::move(archiving);
  if (auto resumed = self.archiving_->resume(); !resumed) return resumed.error();
  std::error_code ignored;
  const std::string kit_folder =
      is_built_in(folder) ? folder : std::filesystem::absolute(folder, ignored).lexically_normal().string();
  if (auto started = self.start_engine(opening, kit, kit_folder); !started) return started.error();
  return made;
}

Result<void> HomeEngine::look_for_flows() {
  auto snapshot = home_->store->read();
  if (!snapshot) return snapshot.error();
  auto flows = flows_under_way(**snapshot);
  if (!flows) return flows.error();
  found_under_way_ = *std::move(flows);
  return {};
}

Result<void> HomeEngine::start_engine(const Opening& opening, const std::shared_ptr<const lang::CheckedKit>& kit,
                                      const std::string& folder) {
  Narrator& narrator = opening.narrator;
  HomeEngine& self = *this;
  if (home_->postgres != nullptr) {
    lease_ = std::make_unique<LeaseKeeper>(leased(*home_->postgres), opening.disk, opening.home,
                                           [&narrator](const Error& lost) {
                                             narrator.last_words(lost);
                                             std::_Exit(exit_code(lost.code));
                                           });
  }
  if (auto keys = opening.home.folder("keys"); !keys) return keys.error();
  if (auto opened_heads = open_heads(narrator); !opened_heads) return opened_heads.error();
  auto blobs = opening.home.folder("blobs");
  if (!blobs) return blobs.error();
  blobs_.emplace(home_->disk, blobs->string());
  uploads_.emplace(home_->disk, (*blobs / "uploads").string());
  // What was not finished when the process before ended never will be.
  (void)remove_unfinished_writes(home_->disk, (*blobs / "uploads").string());
  if (auto kept = home_->store->commit({.meta = {{std::string(kKitMeta), folder}}}); !kept) return kept.error();

  if (auto looked = look_for_flows(); !looked) return looked;
  if (first_) first_->on_done = [&self](const Result<uint64_t>& done) { self.decided_ = done; };

  if (auto* fleet = opening.concepts.tools.find<deploy::RouterFleet>();
      fleet != nullptr && home_->postgres != nullptr) {
    fleet->lead_with(home_->postgres->token());
  }
  if (auto* programs = opening.concepts.tools.find<deploy::local_runtime::LocalHost>();
      programs != nullptr && opening.store) {
    programs->set_machine(opening.store->replica);
  }
  if (auto* backups = opening.concepts.tools.find<HomeBackups>()) {
    backups_ = backups->attach({.store = archiving_,
                                .home = opening.home.root().string(),
                                .signer = &*operator_key_,
                                .token = home_->postgres != nullptr ? home_->postgres->token() : 0});
  }
  authority_ = std::make_unique<Authority>(AuthorityParts{
      .store = home_->store.get(), .blobs = &*blobs_, .clock = &clock_, .owner = home_->owner, .kit = kit});
  std::vector<lang::Observer*> observers = observers_of(*kit, opening.concepts);
  std::vector<const lang::ConceptBinding*> concepts = opening.concepts.concepts;
  for (const lang::ConceptBinding* each : handlers_of_packs(opening.concepts, kit)) concepts.push_back(each);
  auto engine = engine::Engine::start(
      {.store = self.home_->store.get(),
       .blobs = &*self.blobs_,
       .clock = &self.clock_,
       .boot = engine::this_boot(self.home_->disk),
       .random = &self.random_,
       .tools = &opening.concepts.tools,
       .concepts = std::move(concepts),
       .may = [&self](const engine::Caller& who, const std::string& action,
                      const json::object& input) { return self.authority_->may(who, action, input); },
       .log = [&narrator](const std::string& text) { narrator.detail(text); },
       .note = [&narrator](const std::string& text) { narrator.note(text); },
       .may_act = [&self]() -> Result<void> {
         auto* postgres = self.home_->postgres;
         const auto left_ms = postgres != nullptr ? postgres->lease_left_ms() : std::nullopt;
         if (!left_ms || *left_ms > 0) return {};
         return Error{.code = Code::unavailable,
                      .message = "the lease on the store has lapsed, and another replica may lead"};
       },
       .fatal = [&self, &narrator](
                    const std::string& why) { stop_at_once(narrator, why, self.home_->store->broken().has_value()); },
       .heads = &*self.heads_,
       .operator_key = &*self.operator_key_,
       .first = self.first_,
       .kit_folder = folder},
      kit);
  if (!engine) return engine.error();
  engine_ = *std::move(engine);
  if (const std::string& first = opening.concepts.first_action;
      engine_->position() == 0 && !first.empty() && kit->symbols().find_action(first) && may(caller_)) {
    if (auto begun = engine_->start({.action = first, .caller = caller_}); !begun) {
      return begun.error();
    }
  }
  if (kit->symbols().find_action("Backup/restored")) {
    if (auto finished = finish_restore(*home_->store, *engine_); !finished) return finished.error();
  }
  if (!observers.empty()) {
    auto read = [&self, &tools = opening.concepts.tools] {
      return Moment::of(*self.home_->store, &*self.blobs_, tools, self.clock_.wall_ms());
    };
    observing_ = std::make_unique<Observing>(*engine_, std::move(observers), read);
  }
  return {};
}

DoorParts HomeEngine::door_parts(const Opening& opening) {
  return {.engine = engine_.get(),
          .store = home_->store.get(),
          .blobs = &*blobs_,
          .uploads = &*uploads_,
          .concepts = &opening.concepts,
          .clock = &clock_,
          .disk = &opening.disk,
          .home = &opening.home,
          .kit = engine_->kit(),
          .authority = authority_.get()};
}

// The operator's key is made with the first store. Nothing is written to a store that has lost what was signed.
Result<void> HomeEngine::open_heads(Narrator& narrator) {
  auto heads = engine::HeadLog::open(home_->disk, home_->heads_path);
  if (!heads) return heads.error();
  heads_.emplace(*std::move(heads));
  auto snapshot = home_->store->read();
  if (!snapshot) return snapshot.error();
  if (auto holds = engine::check_last_head(**snapshot, heads_->last()); !holds) {
    Error error = holds.error();
    error.message += ": acknowledged records are lost, or an older store was put back; nothing was run";
    error.next = "sluice audit verify shows where; put the store back from a copy, or move " + home_->heads_path +
                 " away to go on from here without what is lost";
    return error;
  }
  auto exists = home_->disk.exists(home_->operator_key_path);
  if (!exists) return exists.error();
  if (!*exists) {
    if (heads_->last()) {
      narrator.note(
          "the operator's key " + home_->operator_key_path +
          " is gone: a new one is made, which nobody trusts yet; what the old one signed can be verified with "
          "its public key alone");
    }
    auto key = crypto::PrivateKey::generate();
    if (auto stored = crypto::store_private_key(home_->disk, home_->operator_key_path, key); !stored) return stored;
  }
  auto key = crypto::load_private_key(home_->disk, home_->operator_key_path);
  if (!key) return key.error();
  operator_key_ = *std::move(key);
  return {};
}

}  // namespace sluice::host
