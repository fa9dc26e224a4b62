// The file's layout, and nothing that a request needs but of().
#include "router/counters.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "base/disk.h"
#include "base/real_disk.h"

namespace sluice::router {
namespace {

constexpr char kMagic[] = "SLUICECT";
constexpr uint64_t kVersion = 1;
constexpr size_t kHeader = 4'096;
constexpr size_t kNameBytes = 512;
constexpr size_t kBlockBytes = 384;
constexpr size_t kIdText = 72;
constexpr size_t kText = 90;
static_assert(sizeof(Counts) <= kBlockBytes);

struct Header {
  char magic[8];
  uint64_t version;
  uint64_t series;
  uint64_t lanes;
  uint64_t block_bytes;
  uint64_t sequence;
  char router[32];
  char epoch[32];
  uint64_t lanes_used;
};

constexpr size_t kFileBytes =
    kHeader + Counters::kSeries * kNameBytes + Counters::kLanes * Counters::kSeries * kBlockBytes;

Header& header_of(MappedFile& file) { return *reinterpret_cast<Header*>(file.bytes()); }

char* name_at(MappedFile& file, uint32_t series) { return file.bytes() + kHeader + series * kNameBytes; }

void put_text(char* at, size_t room, const std::string& text) {
  std::memcpy(at, text.data(), std::min(text.size(), room - 1));
}

std::string get_text(const char* at, size_t room) { return {at, ::strnlen(at, room)}; }

std::string key_of(const SeriesName& name) {
  std::string key;
  for (const std::string* each : {&name.deployment, &name.revision}) key += each->substr(0, kIdText - 1) + '\n';
  for (const std::string* each : {&name.bundle, &name.customer, &name.tenant, &name.team}) {
    key += each->substr(0, kText - 1) + '\n';
  }
  return key;
}

uint64_t relaxed(uint64_t& word) { return std::atomic_ref<uint64_t>(word).load(std::memory_order_relaxed); }

}  // namespace

size_t latency_bucket(uint64_t latency_us) {
  return static_cast<size_t>(std::ranges::lower_bound(kLatencyEnds_us, latency_us) - kLatencyEnds_us.begin());
}

Counters::Counters(MappedFile file, size_t lanes)
    : file_(std::move(file)), lanes_(lanes), gauges_(std::make_unique<Gauge[]>(lanes * kSeries)) {}

Result<std::unique_ptr<Counters>> Counters::open(const std::string& path, const std::string& router,
                                                 const std::string& fresh_epoch, size_t lanes) {
  for (int attempt = 0; attempt < 2; ++attempt) {
    auto file = MappedFile::open(path, kFileBytes);
    if (file) {
      bool made = file->made();
      std::unique_ptr<Counters> counters(new Counters(*std::move(file), lanes));
      if (made) {
        if (auto begun = counters->begin(router, fresh_epoch); !begun) return begun.error();
      }
      if (counters->is_sound()) {
        Header& header = header_of(counters->file_);
        header.lanes_used = std::max<uint64_t>(header.lanes_used, lanes);
        counters->read_names();
        return counters;
      }
    } else if (file.error().code != Code::conflict) {
      return file.error();
    }
    RealDisk disk;
    if (auto moved = disk.rename(path, path + ".old"); !moved) return moved.error();
  }
  return Error{.code = Code::failed, .message = "cannot make " + path};
}

Result<std::unique_ptr<Counters>> Counters::left_at(const std::string& path) {
  RealDisk disk;
  if (auto there = disk.stat(path, FollowLinks::no); !there) return there.error();
  auto file = MappedFile::open(path, kFileBytes);
  if (!file) return file.error();
  std::unique_ptr<Counters> counters(new Counters(*std::move(file), 0));
  if (!counters->is_sound()) return Error{.code = Code::conflict, .message = path + " holds no counters"};
  counters->read_names();
  return counters;
}

Result<void> Counters::begin(const std::string& router, const std::string& epoch) {
  Header& header = header_of(file_);
  header.version = kVersion;
  header.series = kSeries;
  header.lanes = kLanes;
  header.block_bytes = kBlockBytes;
  put_text(header.router, sizeof header.router, router);
  put_text(header.epoch, sizeof header.epoch, epoch);
  // Last, so that a file that was only begun is known as such.
  std::atomic_thread_fence(std::memory_order_release);
  std::memcpy(header.magic, kMagic, sizeof header.magic);
  return {};
}

bool Counters::is_sound() const {
  const Header& header = header_of(file_);
  return std::memcmp(header.magic, kMagic, sizeof header.magic) == 0 && header.version == kVersion &&
         header.series == kSeries && header.lanes == kLanes && header.block_bytes == kBlockBytes &&
         header.lanes_used <= kLanes;
}

void Counters::read_names() {
  for (uint32_t series = 0; series < kSeries; ++series) {
    const char* at = name_at(file_, series);
    uint64_t used;
    std::memcpy(&used, at, sizeof used);
    if (used == 0) break;
    at += sizeof used;
    SeriesName name{.deployment = get_text(at, kIdText), .revision = get_text(at + kIdText, kIdText)};
    at += 2 * kIdText;
    for (std::string* text : {&name.bundle, &name.customer, &name.tenant, &name.team}) {
      *text = get_text(at, kText);
      at += kText;
    }
    by_name_[key_of(name)] = series;
    names_.push_back(std::move(name));
  }
}

uint32_t Counters::series_of(const SeriesName& name) {
  std::string key = key_of(name);
  if (auto known = by_name_.find(key); known != by_name_.end()) return known->second;
  const SeriesName other{.deployment = "other", .revision = "other"};
  if (names_.size() >= kOther && name != other) return series_of(other);
  auto series = static_cast<uint32_t>(names_.size());
  char* at = name_at(file_, series);
  char* text = at + sizeof(uint64_t);
  put_text(text, kIdText, name.deployment);
  put_text(text + kIdText, kIdText, name.revision);
  text += 2 * kIdText;
  for (const std::string* each : {&name.bundle, &name.customer, &name.tenant, &name.team}) {
    put_text(text, kText, *each);
    text += kText;
  }
  std::atomic_thread_fence(std::memory_order_release);
  uint64_t used = 1;
  std::memcpy(at, &used, sizeof used);
  by_name_[key] = series;
  names_.push_back(name);
  return series;
}

// Whoever reads what a router has left may do so while it begins again.
uint64_t Counters::next_sequence() { return std::atomic_ref<uint64_t>(header_of(file_).sequence).fetch_add(1) + 1; }

std::string Counters::router() const {
  const Header& header = header_of(file_);
  return get_text(header.router, sizeof header.router);
}

std::string Counters::epoch() const {
  const Header& header = header_of(file_);
  return get_text(header.epoch, sizeof header.epoch);
}

Counts& Counters::of(size_t lane, uint32_t series) {
  return *reinterpret_cast<Counts*>(file_.bytes() + kHeader + kSeries * kNameBytes +
                                    (lane * kSeries + series) * kBlockBytes);
}

Counts Counters::total(uint32_t series) const {
  Counts sum;
  auto* self = const_cast<Counters*>(this);
  for (size_t lane = 0; lane < header_of(file_).lanes_used; ++lane) {
    Counts& counts = self->of(lane, series);
    sum.requests += relaxed(counts.requests);
    sum.bytes_in += relaxed(counts.bytes_in);
    sum.bytes_out += relaxed(counts.bytes_out);
    for (size_t i = 0; i < sum.classes.size(); ++i) sum.classes[i] += relaxed(counts.classes[i]);
    sum.retries += relaxed(counts.retries);
    sum.failures += relaxed(counts.failures);
    sum.latency_us += relaxed(counts.latency_us);
    for (size_t i = 0; i < sum.latencies.size(); ++i) sum.latencies[i] += relaxed(counts.latencies[i]);
  }
  return sum;
}

uint32_t Counters::in_flight(uint32_t series) const {
  uint32_t sum = 0;
  for (size_t lane = 0; lane < lanes_; ++lane)
    sum += gauges_[lane * kSeries + series].in_flight.load(std::memory_order_relaxed);
  return sum;
}

uint32_t Counters::websockets(uint32_t series) const {
  uint32_t sum = 0;
  for (size_t lane = 0; lane < lanes_; ++lane)
    sum += gauges_[lane * kSeries + series].websockets.load(std::memory_order_relaxed);
  return sum;
}

}  // namespace sluice::router
