// One committed moment of a home: what views are read from.
//
//   auto moment = Moment::of(store, &blobs, tools, clock.wall_ms());
//   auto answer = read_view(**moment, "traffic", {{"environment", "local"}});
#pragma once

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/disk.h"
#include "engine/committed_rows.h"
#include "host/home.h"
#include "lang/run/view.h"
#include "store/blob_store.h"
#include "store/store.h"

namespace sluice::host {

// What stands beside a home's store.
struct Beside {
  Disk& disk;
  const Home& home;
  const Clock& clock;
};

// What a view of the host may read besides the concepts' rows: flows and journal of the same moment, and the home.
struct HostReading : lang::Reading {
  store::Snapshot& store;
  const Beside* beside = nullptr;  // none where there is only a store
};
using HostView = lang::ViewFrom<HostReading>;

class Moment {
 public:
  // The blobs, the tools and what stands beside must outlive it.
  static Result<std::unique_ptr<Moment>> of(store::Store& store, store::BlobStore* blobs, const lang::Tools& tools,
                                            int64_t now_ms, const Beside* beside = nullptr);

  uint64_t position() const { return rows_.position(); }
  const HostReading& reading() const { return reading_; }

 private:
  Moment(std::unique_ptr<store::Snapshot> snapshot, store::BlobStore* blobs,
         std::shared_ptr<const engine::IndexedFields> indexed, const lang::Tools& tools, int64_t now_ms,
         const Beside* beside);

  engine::CommittedRows rows_;
  HostReading reading_;
};

// Does what reads rows on a thread of its own. False: the store failed in between, and whoever wants it does it again.
bool if_readable(const std::function<void()>& work);

// By which fields rows can be found: what the engine that wrote the store has noted.
Result<std::shared_ptr<const engine::IndexedFields>> indexed_fields_of(store::Snapshot& snapshot);

// All views there are: those of the kit, and those of flows, which every kit has.
const std::vector<HostView>& all_views();
// `not_found` names the one that was probably meant.
Result<const HostView*> find_view(std::string_view name);

}  // namespace sluice::host
