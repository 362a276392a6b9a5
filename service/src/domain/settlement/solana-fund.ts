import { setTimeout as sleep } from 'node:timers/promises';
import { encodeMessage } from '@causeway/contracts/encodings/solana-message.ts';
import { UsageError } from '../../kernel/errors.ts';
import { deriveWithSeed, fundSeed, keyOf, TOKEN_PROGRAM } from '../../platform/chain/solana/addresses.ts';
import type { SolanaChain } from '../../platform/chain/solana/client.ts';
import {
  allocateWithSeed,
  initializeMultisig,
  transferLamports,
} from '../../platform/chain/solana/instructions.ts';
import {
  readAccounts,
  readBlockhash,
  readEpoch,
  readRent,
  sendTransaction,
} from '../../platform/chain/solana/reads.ts';
import { MULTISIG_BYTES, readMultisig } from '../../platform/chain/solana/token-accounts.ts';
import type { SolanaSigner } from '../../platform/operator/solana-signer.ts';

const POLL_INTERVAL_MS = 1_000;

/**
 * Returns the address of an offer's fund, and whether the fund exists. The address is derived from the first signer and
 * the slug. If the fund exists, throws `UsageError` unless each of `signers` alone can sign for the fund.
 */
export async function findFund(
  chain: SolanaChain,
  slug: string,
  signers: readonly string[],
): Promise<{ fund: string; isCreated: boolean; height: bigint }> {
  const fund = deriveWithSeed(signers[0] ?? '', fundSeed(slug), TOKEN_PROGRAM);
  const { slot, height } = await readEpoch(chain);
  const [account = null] = await readAccounts(chain, [fund], { commitment: 'finalized', minSlot: slot });
  const known = readMultisig(account);
  if (known !== null && !signers.every((each) => known.signers.includes(each)))
    throw new UsageError(`the fund ${fund} exists with other signers: ${known.signers.join(', ')}`);
  if (known !== null && known.required !== 1)
    throw new UsageError(`the fund ${fund} exists, but needs ${known.required} signatures instead of one`);
  return { fund, isCreated: known !== null, height };
}

/**
 * Creates the fund account, unless it already exists. `signer` and each address in `others` can sign for the fund.
 * Returns the fund's address once the account is final.
 */
export async function createFund(
  chain: SolanaChain,
  signer: SolanaSigner,
  slug: string,
  others: readonly string[],
): Promise<string> {
  const signers = [signer.address, ...others];
  for (let lastValidHeight: bigint | null = null; ; await sleep(POLL_INTERVAL_MS)) {
    const { fund, isCreated, height } = await findFund(chain, slug, signers);
    if (isCreated) return fund;
    if (lastValidHeight === null || height > lastValidHeight)
      lastValidHeight = await sendFund(chain, signer, fund, slug, signers, height);
  }
}

/**
 * Sends the transaction that creates the fund. Returns the last block height at which the transaction can be included.
 */
async function sendFund(
  chain: SolanaChain,
  { address, signTransaction }: SolanaSigner,
  fund: string,
  slug: string,
  signers: readonly string[],
  height: bigint,
): Promise<bigint> {
  const rent = await readRent(chain, MULTISIG_BYTES);
  const { hash, lastValidHeight } = await readBlockhash(chain, height);
  const instructions = [
    transferLamports(address, fund, rent),
    allocateWithSeed(fund, address, fundSeed(slug), MULTISIG_BYTES),
    initializeMultisig(fund, 1, signers),
  ];
  const message = encodeMessage({ feePayer: keyOf(address), blockhash: keyOf(hash), instructions });
  // No policy check is needed. An operator asked for exactly this transaction, and it moves only the new account's
  // rent.
  await sendTransaction(chain, await signTransaction(message, () => undefined));
  return lastValidHeight;
}
