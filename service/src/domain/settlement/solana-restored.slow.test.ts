import { solanaRoles } from '@causeway/sandbox/seed/solana-keys.ts';
import { NO_FAULTS } from '@causeway/sandbox/simulators/solana/node.ts';
import { sql } from 'kysely';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { testConfig } from '../../../test/support/app.ts';
import { expectAudited } from '../../../test/support/audited.ts';
import { databaseUrlOf } from '../../../test/support/database-url.ts';
import { approveChecked, MINT, revoke } from '../../../test/support/solana-instructions.ts';
import {
  backUpRow,
  EXPIRY_SLOTS,
  FINALITY_SLOTS,
  FUND,
  type SolanaKey,
  solanaWorker,
  UNIT,
  useSolanaSale,
  VAULT,
} from '../../../test/support/solana-sale.ts';
import { run as runParticipation } from '../../edges/cli/participation-command.ts';
import { associatedAccount } from '../../platform/chain/solana/addresses.ts';
import { localSolanaSigner, type SolanaSigner } from '../../platform/operator/solana-signer.ts';
import { adoptForeignTransactions } from '../../platform/operator/watch-store.ts';
import { resumeSanctioned } from '../holdings/freeze.ts';
import { failPreparedOf } from '../holdings/participation-status.ts';
import { freezeParticipations } from '../holdings/participation-store.ts';
import { cancelParticipation } from '../participations/cancel.ts';
import { requestRemit } from '../participations/refunds.ts';

// The database is restored to a time before a commit, so it does not contain the commit. The commit still takes the
// user's money, so the service must neither send the commit again nor mark the row as failed.
const sale = useSolanaSale();

const settle = () => solanaWorker(sale).settle();

test('a restored row waits while its commit is on the chain and not final, and completes', async () => {
  const buyer = await sale.buyer('restored early');
  const before = sale.balanceOf(VAULT);
  const id = await sale.participate(buyer, 20n * UNIT);
  const restore = await backUpRow(sale, id);
  await settle();
  sale.mine(2);
  await restore();
  // A commit that this database does not know has used up the allowance.
  await settle();
  expect(await sale.statusOf(id)).toBe('pending');
  sale.mine(FINALITY_SLOTS + 1);
  await settle();
  expect(await sale.statusOf(id)).toBe('completed');
  expect(sale.balanceOf(VAULT) - before).toBe(20n * UNIT);
});

test('a restored row that is short does not fail while a forgotten commit can still land', async () => {
  const buyer = await sale.buyer('restored late');
  const source = associatedAccount(buyer.address, MINT);
  const before = sale.balanceOf(VAULT);
  const id = await sale.participate(buyer, 20n * UNIT);
  const restore = await backUpRow(sale, id);
  for (const { faults } of sale.solana.nodes) faults.sending = { lateBySlots: 60 };
  await settle();
  await restore();
  sale.land(buyer, [revoke(source, buyer.address)]);
  sale.mine(FINALITY_SLOTS + 1);
  const worker = solanaWorker(sale);
  await worker.settle();
  expect(await sale.statusOf(id)).toBe('pending');
  // The user approves again, for something else, and the lost commit lands.
  sale.approve(buyer, 500n * UNIT);
  sale.mine(60 + FINALITY_SLOTS);
  await worker.settle();
  expect(await sale.statusOf(id)).toBe('completed');
  expect(sale.balanceOf(VAULT) - before).toBe(20n * UNIT);
});

test('a restored row that is short fails once nothing that was signed before can land', async () => {
  const buyer = await sale.buyer('restored short');
  const id = await sale.participate(buyer, 20n * UNIT);
  sale.land(buyer, [revoke(associatedAccount(buyer.address, MINT), buyer.address)]);
  sale.mine(2);
  const worker = solanaWorker(sale);
  await worker.settle();
  expect(await sale.statusOf(id)).toBe('pending');
  sale.mine(2 * EXPIRY_SLOTS);
  await worker.settle();
  expect(await sale.statusOf(id)).toBe('failed');
  expect(await sale.reasonOf(id)).toBe('insufficient_allowance');
});

test('a prepared row that is short waits as well before it fails', async () => {
  const buyer = await sale.buyer('prepared short');
  const source = associatedAccount(buyer.address, MINT);
  const hash = sale.land(buyer, [approveChecked(source, MINT, FUND, buyer.address, 20n * UNIT)]);
  const { body } = await sale.post(buyer, 20n * UNIT, hash);
  expect(body.status).toBe('prepared');
  sale.land(buyer, [revoke(source, buyer.address)]);
  sale.mine(2);
  const worker = solanaWorker(sale);
  await worker.settle();
  expect(await sale.statusOf(String(body.id))).toBe('prepared');
  sale.mine(2 * EXPIRY_SLOTS);
  await worker.settle();
  expect(await sale.reasonOf(String(body.id))).toBe('insufficient_allowance');
});

const endProof = ({ address }: SolanaKey) =>
  sale.app.ctx.db.deleteFrom('wallet_proofs').where('address', '=', address).execute();

const limitSupply = (supply: string | null) =>
  sale.app.ctx.db
    .updateTable('offer_options')
    .set({ total_token_supply: supply, price_usd: supply })
    .execute();

/** Makes the row look as if it had been prepared two days ago. */
const outwait = (id: string) =>
  sale.app.ctx.db
    .updateTable('participations')
    .set({ prepared_at: new Date(sale.app.clock.now() - 2 * 24 * 3_600_000).toISOString() })
    .where('id', '=', id)
    .execute();

/** Creates a row before its approval is confirmed, and then lets the approval be confirmed. */
async function prepare(buyer: SolanaKey): Promise<string> {
  const source = associatedAccount(buyer.address, MINT);
  const hash = sale.land(buyer, [approveChecked(source, MINT, FUND, buyer.address, 20n * UNIT)]);
  const { body } = await sale.post(buyer, 20n * UNIT, hash);
  expect(body.status).toBe('prepared');
  sale.mine(2);
  return String(body.id);
}

const participate = (buyer: SolanaKey) => sale.participate(buyer, 20n * UNIT);

/** Checks that the row can be refunded although its commit was missing from the database. */
async function expectRefundable(id: string): Promise<void> {
  await adoptForeignTransactions(sale.app.ctx.db, 'solana_devnet');
  await requestRemit(sale.app.ctx, id);
  await settle();
  sale.mine(FINALITY_SLOTS + 1);
  await settle();
  expect(await sale.statusOf(id)).toBe('remitted');
}

/** Freezes the row, makes the supply too small for it, and unfreezes the row. */
async function thawSoldOut(id: string): Promise<void> {
  const { ctx } = sale.app;
  const { wallet_address } = await ctx.db
    .selectFrom('participations')
    .select('wallet_address')
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  await freezeParticipations(ctx.db, [wallet_address]);
  await limitSupply('0.000001');
  await ctx.db.transaction().execute((tx) => resumeSanctioned(ctx, tx, wallet_address));
}

/** Ends the participations of the buyer's wallet, as happens when another user proves ownership of the wallet. */
async function loseWallet({ address }: SolanaKey): Promise<void> {
  const { ctx } = sale.app;
  const owner = ctx.db.selectFrom('participations').select(['partner_id', 'user_id']);
  const { partner_id, user_id } = await owner.where('wallet_address', '=', address).executeTakeFirstOrThrow();
  await ctx.db.transaction().execute((tx) => failPreparedOf(ctx, tx, partner_id, address, [user_id]));
}

const cancel = (_buyer: SolanaKey, id: string) => cancelParticipation(sale.app.ctx, id);

describe.each([
  {
    cause: 'is too old',
    reason: 'expired',
    create: participate,
    end: (_: SolanaKey, id: string) => outwait(id),
  },
  { cause: 'lost its proof', reason: 'wallet_not_proven', create: participate, end: endProof },
  { cause: 'lost its wallet while prepared', reason: 'wallet_not_proven', create: prepare, end: loseWallet },
  { cause: 'is sold out', reason: 'sold_out', create: prepare, end: () => limitSupply('0.000001') },
  {
    ...{ cause: 'is sold out after a freeze', reason: 'sold_out', create: participate },
    end: (_: SolanaKey, id: string) => thawSoldOut(id),
  },
  { cause: 'was cancelled', reason: 'cancelled', create: participate, end: cancel },
  { cause: 'was cancelled while prepared', reason: 'cancelled', create: prepare, end: cancel },
])('a row that is to fail because it $cause', ({ cause, reason, create, end }) => {
  const endIntent = (buyer: SolanaKey, id: string): Promise<unknown> => end(buyer, id);
  afterEach(() => limitSupply(null));

  test('does not fail while a forgotten commit can still land, and completes if it does', async () => {
    const buyer = await sale.buyer(`forgotten ${cause}`);
    const before = sale.balanceOf(VAULT);
    const id = await create(buyer);
    const restore = await backUpRow(sale, id);
    sale.setFaults({ sending: { lateBySlots: 60 } });
    await settle();
    expect(await sale.statusOf(id)).toBe('submitted');
    await restore();
    sale.setFaults(NO_FAULTS);
    await endIntent(buyer, id);
    const worker = solanaWorker(sale);
    await worker.settle();
    sale.mine(FINALITY_SLOTS + 1);
    await worker.settle();
    expect(['prepared', 'pending']).toContain(await sale.statusOf(id));
    sale.mine(60 + FINALITY_SLOTS);
    await worker.settle();
    expect(await sale.statusOf(id)).toBe('completed');
    expect(sale.balanceOf(VAULT) - before).toBe(20n * UNIT);
  });

  test('fails once nothing that was signed before can land, and is not sent meanwhile', async () => {
    const buyer = await sale.buyer(`never sent ${cause}`);
    const before = sale.balanceOf(VAULT);
    const id = await create(buyer);
    await endIntent(buyer, id);
    const worker = solanaWorker(sale);
    for (let i = 0; i < 3; i++) {
      await worker.settle();
      sale.mine(20);
    }
    expect(['prepared', 'pending']).toContain(await sale.statusOf(id));
    sale.mine(2 * EXPIRY_SLOTS);
    await worker.settle();
    expect(await sale.reasonOf(id)).toBe(reason);
    expect(sale.balanceOf(VAULT)).toBe(before);
  });
});

test('participation cancel says that the row will fail, and a forgotten commit completes it', async () => {
  const run = async (...args: string[]) => {
    const log = vi.spyOn(console, 'log').mockImplementation(() => undefined);
    await runParticipation({ ...testConfig(), databaseUrl: await databaseUrlOf(sale.app) }, args);
    const text = log.mock.calls.flat().join('\n');
    log.mockRestore();
    return text;
  };
  const buyer = await sale.buyer('cancelled by command');
  const id = await participate(buyer);
  const restore = await backUpRow(sale, id);
  sale.setFaults({ sending: { lateBySlots: 60 } });
  await settle();
  await restore();
  sale.setFaults(NO_FAULTS);
  expect(await run('cancel', id, '--dry-run')).toBe(
    `${id} would become failed, as soon as no commit for it can land any more`,
  );
  expect(JSON.parse(await run('show', id))).toMatchObject({ status: 'pending', reason: null });
  expect(await run('cancel', id)).toBe(`${id} pending, will fail once no commit can land any more`);
  expect(JSON.parse(await run('show', id))).toMatchObject({ status: 'pending', reason: 'cancelled' });
  const { rows } = await sale.app.ctx.pool.query(
    "select entry::jsonb ->> 'action' as action, entry::jsonb -> 'actor' ->> 'object' as actor from audit_entries where entry like $1 order by written desc limit 1",
    [`%${id}%`],
  );
  expect(rows).toEqual([{ action: 'participation.ending', actor: 'command' }]);
  await expectAudited(sale.app.ctx, 'participation.ending');
  sale.mine(60 + FINALITY_SLOTS);
  await settle();
  expect(JSON.parse(await run('show', id))).toMatchObject({ status: 'completed', reason: null });
  // The cancellation does not prevent the refund of the money that was taken.
  await expectRefundable(id);
});

test('a row that is cancelled while its commit is signed is not sent', async () => {
  const id = await participate(await sale.buyer('cancelled late'));
  const operator = localSolanaSigner(solanaRoles.operator.seed);
  const signer: SolanaSigner = {
    ...operator,
    signTransaction: async (message, assertAllowed) => {
      const signed = await operator.signTransaction(message, assertAllowed);
      await cancelParticipation(sale.app.ctx, id);
      return signed;
    },
  };
  await solanaWorker(sale, { signer }).settle();
  expect(await sale.statusOf(id)).toBe('pending');
});

test('a row that completes although it was sold out after a freeze can be refunded', async () => {
  const id = await participate(await sale.buyer('thawed and committed'));
  const restore = await backUpRow(sale, id);
  await settle();
  sale.mine(FINALITY_SLOTS + 1);
  await restore();
  await thawSoldOut(id);
  await limitSupply(null);
  await settle();
  expect(await sale.statusOf(id)).toBe('completed');
  await expectRefundable(id);
});

test('a row that is sold out after a freeze reserves no supply while it waits', async () => {
  const { db } = sale.app.ctx;
  const reserved = async () => {
    const { rows } = await sql<{
      amount: string;
    }>`select sum(amount)::text as amount from reserved_supply`.execute(db);
    return BigInt(rows[0]?.amount ?? 0);
  };
  const id = await participate(await sale.buyer('thawed'));
  const before = await reserved();
  await thawSoldOut(id);
  expect(await sale.statusOf(id)).toBe('pending');
  expect(before - (await reserved())).toBe(20n * UNIT);
  await limitSupply(null);
});

test('a restored row that has waited too long completes if it was committed', async () => {
  const buyer = await sale.buyer('restored after a day');
  const id = await sale.participate(buyer, 20n * UNIT);
  const restore = await backUpRow(sale, id);
  await settle();
  sale.mine(FINALITY_SLOTS + 1);
  await restore();
  sale.app.clock.set(sale.app.clock.now() + 2 * 24 * 3_600_000);
  await settle();
  expect(await sale.statusOf(id)).toBe('completed');
});
