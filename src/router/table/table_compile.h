// Documents into the compiled table. A deployment is checked for everything that a request could stumble over; one that
// is at fault is left out alone, or stays as it was.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/random.h"
#include "base/result.h"
#include "router/table/table.h"
#include "router/table/table_document.h"

namespace sluice::router {

// Who a revision's counters belong to; says which series it is.
struct SeriesName {
  std::string deployment, revision, bundle, customer, tenant, team;

  bool operator==(const SeriesName&) const = default;
};
using SeriesOf = std::function<uint32_t(const SeriesName&)>;

class TableCompiler {
 public:
  TableCompiler(Random& random, SeriesOf series_of);
  TableCompiler(const HashKey& key, SeriesOf series_of) : series_of_(std::move(series_of)), key_(key) {}

  // `before` may be nothing. What it knows of deployments that are at fault now is kept.
  Result<std::shared_ptr<const Table>> load(ReadTable&& read, const Table* before);
  Result<std::shared_ptr<const Table>> patch(ReadPatch&& read, int64_t generation, const Table& before);

 private:
  Result<std::shared_ptr<const Deployment>> compile(DeploymentDocument&& document, const Table* before);
  Result<Revision> compile_revision(RevisionDocument& document, const Deployment* before);
  void enlist(Deployment& deployment);
  Result<void> read_client_rule(const TlsDocument& given, Deployment& deployment);
  Result<ReplicaPlace> place_of(const ReplicaDocument& document, bool http2);

  SeriesOf series_of_;
  HashKey key_;
  // By what they say: many deployments say the same.
  std::map<std::string, std::weak_ptr<const ClientRule>> rules_;
  std::map<std::string, std::weak_ptr<const UpstreamTls>> upstreams_;
  uint64_t stamp_ = 0;
  uint32_t numbers_ = 0;
};

}  // namespace sluice::router
