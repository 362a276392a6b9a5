import { ROLE_OF_KIND } from '../../kernel/config/role.ts';
import { providerViews } from '../../platform/chain/solana/client.ts';
import type { Db } from '../../platform/db/pool.ts';
import type { ReceiptHandlers } from '../../platform/operator/receipt-follow.ts';
import { SigningRefused } from '../../platform/operator/receipt-policy.ts';
import { renewReceipt } from '../../platform/operator/receipt-sender.ts';
import { changeStatus } from '../holdings/participation-status.ts';
import { freezeSanctioned } from '../screening/hits.ts';
import { mayEnd } from './agreement.ts';
import { settleCommit } from './commit-outcome.ts';
import { settleRefund } from './refund-outcome.ts';
import { maySign } from './resign.ts';
import { rememberExpiry } from './solana-exclusion.ts';
import { orderOf, type SolanaParts } from './solana-parts.ts';
import { listRowsOf, unassignRefund } from './store.ts';

/** Translates the outcome of a commit or refund transaction on Solana into the status of its participation. */
export function createReceiptHandlers(parts: SolanaParts): ReceiptHandlers {
  const { ctx, account } = parts;
  return {
    settle: async (tx, { id, kind }) => {
      const succeeded = (await listRowsOf(tx, kind, id)).map((row) => row.id);
      const outcome = { succeeded, failed: [], reason: null };
      await (kind === 'commit' ? settleCommit : settleRefund)(ctx, tx, outcome);
    },
    // A commit's row returns to `pending`. The next round then marks the row as failed if the wallet's balance or
    // allowance is now too small, leaves the row waiting if it is frozen, and otherwise signs a new commit. A refund is
    // detached from the transaction and sent again.
    release: async (tx, { id, kind, attempts }) => {
      const ids = (await listRowsOf(tx, kind, id)).map((row) => row.id);
      // After a restore, the database may lack some of the row's transactions. Those transactions were signed before
      // the last attempt, so they expire no later than the last attempt does.
      for (const each of ids) rememberExpiry(parts.expiries, each, attempts.at(-1)?.lastValidHeight ?? 0n);
      if (kind === 'remit') await unassignRefund(tx, ids);
      else await changeStatus(ctx, tx, { ids, from: ['submitted'], to: 'pending', commitId: null });
    },
    renew: async (lease, transaction) => {
      const { id, kind } = transaction;
      // If the key has lost the role, it signs no further attempt. Once all attempts have expired, the key that now has
      // the role settles the row.
      if (account.signer === null || !account.roles.includes(ROLE_OF_KIND[kind])) return;
      const [row] = await freezeSanctioned(ctx, await listRowsOf(ctx.db, kind, id));
      // A foreign transaction may already have settled the row with another key. That key's receipt would not stop this
      // key from settling the row again, because each key creates its own receipts.
      if (row === undefined || parts.isForeign(row.id)) return;
      const mayStore = (tx: Db) => maySign(ctx, tx, kind, id);
      try {
        await renewReceipt(account, lease, transaction, orderOf(kind, row), mayStore);
      } catch (error) {
        if (!(error instanceof SigningRefused)) throw error;
        parts.alerts.raise(error.reason, error.message);
      }
    },
    isReliable: async ({ id, kind }, verdict, judge) => {
      const rows = await listRowsOf(ctx.db, kind, id);
      return mayEnd(parts, providerViews(account.chain), rows, verdict, judge);
    },
  };
}
