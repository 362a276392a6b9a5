import type { Adapter, AdapterPayload } from 'oidc-provider';
import { realTime } from '../../kernel/clock.ts';
import { hashSecret } from '../../kernel/secret-hash.ts';
import { findClientMetadata } from './client.ts';
import { findGrant, upsertGrant } from './grant-store.ts';
import { consumeRefreshToken, REFRESH_LEEWAY_SECONDS } from './refresh-rotation.ts';
import type { RequestDatabase } from './request-database.ts';
import { consumeCode, type Revoker, revokeGrant, revokeToken } from './revocation.ts';
import {
  deleteArtifact,
  deleteArtifactByUid,
  findArtifact,
  findArtifactByUid,
  findTokenPayload,
  insertToken,
  type StoredArtifact,
  type StoredPayload,
  upsertArtifact,
} from './token-store.ts';

/** A session found by its uid gets a placeholder id, because the real one is not stored. It can only be ended. */
const UID_PREFIX = 'uid ';

export type Storage = Revoker & Pick<RequestDatabase, 'noteClientRead' | 'clientReadAt'> & { issuer: string };

/** Maps oidc-provider's models to tables: one each for clients, grants and access tokens, one for everything else. */
export function createAdapter(storage: Storage): (kind: string) => Adapter {
  return (kind) => {
    const unused = {
      findByUserCode: async () => undefined,
      findByUid: async () => undefined,
      consume: async () => undefined,
      // Nothing to do: revoking a grant ends all of its tokens (see `revokeGrant`).
      revokeByGrantId: async () => undefined,
    };
    switch (kind) {
      case 'Client':
        return {
          ...unused,
          find: (id) => findClientMetadata(storage.laneDb(), id, storage.noteClientRead),
          upsert: rejectClientWrite,
          destroy: rejectClientWrite,
        };
      case 'Grant':
        return { ...unused, ...grantAdapter(storage) };
      case 'AccessToken':
      case 'ClientCredentials':
        return { ...unused, ...tokenAdapter(storage, kind) };
      default:
        return { ...unused, ...artifactAdapter(storage, kind) };
    }
  };
}

async function rejectClientWrite(): Promise<never> {
  throw new Error('clients can only be registered with the partner command');
}

function grantAdapter(storage: Storage): Pick<Adapter, 'upsert' | 'find' | 'destroy'> {
  const { laneDb } = storage;
  return {
    upsert: (id, payload, lifetimeSeconds) => {
      const { clientId, accountId: userId } = payload;
      const grant = { id, clientId, userId, payload: serialize(payload), lifetimeSeconds };
      return storage
        .requestDb()
        .transaction()
        .execute((tx) => upsertGrant(tx, grant));
    },
    find: async (id) => {
      const stored = await findGrant(laneDb(), id);
      return stored && { ...readPayload(stored), jti: id };
    },
    destroy: (id) => revokeGrant(storage, id),
  };
}

function tokenAdapter(storage: Storage, kind: string): Pick<Adapter, 'upsert' | 'find' | 'destroy'> {
  const { laneDb } = storage;
  return {
    upsert: (id, payload, lifetimeSeconds) => {
      const { clientId, grantId = null, accountId: userId = null, scope = '' } = payload;
      const hash = hashSecret(id);
      return insertToken(laneDb(), {
        hash,
        clientId,
        grantId,
        userId,
        scope,
        payload: serialize(payload),
        lifetimeSeconds,
        checkedAt: storage.clientReadAt(),
      });
    },
    find: async (id) => {
      const stored = await findTokenPayload(laneDb(), kind, hashSecret(id));
      return stored && { ...readPayload(stored), jti: id };
    },
    destroy: (id) => revokeToken(storage, id),
  };
}

function artifactAdapter(
  storage: Storage,
  kind: string,
): Omit<Adapter, 'findByUserCode' | 'revokeByGrantId'> {
  const { laneDb, clientReadAt, issuer } = storage;
  const isRefreshToken = kind === 'RefreshToken';
  const restore = (artifact: StoredArtifact | undefined, id: string) =>
    artifact && restoreSecrets(artifact, kind, id, issuer);
  return {
    upsert: (id, payload, lifetimeSeconds) => {
      const { grantId = null, uid = null } = payload;
      const hash = hashSecret(id);
      return upsertArtifact(laneDb(), {
        kind,
        hash,
        grantId,
        uid,
        payload: serialize(payload),
        lifetimeSeconds,
        checkedAt: clientReadAt(),
      });
    },
    find: async (id) => {
      const leeway = isRefreshToken ? REFRESH_LEEWAY_SECONDS : 0;
      return restore(await findArtifact(laneDb(), kind, hashSecret(id), leeway), id);
    },
    findByUid: async (uid) => restore(await findArtifactByUid(laneDb(), kind, uid), UID_PREFIX + uid),
    consume: (id) => (isRefreshToken ? consumeRefreshToken(laneDb(), id) : consumeCode(storage, kind, id)),
    destroy: (id) =>
      id.startsWith(UID_PREFIX)
        ? deleteArtifactByUid(laneDb(), kind, id.slice(UID_PREFIX.length))
        : deleteArtifact(laneDb(), kind, hashSecret(id)),
  };
}

/** Serializes a payload without its secrets, so that nobody who reads the database can act as a user or a client. */
function serialize({ jti: _jti, returnTo: _returnTo, session, ...rest }: AdapterPayload): string {
  if (session === undefined) return JSON.stringify(rest);
  const { cookie: _cookie, ...safe } = session;
  return JSON.stringify({ ...rest, session: safe });
}

/** Restores what `serialize` removed: `jti`, which is `id`, and an interaction's `returnTo`, which contains `id`. */
function restoreSecrets(
  { consumed, ...stored }: StoredArtifact,
  kind: string,
  id: string,
  issuer: string,
): AdapterPayload {
  return {
    ...readPayload(stored),
    jti: id,
    ...(consumed !== null && { consumed }),
    ...(kind === 'Interaction' && { returnTo: `${issuer}/oauth/authorize/${id}` }),
  };
}

/**
 * Returns the payload with its times converted to this node's clock, which oidc-provider compares them with. Only the
 * database's clock decides when something expires, because all nodes share it.
 */
function readPayload({ payload, secondsLeft }: StoredPayload): AdapterPayload {
  const { iat, exp } = payload;
  if (exp === undefined) return payload;
  const shifted = Math.floor(realTime() / 1000 + secondsLeft);
  return { ...payload, ...(iat !== undefined && { iat: iat + shifted - exp }), exp: shifted };
}
