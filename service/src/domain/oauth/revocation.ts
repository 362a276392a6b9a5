import { InvalidGrant } from 'oidc-provider/lib/helpers/errors.js';
import { hashSecret } from '../../kernel/secret-hash.ts';
import type { Db } from '../../platform/db/pool.ts';
import * as grants from './grant-store.ts';
import { consumeArtifact, deleteToken } from './token-store.ts';

/**
 * The databases in which revocations are stored, and the function that announces the revocations. Database triggers
 * notify every node of a revocation. `notify` also passes the same message directly to this node's guard, because this
 * node must know about the revocation before it replies.
 */
export type Revoker = {
  laneDb(): Db;
  /** Like `laneDb`, but the audit log records the request for each transaction. Used for changes to grants. */
  requestDb(): Db;
  notify(message: string): void;
};

/**
 * Revokes a grant with all of its tokens. This includes tokens that are being issued at the same time: such tokens are
 * not cached yet, so their first check reads the grant's row.
 */
export async function revokeGrant({ requestDb, notify }: Revoker, id: string): Promise<void> {
  await requestDb()
    .transaction()
    .execute((tx) => grants.revokeGrant(tx, id));
  notify(`grant ${id}`);
}

/** Disconnects one app, or all apps, from the user. */
export async function disconnectApps(
  { requestDb, notify }: Pick<Revoker, 'requestDb' | 'notify'>,
  userId: string,
  clientId?: string,
): Promise<void> {
  const ids = await requestDb()
    .transaction()
    .execute((tx) => grants.revokeUserGrants(tx, userId, clientId));
  for (const id of ids) notify(`grant ${id}`);
}

export async function revokeToken({ laneDb, notify }: Revoker, token: string): Promise<void> {
  const hash = hashSecret(token);
  await deleteToken(laneDb(), hash);
  notify(`token \\x${hash.toString('hex')}`);
}

/**
 * Consumes an authorization code. Of several requests with the same code, only one succeeds; every other request is a
 * replay and revokes the grant.
 */
export async function consumeCode(
  { laneDb, requestDb, notify }: Revoker,
  kind: string,
  code: string,
): Promise<void> {
  const hash = hashSecret(code);
  if (await consumeArtifact(laneDb(), kind, hash)) return;
  const ids = await requestDb()
    .transaction()
    .execute((tx) => grants.revokeGrantOfArtifact(tx, kind, hash));
  for (const id of ids) notify(`grant ${id}`);
  throw new InvalidGrant('already consumed');
}
