// The whole kit on an engine in memory, for what only guards and syncs decide; also what only syncs call can be called.
// Rows can be put before it starts.
//
//   KitEngine kit;
//   kit.put("Revision", "r1", to_json(record));
//   auto end = kit.run("Traffic/set", {{"deployment", "d1"}, …});
//   EXPECT_EQ(end.variant, "notReady");
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "base/ulid.h"
#include "engine/engine.h"
#include "lang/run/binding.h"
#include "lang/run/handler.h"
#include "store/memory_store.h"

namespace sluice::deploy {

class KitEngine {
 public:
  // With these concepts in place of the kit's own, if there are any.
  explicit KitEngine(std::vector<lang::ConceptBinding> instead = {});
  ~KitEngine();

  void put(const std::string& relation, const std::string& key, const json::value& value);
  // An element of a list of the row.
  void put_element(const std::string& relation, const std::string& key, int64_t number, const json::value& value);

  // How an action ended; what followed from it is settled. An action that cannot be called throws. Variants are noted
  // as lang/run/harness.h does.
  engine::End run(const std::string& action, const json::object& input,
                  std::optional<uint64_t> expect_generation = std::nullopt);
  // Its flow; nobody waits for it.
  Ulid start(const std::string& action, const json::object& input);
  void cancel(const Ulid& flow);
  lang::Completion query(const std::string& action, const json::object& input);
  // The row; null if there is none.
  json::value row(const std::string& relation, const std::string& key);
  // All rows, by their keys.
  std::map<std::string, json::value> rows(const std::string& relation);
  // How each call of an action ended that has, in the order of the journal.
  std::vector<engine::End> ends(const std::string& action);
  // How many rows there are.
  size_t count(const std::string& relation);
  // The elements of a list of the row, in order.
  std::vector<json::value> elements(const std::string& relation, const std::string& key);

  // As after a crash: what put has changed of rows that were used is read anew.
  void restart() { engine_.reset(); }

  lang::Tools& tools() { return tools_; }

  std::string caller = "test";  // as whom it calls

 private:
  engine::Engine& engine();

  std::vector<lang::ConceptBinding> instead_;
  RealClock clock_;
  RealRandom random_;
  lang::Tools tools_;
  store::MemoryStore store_;
  std::unique_ptr<engine::Engine> engine_;
};

}  // namespace sluice::deploy
