// A log that is shorter than it was has been replaced, and is read from its beginning.
#include "host/measure_export.h"

#include <algorithm>
#include <boost/json.hpp>
#include <chrono>

#include "base/json.h"
#include "deploy/otlp.h"
#include "deploy/views/telemetry.h"
#include "host/moment.h"
#include "host/span_export.h"

namespace sluice::host {
namespace {

constexpr auto kBetweenRequests = std::chrono::seconds(2);
constexpr int kRoundsAMetric = 5;
constexpr size_t kMostRead = 1 << 20;  // of a router's log at a time; what is more is skipped
constexpr size_t kMostSpans = 2'000;

}  // namespace

MeasureExport::MeasureExport(Of of, std::string routers) : of_(of), routers_(std::move(routers)) { new_lines(); }

MeasureExport::~MeasureExport() {
  {
    std::lock_guard lock(mutex_);
    ending_ = true;
  }
  ends_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void MeasureExport::start() {
  thread_ = std::thread([this] {
    std::unique_lock lock(mutex_);
    for (int round = 1; !ends_.wait_for(lock, kBetweenRequests, [this] { return ending_; }); ++round) {
      lock.unlock();
      send_requests();
      if (round % kRoundsAMetric == 0) send_metrics();
      lock.lock();
    }
  });
}

bool MeasureExport::send(const std::string& endpoint, const char* path, const std::string& body) {
  return post_otlp(of_.tools, of_.clock, endpoint, path, body, [this] {
    std::lock_guard lock(mutex_);
    return ending_;
  });
}

bool MeasureExport::send_metrics() {
  const auto* fleet = of_.tools.find<deploy::RouterFleet>();
  auto moment = Moment::of(of_.store, &of_.blobs, of_.tools, of_.clock.wall_ms());
  if (!moment || fleet == nullptr) return false;
  const HostReading& reading = (*moment)->reading();
  const auto endpoints = deploy::views::otlp_endpoints(reading.rows);
  if (endpoints.empty()) return true;
  auto view = find_view("metrics");
  auto families = view ? (*view)->read(reading, {}) : Result<json::value>(view.error());
  if (!families) return false;
  const std::string body = write(deploy::otlp_metrics(reading.rows, families->as_array(), *fleet, reading.now_ms));
  bool taken = true;
  for (const auto& each : endpoints) taken = send(each.url, "/v1/metrics", body) && taken;
  return taken;
}

std::string MeasureExport::new_lines() {
  std::string lines;
  auto folders = of_.disk.list(routers_);
  for (const FolderEntry& each : folders ? *folders : std::vector<FolderEntry>{}) {
    auto file = of_.disk.open(routers_ + "/" + each.name + "/access.log", {});
    auto size = file ? (*file)->size() : Result<uint64_t>(file.error());
    if (!size) continue;
    uint64_t& from = read_[each.name];
    if (first_) from = *size;
    if (from > *size) from = 0;
    if (*size - from > kMostRead) from = *size - kMostRead;
    std::string piece(*size - from, '\0');
    auto got = (*file)->read_at(from, piece);
    piece.resize(got ? *got : 0);
    piece.resize(piece.rfind('\n') == std::string::npos ? 0 : piece.rfind('\n') + 1);
    from += piece.size();
    lines += piece;
  }
  first_ = false;
  return lines;
}

bool MeasureExport::send_requests() {
  const std::string lines = new_lines();
  if (lines.empty()) return true;
  auto moment = Moment::of(of_.store, &of_.blobs, of_.tools, of_.clock.wall_ms());
  if (!moment) return false;
  const lang::Snapshot& rows = (*moment)->reading().rows;
  const auto endpoints = deploy::views::otlp_endpoints(rows);
  if (endpoints.empty()) return true;
  json::array spans;
  for (size_t from = 0; from < lines.size() && spans.size() < kMostSpans;) {
    const size_t end = lines.find('\n', from);
    if (auto span = deploy::otlp_request_span(rows, std::string_view(lines).substr(from, end - from))) {
      spans.push_back(*std::move(span));
    }
    from = end + 1;
  }
  if (spans.empty()) return true;
  const std::string body = write(json::object{{"resourceSpans", std::move(spans)}});
  bool taken = true;
  for (const auto& each : endpoints) taken = send(each.url, "/v1/traces", body) && taken;
  return taken;
}

}  // namespace sluice::host
