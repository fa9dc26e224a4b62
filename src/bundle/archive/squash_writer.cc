// The order of an image: super block, compressor options, blocks of files and fragments, inodes, folders, fragment
// table, id table, padding; the super block is written again at the end, with the places of the others.
#include "bundle/archive/squash_writer.h"

#include <sqfs/block_processor.h>
#include <sqfs/block_writer.h>
#include <sqfs/compressor.h>
#include <sqfs/dir_writer.h>
#include <sqfs/error.h>
#include <sqfs/frag_table.h>
#include <sqfs/id_table.h>
#include <sqfs/inode.h>
#include <sqfs/meta_writer.h>
#include <sqfs/super.h>

#include <cassert>
#include <cstddef>
#include <cstring>
#include <map>
#include <unordered_map>
#include <vector>

#include "bundle/archive/squash_io.h"

namespace sluice::bundle {

namespace {

constexpr uint32_t kNoXattr = 0xFFFFFFFF;
constexpr unsigned kBacklogBlocks = 16;  // in flight, for each worker

class Writer final : public SquashWriter {
 public:
  explicit Writer(File& file) : io_(file) {}
  ~Writer() override {
    // The processor refers to the inodes, so it goes first.
    processor_.reset();
    for (auto& [path, inode] : inodes_) sqfs_free(inode);
  }

  Result<void> open(unsigned workers) {
    sqfs_super_init(&super_, kSquashBlockBytes, 0, SQFS_COMP_ZSTD);
    super_.flags |= SQFS_FLAG_NO_XATTRS;
    if (auto written = check(sqfs_super_write(&super_, io_.get())); !written) return written;
    if (auto made = make_compressors(); !made) return made;
    int options = compressor_->write_options(compressor_.get(), io_.get());
    if (options < 0) return failure(options);
    if (options > 0) super_.flags |= SQFS_FLAG_COMPRESSOR_OPTIONS;
    block_writer_.reset(sqfs_block_writer_create(io_.get(), SQFS_DEVBLK_SIZE, 0));
    fragments_.reset(sqfs_frag_table_create(0));
    ids_.reset(sqfs_id_table_create(0));
    if (!block_writer_ || !fragments_ || !ids_) return failure(SQFS_ERROR_ALLOC);
    sqfs_block_processor_desc_t description{};
    description.size = sizeof description;
    description.max_block_size = kSquashBlockBytes;
    description.num_workers = workers;
    description.max_backlog = workers * kBacklogBlocks;
    description.cmp = compressor_.get();
    description.wr = block_writer_.get();
    description.tbl = fragments_.get();
    description.file = io_.get();
    description.uncmp = decompressor_.get();
    sqfs_block_processor_t* processor = nullptr;
    if (auto made = check(sqfs_block_processor_create_ex(&description, &processor)); !made) return made;
    processor_.reset(processor);
    return check(sqfs_id_table_id_to_index(ids_.get(), 0, &root_id_));
  }

  // The processor fills the inode in when its blocks are done, moves it as it grows, and keeps the address of our
  // pointer until then: so the pointer stays where it is, in the map.
  Result<void> begin_file(const std::string& path) override {
    sqfs_inode_generic_t** inode = &inodes_[path];
    return check(sqfs_block_processor_begin_file(processor_.get(), inode, nullptr, 0));
  }

  Result<void> append(std::string_view bytes) override {
    if (bytes.empty()) return {};  // libsquashfs does not take nothing
    return check(sqfs_block_processor_append(processor_.get(), bytes.data(), bytes.size()));
  }

  Result<void> end_file() override { return check(sqfs_block_processor_end_file(processor_.get())); }

  Result<void> finish(const Tree& tree) override {
    if (auto done = check(sqfs_block_processor_finish(processor_.get())); !done) return done;
    super_.inode_table_start = io_.size();
    inode_writer_.reset(sqfs_meta_writer_create(io_.get(), compressor_.get(), 0));
    folder_writer_.reset(sqfs_meta_writer_create(io_.get(), compressor_.get(), SQFS_META_WRITER_KEEP_IN_MEMORY));
    if (!inode_writer_ || !folder_writer_) return failure(SQFS_ERROR_ALLOC);
    lists_.reset(sqfs_dir_writer_create(folder_writer_.get(), 0));
    if (!lists_) return failure(SQFS_ERROR_ALLOC);
    number(tree);
    auto root = write_folder("");
    if (!root) return root.error();
    super_.root_inode_ref = *root;
    return write_tables();
  }

 private:
  struct Node {
    uint32_t number = 0;
    const TreeEntry* entry = nullptr;   // none for the root
    std::vector<std::string> children;  // paths, in order
  };

  Error failure(int status) const {
    if (status == SQFS_ERROR_ALLOC) return {.code = Code::limit, .message = "there is not enough memory to pack"};
    return io_.explain(status);
  }
  Result<void> check(int status) const { return status == 0 ? Result<void>() : failure(status); }

  Result<void> make_compressors() {
    sqfs_compressor_config_t config;
    sqfs_compressor_t* made = nullptr;
    int status = sqfs_compressor_config_init(&config, SQFS_COMP_ZSTD, kSquashBlockBytes, 0);
    config.level = kSquashZstdLevel;
    if (status == 0) status = sqfs_compressor_create(&config, &made);
    if (status != 0) return failure(status);
    compressor_.reset(made);
    config.flags |= SQFS_COMP_FLAG_UNCOMPRESS;
    made = nullptr;
    status = sqfs_compressor_create(&config, &made);
    if (status != 0) return failure(status);
    decompressor_.reset(made);
    return {};
  }

  // Numbers follow the order of paths, the root first.
  void number(const Tree& tree) {
    nodes_[""] = {.number = 1};
    uint32_t next = 2;
    for (const auto& [path, entry] : tree.entries()) {
      nodes_[path].number = next++;
      nodes_[path].entry = &entry;
      size_t slash = path.rfind('/');
      nodes_[slash == std::string::npos ? "" : path.substr(0, slash)].children.push_back(path);
    }
    super_.inode_count = next - 1;
  }

  // Children first, as a list refers to the places of their inodes. The depth is that of the tree, which is limited.
  Result<uint64_t> write_folder(const std::string& path) {
    const Node& node = nodes_.at(path);
    std::vector<uint64_t> references;
    size_t folders = 0;
    for (const std::string& child : node.children) {
      auto reference = write_entry(child);
      if (!reference) return reference.error();
      references.push_back(*reference);
      folders += nodes_.at(child).entry->kind == EntryKind::dir ? 1 : 0;
    }
    if (auto begun = check(sqfs_dir_writer_begin(lists_.get(), 0)); !begun) return begun.error();
    for (size_t i = 0; i < references.size(); ++i) {
      const Node& child = nodes_.at(node.children[i]);
      std::string name = name_of(node.children[i]);
      auto added = check(sqfs_dir_writer_add_entry(lists_.get(), name.c_str(), child.number, references[i],
                                                   static_cast<sqfs_u16>(mode_of(*child.entry))));
      if (!added) return added.error();
    }
    if (auto ended = check(sqfs_dir_writer_end(lists_.get())); !ended) return ended.error();
    size_t slash = path.rfind('/');
    uint32_t parent = path.empty() ? super_.inode_count + 1
                                   : nodes_.at(slash == std::string::npos ? "" : path.substr(0, slash)).number;
    SquashMemory<sqfs_inode_generic_t> inode(sqfs_dir_writer_create_inode(lists_.get(), folders + 2, kNoXattr, parent));
    if (!inode) return failure(SQFS_ERROR_ALLOC);
    return write_inode(*inode, SQFS_INODE_MODE_DIR | kFolderMode, node.number);
  }

  Result<uint64_t> write_entry(const std::string& path) {
    const Node& node = nodes_.at(path);
    switch (node.entry->kind) {
      case EntryKind::dir:
        return write_folder(path);
      case EntryKind::symlink:
        return write_symlink(node);
      case EntryKind::file:
        break;
    }
    auto found = inodes_.find(path);
    assert(found != inodes_.end() && found->second != nullptr);
    return write_inode(*found->second, mode_of(*node.entry), node.number);
  }

  Result<uint64_t> write_symlink(const Node& node) {
    const std::string& target = node.entry->target;
    std::vector<std::max_align_t> room((sizeof(sqfs_inode_generic_t) + target.size() + sizeof(std::max_align_t)) /
                                       sizeof(std::max_align_t));
    auto* inode = new (room.data()) sqfs_inode_generic_t{};
    inode->base.type = SQFS_INODE_SLINK;
    inode->payload_bytes_available = static_cast<sqfs_u32>(target.size());
    inode->payload_bytes_used = static_cast<sqfs_u32>(target.size());
    inode->data.slink.nlink = 1;
    inode->data.slink.target_size = static_cast<sqfs_u32>(target.size());
    std::memcpy(reinterpret_cast<char*>(room.data()) + sizeof(sqfs_inode_generic_t), target.data(), target.size());
    return write_inode(*inode, mode_of(*node.entry), node.number);
  }

  Result<uint64_t> write_inode(sqfs_inode_generic_t& inode, uint32_t mode, uint32_t number) {
    inode.base.mode = static_cast<sqfs_u16>(mode);
    inode.base.uid_idx = root_id_;
    inode.base.gid_idx = root_id_;
    inode.base.mod_time = 0;
    inode.base.inode_number = number;
    sqfs_u64 block = 0;
    sqfs_u32 offset = 0;
    sqfs_meta_writer_get_position(inode_writer_.get(), &block, &offset);
    if (auto written = check(sqfs_meta_writer_write_inode(inode_writer_.get(), &inode)); !written) {
      return written.error();
    }
    return block << 16 | offset;
  }

  static uint32_t mode_of(const TreeEntry& entry) {
    switch (entry.kind) {
      case EntryKind::dir:
        return SQFS_INODE_MODE_DIR | entry.mode;
      case EntryKind::symlink:
        return SQFS_INODE_MODE_LNK | entry.mode;
      case EntryKind::file:
        break;
    }
    return SQFS_INODE_MODE_REG | entry.mode;
  }

  Result<void> write_tables() {
    int status = sqfs_meta_writer_flush(inode_writer_.get());
    if (status == 0) status = sqfs_meta_writer_flush(folder_writer_.get());
    super_.directory_table_start = io_.size();
    if (status == 0) status = sqfs_meta_write_write_to_file(folder_writer_.get());
    if (status == 0) status = sqfs_frag_table_write(fragments_.get(), io_.get(), &super_, compressor_.get());
    if (status == 0) status = sqfs_id_table_write(ids_.get(), io_.get(), &super_, compressor_.get());
    super_.bytes_used = io_.size();
    if (status == 0) status = sqfs_super_write(&super_, io_.get());
    if (status != 0) return failure(status);
    // To whole device blocks, or it could not be mounted.
    std::string padding((SQFS_DEVBLK_SIZE - io_.size() % SQFS_DEVBLK_SIZE) % SQFS_DEVBLK_SIZE, '\0');
    return check(io_.get()->write_at(io_.get(), io_.size(), padding.data(), padding.size()));
  }

  SquashIo io_;
  sqfs_super_t super_{};
  SquashObject<sqfs_compressor_t> compressor_;
  SquashObject<sqfs_compressor_t> decompressor_;
  SquashObject<sqfs_frag_table_t> fragments_;
  SquashObject<sqfs_id_table_t> ids_;
  SquashObject<sqfs_block_writer_t> block_writer_;
  SquashObject<sqfs_block_processor_t> processor_;
  SquashObject<sqfs_meta_writer_t> inode_writer_;
  SquashObject<sqfs_meta_writer_t> folder_writer_;
  SquashObject<sqfs_dir_writer_t> lists_;
  sqfs_u16 root_id_ = 0;
  std::map<std::string, sqfs_inode_generic_t*> inodes_;  // of files, by path
  std::unordered_map<std::string, Node> nodes_;
};

}  // namespace

Result<std::unique_ptr<SquashWriter>> SquashWriter::begin(File& file, unsigned workers) {
  auto writer = std::make_unique<Writer>(file);
  if (auto opened = writer->open(workers); !opened) return opened.error();
  return std::unique_ptr<SquashWriter>(std::move(writer));
}

}  // namespace sluice::bundle
