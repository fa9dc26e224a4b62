// Session pins that are kept in Redis, too. A request whose session the memory does not know waits, as a held one does,
// until Redis has said what it knows, or has not; what it says goes into the memory, and the request is looked at
// again.
#include "router/proxy/proxy.h"

namespace sluice::router {

void Proxy::ask_pins(Client& client, const Dispatched& done) {
  client.phase = Client::Phase::asking;
  client.asked_us = now_.monotonic_us;
  pins_.look_up(*done.deployment, done.session, client);
}

void Proxy::share_pin(const Client& client, const Dispatched& done) {
  if (done.new_pin) {
    pins_.put(*done.deployment, done.session, done.revision->id, client.elsewhere == PinElsewhere::stale);
  } else {
    pins_.compare(*done.deployment, done.session, done.revision->id);
  }
}

void Proxy::take_pins() {
  pins_.step();
  // Putting a pin again may be refused, and never answers at once.
  for (const PinAnswer& answer : pins_.answers()) take_pin(answer);
  pins_.answers().clear();
}

void Proxy::take_pin(const PinAnswer& answer) {
  const auto* found = table() != nullptr ? table()->named(answer.deployment) : nullptr;
  const Deployment* deployment = found != nullptr ? found->get() : nullptr;
  if (deployment != nullptr && !deployment->memory->pins) deployment = nullptr;  // it names no session key any more
  auto serving = [&](const std::string& id) {
    const Revision* revision = deployment != nullptr ? deployment->named(id) : nullptr;
    return revision != nullptr && revision->serves() ? revision : nullptr;
  };
  const Revision* pinned = answer.what == PinElsewhere::found ? serving(answer.revision) : nullptr;
  if (pinned != nullptr) {
    deployment->memory->pins->put(answer.session, pinned->memory->number, static_cast<uint32_t>(now_.wall_ms / 1'000));
  }
  // Who compares has a pin of his own, which counts if there is none.
  const Revision* kept = pinned;
  if (kept == nullptr && answer.what != PinElsewhere::unknown) kept = serving(answer.own);
  if (kept != nullptr && (answer.aged || pinned == nullptr)) pins_.put(*deployment, answer.session, kept->id, true);

  if (answer.client == nullptr) return;
  answer.client->elsewhere = answer.what;
  if (answer.what == PinElsewhere::found && pinned == nullptr) answer.client->elsewhere = PinElsewhere::stale;
  answer.client->phase = Client::Phase::idle;
  wake(*answer.client);
}

}  // namespace sluice::router
