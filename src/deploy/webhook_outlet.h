// What a webhook's receiver gets: the event in its format, signed as Standard Webhooks describes (webhook-id,
// webhook-timestamp and webhook-signature over "ID.TIMESTAMP.BODY"), so that libraries for that verify it.
//
//   WebhookOutlet outlet(disk, clock, random, home + "/keys/webhooks.key", variables);
//   auto status = outlet.send({.webhook = "01K…", .url = …}, {.id = "412", .type = "rollout.advanced", …});
//
// A secret is made from the key of the home, the webhook and the number of the secret: nothing but the key is stored.
// A redirect is no answer. An address of this machine or of a private network is refused unless the webhook allows it.
#pragma once

#include <boost/describe.hpp>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/disk.h"
#include "base/random.h"
#include "base/terminal.h"
#include "http/message.h"

namespace sluice::deploy {

struct WebhookTarget {
  std::string webhook;
  std::string url;
  std::string format;  // cloudevents, slack
  bool allow_local = false;
  int64_t version = 1;      // of the secret
  bool old_secret = false;  // the one before signs, too
};
BOOST_DESCRIBE_STRUCT(WebhookTarget, (), (webhook, url, format, allow_local, version, old_secret))

struct WebhookEvent {
  std::string id;
  std::string type;  // "rollout.advanced"
  std::string body;  // the event as JSON
};
BOOST_DESCRIBE_STRUCT(WebhookEvent, (), (id, type, body))

struct WebhookBody {
  std::string content_type;
  std::string text;
};
// A CloudEvents 1.0 event in JSON, or a message for a chat.
WebhookBody webhook_body(const std::string& format, const WebhookEvent& event);
// The value of webhook-signature: one signature for each secret.
std::string webhook_signature(const std::vector<std::string>& secrets, const std::string& id, int64_t timestamp_s,
                              const std::string& body);

class WebhookOutlet {
 public:
  // All must outlive it. The folder of the key's file must be there when it is needed.
  WebhookOutlet(Disk& disk, const Clock& clock, Random& random, std::string key_file, Variables variables)
      : disk_(disk), clock_(clock), random_(random), key_file_(std::move(key_file)), variables_(std::move(variables)) {}

  // "whsec_…", which the receiver must know.
  Result<std::string> secret(const std::string& webhook, int64_t version) const;
  // The status that it answered, of the 200s; an error says why the event was not taken.
  Result<int> send(const WebhookTarget& target, const WebhookEvent& event);

 private:
  Result<std::string> key() const;

  Disk& disk_;
  const Clock& clock_;
  Random& random_;
  std::string key_file_;
  Variables variables_;
  mutable std::mutex mutex_;
};

}  // namespace sluice::deploy
