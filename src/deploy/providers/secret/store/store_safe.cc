// Texts have one version.
#include "deploy/providers/secret/store/store_safe.h"

#include "deploy/views/answers.h"

namespace sluice::deploy::secret_store {

executor::Safe safe_of(SealedStore& store, Disk& disk) {
  constexpr int64_t kOnly = 1;
  return {.put = [&](const lang::Snapshot& snapshot, const std::string& environment, const std::string& name,
                     const std::string& text, const std::string& by) -> Result<void> {
            auto answers = views::answers_of_slot(snapshot, disk, environment, "secrets");
            if (!answers) return answers.error();
            return store.put(environment, name, kOnly, text, by,
                             {.file = answers->text("key_file"), .command = answers->text("key_command")});
          },
          .get = [&](const std::string& environment, const std::string& name) -> Result<std::string> {
            auto value = store.get(environment, name, kOnly);
            if (!value) return value.error();
            return std::string(value->reveal());
          },
          .remove = [&](const std::string& environment,
                        const std::string& name) { return store.remove(environment, name, kOnly); }};
}

}  // namespace sluice::deploy::secret_store
