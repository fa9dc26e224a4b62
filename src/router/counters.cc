// The file's layout, and nothing that a request needs but of().
#include "router/counters.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
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
  char memory_epoch[32];  // of the counts that are, or were, in memory alone
};

// What is known of the counts in memory, behind the header in the spare memory's first page.
struct MemoryHeader {
  char epoch[32];
  uint64_t sequence;
  uint64_t all;         // there is no file
  char reason[256];     // why the first group came here
  uint8_t groups[512];  // which are here
};
constexpr size_t kMemoryHeader = 2'048;
static_assert(sizeof(Header) <= kMemoryHeader && kMemoryHeader + sizeof(MemoryHeader) <= kHeader);

// The smallest whose names and whose blocks are whole pages.
constexpr size_t kGroup = 32;
constexpr size_t kGroupNames = kGroup * kNameBytes;
constexpr size_t kGroupBlocks = kGroup * kBlockBytes;
static_assert(kHeader % kPageBytes == 0 && kGroupNames % kPageBytes == 0 && kGroupBlocks % kPageBytes == 0);
static_assert(Counters::kSeries / kGroup == sizeof(MemoryHeader::groups));

constexpr size_t kFileBytes =
    kHeader + Counters::kSeries * kNameBytes + Counters::kLanes * Counters::kSeries * kBlockBytes;

constexpr size_t kGaugeBytes = Counters::kLanes * Counters::kSeries * sizeof(Gauge);

Header& header_of(MappedFile& file) { return *reinterpret_cast<Header*>(file.bytes()); }

MemoryHeader& memory_of(MappedFile& file) {
  return *reinterpret_cast<MemoryHeader*>(file.spare_page() + kMemoryHeader);
}

size_t names_offset(size_t group) { return kHeader + group * kGroupNames; }

size_t blocks_offset(size_t lane, size_t group) {
  return kHeader + Counters::kSeries * kNameBytes + lane * Counters::kSeries * kBlockBytes + group * kGroupBlocks;
}

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

Counters::Counters(MappedFile file, size_t lanes) : file_(std::move(file)), lanes_(lanes) { names_.reserve(kSeries); }

Counters::~Counters() {
  if (gauges_ != nullptr) ::munmap(gauges_, kGaugeBytes);
  if (gauges_fd_ >= 0) ::close(gauges_fd_);
}

Result<int> Counters::make_gauges() { return make_spare_memory(kGaugeBytes); }

Result<void> Counters::take_lanes(int gauges) {
  // Opened anew: locks belong to an open file, and those of other workers must count.
  auto shared = gauges >= 0 ? Result<int>(gauges) : make_gauges();
  if (!shared) return shared.error();
  auto again = open_memory_again(*shared);
  if (gauges < 0) ::close(*shared);
  if (!again) return again.error();
  gauges_fd_ = *again;
  void* mapped = ::mmap(nullptr, kGaugeBytes, PROT_READ | PROT_WRITE, MAP_SHARED, gauges_fd_, 0);
  if (mapped == MAP_FAILED) return error_from(errno, "map", "the router's gauges");
  gauges_ = static_cast<Gauge*>(mapped);
  auto lock = [&](short kind, size_t lane) {
    struct flock range {};
    range.l_type = kind;
    range.l_whence = SEEK_SET;
    range.l_start = static_cast<off_t>(lane);
    range.l_len = 1;
    return ::fcntl(gauges_fd_, F_OFD_SETLK, &range) == 0;
  };
  std::array<bool, kLanes> free{};
  for (size_t lane = 0; lane < kLanes; ++lane) {
    free[lane] = lock(F_WRLCK, lane);
    // What a worker that is gone had under way has ended with it.
    constexpr auto kBytes = static_cast<off_t>(kSeries * sizeof(Gauge));
    if (free[lane]) {
      ::fallocate(gauges_fd_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(lane) * kBytes, kBytes);
    }
  }
  size_t run = 0, end = 0;
  while (end < kLanes && run < lanes_) run = free[end++] ? run + 1 : 0;
  first_lane_ = end - run;
  for (size_t lane = 0; lane < kLanes; ++lane) {
    const bool mine = run == lanes_ && lane >= first_lane_ && lane < end;
    if (free[lane] && !mine) lock(F_UNLCK, lane);
  }
  if (run == lanes_) return {};
  return Error{.code = Code::conflict,
               .message = "workers that still finish requests count in too many of the " + std::to_string(kLanes) +
                          " lanes for " + std::to_string(lanes_) + " more threads"};
}

Result<std::unique_ptr<Counters>> Counters::open(const std::string& path, const std::string& router,
                                                 const std::string& fresh_epoch, size_t lanes, int spare, int gauges) {
  auto memory = spare >= 0 ? Result<int>(::dup(spare)) : make_spare();
  if (!memory) return memory.error();
  auto counters = open_file(path, lanes, *memory);
  if (!counters) {
    std::string reason = counters.error().message;
    counters = open_memory(lanes, *memory);
    if (counters) put_text(memory_of((*counters)->file_).reason, sizeof(MemoryHeader::reason), reason);
  }
  ::close(*memory);
  if (!counters) return counters;
  if (auto taken = (*counters)->take_lanes(gauges); !taken) return taken.error();
  (*counters)->take_up(router, fresh_epoch);
  return counters;
}

Result<int> Counters::make_spare() { return make_spare_memory(kFileBytes); }

Result<std::unique_ptr<Counters>> Counters::open_file(const std::string& path, size_t lanes, int spare) {
  for (int attempt = 0; attempt < 2; ++attempt) {
    auto file = MappedFile::open(path, kFileBytes, spare);
    if (file) {
      // A router that has begun to count in memory goes on there.
      if (memory_of(*file).all != 0) return Error{.message = memory_of(*file).reason};
      if (auto held = file->hold(0, kHeader); !held) return held.error();
      std::unique_ptr<Counters> counters(new Counters(*std::move(file), lanes));
      if (!counters->is_begun() || counters->is_sound()) return counters;
    } else if (file.error().code != Code::conflict) {
      return file.error();
    }
    RealDisk disk;
    if (auto moved = disk.rename(path, path + ".old"); !moved) return moved.error();
  }
  return Error{.code = Code::failed, .message = "cannot make " + path};
}

Result<std::unique_ptr<Counters>> Counters::open_memory(size_t lanes, int spare) {
  auto file = MappedFile::in_memory(kFileBytes, spare);
  if (!file) return file.error();
  memory_of(*file).all = 1;
  return std::unique_ptr<Counters>(new Counters(*std::move(file), lanes));
}

// Reads what is there, and makes room for it and for what comes first.
void Counters::take_up(const std::string& router, const std::string& fresh_epoch) {
  MemoryHeader& memory = memory_of(file_);
  if (memory.epoch[0] == 0) put_text(memory.epoch, sizeof memory.epoch, fresh_epoch + "-m");
  if (!is_begun()) begin(router, fresh_epoch);
  Header& header = header_of(file_);
  header.lanes_used = std::max<uint64_t>(header.lanes_used, first_lane_ + lanes_);
  size_t known = 0;
  for (bool full = true; full && known < kSeries / kGroup; ++known) {
    std::vector<SeriesName> names = names_in(known);
    if (names.empty()) break;
    full = names.size() == kGroup;
    add_names(std::move(names));
  }
  // Those of the file first, all at once if none is missing.
  const bool whole = memory.all == 0 && !any_in_memory() && known > 0 && hold(0, known);
  for (; groups_ < known; ++groups_) {
    if (whole) continue;
    auto held = memory.all != 0 || memory.groups[groups_] != 0 ? Result<void>(Error{}) : hold(groups_, 1);
    if (held) continue;
    if (memory.reason[0] == 0) put_text(memory.reason, sizeof memory.reason, held.error().message);
    use_memory(groups_);
  }
  if (groups_ == 0) grow();
}

Result<std::unique_ptr<Counters>> Counters::left_at(const std::string& path) {
  RealDisk disk;
  auto file = disk.open(path, {.write = true});
  bool writable = file.has_value();
  if (!file) file = disk.open(path, {});
  if (!file) return file.error();
  auto size = (*file)->size();
  if (!size) return size.error();
  auto copy = MappedFile::in_memory(kFileBytes);
  if (!copy) return copy.error();
  std::unique_ptr<Counters> counters(new Counters(*std::move(copy), 0));
  // What is used is copied: to look at a page of the file could take room on its disk.
  auto take = [&](size_t offset, size_t bytes) {
    auto read = (*file)->read_at(offset, {counters->file_.bytes() + offset, bytes});
    return read && *read == bytes;
  };
  if (*size != kFileBytes || !take(0, kHeader) || !counters->is_sound()) {
    return Error{.code = Code::conflict, .message = path + " holds no counters"};
  }
  for (size_t group = 0; group < kSeries / kGroup && take(names_offset(group), kGroupNames); ++group) {
    std::vector<SeriesName> names = counters->names_in(group);
    bool full = names.size() == kGroup;
    counters->add_names(std::move(names));
    for (size_t lane = 0; lane < header_of(counters->file_).lanes_used; ++lane) {
      take(blocks_offset(lane, group), kGroupBlocks);
    }
    if (!full) break;
  }
  uint64_t next = header_of(counters->file_).sequence + 1;
  if (writable) (void)(*file)->write_at(offsetof(Header, sequence), {reinterpret_cast<char*>(&next), sizeof next});
  return counters;
}

void Counters::begin(const std::string& router, const std::string& epoch) {
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
}

bool Counters::is_begun() const { return header_of(file_).magic[0] != 0; }

bool Counters::is_sound() const {
  const Header& header = header_of(file_);
  return std::memcmp(header.magic, kMagic, sizeof header.magic) == 0 && header.version == kVersion &&
         header.series == kSeries && header.lanes == kLanes && header.block_bytes == kBlockBytes &&
         header.lanes_used <= kLanes;
}

std::vector<SeriesName> Counters::names_in(size_t group) const {
  std::vector<char> text(kGroupNames);
  if (memory_of(file_).groups[group] != 0) {
    // Read where it was written: the file says nothing of it.
    if (!file_.read_memory(names_offset(group), text.data(), text.size())) return {};
  } else if (!file_.read(names_offset(group), text.data(), text.size())) {
    return {};
  }
  std::vector<SeriesName> names;
  for (const char* at = text.data(); at < text.data() + text.size(); at += kNameBytes) {
    uint64_t used;
    std::memcpy(&used, at, sizeof used);
    if (used == 0) break;
    const char* part = at + sizeof used;
    SeriesName name{.deployment = get_text(part, kIdText), .revision = get_text(part + kIdText, kIdText)};
    part += 2 * kIdText;
    for (std::string* field : {&name.bundle, &name.customer, &name.tenant, &name.team}) {
      *field = get_text(part, kText);
      part += kText;
    }
    names.push_back(std::move(name));
  }
  return names;
}

void Counters::add_names(std::vector<SeriesName> names) {
  for (SeriesName& name : names) {
    by_name_[key_of(name)] = static_cast<uint32_t>(names_.size());
    names_.push_back(std::move(name));
  }
}

void Counters::grow() {
  MemoryHeader& memory = memory_of(file_);
  // A group in the file behind one in memory would not be found again.
  if (memory.reason[0] == 0) {
    const size_t more = std::min(std::max<size_t>(groups_ / 2, 1), kSeries / kGroup - groups_);
    auto held = hold(groups_, more);
    if (held) groups_ += more;
    if (!held && more > 1 && hold(groups_, 1)) held = Result<void>(), ++groups_;
    if (held) return;
    put_text(memory.reason, sizeof memory.reason, held.error().message);
  }
  use_memory(groups_++);
}

Result<void> Counters::hold(size_t group, size_t groups) {
  if (auto held = file_.hold(names_offset(group), groups * kGroupNames); !held) return held.error();
  for (size_t lane = 0; lane < header_of(file_).lanes_used; ++lane) {
    if (auto held = file_.hold(blocks_offset(lane, group), groups * kGroupBlocks); !held) return held.error();
  }
  return {};
}

void Counters::use_memory(size_t group) {
  MemoryHeader& memory = memory_of(file_);
  const bool fresh = memory.groups[group] == 0;  // else a worker before this one has counted there
  std::vector<char> names(kGroupNames);
  if (fresh) (void)file_.read(names_offset(group), names.data(), names.size());
  (void)file_.use_memory(names_offset(group), kGroupNames);
  if (fresh) std::memcpy(file_.bytes() + names_offset(group), names.data(), names.size());
  for (size_t lane = 0; lane < header_of(file_).lanes_used; ++lane) {
    (void)file_.use_memory(blocks_offset(lane, group), kGroupBlocks);
  }
  memory.groups[group] = 1;
  std::memcpy(header_of(file_).memory_epoch, memory.epoch, sizeof memory.epoch);
}

size_t Counters::series() const {
  std::lock_guard lock(naming_);
  return names_.size();
}

std::string Counters::trouble() const {
  std::lock_guard lock(naming_);
  std::string reason = get_text(memory_of(file_).reason, sizeof(MemoryHeader::reason));
  if (reason.empty() && file_.rescued() > 0) reason = "the disk has failed to take them";
  return reason;
}

bool Counters::is_in_memory(uint32_t series) const {
  std::lock_guard lock(naming_);
  return memory_of(file_).groups[series / kGroup] != 0;
}

bool Counters::any_in_memory() const {
  std::lock_guard lock(naming_);
  const auto& groups = memory_of(file_).groups;
  return std::ranges::any_of(groups, [](uint8_t each) { return each != 0; });
}

std::string Counters::memory_epoch() const {
  const MemoryHeader& memory = memory_of(file_);
  return get_text(memory.epoch, sizeof memory.epoch);
}

uint64_t Counters::next_memory_sequence() { return ++memory_of(file_).sequence; }

std::string Counters::lost_epoch() const {
  std::lock_guard lock(naming_);
  const Header& header = header_of(file_);
  std::string said = get_text(header.memory_epoch, sizeof header.memory_epoch);
  return said == memory_epoch() ? "" : said;
}

uint32_t Counters::series_of(const SeriesName& name) {
  std::string key = key_of(name);
  if (auto known = by_name_.find(key); known != by_name_.end()) return known->second;
  const SeriesName other{.deployment = "other", .revision = "other"};
  if (names_.size() >= kOther && name != other) return series_of(other);
  std::lock_guard lock(naming_);
  auto series = static_cast<uint32_t>(names_.size());
  if (series / kGroup == groups_) grow();
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

uint64_t Counters::next_sequence() { return ++header_of(file_).sequence; }

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
  for (size_t lane = 0; gauges_ != nullptr && lane < header_of(file_).lanes_used; ++lane)
    sum += gauges_[lane * kSeries + series].in_flight.load(std::memory_order_relaxed);
  return sum;
}

uint32_t Counters::websockets(uint32_t series) const {
  uint32_t sum = 0;
  for (size_t lane = 0; gauges_ != nullptr && lane < header_of(file_).lanes_used; ++lane)
    sum += gauges_[lane * kSeries + series].websockets.load(std::memory_order_relaxed);
  return sum;
}

}  // namespace sluice::router
