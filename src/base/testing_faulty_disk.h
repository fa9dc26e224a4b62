// FaultyDisk passes every operation on to another disk and makes the n-th one go wrong. A test first runs the code
// once to count its operations, then once for each of them:
//
//   for (uint64_t n = 1; n <= total; ++n) {
//     VolatileDisk under;
//     FaultyDisk disk(under, {.kind = FaultKind::stop, .at = n});
//     … run the code on `disk`, then under.crash(), then look at `under` …
//   }
//
// Operations are counted from 1 and by kind, so a test can say which kinds it has reached. Closing is not one. A test
// that needs something else to happen just before an operation, such as another process's, gives `before`.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>

#include "base/disk.h"

namespace sluice {

enum class DiskOperation {
  open,
  read,
  write,
  truncate,
  sync,
  stat,
  chmod,
  lock,
  rename,
  remove,
  link,
  symlink,
  read_link,
  make_folder,
  remove_folder,
  list,
  sync_folder,
};

std::string_view operation_name(DiskOperation operation);

enum class FaultKind {
  fail,  // the operation does nothing and fails; later ones work
  tear,  // as fail, but a write has written the first half of its bytes
  stop   // as tear, and every later operation fails too: the power is cut
};

struct Fault {
  FaultKind kind = FaultKind::fail;
  uint64_t at = 0;                    // 0: never
  std::optional<DiskOperation> only;  // count just these towards `at`
  Code code = Code::failed;           // of the error: `limit` stands for a full disk
  std::function<void(DiskOperation)> before;
};

class FaultyDisk final : public Disk {
 public:
  explicit FaultyDisk(Disk& under, Fault fault = {});
  ~FaultyDisk() override;

  uint64_t operations() const;
  std::map<DiskOperation, uint64_t> operations_by_kind() const;
  // The operation that the fault struck; nothing while it has not.
  std::optional<DiskOperation> struck() const;

  Result<std::unique_ptr<File>> open(const std::string& path, const OpenFlags& flags) override;
  Result<std::unique_ptr<File>> open_beneath(const std::string& root, const std::string& relative,
                                             const OpenFlags& flags) override;
  Result<void> make_folder_beneath(const std::string& root, const std::string& relative, uint32_t mode) override;
  Result<void> rename(const std::string& from, const std::string& to) override;
  Result<void> remove(const std::string& path) override;
  Result<void> link(const std::string& from, const std::string& to) override;
  Result<void> symlink(const std::string& target, const std::string& path) override;
  Result<std::string> read_link(const std::string& path) override;
  Result<void> make_folder(const std::string& path, uint32_t mode) override;
  Result<void> remove_folder(const std::string& path) override;
  Result<std::vector<FolderEntry>> list(const std::string& path) override;
  Result<FileStat> stat(const std::string& path, FollowLinks follow) override;
  Result<void> chmod(const std::string& path, uint32_t mode) override;
  Result<void> sync_folder(const std::string& path) override;

 private:
  class Gate;
  class FaultyFile;

  Disk& under_;
  std::unique_ptr<Gate> gate_;
};

}  // namespace sluice
