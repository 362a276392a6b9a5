import { normalizeAddress } from '../chain/address.ts';
import { type ChainName, chainFacts } from '../chain/chains.ts';
import type { Context } from '../context.ts';
import { ApiError, invalidField } from '../errors.ts';
import type { UserCaller } from '../http/access.ts';
import { newId } from '../http/ids.ts';
import { asciiName, type MessageFacts, plainMessage, type SiweFields, signInMessage } from './message.ts';
import { recordProof } from './proof.ts';
import type { Challenge, NewChallenge } from './schema.ts';
import { assertNoSiweFields, readSiweFields } from './siwe-fields.ts';
import { claimChallenge, putChallenge, releaseChallenge } from './store.ts';

const CHALLENGE_TTL_MS = 10 * 60_000;

/** Issues the message that the wallet signs to prove ownership. Replaces an earlier challenge. */
export async function issueChallenge(
  ctx: Context,
  caller: UserCaller,
  input: NewChallenge,
  origin?: string,
): Promise<Challenge> {
  const address = readAddress(input.chain, input.wallet_address);
  const client = await ctx.guard.client(caller.clientId);
  const issued = ctx.clock.now();
  const facts: MessageFacts = {
    address,
    chain: input.chain,
    partner: asciiName(client?.name ?? '', caller.clientId),
    nonce: newNonce(ctx),
    issuedAt: new Date(issued).toISOString(),
    expiresAt: new Date(issued + CHALLENGE_TTL_MS).toISOString(),
  };
  const text = composeMessage(ctx, caller, input, facts, origin);
  const expires_at = `${facts.expiresAt.slice(0, -1)}000Z`;
  const key = { client_id: caller.clientId, user_id: caller.userId, chain: input.chain, address };
  return ctx.commitReply(async (tx) => {
    await putChallenge(tx, { ...key, id: newId(ctx.clock, ctx.random), text, expires_at });
    return { object: 'wallet_ownership_challenge', message: text, expires_at };
  });
}

/** Normalises an address. Throws `validation_failed`. */
export function readAddress(chain: ChainName, address: string): string {
  const normalized = normalizeAddress(chain, address);
  if (normalized === null) throw invalidField('wallet_address', `is not a valid ${chain} address`);
  return normalized;
}

export type Proof = { chain: ChainName; address: string; signature: string };

/**
 * Consumes the challenge, then verifies the signature over the stored text and records the proof. A wrong signature
 * consumes it too; only an RPC failure releases it. Throws `challenge_invalid`; the reason is logged and not sent.
 */
export async function proveOwnership(ctx: Context, caller: UserCaller, proof: Proof): Promise<void> {
  const { chain, address, signature } = proof;
  const key = { client_id: caller.clientId, user_id: caller.userId, chain, address };
  const claimed = await claimChallenge(ctx.db, key, ctx.clock.now());
  if (claimed === undefined) throw invalidChallenge('no open challenge');
  const kind = await ctx.signatures
    .check({ chain, address, text: claimed.text, signature })
    .catch(async (error: unknown) => {
      if (!(error instanceof ApiError) || error.status >= 500)
        await releaseChallenge(ctx.db, key, claimed.id, ctx.clock.now());
      throw error;
    });
  if (kind === null) throw invalidChallenge('signature mismatch');
  await recordProof(ctx, caller, { chain, address, text: claimed.text, signature, kind });
}

function invalidChallenge(reason: string): ApiError {
  return new ApiError('challenge_invalid', {}, { cause: new Error(reason) });
}

function composeMessage(
  ctx: Context,
  caller: UserCaller,
  input: NewChallenge,
  facts: MessageFacts,
  origin: string | undefined,
): string {
  const isEvm = chainFacts(input.chain).protocol === 'ethereum';
  if (input.challenge_type === 'siwe') {
    if (!isEvm) throw invalidField('challenge_type', 'siwe is only supported on EVM chains');
    return signInMessage(facts, readSiweFields(input));
  }
  assertNoSiweFields(input);
  return isEvm
    ? plainMessage(facts)
    : signInMessage(facts, defaultSiweFields(ctx, caller, facts.partner, origin));
}

/** Solana wallets compare the domain with the page, so the partner's origin is used if it is known. */
function defaultSiweFields(
  ctx: Context,
  { origins }: UserCaller,
  partner: string,
  origin?: string,
): SiweFields {
  const [defaultOrigin] = origins;
  const page = origin !== undefined && origins.has(origin) ? origin : (defaultOrigin ?? ctx.baseUrl);
  const statement = `${partner} asks you to prove that you own this wallet.`;
  return { domain: new URL(page).host, uri: page, statement };
}

/** Returns 128 random bits in base 36, since ERC-4361 nonces are alphanumeric. */
function newNonce({ random }: Context): string {
  return BigInt(`0x${random(16).toString('hex')}`)
    .toString(36)
    .padStart(25, '0');
}
