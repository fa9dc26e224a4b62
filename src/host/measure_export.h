// MeasureExport sends what is measured, and what happens, to the OTLP endpoints: metrics of the control plane and of
// each revision every ten seconds; requests that the routers of this home have logged, as spans, and events, as log
// records, every two. An endpoint gets what it is configured for: a bundle's requests and counts, or all that is about
// an environment. There is a thread for it, so a collector that is slow or away delays nobody. Metrics are sums and
// events are in the journal, so a collector that was away gets them later; requests that it does not take are dropped.
#pragma once

#include <condition_variable>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "base/disk.h"
#include "deploy/views/telemetry.h"
#include "lang/run/handler.h"
#include "store/blob_store.h"
#include "store/store.h"

namespace sluice::host {

class Authority;

class MeasureExport {
 public:
  struct Of {
    store::Store& store;
    store::BlobStore& blobs;
    const lang::Tools& tools;
    const Clock& clock;
    Disk& disk;
    const Authority* authority = nullptr;  // without it nobody knows which environment an event is about
  };
  // All of it must outlive this. `routers` has a folder for each router. Only events from now on are sent.
  MeasureExport(Of of, std::string routers);
  ~MeasureExport();
  MeasureExport(const MeasureExport&) = delete;
  MeasureExport& operator=(const MeasureExport&) = delete;

  void start();
  // One round of each. True if every endpoint has taken what there was to send.
  bool send_metrics();
  bool send_requests();
  bool send_events();

 private:
  // What each router has logged since the last look, or since the first; whole lines only.
  std::string new_lines();
  bool send(const deploy::views::OtlpEndpoint& to, const char* path, const json::object& message);
  // Sends an endpoint the events from `next` on, and moves it to the first that it does not have.
  bool tell(const deploy::views::OtlpEndpoint& to, store::Snapshot& snapshot, uint64_t& next);

  const Of of_;
  const std::string routers_;
  std::map<std::string, uint64_t> read_;                          // how far, by router
  uint64_t looked_at_ = 0;                                        // the journal's position
  std::map<std::pair<std::string, std::string>, uint64_t> told_;  // the next position, by endpoint and environment
  bool first_ = true;
  std::mutex mutex_;
  std::condition_variable ends_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace sluice::host
