// A log that is shorter than it was has been replaced, and is read from its beginning.
#include "host/measure_export.h"

#include <algorithm>
#include <boost/json.hpp>
#include <chrono>
#include <utility>

#include "base/json.h"
#include "deploy/otlp.h"
#include "engine/journal/record_reader.h"
#include "host/event_log.h"
#include "host/moment.h"
#include "host/span_export.h"

namespace sluice::host {
namespace {

constexpr auto kBetweenRequests = std::chrono::seconds(2);
constexpr int kRoundsAMetric = 5;
constexpr size_t kMostRead = 1 << 20;  // of a router's log at a time; what is more is skipped
constexpr size_t kMostSpans = 2'000;
constexpr size_t kRowsARound = 2'000;
constexpr size_t kMostRecords = 500;  // in a message

}  // namespace

MeasureExport::MeasureExport(Of of, std::string routers) : of_(of), routers_(std::move(routers)) {
  new_lines();
  auto snapshot = of_.store.read();
  if (snapshot) looked_at_ = (*snapshot)->position();
}

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
      if_readable([&] {
        send_requests();
        send_events();
        if (round % kRoundsAMetric == 0) send_metrics();
      });
      lock.lock();
    }
  });
}

bool MeasureExport::send(const deploy::views::OtlpEndpoint& to, const char* path, const json::object& message) {
  return post_otlp(of_.tools, of_.clock, to, path, write(message), [this] {
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
  const deploy::Measured measured = deploy::measure(reading.rows, families->as_array(), *fleet, reading.now_ms);
  bool taken = true;
  for (const auto& each : endpoints) {
    const json::object message = deploy::otlp_metrics(measured, each);
    if (!message.empty()) taken = send(each, "/v1/metrics", message) && taken;
  }
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
  struct Spans {
    deploy::views::OtlpEndpoint to;
    json::array all;
  };
  std::map<std::pair<std::string, std::string>, Spans> by_endpoint;
  size_t many = 0;
  for (size_t from = 0; from < lines.size() && many < kMostSpans;) {
    const size_t end = lines.find('\n', from);
    if (auto made = deploy::otlp_request_span(rows, std::string_view(lines).substr(from, end - from))) {
      Spans& spans = by_endpoint[{made->to.url, made->to.key}];
      spans.to = made->to;
      spans.all.push_back(std::move(made->span));
      ++many;
    }
    from = end + 1;
  }
  bool taken = true;
  for (auto& [endpoint, spans] : by_endpoint) {
    taken = send(spans.to, "/v1/traces", json::object{{"resourceSpans", std::move(spans.all)}}) && taken;
  }
  return taken;
}

bool MeasureExport::tell(const deploy::views::OtlpEndpoint& to, store::Snapshot& snapshot, uint64_t& next) {
  json::array records;
  uint64_t after = next;
  size_t rows = 0;
  auto read = snapshot.journal_from(next, [&](const store::JournalRow& row) {
    after = row.seq + 1;
    auto step = engine::read_step(row.record);
    auto event = step ? event_of(*step) : std::nullopt;
    if (event) {
      event->environment = environment_of(*event, of_.authority);
      std::vector<std::string> environments;
      if (event->environment) environments.push_back(*event->environment);
      if (to.takes_work_in(environments)) records.push_back(log_record_of(*event));
    }
    return ++rows < kRowsARound && records.size() < kMostRecords;
  });
  if (!read) return false;
  if (!records.empty() && !send(to, "/v1/logs", otlp_logs(std::move(records)))) return false;
  next = after;
  return true;
}

bool MeasureExport::send_events() {
  auto moment = Moment::of(of_.store, &of_.blobs, of_.tools, of_.clock.wall_ms());
  if (!moment) return false;
  const HostReading& reading = (*moment)->reading();
  const auto before = std::exchange(told_, {});  // who is no longer configured is forgotten
  const uint64_t looked_at = std::exchange(looked_at_, reading.position);
  bool taken = true;
  for (const auto& each : deploy::views::otlp_endpoints(reading.rows)) {
    if (each.bundle != "*") continue;
    const auto known = before.find({each.url, each.environment});
    uint64_t& next = told_[{each.url, each.environment}];
    next = known == before.end() ? looked_at + 1 : known->second;
    taken = tell(each, reading.store, next) && taken;
  }
  return taken;
}

}  // namespace sluice::host
