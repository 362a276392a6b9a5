import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { solanaRoles } from '@causeway/sandbox/seed/solana-keys.ts';
import { NO_FAULTS, type NodeFaults } from '@causeway/sandbox/simulators/solana/node.ts';
import {
  parseTransaction,
  type WireTransaction,
} from '@causeway/sandbox/simulators/solana/wire-transaction.ts';
import { base58 } from '@scure/base';
import { sql } from 'kysely';
import { buildSolanaReport } from '../../src/domain/settlement/reconcile-solana.ts';
import { associatedAccount } from '../../src/platform/chain/solana/addresses.ts';
import type { Context } from '../../src/platform/context/context.ts';
import { adoptForeignTransactions } from '../../src/platform/operator/watch-store.ts';
import { setLamports, setTokenAccount } from '../support/solana-accounts.ts';
import { startSolanaChain, type TestSolana } from '../support/solana-chain.ts';
import { approveChecked, MINT } from '../support/solana-instructions.ts';
import { FUND, signTransaction, solanaKey, solanaSaleFile } from '../support/solana-sale.ts';
import type { TortureChain } from './chain.ts';
import type { RandomChoices } from './random-choices.ts';
import { checkSolanaBooks, INITIAL_DOLLARS } from './solana-books.ts';

const NAME = 'solana_devnet';
/**
 * The number of slots after which a block is final, as on the public networks. Slots are shorter here, so that a
 * transaction expires after nine seconds.
 */
const FINALITY_SLOTS = 31;
const SLOT_MS = 60;
const MAX_ROLLBACK_SLOTS = 30;
/** The maximum number of transactions that a rollback of the database loses. */
const MAX_FORGOTTEN = 3;
/** How many of the latest approvals are sent again. Older approvals have expired. */
const MAX_RESENT = 60;

/** Starts an embedded Solana chain with two nodes. With two keys, the standby key sends the refunds. */
export async function startSolana(keys: 1 | 2): Promise<TortureChain> {
  const solana = await startSolanaChain({ slotMs: SLOT_MS, finalityLag: FINALITY_SLOTS, nodes: 2 });
  const { chain, nodes } = solana;
  chain.mine(2 * FINALITY_SLOTS);
  const folder = mkdtempSync(join(tmpdir(), 'causeway-torture-keys-'));
  if (keys === 2) setLamports(solana, solanaRoles.standby.address);
  const approvals: WireTransaction[] = [];
  const resend = () => {
    for (const approval of approvals.slice(-MAX_RESENT)) chain.submit(approval);
  };
  return {
    name: NAME,
    flags: `--chain solana --keys ${keys}`,
    variables: {
      RPC_URL_SOLANA_DEVNET: nodes.map(({ url }, i) => `${url}#provider=node-${i}`).join(','),
      SOLANA_OPERATOR_KEY: solanaRoles.operator.privateKey,
      ...(keys === 2 && { OPERATOR_KEYS_FILE: writeRefundKey(folder) }),
      // Both nodes must agree, whatever the amount, so that a single lying node cannot end a participation.
      SETTLEMENT_QUORUM_USD: '0',
    },
    offerFile: solanaSaleFile(),
    rpcs: nodes,
    createWallet: async (index) => {
      const key = solanaKey(`torture ${index}`);
      const source = associatedAccount(key.address, MINT);
      setLamports(solana, key.address);
      setTokenAccount(solana, source, key.address, INITIAL_DOLLARS);
      return {
        address: key.address,
        approve: async (amount) => {
          const blockhash = chain.timeline.blockhash(chain.slots().confirmed);
          const raw = signTransaction(blockhash, key, [
            approveChecked(source, MINT, FUND, key.address, amount),
          ]);
          const approval = parseTransaction(raw);
          approvals.push(approval);
          chain.submit(approval);
          return base58.encode(raw.subarray(1, 65));
        },
      };
    },
    disturb: (random, later) => disturb(solana, random, later),
    forgetTransactions,
    attend: async (ctx) => {
      resend();
      await adoptForeignTransactions(ctx.db, NAME);
      await giveUpApprovals(ctx);
    },
    calm: async () => {
      chain.setSlotMs(SLOT_MS);
      for (const node of nodes) Object.assign(node.faults, NO_FAULTS);
    },
    // Always 0, because transactions are recorded as settled only once they are final, and final blocks are
    // never undone.
    countUndone: async () => 0,
    checkBooks: ({ ctx }, rows, wallets) => checkSolanaBooks(ctx, solana, rows, wallets),
    report: (ctx, db) => buildSolanaReport(db, ctx.chains.solana(NAME)),
    close: async () => {
      await solana.stop();
      rmSync(folder, { recursive: true });
    },
  };
}

/** Writes a keys file that assigns the standby key to refunds. Returns the path of the file. */
function writeRefundKey(folder: string): string {
  const [keys, file] = [join(folder, 'keys.json'), join(folder, 'refund.json')];
  writeFileSync(file, JSON.stringify([...solanaRoles.standby.seed]));
  writeFileSync(keys, JSON.stringify({ [NAME]: { refund: { file } } }));
  return keys;
}

async function disturb(
  { chain, nodes }: TestSolana,
  random: RandomChoices,
  later: (work: Promise<void>) => void,
): Promise<string[]> {
  const done: string[] = [];
  const setFaults = (name: string, faults: Partial<NodeFaults>) => {
    const node = random.pick(nodes);
    Object.assign(node.faults, faults);
    later(sleep(500 + random.integer(3_000)).then(() => void Object.assign(node.faults, NO_FAULTS)));
    done.push(name);
  };
  if (random.chance(0.15)) {
    const delay = { lateBySlots: 1 + random.integer(140) };
    setFaults('lost_or_late_sends', { sending: random.chance(0.5) ? 'lost' : delay });
  }
  if (random.chance(0.1)) setFaults('lost_histories', { hasHistory: false });
  if (random.chance(0.1)) setFaults('lags', { slotsBehind: 1 + random.integer(60) });
  if (random.chance(0.1)) setFaults('hidden_accounts', { hidesTokenAccounts: true });
  if (random.chance(0.05)) setFaults('missing_inner_instructions', { recordsInner: false });
  if (random.chance(0.08)) {
    chain.setSlotMs(0);
    later(sleep(500 + random.integer(2_000)).then(() => chain.setSlotMs(SLOT_MS)));
    done.push('stalls');
  }
  if (random.chance(0.05)) {
    chain.skip(1 + random.integer(20));
    done.push('skipped_slots');
  }
  if (random.chance(0.15)) {
    const { processed, finalized } = chain.slots();
    const depth = Math.min(1 + random.integer(MAX_ROLLBACK_SLOTS), processed - finalized);
    chain.rollBack(depth, random.chance(0.5) ? 'return' : 'drop');
    done.push('rollbacks_of_slots');
  }
  return done;
}

/**
 * Removes the latest transactions from the database, like a failover to a lagging replica. No reconciliation is needed,
 * because the receipts on the chain show what was settled.
 */
async function forgetTransactions({ db }: Context): Promise<boolean> {
  return db.transaction().execute(async (tx) => {
    const { rows } = await sql<{ id: string }>`
      select t.id from operator_transactions t left join participations p on t.id in (p.commit_id, p.remit_id)
      where t.state in ('open', 'final') and exists (
          select from operator_attempts a where a.transaction_id = t.id and a.sent_at is not null)
        and (t.kind = 'remit' or p.status in ('submitted', 'completed'))
      order by t.inserted_at desc limit ${MAX_FORGOTTEN}`.execute(tx);
    for (const { id } of rows) {
      await sql`update participations set status = 'pending', commit_id = null, commit_row = null, committed = null
        where commit_id = ${id}`.execute(tx);
      await sql`update participations set status = 'remit_submitted', remit_id = null, remit_row = null
        where remit_id = ${id}`.execute(tx);
      await sql`delete from operator_attempts where transaction_id = ${id}`.execute(tx);
      await sql`delete from operator_transactions where id = ${id}`.execute(tx);
    }
    await sql`update operator_keys set epoch = epoch + 1`.execute(tx);
    return rows.length > 0;
  });
}

/**
 * Makes participations time out if they have been `prepared` for more than ten seconds, by backdating them by 31
 * minutes. Their approval can no longer land, because a rollback of the chain removed it together with its blockhash.
 */
async function giveUpApprovals({ db }: Context): Promise<void> {
  await sql`update participations set prepared_at = prepared_at - interval '31 minutes'
    where status = 'prepared' and prepared_at between now() - interval '30 minutes' and now() - interval '10 seconds'`.execute(
    db,
  );
}
