import { normalizeAddress } from '../chain/address.ts';
import { type ChainName, chainFacts } from '../chain/chains.ts';
import type { Context } from '../context.ts';
import { ApiError, invalidField } from '../errors.ts';
import type { UserCaller } from '../http/access.ts';
import { newId } from '../http/ids.ts';
import { asciiName, type MessageFacts, plainMessage, type SiweFields, signInMessage } from './message.ts';
import type { Challenge, NewChallenge } from './schema.ts';
import { readSiweFields, refuseAsker } from './siwe-fields.ts';
import { claimChallenge, putChallenge, releaseChallenge } from './store.ts';

const LIFE = 10 * 60_000;

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
    expiresAt: new Date(issued + LIFE).toISOString(),
  };
  const text = composeMessage(ctx, caller, input, facts, origin);
  const expires_at = `${facts.expiresAt.slice(0, -1)}000Z`;
  const key = { client_id: caller.clientId, user_id: caller.userId, chain: input.chain, address };
  return ctx.commitReply(async (tx) => {
    await putChallenge(tx, { ...key, id: newId(ctx.clock, ctx.random), text, expires_at });
    return { object: 'wallet_ownership_challenge', message: text, expires_at };
  });
}

/** The address in the form it is kept in, or `validation_failed`. */
export function readAddress(chain: ChainName, address: string): string {
  const normal = normalizeAddress(chain, address);
  if (normal === null)
    throw invalidField(
      'wallet_address',
      `is not an address of the ${chainFacts(chain).protocol} protocol, which ${chain} speaks`,
    );
  return normal;
}

export type Proof = { chain: ChainName; address: string; signature: string };

/**
 * Spends the challenge, then checks the signature over the stored text. A wrong signature spends it too; only a failure
 * of our own nodes gives it back. Every refusal is `challenge_invalid`; which one it was is for the log alone.
 */
export async function proveOwnership(ctx: Context, caller: UserCaller, proof: Proof): Promise<void> {
  const { chain, address, signature } = proof;
  const key = { client_id: caller.clientId, user_id: caller.userId, chain, address };
  const claimed = await claimChallenge(ctx.db, key, ctx.clock.now());
  if (claimed === undefined) throw refused('there is no live challenge');
  const isSigned = await ctx.signatures
    .check({ chain, address, text: claimed.text, signature })
    .catch(async (error: unknown) => {
      if (!(error instanceof ApiError) || error.status >= 500)
        await releaseChallenge(ctx.db, key, claimed.id, ctx.clock.now());
      throw error;
    });
  if (!isSigned) throw refused('the signature does not fit');
}

function refused(reason: string): ApiError {
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
    if (!isEvm) throw invalidField('challenge_type', 'siwe is for EVM chains');
    return signInMessage(facts, readSiweFields(input));
  }
  refuseAsker(input);
  return isEvm
    ? plainMessage(facts)
    : signInMessage(facts, ownSiweFields(ctx, caller, facts.partner, origin));
}

/** Solana wallets compare the domain with the page, so it is the partner's page that asks, if we know it. */
function ownSiweFields(ctx: Context, { origins }: UserCaller, partner: string, origin?: string): SiweFields {
  const [first] = origins;
  const page = origin !== undefined && origins.has(origin) ? origin : (first ?? ctx.baseUrl);
  const statement = `${partner} asks you to prove that you own this wallet.`;
  return { domain: new URL(page).host, uri: page, statement };
}

/** 128 random bits as letters and digits: ERC-4361 takes nothing else. */
function newNonce({ random }: Context): string {
  return BigInt(`0x${random(16).toString('hex')}`)
    .toString(36)
    .padStart(25, '0');
}
