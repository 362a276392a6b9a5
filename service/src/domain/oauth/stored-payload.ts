import type { AdapterPayload } from 'oidc-provider';
import { realTime } from '../../kernel/clock.ts';

/** `secondsLeft`: how long the payload stays valid, by the database's clock. */
export type StoredPayload = { payload: AdapterPayload; secondsLeft: number };

/**
 * Returns the payload with its times converted to this node's clock, which oidc-provider compares them with. Only the
 * database's clock decides when something expires, because all nodes share it.
 */
export function readPayload({ payload, secondsLeft }: StoredPayload): AdapterPayload {
  const { iat, exp } = payload;
  if (exp === undefined) return payload;
  const shifted = Math.floor(realTime() / 1000 + secondsLeft);
  return { ...payload, ...(iat !== undefined && { iat: iat + shifted - exp }), exp: shifted };
}
