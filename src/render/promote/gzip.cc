// The libraries do it; here are the bounds.
#include "render/promote/gzip.h"

#include <zlib.h>
#include <zstd.h>

#include "crypto/base64.h"

namespace sluice::promote {
namespace {

constexpr std::string_view kZstd = "zstd:";
constexpr size_t kMostKept = size_t{16} << 20;

Error broken(std::string message) { return {.code = Code::invalid, .message = std::move(message)}; }

}  // namespace

Result<std::string> ungzip(std::string_view base64, size_t most_bytes) {
  auto bytes = crypto::from_base64(base64);
  if (!bytes) return broken("it is not base64");
  z_stream stream{};
  if (inflateInit2(&stream, 16 + MAX_WBITS) != Z_OK) return broken("zlib cannot begin");
  stream.next_in = reinterpret_cast<Bytef*>(bytes->data());
  stream.avail_in = static_cast<uInt>(bytes->size());
  std::string text;
  std::string piece(size_t{64} << 10, '\0');
  int state = Z_OK;
  while (state == Z_OK) {
    stream.next_out = reinterpret_cast<Bytef*>(piece.data());
    stream.avail_out = static_cast<uInt>(piece.size());
    state = inflate(&stream, Z_NO_FLUSH);
    text.append(piece, 0, piece.size() - stream.avail_out);
    if (text.size() > most_bytes) {
      inflateEnd(&stream);
      return Error{.code = Code::limit, .message = "it becomes more than " + std::to_string(most_bytes) + " bytes"};
    }
  }
  const bool whole = state == Z_STREAM_END && stream.avail_in == 0;
  inflateEnd(&stream);
  if (!whole) return broken("it is no whole gzip");
  return text;
}

std::string gzip(std::string_view text) {
  z_stream stream{};
  if (deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK) return "";
  std::string bytes(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(bytes.data());
  stream.avail_out = static_cast<uInt>(bytes.size());
  deflate(&stream, Z_FINISH);
  bytes.resize(stream.total_out);
  deflateEnd(&stream);
  return crypto::to_base64(bytes);
}

std::string packed(std::string_view text) {
  if (text.size() < kPackedFrom) return std::string(text);
  std::string bytes(ZSTD_compressBound(text.size()), '\0');
  const size_t size = ZSTD_compress(bytes.data(), bytes.size(), text.data(), text.size(), 9);
  if (ZSTD_isError(size)) return std::string(text);
  bytes.resize(size);
  return std::string(kZstd) + crypto::to_base64(bytes);
}

Result<std::string> unpacked(std::string_view kept) {
  if (!kept.starts_with(kZstd)) return std::string(kept);
  auto bytes = crypto::from_base64(kept.substr(kZstd.size()));
  if (!bytes) return bytes.error();
  const auto size = ZSTD_getFrameContentSize(bytes->data(), bytes->size());
  if (size == ZSTD_CONTENTSIZE_ERROR || size > kMostKept) return broken("what is kept is no content");
  std::string text(size, '\0');
  const size_t got = ZSTD_decompress(text.data(), text.size(), bytes->data(), bytes->size());
  if (ZSTD_isError(got) || got != size) return broken("what is kept is damaged");
  return text;
}

}  // namespace sluice::promote
