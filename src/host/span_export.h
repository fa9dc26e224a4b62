// SpanExport sends each flow that settles, as spans, to the OTLP endpoints that are configured for all bundles; one
// that is configured for an environment gets the flows that are about it. It has a thread of its own, so a collector
// that is slow or away delays nobody. What settles while no control plane runs is not sent; neither is what a collector
// has not taken after a minute, nor more than a thousand flows at once.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/ulid.h"
#include "deploy/views/telemetry.h"
#include "engine/journal/history.h"
#include "lang/run/handler.h"
#include "store/blob_store.h"
#include "store/store.h"

namespace sluice::host {

class Authority;

// Posts a message of OTLP in JSON to `path` of an endpoint, with its key; true if the collector has taken it.
bool post_otlp(const lang::Tools& tools, const Clock& clock, const deploy::views::OtlpEndpoint& to, const char* path,
               const std::string& body, std::function<bool()> cancelled);

class SpanExport {
 public:
  // All must outlive it. Without an authority nobody knows which environment a flow is about.
  SpanExport(store::Store& store, store::BlobStore& blobs, const lang::Tools& tools, const Clock& clock,
             const Authority* authority = nullptr);
  ~SpanExport();
  SpanExport(const SpanExport&) = delete;
  SpanExport& operator=(const SpanExport&) = delete;

  // Looks every two seconds from now on.
  void start();
  // One look: what has settled since the last one, or since the beginning of this, is sent. True if all of it was
  // taken.
  bool look();

 private:
  struct Waiting {
    Ulid flow;
    int64_t since_ns = 0;
  };
  void find_settled(store::Snapshot& snapshot, int64_t now_ns);
  std::vector<std::string> environments_of(const engine::PastInvocation& asked) const;
  bool is_ending() {
    std::lock_guard lock(mutex_);
    return ending_;
  }

  store::Store& store_;
  store::BlobStore& blobs_;
  const lang::Tools& tools_;
  const Clock& clock_;
  const Authority* authority_;
  bool first_ = true;
  Ulid newest_;
  std::set<Ulid> open_;
  std::vector<Waiting> waiting_;
  std::mutex mutex_;
  std::condition_variable ends_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace sluice::host
