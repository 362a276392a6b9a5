import type { ColumnType, Generated } from 'kysely';

export interface OauthTables {
  oauth_grants: OauthGrants;
  oauth_removed_scopes: { client_id: string; scope: string; removed_at: string };
}

interface OauthGrants {
  id: string;
  client_id: string;
  user_id: string;
  payload: ColumnType<Record<string, unknown>, string, string>;
  expires_at: string;
  revoked_at: string | null;
  inserted_at: Generated<string>;
  /** The client's redirect URIs when the user last consented. */
  consented_redirect_uris: Generated<string[] | null>;
  consented_at: Generated<string>;
}
