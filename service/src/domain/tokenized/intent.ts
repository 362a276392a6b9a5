import { hash } from 'node:crypto';
import type { Hex } from 'viem';
import type { UserCaller } from '../../kernel/access.ts';
import { ApiError, invalidField } from '../../kernel/errors.ts';
import type { EvmContract, OfferOption } from '../../kernel/model/stored-offer.ts';
import type { EvmChain } from '../../platform/chain/evm/client.ts';
import type { Context } from '../../platform/context/context.ts';
import type { Offer } from '../../platform/context/ports.ts';
import type { Db } from '../../platform/db/pool.ts';
import { assertOpen } from '../eligibility/decide.ts';
import { assertEligible, lockEligible } from '../eligibility/gate.ts';
import { assertReadable, evmContractOn, findOfferBySymbol } from '../offers/offer.ts';
import type { NewTransaction } from './schema.ts';

export type Intent = {
  caller: UserCaller;
  offer: Offer;
  contract: EvmContract;
  chain: EvmChain;
  symbol: string;
  wallet: Hex;
  token: Hex;
  asset: Hex;
  gross: bigint;
  /** Hash of the caller and the idempotency key; null if the request has no such key. */
  claim: Buffer | null;
};

export async function readIntent(
  ctx: Context,
  caller: UserCaller,
  input: NewTransaction,
  idempotencyKey: string | undefined,
): Promise<Intent> {
  const gross = BigInt(input.amount);
  if (gross === 0n) throw invalidField('amount', 'must be greater than 0');
  const offer = await findOfferBySymbol(ctx, caller, input.symbol);
  const contract = evmContractOn(offer, input.chain);
  assertReadable(contract);
  const chain = ctx.chains.evm(input.chain);
  assertOpen(offer, ctx.clock);
  const token = contract.funding_tokens[0]?.address;
  const asset = contract.asset_address;
  if (token === undefined || asset === null)
    throw new ApiError('chain_not_supported', { chain: ['the offer has no token on this chain'] });
  const scope = JSON.stringify([caller.clientId, caller.userId, idempotencyKey]);
  return {
    caller,
    offer,
    contract,
    chain,
    symbol: input.symbol,
    token,
    asset,
    gross,
    wallet: input.wallet_address.toLowerCase() as Hex,
    claim: idempotencyKey === undefined ? null : hash('sha256', scope, 'buffer'),
  };
}

/** Returns whether `lockMayTrade` repeats all of the checks. */
export async function assertMayTrade(
  ctx: Context,
  caller: UserCaller,
  offer: Offer,
  { chain }: EvmContract,
  wallet: Hex,
): Promise<boolean> {
  return assertEligible(ctx, caller, 'order', { offer, options: [optionOf(offer)], wallet, chain });
}

/** Like `assertMayTrade`, in the transaction that issues the calldata, without reading the chain. Locks the offer. */
export async function lockMayTrade(
  ctx: Context,
  tx: Db,
  caller: UserCaller,
  offer: Offer,
  wallet: Hex,
): Promise<void> {
  const gate = { offer, options: [optionOf(offer)], wallet };
  await lockEligible(ctx, tx, caller, 'order', gate);
}

function optionOf({ options: [option] }: Offer): OfferOption {
  if (option === undefined) throw new ApiError('not_found');
  return option;
}
