import type { UserCaller } from '../../kernel/access.ts';
import { type ChainName, chainFacts } from '../../kernel/chains.ts';
import { ApiError, invalidField } from '../../kernel/errors.ts';
import { newId } from '../../kernel/ids.ts';
import { normalizeAddress } from '../../platform/chain/address.ts';
import type { Context } from '../../platform/context/context.ts';
import { accountCode } from '../users/user.ts';
import {
  asciiName,
  assertNoSiweFields,
  type MessageFacts,
  openingSentence,
  type PartnerPlaces,
  plainMessage,
  readSiweFields,
  type SiweFields,
  signInMessage,
} from './message.ts';
import { recordProof } from './proof.ts';
import type { Challenge, NewChallenge } from './schema.ts';
import { claimChallenge, putChallenge, releaseChallenge } from './store.ts';

const CHALLENGE_TTL_MS = 10 * 60_000;

/** Replaces an earlier challenge. */
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
    account: accountCode(ctx, caller.userId),
    nonce: newNonce(ctx),
    issuedAt: new Date(issued).toISOString(),
    expiresAt: new Date(issued + CHALLENGE_TTL_MS).toISOString(),
  };
  const text = composeMessage(ctx, input, facts, {
    origins: [...caller.origins],
    redirect_uris: client?.redirect_uris ?? [],
    page: origin,
  });
  const expires_at = `${facts.expiresAt.slice(0, -1)}000Z`;
  const key = { client_id: caller.clientId, user_id: caller.userId, chain: input.chain, address };
  return ctx.commitReply(async (tx) => {
    await putChallenge(tx, { ...key, id: newId(ctx.clock, ctx.random), text, expires_at });
    return { object: 'wallet_ownership_challenge', message: text, expires_at };
  });
}

export function readAddress(chain: ChainName, address: string): string {
  const normalized = normalizeAddress(chain, address);
  if (normalized === null) throw invalidField('wallet_address', `is not a valid ${chain} address`);
  return normalized;
}

export type Proof = { chain: ChainName; address: string; signature: string };

/**
 * Verifies the signature over the challenge's text and records the proof. Throws `challenge_invalid` if there is no
 * open challenge or the signature is wrong; only the log says which. A challenge can be used only once, even if the
 * signature is wrong. But if the signature cannot be checked, for example because no RPC node answers, the challenge
 * can be used again.
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
  input: NewChallenge,
  facts: MessageFacts,
  places: PartnerPlaces & { page: string | undefined },
): string {
  const isEvm = chainFacts(input.chain).protocol === 'ethereum';
  const sentence = openingSentence(facts);
  if (input.challenge_type === 'siwe') {
    if (!isEvm) throw invalidField('challenge_type', '"siwe" is only supported on EVM chains');
    const { statement, ...fields } = readSiweFields(input, places);
    return signInMessage(facts, {
      ...fields,
      statement: statement === undefined ? sentence : `${sentence} ${statement}`,
    });
  }
  assertNoSiweFields(input);
  return isEvm
    ? plainMessage(facts)
    : signInMessage(facts, { ...defaultPage(ctx, places), statement: sentence });
}

/** Uses the requesting page if its origin is registered, because Solana wallets compare the domains. */
function defaultPage(
  { baseUrl }: Context,
  { origins, page }: PartnerPlaces & { page: string | undefined },
): Pick<SiweFields, 'domain' | 'uri'> {
  const uri = page !== undefined && origins.includes(page) ? page : (origins[0] ?? baseUrl);
  return { domain: new URL(uri).host, uri };
}

/** Returns 128 random bits in base 36, because ERC-4361 nonces are alphanumeric. */
function newNonce({ random }: Context): string {
  return BigInt(`0x${random(16).toString('hex')}`)
    .toString(36)
    .padStart(25, '0');
}
