import { readAccounts } from '../../platform/chain/solana/reads.ts';
import { readMultisig } from '../../platform/chain/solana/token-accounts.ts';
import { type Backlog, createBacklog, watchSigner } from '../../platform/operator/watch-signers.ts';
import { listForeignTransactions } from '../../platform/operator/watch-store.ts';
import { listFunds } from './reconcile-store.ts';
import type { SolanaParts } from './solana-parts.ts';
import { compareVaults } from './solana-vaults.ts';

export type WatchState = {
  checkedAt: number | null;
  vaultsComparedAt: number | null;
  /** Ids of participations that are not settled for now, because a foreign transaction mentions them. */
  foreignIds: ReadonlySet<string>;
  /** The unchecked transactions of each signer, keyed by its address. */
  backlogs: Map<string, Backlog>;
};

const WATCH_INTERVAL_MS = 60_000;
const ALERT_SECONDS = 90;
const VAULTS_INTERVAL_MS = 24 * 3_600_000;

export function createWatchState(): WatchState {
  return { checkedAt: null, vaultsComparedAt: null, foreignIds: new Set(), backlogs: new Map() };
}

/**
 * Looks once a minute for foreign transactions: those signed with a fund's key but not sent by this service. Raises an
 * alert if there are any. If the search fails, logs a warning and lets settlement continue.
 */
export async function watchFunds(parts: SolanaParts, state: WatchState): Promise<void> {
  const { ctx, account, alerts } = parts;
  if (state.checkedAt !== null && performance.now() - state.checkedAt < WATCH_INTERVAL_MS) return;
  const { chain } = account;
  const isDone = await watchSigners(parts, state).catch((err: unknown) => {
    ctx.log.warn({ err, chain: chain.name }, 'search for foreign transactions failed');
    return true;
  });
  if (isDone) state.checkedAt = performance.now();
  await reportVaults(parts, state);
  const foreign = await listForeignTransactions(ctx.db, chain.name);
  state.foreignIds = new Set(foreign.flatMap(({ participationId }) => participationId ?? []));
  const [first] = foreign;
  if (first === undefined) return;
  const message = `${foreign.length} transactions from the funds' keys on ${chain.name} were not sent by this service, such as ${first.signature} from ${first.address}; find out who signed them, then run "causeway solana adopt ${chain.name}"`;
  alerts.raise('foreign_transaction', message, ALERT_SECONDS);
}

/** Checks the transactions of every signer. Returns false if there are more transactions to check. */
async function watchSigners({ ctx, account }: SolanaParts, { backlogs }: WatchState): Promise<boolean> {
  const { chain } = account;
  const funds = (await listFunds(ctx.db, chain.name)).map(({ fund }) => String(fund));
  const accounts = await readAccounts(chain, funds, { commitment: 'finalized' });
  const signers = new Set(accounts.flatMap((each) => readMultisig(each)?.signers ?? []));
  let isDone = true;
  for (const signer of signers) {
    const backlog = backlogs.get(signer) ?? createBacklog();
    backlogs.set(signer, backlog);
    if (!(await watchSigner(account, signer, funds, backlog))) isDone = false;
  }
  return isDone;
}

/**
 * Logs once a day, for each vault, how much was moved in or out by anything other than commits and refunds. Operators
 * should be able to explain these amounts.
 */
async function reportVaults({ ctx, account: { chain } }: SolanaParts, state: WatchState): Promise<void> {
  const now = performance.now();
  if (state.vaultsComparedAt !== null && now - state.vaultsComparedAt < VAULTS_INTERVAL_MS) return;
  state.vaultsComparedAt = now;
  try {
    for (const { vault, balance, settled, moved } of await compareVaults(ctx.db, chain)) {
      const amounts = { balance: String(balance), settled: String(settled), moved: String(moved) };
      const fields = { chain: chain.name, vault, ...amounts };
      if (moved === 0n) ctx.log.info(fields, 'vault balance matches the settled participations');
      else ctx.log.warn(fields, 'vault balance differs from the settled participations');
    }
  } catch (err) {
    ctx.log.warn({ err, chain: chain.name }, 'vault comparison failed');
  }
}
