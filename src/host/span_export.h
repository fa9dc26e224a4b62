// SpanExport sends each flow that settles, as spans, to the OTLP endpoints that are configured for all bundles. It has
// a thread of its own, so a collector that is slow or away delays nobody. What settles while no control plane runs is
// not sent; neither is what a collector has not taken after a minute, nor more than a thousand flows at once.
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
#include "lang/run/handler.h"
#include "store/blob_store.h"
#include "store/store.h"

namespace sluice::host {

// Posts a message of OTLP in JSON to `path` of an endpoint; true if the collector has taken it.
bool post_otlp(const lang::Tools& tools, const Clock& clock, std::string endpoint, const char* path,
               const std::string& body, std::function<bool()> cancelled);

class SpanExport {
 public:
  // All must outlive it.
  SpanExport(store::Store& store, store::BlobStore& blobs, const lang::Tools& tools, const Clock& clock);
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
  bool is_ending() {
    std::lock_guard lock(mutex_);
    return ending_;
  }

  store::Store& store_;
  store::BlobStore& blobs_;
  const lang::Tools& tools_;
  const Clock& clock_;
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
