// WebhookFeed reads the journal as it grows, and tells the concept Webhook of each event that a webhook wants. Whatever
// happens to the process, every event is told at least once: how far the journal was looked through is kept, and what
// is told again under the same key is the same call. Sending, and sending again, is the kit's work.
//
//   WebhookFeed feed(engine, store, authority);
//   feed.look();                              // now and then
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "host/authority.h"
#include "host/events.h"

namespace sluice::host {

bool has_webhooks(const lang::CheckedKit& kit);

class WebhookFeed {
 public:
  // All must outlive it.
  WebhookFeed(engine::Engine& engine, store::Store& store, const Authority& authority)
      : engine_(engine), store_(store), authority_(authority) {}

  // What was committed since the last look, as far as it can be told now.
  void look();

 private:
  struct Wanting {
    std::string webhook;
    EventFilter filter;
    int64_t since_ms = 0;
  };
  struct Told {
    std::string webhook, type;
    uint64_t event = 0;
    std::string body;
  };
  std::vector<Wanting> all_wanting(store::Snapshot& snapshot) const;
  bool tell(const Told& told);
  void note_seen();

  engine::Engine& engine_;
  store::Store& store_;
  const Authority& authority_;
  uint64_t next_ = 0;   // the position to look at next; 0: not known yet
  uint64_t noted_ = 0;  // as it is kept
};

}  // namespace sluice::host
