// The keys of backups of migrated databases, kept among the sealed secrets: what opens a backup is what opens secrets.
#pragma once

#include "base/random.h"
#include "deploy/migrate_means.h"
#include "deploy/providers/secret/store/sealed_store.h"

namespace sluice::deploy::secret_store {

// Both must outlive it.
MigrateMeans::Keys backup_keys(SealedStore& store, Random& random);

}  // namespace sluice::deploy::secret_store
