import { solanaRoles } from '@causeway/sandbox/seed/solana-keys.ts';
import { toHex } from 'viem';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startKms } from '../../../test/support/kms.ts';
import { gaugesOf } from '../../../test/support/sale.ts';
import { MINT } from '../../../test/support/solana-instructions.ts';
import {
  backUpRow,
  EXPIRY_SLOTS,
  FINALITY_SLOTS,
  FUND,
  faucetKey,
  type SolanaKey,
  solanaWorker,
  UNIT,
  useSolanaSale,
  VAULT,
} from '../../../test/support/solana-sale.ts';
import type { SendingRole } from '../../kernel/config/role.ts';
import { associatedAccount } from '../../platform/chain/solana/addresses.ts';
import { transferLamports } from '../../platform/chain/solana/instructions.ts';
import { buildReceiptMessage } from '../../platform/operator/receipt-message.ts';
import { localSolanaSigner } from '../../platform/operator/solana-signer.ts';
import { findKeyAddresses } from '../offer-files/role-addresses.ts';
import { requestRemit } from '../participations/refunds.ts';
import { followWithoutKey } from './round.ts';
import { createSolanaWorker } from './solana-driver.ts';

const CHAIN = 'solana_devnet';
const { operator, standby } = solanaRoles;
// The operator key commits. The fund's second key, which is in KMS, refunds.
const kms = await startKms({ 'alias/refund': toHex(Buffer.alloc(32, 1)) });
kms.state.ed25519 = Buffer.from(standby.seed);
const sale = useSolanaSale({
  config: {
    roleKeys: [{ role: 'refund', chain: CHAIN, key: { kind: 'kms', key: kms.keyOf('alias/refund') } }],
  },
});
beforeAll(() => {
  sale.land(faucetKey, [transferLamports(faucetKey.address, standby.address, 1_000_000_000n)]);
  sale.mine(FINALITY_SLOTS + 1);
});
afterAll(() => kms.close());

function signerOf(role: SendingRole) {
  const signer = sale.app.ctx.solanaSignerOf(role, CHAIN);
  if (signer === null) throw new Error(`no ${role} key`);
  return signer;
}

const worker = (role: SendingRole, change: Parameters<typeof solanaWorker>[1] = {}) =>
  solanaWorker(sale, { signer: signerOf(role), roles: [role], ...change });
/** The worker of an installation with one key: the operator key has both roles, and no policy. */
const single = () => solanaWorker(sale, { signer: localSolanaSigner(operator.seed) });

/**
 * Runs these workers several times and mines blocks in between, so that in the end none of them still waits for the
 * transactions of another key to expire.
 */
async function run(...workers: (() => ReturnType<typeof solanaWorker>)[]): Promise<void> {
  for (let i = 0; i < 6; i++) {
    for (const create of workers) await create().settle();
    sale.mine(100);
  }
}
const commits = () => worker('commit');
const refunds = () => worker('refund');

const rowOf = (id: string) =>
  sale.app.ctx.db
    .selectFrom('participations')
    .select(['commit_id', 'remit_id'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow();

async function signersOf(id: string): Promise<string[]> {
  const { commit_id, remit_id } = await rowOf(id);
  const sent = await sale.app.ctx.db
    .selectFrom('operator_transactions')
    .select(['kind', 'signer'])
    .where('id', 'in', [commit_id ?? '', remit_id ?? commit_id ?? ''])
    .orderBy('kind')
    .execute();
  return sent.map(({ kind, signer }) => `${kind} ${signer}`);
}

const heldBy = ({ address }: SolanaKey) => sale.balanceOf(associatedAccount(address, MINT));

/** Completes a participation and requests its refund. */
async function requestRefund(buyer: SolanaKey): Promise<string> {
  const id = await sale.participate(buyer, 5n * UNIT);
  await run(commits);
  expect(await sale.statusOf(id)).toBe('completed');
  await requestRemit(sale.app.ctx, id);
  return id;
}

test('commits and refunds are signed by the keys of their roles, which do not stop each other', async () => {
  const before = sale.balanceOf(VAULT);
  const buyer = await sale.buyer('refunded');
  const id = await requestRefund(buyer);
  await run(commits, refunds);
  const next = await sale.participate(await sale.buyer('next'), 3n * UNIT);
  await run(commits, refunds);
  expect([await sale.statusOf(id), await sale.statusOf(next)]).toEqual(['remitted', 'completed']);
  expect(await signersOf(id)).toEqual([`commit ${operator.address}`, `remit ${standby.address}`]);
  expect(kms.state.seen).toEqual(['GetPublicKey alias/refund', 'Sign alias/refund']);
  expect([heldBy(buyer), sale.balanceOf(VAULT) - before]).toEqual([1_000n * UNIT, 3n * UNIT]);
});

test('no key acts in the role of the other, whatever a worker asks', async () => {
  const wallet = (await sale.buyer('wrong key')).address;
  const own = associatedAccount(wallet, MINT);
  const base = {
    ...{ participationId: '01900000-0000-7000-8000-00000000000a', fund: FUND, mint: MINT, decimals: 6 },
    ...{ amount: UNIT, wallet },
  };
  const fees = { rent: 2_039_280n, units: 2_000, price: 0n };
  const sign = (role: SendingRole, plan: Parameters<typeof buildReceiptMessage>[1]) => {
    const { address, signTransaction } = signerOf(role);
    return signTransaction(buildReceiptMessage(address, plan, fees, FUND), () => undefined);
  };
  const commit = { ...base, kind: 'commit' as const, source: own, destination: VAULT };
  const refund = { ...base, kind: 'remit' as const, source: VAULT, destination: own };
  await sign('commit', commit);
  await sign('refund', refund);
  await expect(sign('refund', commit)).rejects.toThrow(`it is not the commit key on ${CHAIN}`);
  await expect(sign('commit', refund)).rejects.toThrow(`it is not the refund key on ${CHAIN}`);

  const id = await sale.participate(await sale.buyer('wrong worker'), 5n * UNIT);
  await run(() => worker('refund', { roles: ['commit', 'refund'] }));
  expect(await sale.statusOf(id)).toBe('pending');
  expect(await sale.app.ctx.metrics.registry.metrics()).toMatch(
    /waiting\{[^}]*reason="signer_policy"[^}]*\} [1-9]/,
  );
  await run(commits);
  expect(await sale.statusOf(id)).toBe('completed');
});

describe('after an installation with one key has got a refund key', () => {
  test('a refund of the one key that the database has lost is not paid again', async () => {
    const buyer = await sale.buyer('paid before');
    const id = await requestRefund(buyer);
    const restore = await backUpRow(sale, id);
    await run(single);
    expect(await sale.statusOf(id)).toBe('remitted');
    await restore();
    expect(await sale.statusOf(id)).toBe('remit_submitted');
    await run(commits, refunds);
    expect(await sale.statusOf(id)).toBe('remitted');
    expect(heldBy(buyer)).toBe(1_000n * UNIT);
  });

  test('a refund that the one key has signed stays with it until it has expired, and is paid once', async () => {
    const buyer = await sale.buyer('signed before');
    const id = await requestRefund(buyer);
    sale.setFaults({ sending: 'lost' });
    for (let i = 0; i < 6 && (await rowOf(id)).remit_id === null; i++) {
      sale.mine(100);
      await single().round();
    }
    const signed = [`commit ${operator.address}`, `remit ${operator.address}`];
    await refunds().settle();
    // The worker itself signs nothing outside of its roles, even if the key has no policy.
    const own = { signer: localSolanaSigner(operator.seed), roles: ['commit'] as const };
    await solanaWorker(sale, { ...own, timings: { renewSeconds: -1 } }).round();
    expect(await signersOf(id)).toEqual(signed);
    const attempts = await sale.app.ctx.db
      .selectFrom('operator_attempts')
      .select('hash')
      .where('transaction_id', '=', (await rowOf(id)).remit_id ?? '')
      .execute();
    expect(attempts).toHaveLength(1);
    sale.setFaults({ sending: 'now' });
    sale.mine(EXPIRY_SLOTS);
    await commits().settle();
    expect((await rowOf(id)).remit_id).toBeNull();
    await run(commits, refunds);
    expect(await sale.statusOf(id)).toBe('remitted');
    expect(await signersOf(id)).toEqual([`commit ${operator.address}`, `remit ${standby.address}`]);
    expect(heldBy(buyer)).toBe(1_000n * UNIT);
  });

  test('the refund key waits until what the one key may have signed has expired', async () => {
    const id = await requestRefund(await sale.buyer('waits'));
    await sale.app.ctx.db.deleteFrom('operator_key_uses').where('role', '=', 'refund').execute();
    await refunds().settle();
    expect((await rowOf(id)).remit_id).toBeNull();
    await run(refunds);
    expect(await sale.statusOf(id)).toBe('remitted');
  });
});

test('a node without a key follows its transactions, and leaves its lease to the node that has it', async () => {
  const { ctx } = sale.app;
  const key = { address: operator.address, signer: null, roles: [] };
  const follower = createSolanaWorker(ctx, ctx.chains.solana(CHAIN), key, gaugesOf(sale.app));
  expect(await followWithoutKey(follower)).toBe('idle');
  expect(await worker('commit', { node: ctx.node + 1 }).round()).not.toBe('away');
});

test('offer checks without keys know the keys of all roles by the nodes that use them', async () => {
  const { ctx } = sale.app;
  await run(commits, refunds);
  const config = { ...ctx.config, solanaKey: null, roleKeys: [] };
  const { solanaOperatorsOf } = await findKeyAddresses({ ...ctx, config }, []);
  expect([...solanaOperatorsOf(CHAIN)].sort()).toEqual([operator.address, standby.address].sort());
});
