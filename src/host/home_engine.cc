// Puts the parts together.
#include "host/home_engine.h"

#include <algorithm>
#include <boost/json.hpp>
#include <cstdlib>
#include <filesystem>

#include "crypto/key_file.h"
#include "crypto/sha256.h"
#include "engine/caller_words.h"
#include "host/home.h"
#include "host/kit_place.h"
#include "host/remote_link.h"
#include "http/socket.h"

namespace sluice::host {
namespace {

constexpr int kAttempts = 5;

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

Result<std::vector<Ulid>> flows_under_way(store::Snapshot& snapshot) {
  std::set<Ulid> timed;
  auto timers = snapshot.timers([&](const store::TimerRow& timer) {
    timed.insert(timer.flow);
    return true;
  });
  if (!timers) return timers.error();
  std::vector<Ulid> found;
  auto flows = snapshot.open_flows([&](const store::FlowRow& row) {
    bool moves = row.status == store::FlowStatus::running ||
                 (row.status == store::FlowStatus::waiting && timed.contains(row.id));
    if (moves) found.push_back(row.id);
    return true;
  });
  if (!flows) return flows.error();
  return found;
}

Result<std::unique_ptr<HomeEngine>> HomeEngine::start(const Opening& opening,
                                                      std::shared_ptr<const lang::CheckedKit> kit,
                                                      const std::string& folder, Where where) {
  return start(opening, MakeKit([&] { return Result(kit); }), folder, where);
}

Result<std::unique_ptr<HomeEngine>> HomeEngine::start(const Opening& opening, const MakeKit& make_kit,
                                                      const std::string& folder, Where where) {
  return start(opening, make_kit, folder, where, std::nullopt);
}

Result<std::unique_ptr<HomeEngine>> HomeEngine::start(const Opening& opening,
                                                      std::shared_ptr<const lang::CheckedKit> kit,
                                                      const std::string& folder, engine::Decision decision,
                                                      uint64_t& position) {
  auto started = start(opening, MakeKit([&] { return Result(kit); }), folder, Where::anywhere, std::move(decision));
  if (!started) return started;
  HomeEngine& self = **started;
  if (self.here() == nullptr) self.decided_ = self.engine().decide(*std::move(self.first_));
  if (!*self.decided_) return self.decided_->error();
  position = **self.decided_;
  return started;
}

Result<std::unique_ptr<HomeEngine>> HomeEngine::start(const Opening& opening, const MakeKit& make_kit,
                                                      const std::string& folder, Where where,
                                                      std::optional<engine::Decision> first) {
  std::unique_ptr<HomeEngine> made(new HomeEngine());
  HomeEngine& self = *made;
  self.caller_ = {.name = calling_user(), .reason = opening.reason};
  self.first_ = std::move(first);
  if (self.first_) self.first_->caller = self.caller_;
  std::error_code ignored;
  std::string kit_folder =
      is_built_in(folder) ? folder : std::filesystem::absolute(folder, ignored).lexically_normal().string();
  std::shared_ptr<const lang::CheckedKit> kit;
  auto check_kit = [&]() -> Result<void> {
    if (kit) return {};
    auto checked = make_kit();
    if (!checked) return checked.error();
    kit = *std::move(checked);
    return {};
  };
  for (int attempt = 1;; ++attempt) {
    // A kit with errors is found before anything is written.
    bool there = where == Where::anywhere && http::connect_unix(socket_of(opening.home)).has_value();
    if (auto ready = there ? Result<void>() : check_kit(); !ready) return ready.error();
    auto opened = open_home_store(opening, self.clock_, {.make = MakeStore::yes, .own = where == Where::here});
    if (!opened) return opened.error();
    self.home_ = *std::move(opened);
    bool served = !self.home_->served.empty();
    if (auto ready = served ? Result<void>() : check_kit(); !ready) return ready.error();
    auto started = served ? self.start_there(opening, kit_folder) : self.start_here(opening, kit, kit_folder);
    if (started) return made;
    // One that ended just when it was asked is no obstacle: nothing was asked of it yet.
    Code code = started.error().code;
    bool ended = served && (code == Code::not_found || code == Code::unavailable);
    if (!ended || attempt == kAttempts) return started.error();
  }
}

Result<void> HomeEngine::start_there(const Opening& opening, const std::string& folder) {
  auto door = RemoteLink::open(home_->served, clock_, opening.purpose);
  if (!door) return door.error();
  // Whoever may do nothing hears it of what they call, where it is written down as that.
  if (may(caller_)) {
    auto status = (*door)->status();
    if (!status) return status.error();
    const json::value* runs = status->if_contains("kitFolder");
    if (runs == nullptr || *runs != json::value(folder)) {
      std::string other = runs != nullptr && runs->is_string() ? std::string(runs->get_string()) : "another";
      return Error{.code = Code::conflict,
                   .message = "sluice serve runs the kit " + other + ", and this command needs " + folder,
                   .next = "sluice stop, then run the command again"};
    }
    auto key = crypto::load_private_key(home_->disk, home_->operator_key_path);
    if (!key) return key.error();
    operator_key_ = *std::move(key);
  }
  door_ = *std::move(door);
  return {};
}

Result<void> HomeEngine::look_for_flows() {
  auto snapshot = home_->store->read();
  if (!snapshot) return snapshot.error();
  auto flows = flows_under_way(**snapshot);
  if (!flows) return flows.error();
  found_under_way_ = *std::move(flows);
  return {};
}

Result<void> HomeEngine::start_here(const Opening& opening, const std::shared_ptr<const lang::CheckedKit>& kit,
                                    const std::string& folder) {
  Narrator& narrator = opening.narrator;
  HomeEngine& self = *this;
  if (auto keys = opening.home.folder("keys"); !keys) return keys.error();
  if (auto opened_heads = open_heads(narrator); !opened_heads) return opened_heads.error();
  blobs_.emplace(home_->disk, (opening.home.root() / "blobs").string());
  if (auto kept = home_->store->commit({.meta = {{std::string(kKitMeta), folder}}}); !kept) return kept.error();

  if (auto looked = look_for_flows(); !looked) return looked;
  if (first_) first_->on_done = [&self](const Result<uint64_t>& done) { self.decided_ = done; };

  std::vector<lang::Observer*> observers = observers_of(*kit, opening.concepts);
  auto engine = engine::Engine::start(
      {.store = self.home_->store.get(),
       .blobs = &*self.blobs_,
       .clock = &self.clock_,
       .boot = engine::this_boot(self.home_->disk),
       .random = &self.random_,
       .tools = &opening.concepts.tools,
       .concepts = opening.concepts.concepts,
       .may = [&self](const engine::Caller& who, const std::string&, const json::object&) { return self.may(who); },
       .log = [&narrator](const std::string& text) { narrator.detail(text); },
       .note = [&narrator](const std::string& text) { narrator.note(text); },
       .fatal = [&self, &narrator](
                    const std::string& why) { stop_at_once(narrator, why, self.home_->store->broken().has_value()); },
       .heads = &*self.heads_,
       .operator_key = &*self.operator_key_,
       .first = self.first_,
       .kit_folder = folder},
      kit);
  if (!engine) return engine.error();
  engine_ = *std::move(engine);
  kit_ = kit;
  if (const std::string& first = opening.concepts.first_action;
      engine_->position() == 0 && !first.empty() && kit->symbols().find_action(first) && may(caller_)) {
    if (auto begun = engine_->start({.action = first, .caller = caller_}); !begun) {
      return begun.error();
    }
  }
  if (!observers.empty()) observing_ = std::make_unique<Observing>(*engine_, std::move(observers));
  door_ = std::make_unique<LocalLink>(*engine_, *home_->store, kit);
  return {};
}

DoorParts HomeEngine::door_parts(const LoadedConcepts& concepts) {
  return {.engine = engine_.get(),
          .store = home_->store.get(),
          .blobs = &*blobs_,
          .concepts = &concepts,
          .clock = &clock_,
          .kit = kit_};
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
