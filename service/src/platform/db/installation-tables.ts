import type { Generated } from 'kysely';

export interface InstallationTables {
  installation: Installation;
  installation_secrets: InstallationSecrets;
  installation_ids: InstallationIds;
}

/** One row at most. */
interface Installation {
  singleton: Generated<boolean>;
  profile: 'sandbox' | 'production';
  inserted_at: Generated<string>;
}

interface InstallationSecrets {
  fingerprint: Buffer;
  inserted_at: Generated<string>;
}

/** Exactly one row. */
interface InstallationIds {
  singleton: Generated<boolean>;
  id: Generated<string>;
}
