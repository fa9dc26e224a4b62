// A frame is its length in 8 bytes, the least first, and its bytes.
#include "store/backup/frame_file.h"

#include <zstd.h>

#include <array>

namespace sluice::store {
namespace {

constexpr int kLevel = 1;  // as fast as the disk
constexpr size_t kLengthBytes = 8;
constexpr uint64_t kMostFrameBytes = uint64_t{1} << 30;
constexpr size_t kPieceBytes = size_t{1} << 20;

struct FreeCompressor {
  void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
};
struct FreeDecompressor {
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};

Error damaged_frames(const std::string& path) {
  return {.code = Code::verification_failed,
          .message = path + " is damaged",
          .next = "take another backup: sluice backup list"};
}

}  // namespace

struct FrameWriter::State {
  std::unique_ptr<File> file;
  std::unique_ptr<ZSTD_CCtx, FreeCompressor> context{ZSTD_createCCtx()};
  std::string out = std::string(ZSTD_CStreamOutSize(), '\0');
  crypto::Sha256Stream digest, contents;
  FrameFacts facts;

  Result<void> compress(std::string_view bytes, ZSTD_EndDirective end) {
    ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
    while (true) {
      ZSTD_outBuffer to{out.data(), out.size(), 0};
      const size_t left = ZSTD_compressStream2(context.get(), &to, &in, end);
      if (ZSTD_isError(left) != 0) return Error{.message = "zstd cannot compress a backup"};
      const std::string_view made(out.data(), to.pos);
      if (auto written = file->write_at(facts.bytes, made); !written) return written;
      digest.update(made);
      facts.bytes += made.size();
      if (end == ZSTD_e_end ? left == 0 : in.pos == in.size) return {};
    }
  }
};

FrameWriter::FrameWriter(std::unique_ptr<State> state) : state_(std::move(state)) {}
FrameWriter::~FrameWriter() = default;

Result<std::unique_ptr<FrameWriter>> FrameWriter::create(Disk& disk, const std::string& path) {
  auto file = disk.open(path, {.write = true, .create = true, .exclusive = true, .mode = 0600});
  if (!file) return file.error();
  auto state = std::make_unique<State>();
  state->file = *std::move(file);
  (void)ZSTD_CCtx_setParameter(state->context.get(), ZSTD_c_compressionLevel, kLevel);
  return std::unique_ptr<FrameWriter>(new FrameWriter(std::move(state)));
}

std::string length_of(std::string_view frame) {
  std::string length(kLengthBytes, '\0');
  for (size_t index = 0; index < kLengthBytes; ++index) {
    length[index] = static_cast<char>(uint64_t{frame.size()} >> (8 * index) & 0xff);
  }
  return length;
}

Result<void> FrameWriter::put(std::string_view frame) {
  const std::string length = length_of(frame);
  for (const std::string_view each : {std::string_view(length), frame}) {
    state_->contents.update(each);
    if (auto done = state_->compress(each, ZSTD_e_continue); !done) return done;
  }
  ++state_->facts.frames;
  return {};
}

Result<FrameFacts> FrameWriter::finish() {
  if (auto done = state_->compress("", ZSTD_e_end); !done) return done.error();
  if (auto synced = state_->file->sync(SyncWhat::all); !synced) return synced.error();
  state_->facts.digest = crypto::to_string(state_->digest.finish());
  state_->facts.contents = crypto::to_string(state_->contents.finish());
  return state_->facts;
}

struct FrameReader::State {
  std::string path;
  std::unique_ptr<File> file;
  std::unique_ptr<ZSTD_DCtx, FreeDecompressor> context{ZSTD_createDCtx()};
  uint64_t at = 0;
  std::string piece;
  ZSTD_inBuffer in{nullptr, 0, 0};
  bool whole = false;  // what was read so far ends a stream

  // As many bytes as there are, up to this many.
  Result<std::string> take(uint64_t size) {
    std::string bytes(size, '\0');
    ZSTD_outBuffer to{bytes.data(), bytes.size(), 0};
    while (to.pos < to.size) {
      if (in.pos == in.size) {
        piece.resize(kPieceBytes);
        auto got = file->read_at(at, piece);
        if (!got) return got.error();
        at += *got;
        in = {piece.data(), *got, 0};
      }
      const size_t before = to.pos;
      const bool ended = in.size == 0;
      const size_t left = ZSTD_decompressStream(context.get(), &to, &in);
      if (ZSTD_isError(left) != 0) return damaged_frames(path);
      if (!ended || to.pos > before) whole = left == 0;
      if (ended && to.pos == before) break;
    }
    bytes.resize(to.pos);
    return bytes;
  }
};

FrameReader::FrameReader(std::unique_ptr<State> state) : state_(std::move(state)) {}
FrameReader::~FrameReader() = default;

Result<std::unique_ptr<FrameReader>> FrameReader::open(Disk& disk, const std::string& path) {
  auto file = disk.open(path, {});
  if (!file) return file.error();
  auto state = std::make_unique<State>();
  state->path = path;
  state->file = *std::move(file);
  return std::unique_ptr<FrameReader>(new FrameReader(std::move(state)));
}

Result<std::optional<std::string>> FrameReader::next() {
  auto length = state_->take(kLengthBytes);
  if (!length) return length.error();
  if (length->empty()) {
    if (!state_->whole) return damaged_frames(state_->path);
    return std::optional<std::string>();
  }
  if (length->size() < kLengthBytes) return damaged_frames(state_->path);
  uint64_t size = 0;
  for (size_t index = kLengthBytes; index-- > 0;) size = size << 8 | static_cast<uint8_t>((*length)[index]);
  if (size > kMostFrameBytes) return damaged_frames(state_->path);
  auto frame = state_->take(size);
  if (!frame) return frame.error();
  if (frame->size() < size) return damaged_frames(state_->path);
  return std::optional(*std::move(frame));
}

Result<void> check_frames(Disk& disk, const std::string& path, const FrameFacts& facts) {
  auto file = disk.open(path, {});
  if (!file) return file.error();
  auto digest = crypto::sha256(**file);
  if (!digest) return digest.error();
  return crypto::to_string(*digest) == facts.digest ? Result<void>() : Result<void>(damaged_frames(path));
}

}  // namespace sluice::store
