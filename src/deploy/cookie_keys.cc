// One small file, replaced whole.
#include "deploy/cookie_keys.h"

#include <array>
#include <boost/json.hpp>

#include "base/atomic_file.h"
#include "base/json.h"
#include "base/json_reader.h"
#include "base/json_writer.h"
#include "crypto/base64.h"

namespace sluice::deploy {

constexpr std::string_view kCookieKeysSchema = "sluice.cookie-keys.v1";

struct CookieKeyOnDisk {
  std::string id;
  std::string key;
  int64_t made_ms = 0;
};
BOOST_DESCRIBE_STRUCT(CookieKeyOnDisk, (), (id, key, made_ms))

struct CookieKeyFile {
  std::string schema = std::string(kCookieKeysSchema);
  int64_t made = 0;  // how many ever were
  std::vector<CookieKeyOnDisk> keys;
};
BOOST_DESCRIBE_STRUCT(CookieKeyFile, (), (schema, made, keys))

namespace {

constexpr size_t kMaxCookieKeyFile = 16 << 10;
constexpr int64_t kCookieKeyLife_ms = int64_t{30} * 86'400'000;
constexpr size_t kCookieKeysKept = 3;

}  // namespace

Result<std::vector<::sluice::router::CookieKeyDocument>> CookieKeys::current() {
  CookieKeyFile file;
  auto stat = disk_.stat(path_, FollowLinks::no);
  if (!stat && stat.error().code != Code::not_found) return stat.error();
  if (stat) {
    if (stat->kind != FileKind::file || (stat->mode & 077U) != 0) {
      return Error{.code = Code::invalid,
                   .message = path_ + " can be read by others, and signs the visitors' cookies",
                   .next = "rm " + path_ + ": a new one is made, and visitors are assigned anew"};
    }
    auto text = read_file(disk_, path_, kMaxCookieKeyFile);
    if (!text) return text.error();
    auto parsed = parse_json(*text, path_);
    if (!parsed) return parsed.error();
    auto read_back = read<CookieKeyFile>(*parsed);
    if (!read_back) return read_back.error();
    file = *std::move(read_back);
  }
  const int64_t now_ms = clock_.wall_ms();
  if (file.keys.empty() || now_ms - file.keys.front().made_ms > kCookieKeyLife_ms) {
    std::array<uint8_t, 32> bytes{};
    random_.fill(bytes);
    file.made++;
    file.keys.insert(file.keys.begin(),
                     {.id = "k" + std::to_string(file.made),
                      .key = crypto::to_base64({reinterpret_cast<const char*>(bytes.data()), bytes.size()},
                                               crypto::Base64::url_unpadded),
                      .made_ms = now_ms});
    if (file.keys.size() > kCookieKeysKept) file.keys.resize(kCookieKeysKept);
    if (auto kept = write_atomically(disk_, path_, write(to_json(file)) + "\n", 0600); !kept) return kept.error();
  }
  std::vector<::sluice::router::CookieKeyDocument> keys;
  for (const CookieKeyOnDisk& each : file.keys) keys.push_back({.id = each.id, .key = each.key});
  return keys;
}

}  // namespace sluice::deploy
