// MeasureExport sends what is measured to the OTLP endpoints that are configured for all bundles: metrics of the
// control plane and of each revision every ten seconds, and requests that the routers of this home have logged, as
// spans, every two. It has a thread of its own, so a collector that is slow or away delays nobody; metrics are sums, so
// what it has missed is in the next ones, and requests that it does not take are dropped.
#pragma once

#include <condition_variable>
#include <map>
#include <mutex>
#include <string>
#include <thread>

#include "base/clock.h"
#include "base/disk.h"
#include "lang/run/handler.h"
#include "store/blob_store.h"
#include "store/store.h"

namespace sluice::host {

class MeasureExport {
 public:
  struct Of {
    store::Store& store;
    store::BlobStore& blobs;
    const lang::Tools& tools;
    const Clock& clock;
    Disk& disk;
  };
  // All of it must outlive this. `routers` has a folder for each router.
  MeasureExport(Of of, std::string routers);
  ~MeasureExport();
  MeasureExport(const MeasureExport&) = delete;
  MeasureExport& operator=(const MeasureExport&) = delete;

  void start();
  // One round of each. True if every endpoint has taken what there was to send.
  bool send_metrics();
  bool send_requests();

 private:
  // What each router has logged since the last look, or since the first; whole lines only.
  std::string new_lines();
  bool send(const std::string& endpoint, const char* path, const std::string& body);

  const Of of_;
  const std::string routers_;
  std::map<std::string, uint64_t> read_;  // how far, by router
  bool first_ = true;
  std::mutex mutex_;
  std::condition_variable ends_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace sluice::host
