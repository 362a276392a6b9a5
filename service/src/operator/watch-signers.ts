import { TOKEN_PROGRAM } from '../chain/solana/addresses.ts';
import { readTransaction } from '../chain/solana/executed-transaction.ts';
import { readSignatures, type SignatureEntry } from '../chain/solana/reads.ts';
import type { WireInstruction } from '../chain/solana/wire-transaction.ts';
import { listOwnSignatures } from './receipt-store.ts';
import type { SolanaAccount } from './solana-account.ts';
import { findLastSeen, insertForeign, setLastSeen } from './watch-store.ts';

const MAX_SIGNATURES = 1_000;
const TRANSFER = 3;
const TRANSFER_CHECKED = 12;
const BATCH = 255;
const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/;

/**
 * Records finalized transactions of `signer` that move tokens by authority of one of the funds and that this service did not
 * send. Absence proves nothing: receipts are what prevents a second payment, this only tells operators about others.
 */
export async function watchSigner(
  account: SolanaAccount,
  signer: string,
  funds: readonly string[],
): Promise<void> {
  const { db, chain } = account;
  const until = await findLastSeen(db, chain.name, signer);
  const entries = await readSignatures(chain, signer, { until, limit: MAX_SIGNATURES });
  const [newest] = entries;
  if (newest === undefined) return;
  const own = await listOwnSignatures(
    db,
    entries.map(({ signature }) => signature),
  );
  for (const entry of entries) {
    if (entry.isFailed || own.has(entry.signature)) continue;
    if (await usesFund(account, entry, funds)) {
      const participationId = UUID.exec(entry.memo ?? '')?.[0] ?? null;
      await insertForeign(db, chain.name, { ...entry, address: signer, participationId });
    }
  }
  await setLastSeen(db, chain.name, signer, newest.signature);
}

/** Throws if the transaction cannot be read, so that it is looked at again. */
async function usesFund(
  { chain }: SolanaAccount,
  { signature }: SignatureEntry,
  funds: readonly string[],
): Promise<boolean> {
  const transaction = await readTransaction(chain, signature);
  if (transaction === null) throw new Error(`transaction ${signature} on ${chain.name} cannot be read`);
  const isTransfer = ({ program, data, accounts }: WireInstruction) =>
    program === TOKEN_PROGRAM &&
    [TRANSFER, TRANSFER_CHECKED, BATCH].includes(data[0] ?? 0) &&
    accounts.some((each) => funds.includes(each));
  return transaction.instructions.some(isTransfer);
}
