// A tar is a row of blocks of 512 bytes: headers, each followed by its content, padded. Some headers are special: their
// content is the long name, or the pax records, of the entry behind them.
#include "bundle/archive/tar_watch.h"

#include <algorithm>
#include <utility>

namespace sluice::bundle {

namespace {

constexpr size_t kBlockBytes = 512;
constexpr uint64_t kMaxSpecialBytes = 1 << 20;  // as libarchive's

bool all_zeros(std::string_view bytes) { return bytes.find_first_not_of('\0') == std::string_view::npos; }

// A field of text, which a NUL ends if it is not full.
std::string field(std::string_view block, size_t at, size_t size) {
  std::string_view text = block.substr(at, size);
  return std::string(text.substr(0, text.find('\0')));
}

// Octal, or 63 bits behind a first bit that is set.
std::optional<uint64_t> number(std::string_view text) {
  uint64_t value = 0;
  if ((static_cast<unsigned char>(text[0]) & 0x80) != 0) {
    value = static_cast<unsigned char>(text[0]) & 0x3F;
    for (char c : text.substr(1)) {
      if (value >> 55 != 0) return std::nullopt;
      value = value << 8 | static_cast<unsigned char>(c);
    }
    return value;
  }
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  for (char c : text) {
    if (c < '0' || c > '7') break;
    if (value >> 60 != 0) return std::nullopt;
    value = value * 8 + static_cast<uint64_t>(c - '0');
  }
  return value;
}

std::optional<uint64_t> decimal(std::string_view text) {
  uint64_t value = 0;
  for (char c : text) {
    if (c < '0' || c > '9' || value > uint64_t{1} << 59) return std::nullopt;
    value = value * 10 + static_cast<uint64_t>(c - '0');
  }
  return text.empty() ? std::nullopt : std::optional(value);
}

// Some old tars have summed up signed characters.
bool has_its_sum(std::string_view block) {
  int64_t plain = 0, with_sign = 0;
  for (size_t i = 0; i < kBlockBytes; ++i) {
    const char c = i >= 148 && i < 156 ? ' ' : block[i];
    plain += static_cast<unsigned char>(c);
    with_sign += static_cast<signed char>(c);
  }
  auto said = number(block.substr(148, 8));
  return said && (static_cast<int64_t>(*said) == plain || static_cast<int64_t>(*said) == with_sign);
}

std::string path_of(std::string_view header) {
  std::string name = field(header, 0, 100);
  const bool has_prefix = header.substr(257, 6) == std::string_view("ustar\0", 6);
  std::string prefix = has_prefix ? field(header, 345, 155) : "";
  if (prefix.empty()) return name;
  return prefix.ends_with('/') ? prefix + name : prefix + "/" + name;
}

// The text of a long name, without the NUL at its end; one inside it stays, to be refused.
std::string long_name(std::string body) {
  body.resize(body.find_last_not_of('\0') + 1);
  return body;
}

}  // namespace

void TarWatch::feed(std::string_view bytes) {
  while (!bytes.empty()) {
    if (state_ == State::lost) return;
    if (state_ == State::ended) {
      has_more_ = has_more_ || !all_zeros(bytes);
      return;
    }
    if (state_ == State::content) {
      const uint64_t all = left_ + padding_;
      const size_t passed = std::min<uint64_t>(bytes.size(), all);
      left_ = all - passed;
      padding_ = 0;
      bytes.remove_prefix(passed);
      if (left_ == 0) state_ = State::header;
      continue;
    }
    const size_t taken = std::min(bytes.size(), kBlockBytes - held_.size());
    held_ += bytes.substr(0, taken);
    bytes.remove_prefix(taken);
    if (held_.size() < kBlockBytes) continue;
    block(held_);
    held_.clear();
  }
}

std::optional<TarWatch::Names> TarWatch::take() {
  if (names_.empty()) return std::nullopt;
  Names names = std::move(names_.front());
  names_.pop_front();
  return names;
}

void TarWatch::block(std::string_view bytes) {
  switch (state_) {
    case State::header:
      return header(bytes);
    case State::sparse_map:
      if (bytes[504] == 0) skip(after_map_);
      return;
    case State::special: {
      const size_t taken = std::min<uint64_t>(left_, kBlockBytes);
      body_ += bytes.substr(0, taken);
      left_ -= taken;
      if (left_ == 0) end_special();
      return;
    }
    default:
      return;
  }
}

void TarWatch::header(std::string_view bytes) {
  if (all_zeros(bytes)) {
    if (++zeros_ == 2) state_ = State::ended;
    return;
  }
  auto said = number(bytes.substr(124, 12));
  if (zeros_ > 0 || !said || !has_its_sum(bytes)) {
    state_ = State::lost;
    return;
  }
  const char type = bytes[156];
  uint64_t size = *said;
  if (std::string_view("xXgLKAV").find(type) != std::string_view::npos) {
    if (size > kMaxSpecialBytes) {
      state_ = State::lost;
      return;
    }
    special_ = type;
    body_.clear();
    left_ = size;
    state_ = State::special;
    if (size == 0) end_special();
    return;
  }
  Names names{.path = path_of(bytes), .link = field(bytes, 157, 100)};
  if (path_) names.path = *std::exchange(path_, std::nullopt);
  if (sparse_path_) names.path = *std::exchange(sparse_path_, std::nullopt);
  if (link_) names.link = *std::exchange(link_, std::nullopt);
  names_.push_back(std::move(names));
  // Links, devices, folders and FIFOs have no content, whatever their header says.
  if (type >= '1' && type <= '6') size = 0;
  if (size_) size = *std::exchange(size_, std::nullopt);
  if (type == 'S' && bytes[482] != 0) {
    after_map_ = size;
    state_ = State::sparse_map;
  } else {
    skip(size);
  }
}

void TarWatch::end_special() {
  state_ = State::header;
  // A pax name goes before a long one, wherever it stands.
  if (special_ == 'L' && !path_) path_ = long_name(std::move(body_));
  if (special_ == 'K' && !link_) link_ = long_name(std::move(body_));
  if (special_ == 'x' || special_ == 'X') read_pax(body_);
}

// "LENGTH KEY=VALUE\n", the length being that of all of it.
void TarWatch::read_pax(std::string_view records) {
  while (!records.empty()) {
    const size_t blank = records.find(' ');
    auto length = decimal(records.substr(0, std::min(blank, records.size())));
    if (!length || *length > records.size() || *length < blank + 2 || records[*length - 1] != '\n') return;
    std::string_view record = records.substr(blank + 1, *length - blank - 2);
    records.remove_prefix(*length);
    const size_t sign = record.find('=');
    if (sign == std::string_view::npos) continue;
    std::string_view key = record.substr(0, sign), value = record.substr(sign + 1);
    if (key == "path") path_ = value;
    if (key == "linkpath") link_ = value;
    if (key == "GNU.sparse.name") sparse_path_ = value;
    if (key == "size") size_ = decimal(value);
  }
}

void TarWatch::skip(uint64_t bytes) {
  left_ = bytes;
  padding_ = (kBlockBytes - bytes % kBlockBytes) % kBlockBytes;
  state_ = bytes == 0 ? State::header : State::content;
}

}  // namespace sluice::bundle
