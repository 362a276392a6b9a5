import { associatedAccount } from '../../platform/chain/solana/addresses.ts';
import { readAccounts } from '../../platform/chain/solana/reads.ts';
import { type Multisig, readMultisig } from '../../platform/chain/solana/token-accounts.ts';
import { Blocked } from '../../platform/operator/blocked.ts';
import type { ReceiptTimings } from '../../platform/operator/receipt-follow.ts';
import type { ReceiptOrder } from '../../platform/operator/receipt-sender.ts';
import type { SolanaAccount } from '../../platform/operator/solana-account.ts';
import type { SettlementRow } from './store.ts';
import type { WorkerParts } from './worker.ts';

/** The parts of a worker that are specific to Solana. */
export type SolanaParts = WorkerParts & {
  account: SolanaAccount;
  timings: ReceiptTimings;
  /**
   * Returns whether a foreign transaction (one that this service did not send) mentions the participation in its memo.
   */
  isForeign(id: string): boolean;
  /**
   * Maps a participation id to the block height after which every transaction signed for it so far has expired.
   * Contains only participations that may have to be marked as failed.
   */
  expiries: Map<string, bigint>;
};

/**
 * Returns the transfer that commits or refunds a row. A refund goes to the wallet's associated account, not to the
 * source account, because the owner of the source account may have changed.
 */
export function orderOf(kind: 'commit' | 'remit', row: SettlementRow): ReceiptOrder {
  const { id, fund, token: mint, decimals, amount, user: wallet, source, vault } = row;
  if (vault === null || (kind === 'commit' && source === null))
    throw new Error(`participation ${id} lacks a token account`);
  const accounts =
    kind === 'commit'
      ? { source: source ?? '', destination: vault }
      : { source: vault, destination: associatedAccount(wallet, mint) };
  return { plan: { kind, participationId: id, fund, mint, decimals, amount, wallet, ...accounts }, vault };
}

/**
 * Reads a fund's multisig account, which never changes. Its signers can move the tokens that users approve for the
 * fund. Throws `Blocked` if the fund is not a multisig.
 */
function readMultisigOf({ account: { chain } }: SolanaParts, fund: string): Promise<Multisig> {
  return chain.memoize(`fund ${fund}`, async () => {
    const [info = null] = await readAccounts(chain, [fund], { commitment: 'finalized' });
    const found = readMultisig(info);
    if (found === null)
      throw new Blocked('role_missing', `${fund} is not a multisig account of the token program`);
    return found;
  });
}

/**
 * Returns the keys whose receipts can show that the fund settled a row. If the fund is not a multisig, returns only our
 * key instead of throwing, so that this fund does not block other funds.
 */
export async function listReceiptSigners(parts: SolanaParts, fund: string): Promise<readonly string[]> {
  try {
    return (await readMultisigOf(parts, fund)).signers;
  } catch (error) {
    if (!(error instanceof Blocked)) throw error;
    return [parts.account.key.address];
  }
}

/** Reads a fund that is about to be used. Throws `Blocked` if our key alone cannot sign for the fund. */
export async function readFund(parts: SolanaParts, fund: string): Promise<Multisig> {
  const { key } = parts.account;
  const multisig = await readMultisigOf(parts, fund);
  if (multisig.required !== 1 || !multisig.signers.includes(key.address))
    throw new Blocked(
      'role_missing',
      `the operator key ${key.address} cannot sign for the fund ${fund} on its own`,
    );
  return multisig;
}
