// Puts the parts together.
#include "cli/home_engine.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "cli/home.h"
#include "cli/kit_place.h"
#include "crypto/key_file.h"

namespace sluice::cli {
namespace {

// Of the commands that decide something. Those that only ask have no such option.
std::string reason_of(const Given& given) {
  bool decides = std::ranges::find(given.command->options, "reason", &Option::name) != given.command->options.end();
  return decides ? given.text("reason") : "";
}

// What is on the disk is right, this process is not: it must not write anything more.
[[noreturn]] void stop_at_once(Output& output, const std::string& why) {
  output.error({.message = why, .next = "nothing that was committed is lost; run the command again"});
  output.flush();
  std::_Exit(exit_code(Code::failed));
}

}  // namespace

Result<std::unique_ptr<HomeEngine>> HomeEngine::start(Context& context, const LoadedConcepts& loaded,
                                                      std::shared_ptr<const lang::CheckedKit> kit,
                                                      const std::string& folder) {
  Output& output = context.output;
  std::unique_ptr<HomeEngine> made(new HomeEngine());
  HomeEngine& self = *made;
  auto home = find_home(context.disk, context.variables);
  if (!home) return home.error();
  auto opened = open_home_store(context, self.clock_, MakeStore::yes);
  if (!opened) return opened.error();
  self.home_ = *std::move(opened);
  if (auto keys = home->folder("keys"); !keys) return keys.error();
  if (auto opened_heads = self.open_heads(output); !opened_heads) return opened_heads.error();

  self.caller_ = {.name = calling_user(), .reason = reason_of(context.given)};
  self.blobs_.emplace(self.home_->disk, (home->root() / "blobs").string());
  std::error_code ignored;
  std::string kit_folder =
      is_built_in(folder) ? folder : std::filesystem::absolute(folder, ignored).lexically_normal().string();
  if (auto kept = self.home_->store->commit({.meta = {{std::string(kKitMeta), kit_folder}}}); !kept)
    return kept.error();

  std::vector<lang::Observer*> observers = observers_of(*kit, loaded);
  auto engine = engine::Engine::start(
      {.store = self.home_->store.get(),
       .blobs = &*self.blobs_,
       .clock = &self.clock_,
       .ids = &self.ids_,
       .tools = &loaded.tools,
       .concepts = loaded.concepts,
       .may = [&self](const engine::Caller& who, const std::string&, const json::object&) { return self.may(who); },
       .log = [&output](const std::string& text) { output.detail(text); },
       .note = [&output](const std::string& text) { output.note(text); },
       .fatal = [&output](const std::string& why) { stop_at_once(output, why); },
       .heads = &*self.heads_,
       .operator_key = &*self.operator_key_},
      std::move(kit));
  if (!engine) return engine.error();
  self.engine_ = *std::move(engine);
  if (!observers.empty()) self.observing_ = std::make_unique<Observing>(*self.engine_, std::move(observers));
  return made;
}

// The operator's key is made with the first store. Nothing is written to a store that has lost what was signed.
Result<void> HomeEngine::open_heads(Output& output) {
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
      output.note("the operator's key " + home_->operator_key_path +
                  " is gone: a new one is made, and what the old one signed can be verified with its public key alone");
    }
    auto key = crypto::PrivateKey::generate();
    if (auto stored = crypto::store_private_key(home_->disk, home_->operator_key_path, key); !stored) return stored;
  }
  auto key = crypto::load_private_key(home_->disk, home_->operator_key_path);
  if (!key) return key.error();
  operator_key_ = *std::move(key);
  return {};
}

Error kept_for_now(const Error& trouble, const Ulid& flow, const std::string& kit) {
  Error error = trouble;
  error.message += "; flow " + to_string(flow) + " is kept as it was after its last step";
  error.next = (trouble.code == Code::limit ? "make room on the disk; sluice kit run " : "sluice kit run ") + kit +
               " then goes on with it";
  return error;
}

}  // namespace sluice::cli
