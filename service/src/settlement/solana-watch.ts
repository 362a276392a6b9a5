import { readAccounts } from '../chain/solana/reads.ts';
import { readMultisig } from '../chain/solana/token-accounts.ts';
import { listForeignTransactions } from '../operator/foreign-transactions.ts';
import { watchSigner } from '../operator/watch-signers.ts';
import { listFunds } from './reconcile-store.ts';
import type { SolanaParts } from './solana-parts.ts';

/** `foreignIds`: participations that wait because a foreign transaction names them. */
export type WatchState = { checkedAt: number | null; foreignIds: ReadonlySet<string> };

const WATCH_INTERVAL_MS = 60_000;
const ALERT_SECONDS = 90;

/** Looks, once a minute, for transactions of the funds' keys that this service did not send, and raises an alert. */
export async function watchFunds(parts: SolanaParts, state: WatchState): Promise<void> {
  const { ctx, account, alerts } = parts;
  if (state.checkedAt !== null && performance.now() - state.checkedAt < WATCH_INTERVAL_MS) return;
  const { chain } = account;
  const funds = (await listFunds(ctx.db, chain.name)).map(({ fund }) => String(fund));
  const accounts = await readAccounts(chain, funds, { commitment: 'finalized' });
  const signers = new Set(accounts.flatMap((each) => readMultisig(each)?.signers ?? []));
  for (const signer of signers) await watchSigner(account, signer, funds);
  const foreign = await listForeignTransactions(ctx.db, chain.name);
  state.checkedAt = performance.now();
  state.foreignIds = new Set(foreign.flatMap(({ participationId }) => participationId ?? []));
  const [first] = foreign;
  if (first === undefined) return;
  const message = `${foreign.length} transactions of ${first.address} at the funds on ${chain.name} are not ours, such as ${first.signature}; find out who signed them, then run causeway solana adopt ${chain.name}`;
  alerts.raise('foreign_transaction', message, ALERT_SECONDS);
}
