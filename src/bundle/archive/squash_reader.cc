// libsquashfs reads the tables and the metadata; the walk over folders and the blocks of files are done here, so that
// every number in the image is compared with the limits before memory is taken for it, and so that a block is
// decompressed into one buffer that is used again.
#include "bundle/archive/squash_reader.h"

#include <sqfs/block.h>
#include <sqfs/compressor.h>
#include <sqfs/dir.h>
#include <sqfs/error.h>
#include <sqfs/frag_table.h>
#include <sqfs/inode.h>
#include <sqfs/meta_reader.h>
#include <sqfs/super.h>
#include <zstd.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/json_text.h"
#include "bundle/archive/squash_io.h"

namespace sluice::bundle {

namespace {

constexpr uint32_t kNoFragment = 0xFFFFFFFF;
constexpr uint64_t kMaxTargetBytes = 65'536;  // of a symlink, before the rules look at it

Error damaged(const std::string& what) { return {.code = Code::invalid, .message = "the archive is damaged: " + what}; }

class SquashReader final : public RawReader {
 public:
  SquashReader(std::unique_ptr<ByteSource> source, const ArchiveLimits& limits)
      : source_(std::move(source)), io_(*source_), limits_(limits) {}

  Result<void> open() {
    if (int status = sqfs_super_read(&super_, io_.get()); status != 0) {
      if (status == SQFS_ERROR_OUT_OF_BOUNDS) return Error{.code = Code::invalid, .message = kEndsEarly};
      return io_.explain(status);
    }
    if (super_.bytes_used > source_->size()) return Error{.code = Code::invalid, .message = kEndsEarly};
    if (auto made = make_compressor(); !made) return made;
    if (auto made = read_fragments(); !made) return made;
    inodes_.reset(
        sqfs_meta_reader_create(io_.get(), compressor_.get(), super_.inode_table_start, super_.directory_table_start));
    uint64_t end = std::min({super_.id_table_start, super_.fragment_table_start, super_.export_table_start});
    folders_.reset(sqfs_meta_reader_create(io_.get(), compressor_.get(), super_.directory_table_start, end));
    if (!inodes_ || !folders_) return io_.explain(SQFS_ERROR_ALLOC);
    block_.resize(super_.block_size);
    packed_.resize(super_.block_size);
    if (auto sound = peek(super_.root_inode_ref); !sound) return sound.error();
    return enter("", super_.root_inode_ref);
  }

  Result<std::optional<RawEntry>> next() override {
    inode_.reset();
    while (!stack_.empty()) {
      Folder& folder = stack_.back();
      if (folder.next == folder.children.size()) {
        stack_.pop_back();
        continue;
      }
      Child child = std::move(folder.children[folder.next++]);
      --pending_;
      return entry_of(folder.path.empty() ? child.name : folder.path + "/" + child.name, child.inode);
    }
    return std::optional<RawEntry>();
  }

  Result<std::string_view> read() override {
    if (!inode_ || left_ == 0) return std::string_view();
    size_t blocks = sqfs_inode_get_file_block_count(inode_.get());
    if (block_index_ < blocks) return read_block();
    return read_tail();
  }

  Result<std::vector<ByteRange>> beside() override {
    auto padded = only_padding(*source_, super_.bytes_used, source_->size());
    if (!padded) return padded.error();
    if (*padded) return std::vector<ByteRange>();
    return std::vector<ByteRange>{{super_.bytes_used, source_->size(), "behind its end"}};
  }

 private:
  static constexpr const char* kEndsEarly = "the archive ends too early";

  struct FreeZstd {
    void operator()(ZSTD_DCtx* state) const { ZSTD_freeDCtx(state); }
  };

  struct Child {
    std::string name;
    uint64_t inode;
  };
  struct Folder {
    std::string path;
    std::vector<Child> children;
    size_t next = 0;
  };

  Result<void> make_compressor() {
    auto id = static_cast<SQFS_COMPRESSOR>(super_.compression_id);
    sqfs_compressor_config_t config;
    sqfs_compressor_t* compressor = nullptr;
    int status = sqfs_compressor_config_init(&config, id, super_.block_size, SQFS_COMP_FLAG_UNCOMPRESS);
    if (status == 0) status = sqfs_compressor_create(&config, &compressor);
    if (status != 0) {
      const char* name = sqfs_compressor_name_from_id(id);
      std::string which = name == nullptr ? "number " + std::to_string(super_.compression_id) : name;
      return Error{.code = Code::invalid,
                   .message = "Sluice does not read SquashFS compressed with " + which,
                   .next = "pack it with zstd, xz or gzip"};
    }
    compressor_.reset(compressor);
    if (id == SQFS_COMP_ZSTD) zstd_.reset(ZSTD_createDCtx());
    if ((super_.flags & SQFS_FLAG_COMPRESSOR_OPTIONS) != 0) {
      status = compressor_->read_options(compressor_.get(), io_.get());
      if (status != 0) return io_.explain(status);
    }
    return {};
  }

  Result<void> read_fragments() {
    // Each block of fragments belongs to at least one file.
    if (super_.fragment_entry_count > limits_.max_entries) {
      return Error{.code = Code::limit,
                   .message = "it has more than " + std::to_string(limits_.max_entries) + " entries"};
    }
    if ((super_.flags & SQFS_FLAG_NO_FRAGMENTS) != 0 || super_.fragment_entry_count == 0) return {};
    fragments_.reset(sqfs_frag_table_create(0));
    if (!fragments_) return io_.explain(SQFS_ERROR_ALLOC);
    int status = sqfs_frag_table_read(fragments_.get(), io_.get(), &super_, compressor_.get());
    return status == 0 ? Result<void>() : io_.explain(status);
  }

  // Looks at the numbers of an inode that decide how much memory reading it takes: gives a file's size, and refuses
  // what no image has.
  Result<std::optional<uint64_t>> peek(uint64_t reference) {
    struct {
      sqfs_inode_t base;
      union {
        sqfs_inode_file_t file;
        sqfs_inode_file_ext_t file_ext;
        sqfs_inode_slink_t slink;
      } body;
    } raw;
    auto take = [&](void* into, size_t size) { return sqfs_meta_reader_read(inodes_.get(), into, size); };
    int status = sqfs_meta_reader_seek(inodes_.get(), super_.inode_table_start + (reference >> 16), reference & 0xFFFF);
    if (status == 0) status = take(&raw.base, sizeof raw.base);
    if (status != 0) return io_.explain(status);
    switch (raw.base.type) {
      case SQFS_INODE_FILE:
        if (status = take(&raw.body.file, sizeof raw.body.file); status != 0) return io_.explain(status);
        return std::optional<uint64_t>(raw.body.file.file_size);
      case SQFS_INODE_EXT_FILE:
        if (status = take(&raw.body.file_ext, sizeof raw.body.file_ext); status != 0) return io_.explain(status);
        return std::optional<uint64_t>(raw.body.file_ext.file_size);
      case SQFS_INODE_SLINK:
      case SQFS_INODE_EXT_SLINK:
        if (status = take(&raw.body.slink, sizeof raw.body.slink); status != 0) return io_.explain(status);
        if (raw.body.slink.target_size > kMaxTargetBytes) return damaged("a symlink's target is too long");
        return std::optional<uint64_t>();
      default:
        return std::optional<uint64_t>();
    }
  }

  Result<SquashMemory<sqfs_inode_generic_t>> read_inode(uint64_t reference) {
    sqfs_inode_generic_t* raw = nullptr;
    int status = sqfs_meta_reader_read_inode(inodes_.get(), &super_, reference >> 16, reference & 0xFFFF, &raw);
    if (status != 0) return io_.explain(status);
    return SquashMemory<sqfs_inode_generic_t>(raw);
  }

  Result<std::optional<RawEntry>> entry_of(const std::string& path, uint64_t reference) {
    RawEntry entry{.path = path};
    // A second name for the same inode is a hard link, or a folder inside itself.
    if (!seen_.insert(reference).second) {
      entry.kind = RawEntry::Kind::hard_link;
      return std::optional(entry);
    }
    auto file_size = peek(reference);
    if (!file_size) return file_size.error();
    if (*file_size && **file_size > limits_.max_total_bytes) {
      entry.size = **file_size;  // for the rules to refuse
      return std::optional(entry);
    }
    auto read = read_inode(reference);
    if (!read) return read.error();
    SquashMemory<sqfs_inode_generic_t> inode = *std::move(read);
    entry.executable = (inode->base.mode & SQFS_INODE_OWNER_X) != 0;
    switch (inode->base.type) {
      case SQFS_INODE_DIR:
      case SQFS_INODE_EXT_DIR:
        entry.kind = RawEntry::Kind::dir;
        if (auto entered = enter(path, reference, std::move(inode)); !entered) return entered.error();
        break;
      case SQFS_INODE_SLINK:
      case SQFS_INODE_EXT_SLINK:
        entry.kind = RawEntry::Kind::symlink;
        entry.target.assign(reinterpret_cast<const char*>(inode->extra), inode->data.slink.target_size);
        break;
      case SQFS_INODE_FILE:
      case SQFS_INODE_EXT_FILE:
        if (inode->base.type == SQFS_INODE_EXT_FILE && inode->data.file_ext.nlink > 1) {
          entry.kind = RawEntry::Kind::hard_link;  // with content, for those who only look
        }
        entry.size = **file_size;
        if (auto begun = begin(std::move(inode), **file_size); !begun) return begun.error();
        break;
      case SQFS_INODE_FIFO:
      case SQFS_INODE_EXT_FIFO:
        entry.kind = RawEntry::Kind::fifo;
        break;
      case SQFS_INODE_SOCKET:
      case SQFS_INODE_EXT_SOCKET:
        entry.kind = RawEntry::Kind::socket;
        break;
      default:
        entry.kind = RawEntry::Kind::device;
    }
    return std::optional(std::move(entry));
  }

  // Reads a folder's list of names; its entries come next.
  Result<void> enter(const std::string& path, uint64_t reference, SquashMemory<sqfs_inode_generic_t> inode = nullptr) {
    if (!inode) {
      auto read = read_inode(reference);
      if (!read) return read.error();
      inode = *std::move(read);
      seen_.insert(reference);
    }
    sqfs_readdir_state_t state;
    if (int status = sqfs_readdir_state_init(&state, &super_, inode.get()); status != 0) {
      return status == SQFS_ERROR_NOT_DIR ? damaged("its root is not a folder") : io_.explain(status);
    }
    Folder folder{.path = path};
    for (;;) {
      sqfs_dir_entry_t* raw = nullptr;
      uint32_t number = 0;
      uint64_t child = 0;
      int status = sqfs_meta_reader_readdir(folders_.get(), &state, &raw, &number, &child);
      if (status > 0) break;
      if (status < 0) return io_.explain(status);
      SquashMemory<sqfs_dir_entry_t> entry(raw);
      std::string name(reinterpret_cast<const char*>(entry->name), size_t{entry->size} + 1);
      if (name.find('/') != std::string::npos) return damaged("the name " + json_quoted(name) + " has a slash in it");
      // What waits on the stack counts, or folders inside folders could hold any number of names.
      if (++pending_ > limits_.max_entries) {
        return Error{.code = Code::limit,
                     .message = "it has more than " + std::to_string(limits_.max_entries) + " entries"};
      }
      folder.children.push_back({std::move(name), child});
    }
    if (stack_.size() > limits_.max_depth) {
      return Error{
          .code = Code::limit,
          .message = shortened_path(path) + ": it lies deeper than " + std::to_string(limits_.max_depth) + " folders"};
    }
    stack_.push_back(std::move(folder));
    return {};
  }

  Result<void> begin(SquashMemory<sqfs_inode_generic_t> inode, uint64_t size) {
    uint64_t at = 0;
    sqfs_inode_get_file_block_start(inode.get(), &at);
    sqfs_inode_get_frag_location(inode.get(), &fragment_, &fragment_offset_);
    inode_ = std::move(inode);
    block_at_ = at;
    block_index_ = 0;
    left_ = size;
    return {};
  }

  Result<std::string_view> read_block() {
    uint32_t word = inode_->extra[block_index_++];
    size_t size = std::min<uint64_t>(left_, super_.block_size);
    left_ -= size;
    if (SQFS_IS_SPARSE_BLOCK(word)) {
      std::fill_n(block_.begin(), size, '\0');
      return std::string_view(block_.data(), size);
    }
    auto unpacked = unpack(block_at_, word, block_);
    if (!unpacked) return unpacked.error();
    block_at_ += SQFS_ON_DISK_BLOCK_SIZE(word);
    if (*unpacked != size) return damaged("a block has another size than its file says");
    return std::string_view(block_.data(), size);
  }

  // What does not fill a block shares one with the ends of other files.
  Result<std::string_view> read_tail() {
    if (fragment_ == kNoFragment || left_ >= super_.block_size || !fragments_) {
      return damaged("a file has fewer blocks than its size says");
    }
    if (fragment_ != held_fragment_) {
      sqfs_fragment_t found;
      if (int status = sqfs_frag_table_lookup(fragments_.get(), fragment_, &found); status != 0) {
        return io_.explain(status);
      }
      fragment_block_.resize(super_.block_size);
      held_fragment_ = kNoFragment;
      auto unpacked = unpack(found.start_offset, found.size, fragment_block_);
      if (!unpacked) return unpacked.error();
      fragment_block_.resize(*unpacked);
      held_fragment_ = fragment_;
    }
    if (fragment_offset_ > fragment_block_.size() || left_ > fragment_block_.size() - fragment_offset_) {
      return damaged("the end of a file lies outside its block");
    }
    size_t size = std::exchange(left_, 0);
    return std::string_view(fragment_block_.data() + fragment_offset_, size);
  }

  // A block as the image has it into `into`, which has room for block_size bytes; how many it has.
  Result<size_t> unpack(uint64_t at, uint32_t word, std::string& into) {
    size_t size = SQFS_ON_DISK_BLOCK_SIZE(word);
    if (size > super_.block_size) return damaged("a block is larger than the block size");
    std::string& target = SQFS_IS_BLOCK_COMPRESSED(word) ? packed_ : into;
    auto got = source_->read_at(at, std::span(target).first(size));
    if (!got) return got.error();
    if (*got != size) return Error{.code = Code::invalid, .message = kEndsEarly};
    if (!SQFS_IS_BLOCK_COMPRESSED(word)) return size;
    auto unpacked = decompress(size, into);
    if (!unpacked) return damaged("a block cannot be decompressed");
    return *unpacked;
  }

  // The first `size` bytes of packed_. libsquashfs makes a new state of zstd's for every block, which takes a fifteenth
  // of all the time.
  std::optional<size_t> decompress(size_t size, std::string& into) {
    if (zstd_) {
      size_t unpacked = ZSTD_decompressDCtx(zstd_.get(), into.data(), super_.block_size, packed_.data(), size);
      if (ZSTD_isError(unpacked) != 0 || unpacked == 0) return std::nullopt;
      return unpacked;
    }
    sqfs_s32 unpacked =
        compressor_->do_block(compressor_.get(), reinterpret_cast<const sqfs_u8*>(packed_.data()),
                              static_cast<sqfs_u32>(size), reinterpret_cast<sqfs_u8*>(into.data()), super_.block_size);
    if (unpacked <= 0) return std::nullopt;
    return static_cast<size_t>(unpacked);
  }

  std::unique_ptr<ByteSource> source_;
  SquashIo io_;
  ArchiveLimits limits_;
  sqfs_super_t super_{};
  SquashObject<sqfs_compressor_t> compressor_;
  std::unique_ptr<ZSTD_DCtx, FreeZstd> zstd_;  // if that is what blocks are compressed with
  SquashObject<sqfs_frag_table_t> fragments_;
  SquashObject<sqfs_meta_reader_t> inodes_;
  SquashObject<sqfs_meta_reader_t> folders_;
  std::vector<Folder> stack_;
  std::unordered_set<uint64_t> seen_;
  uint64_t pending_ = 0;  // names on the stack that were not given yet

  // The file at hand.
  SquashMemory<sqfs_inode_generic_t> inode_;
  uint64_t block_at_ = 0;
  size_t block_index_ = 0;
  uint64_t left_ = 0;
  uint32_t fragment_ = kNoFragment;
  uint32_t fragment_offset_ = 0;

  std::string block_;
  std::string packed_;
  std::string fragment_block_;
  uint32_t held_fragment_ = kNoFragment;  // which one fragment_block_ holds
};

}  // namespace

Result<std::unique_ptr<RawReader>> open_squash(std::unique_ptr<ByteSource> source, const ArchiveLimits& limits) {
  auto reader = std::make_unique<SquashReader>(std::move(source), limits);
  if (auto opened = reader->open(); !opened) return opened.error();
  return std::unique_ptr<RawReader>(std::move(reader));
}

}  // namespace sluice::bundle
