import type { Domain, VerifyRequest } from '@causeway/contracts/encodings/tokenized-order.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Permission } from '../chain/evm/allow-list.ts';
import { Blocked } from './blocked.ts';
import type { Spending } from './spend-ledger.ts';

export type TypedDataRules = { clock: Clock };

/** The name of the entry in `dailyAmounts` that limits how many permissions the supplier key signs. */
export const PERMISSIONS = 'permissions';

/** Short, because a signature cannot be revoked. Equals the largest allowed `ATTESTATION_MAX_SECONDS`. */
const MAX_REQUEST_SECONDS = 600;
/**
 * The longest time for which a signed permission may be valid by our clock. A permission usually ends ten minutes after
 * our time or the chain's time, whichever is later. The limit is higher than ten minutes, because the chain's time may
 * be ahead of ours. There must be a limit, because a node could report a wrong chain time.
 */
const MAX_PERMISSION_SECONDS = 3_600;
const BUY = 0;

/**
 * Throws `Blocked` unless the request is a buy that expires soon. Requests with the same contract, sender, tokens and
 * nonce get the same `id`, because only one of them can succeed on chain.
 */
export function judgeRequest(
  rules: TypedDataRules,
  { chainId, verifyingContract }: Domain,
  { side, inputToken, outputToken, sender, nonce, expiry, amount }: VerifyRequest,
): Spending {
  if (side !== BUY) throw refusal(`a request with side ${side}, because it signs only buys`);
  assertEndsSoon(rules, 'a request', expiry, MAX_REQUEST_SECONDS);
  return {
    key: `quote on chain ${chainId}`,
    id: [verifyingContract, sender, inputToken, outputToken, nonce].join(' ').toLowerCase(),
    fee: 0n,
    amounts: new Map([[inputToken.toLowerCase(), amount]]),
  };
}

/** Returns how a permission counts towards the daily limits. Throws `Blocked` unless the permission expires soon. */
export function judgePermission(
  rules: TypedDataRules,
  { chainId, verifyingContract }: Domain,
  { wallet, nonce, deadline }: Permission,
): Spending {
  assertEndsSoon(rules, 'a permission', deadline, MAX_PERMISSION_SECONDS);
  return {
    key: `supplier on chain ${chainId}`,
    id: [verifyingContract, wallet, nonce].join(' ').toLowerCase(),
    fee: 0n,
    amounts: new Map([[PERMISSIONS, 1n]]),
  };
}

function assertEndsSoon({ clock }: TypedDataRules, what: string, end: bigint, seconds: number): void {
  const latest = BigInt(Math.floor(clock.now() / 1000) + seconds);
  if (end > latest) throw refusal(`${what} that is valid for more than ${seconds} seconds`);
}

function refusal(what: string): Blocked {
  return new Blocked('signer_policy', `the signer refuses ${what}`);
}
