// RemoteLink is the engine in another process: a `sluice serve` that has the store.
//
//   auto door = RemoteLink::open(home + "/run/sluice.sock", clock, "trust add");   // `not_found`: none runs
//   auto started = (*door)->start({.action = "Trust/add", .input = …, .key = …});
//
// The caller is whoever this process is to the other one; of a Caller only the reason is sent. A call that breaks off
// fails with `timeout`: it may or may not have been done, and may be repeated under its idempotency key.
#pragma once

#include <memory>
#include <string>

#include "base/clock.h"
#include "host/engine_link.h"
#include "host/remote_store.h"
#include "http/client.h"

namespace sluice::host {

class RemoteLink final : public EngineLink {
 public:
  // The clock must outlive it.
  static Result<std::unique_ptr<RemoteLink>> open(const std::string& socket, const Clock& clock,
                                                  const std::string& purpose);

  // What /v1/status says: pid, version, kit, since, openFlows …
  Result<json::object> status();
  // Asks it to stop; answers what it is.
  Result<json::object> stop(const std::string& reason);

  Result<Started> start(engine::Request request) override;
  Result<lang::Completion> query(const std::string& action, const json::object& input,
                                 const engine::Caller& caller) override;
  Result<uint64_t> decide(engine::Decision decision) override;
  Result<Code> code_of(const std::string& action, const std::string& variant) override;
  Result<store::FlowStatus> wait(const Ulid& flow, engine::Engine::Until until,
                                 const std::function<bool()>& stop) override;
  Result<void> watch(uint64_t from, const store::Visit<store::JournalRow>& visit,
                     const std::function<bool()>& stop) override;
  uint64_t position() override { return wait_for(0, 0); }
  uint64_t wait_for(uint64_t position, int64_t at_most_ms) override;
  std::optional<Error> trouble() override { return trouble_; }
  store::Store& store() override { return store_; }

 private:
  RemoteLink(std::string socket, const Clock& clock, const std::string& purpose)
      : socket_(std::move(socket)), clock_(clock), store_(socket_, clock, purpose) {}
  // Over the connection that there is, or a new one if the server has closed it meanwhile.
  Result<json::value> read(const http::Request& request, int64_t timeout_ms);
  Result<http::Client*> connected();
  void take_trouble(const json::value& body);

  std::string socket_;
  const Clock& clock_;
  RemoteStore store_;
  std::unique_ptr<http::Client> client_;
  std::optional<Error> trouble_;
  uint64_t position_ = 0;
};

}  // namespace sluice::host
