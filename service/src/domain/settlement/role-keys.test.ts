import { saleFund } from '@causeway/contracts/abi/sale-fund.ts';
import { roles } from '@causeway/sandbox/seed/keys.ts';
import { sql } from 'kysely';
import { Registry } from 'prom-client';
import { type Hex, hexToBytes, toHex } from 'viem';
import { privateKeyToAddress } from 'viem/accounts';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { startKms } from '../../../test/support/kms.ts';
import { saleWorker, UNIT } from '../../../test/support/sale.ts';
import {
  blockedCount,
  commitAttempts,
  expectDatabaseToMatchFund,
  useSale,
} from '../../../test/support/settlement.ts';
import type { SignerPolicy } from '../../kernel/config/operator-key.ts';
import type { SendingRole } from '../../kernel/config/role.ts';
import { deriveSandboxKey } from '../../kernel/config/sandbox-keys.ts';
import { createMetrics } from '../../kernel/metrics.ts';
import { encodeCommit, encodeRemit } from '../../platform/chain/evm/sale-fund.ts';
import { withPolicy } from '../../platform/operator/policy.ts';
import { localSigner, type Signer } from '../../platform/operator/signer.ts';
import { openSigners } from '../../platform/operator/signers.ts';
import { openSpendLedger } from '../../platform/operator/spend-ledger.ts';
import { requestRemit } from '../participations/refunds.ts';
import { reportMissingRoles } from './fund-roles.ts';
import { planEvmRotation } from './rotate.ts';
import { startSettlement } from './settlement.ts';

const CHAIN = 'ethereum_sepolia';
const REFUND_KEY = Buffer.alloc(32, 9);
const refundAddress = privateKeyToAddress(toHex(REFUND_KEY)).toLowerCase() as Hex;
const sale = useSale({
  config: { roleKeys: [{ role: 'refund', chain: CHAIN, key: { kind: 'local', privateKey: REFUND_KEY } }] },
});

const callAsOwner = (functionName: 'grantRoles' | 'revokeRoles', args: readonly unknown[]) =>
  sale.chain.owner.writeContract({
    ...{ address: sale.fund, abi: saleFund.abi, functionName, args, gas: 200_000n },
  } as never);
const [COMMIT, REMIT] = [2n, 4n];

beforeAll(async () => {
  await sale.chain.chain.request({
    method: 'hardhat_setBalance',
    params: [refundAddress, toHex(10n ** 18n)],
  });
  await callAsOwner('grantRoles', [refundAddress, REMIT]);
  await callAsOwner('revokeRoles', [roles.operator.address, REMIT]);
});
afterEach(() => sale.resumeMining());

function signerOf(role: 'commit' | 'refund'): Signer {
  const signer = sale.app.ctx.signerOf(role, CHAIN);
  if (signer === null) throw new Error(`no ${role} key`);
  return signer;
}

const worker = (role: 'commit' | 'refund') =>
  saleWorker(sale, { signer: signerOf(role), roles: [role], refundDepth: 1 });

async function complete(buyer: number): Promise<string> {
  const { id } = await sale.participate(sale.buyer(buyer), 2n * UNIT);
  await worker('commit').settle();
  expect(await sale.statusOf(id)).toBe('completed');
  return id;
}

const rowOf = (id: string) =>
  sale.app.ctx.db
    .selectFrom('participations')
    .select(['commit_id', 'remit_id'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow();

test('commits and refunds are sent by the keys of their roles, each with its own nonces', async () => {
  const id = await complete(0);
  await requestRemit(sale.app.ctx, id);
  await worker('commit').settle();
  expect((await rowOf(id)).remit_id).toBeNull();
  await worker('refund').settle();
  expect(await sale.statusOf(id)).toBe('remitted');
  const sent = await sale.app.ctx.db.selectFrom('operator_transactions').select(['kind', 'signer']).execute();
  expect(sent).toContainEqual({ kind: 'commit', signer: roles.operator.address.toLowerCase() });
  expect(sent).toContainEqual({ kind: 'remit', signer: refundAddress });
  await expectDatabaseToMatchFund(sale);
});

test('the refund key does not commit, and the commit key does not refund, whatever a worker asks', async () => {
  const { id } = await sale.participate(sale.buyer(1), 2n * UNIT);
  await saleWorker(sale, { signer: signerOf('refund') }).round();
  expect(await sale.statusOf(id)).toBe('pending');
  const call = { chainId: 11_155_111, nonce: 0, to: sale.fund, gas: 1n, maxFeePerGas: 1n };
  const row = { commitment: `0x${'01'.repeat(32)}`, optionId: 'o', amount: 1n } as const;
  const rows = [{ ...row, user: sale.buyer(1).address, token: sale.fund }];
  await expect(
    signerOf('refund').signTransaction({ ...call, data: encodeCommit(rows, 'single', 1) }),
  ).rejects.toThrow('to act as the commit key');
  await expect(signerOf('commit').signTransaction({ ...call, data: encodeRemit(rows, 1) })).rejects.toThrow(
    'to act as the refund key',
  );
  expect(await sale.app.ctx.metrics.registry.metrics()).toMatch(
    /causeway_signer_refusals_total\{reason="signer_policy"\} [1-9]/,
  );
  await worker('commit').settle();
  expect(await sale.statusOf(id)).toBe('completed');
});

test('a refund waits if the commit of the other key has left the chain unnoticed', async () => {
  const id = await complete(2);
  await requestRemit(sale.app.ctx, id);
  const { commit_id } = await rowOf(id);
  const setHash = (hash: Buffer) =>
    sql`update operator_transactions set block_hash = ${hash} where id = ${commit_id}`.execute(
      sale.app.ctx.db,
    );
  const { block_hash } = await sale.app.ctx.db
    .selectFrom('operator_transactions')
    .select('block_hash')
    .where('id', '=', String(commit_id))
    .executeTakeFirstOrThrow();
  await setHash(Buffer.alloc(32, 1));
  await worker('refund').round();
  expect((await rowOf(id)).remit_id).toBeNull();
  await setHash(block_hash ?? Buffer.alloc(0));
  await worker('refund').settle();
  expect(await sale.statusOf(id)).toBe('remitted');
});

test('a start refuses a key that has lost the role of unfinished transactions, unless it is listed', async () => {
  const { ctx } = sale.app;
  const swapped = {
    ...ctx,
    signerOf: (role: string) => signerOf(role === 'refund' ? 'commit' : 'refund'),
  };
  await expect(startSettlement({ ...swapped, metrics: createMetrics() })).rejects.toThrow(
    'OPERATOR_RETIRED_KEYS: must list the replaced operator key',
  );
  const retired = (own: 'commit' | 'refund', ...held: SendingRole[]) => ({
    signer: signerOf(own),
    roles: held,
  });
  const wrong = [retired('commit', 'refund'), retired('refund', 'commit')];
  await expect(
    startSettlement({ ...swapped, metrics: createMetrics(), retiredSigners: wrong }),
  ).rejects.toThrow('OPERATOR_RETIRED_KEYS: must list the replaced operator key');
  const retiredSigners = [retired('commit', 'commit'), retired('refund', 'refund')];
  const started = await startSettlement({ ...swapped, metrics: createMetrics(), retiredSigners });
  await started.stop();
});

test('a node without the commit key starts if the keys file says that other nodes have it', async () => {
  const { ctx } = sale.app;
  const { id } = await sale.participate(sale.buyer(1), 2n * UNIT);
  const { registry } = createMetrics();
  const alone = {
    ...{ ...ctx, metrics: { ...ctx.metrics, registry } },
    signerOf: (role: string) => (role === 'refund' ? signerOf('refund') : null),
  };
  await expect(startSettlement(alone)).rejects.toThrow('must list the replaced operator key');
  registry.clear();
  const address = roles.operator.address.toLowerCase();
  const elsewhere = { role: 'commit' as const, chain: null, key: null, address };
  const roleKeys = [...ctx.config.roleKeys, elsewhere];
  const started = await startSettlement({ ...alone, config: { ...ctx.config, roleKeys } });
  expect(await registry.metrics()).not.toMatch(/operator_key_missing[^}]*\} [1-9]/);
  await started.stop();
  expect(await sale.statusOf(id)).toBe('pending');
  await worker('commit').settle();
  expect(await sale.statusOf(id)).toBe('completed');
});

test('a start and a rotation name the role that a fund has not granted', async () => {
  const { ctx } = sale.app;
  const found: unknown[] = [];
  const log = { ...ctx.log, error: (...entry: unknown[]) => void found.push(...entry) } as typeof ctx.log;
  await reportMissingRoles({ ...ctx, log });
  expect(found).toEqual([]);
  await callAsOwner('revokeRoles', [refundAddress, REMIT]);
  await reportMissingRoles({ ...ctx, log });
  expect(found).toEqual([
    { chain: CHAIN, fund: sale.fund, role: 'refund', address: refundAddress },
    `the refund key lacks the fund role "remit"; the fund's owner must grant it`,
  ]);
  const chain = ctx.chains.evm(CHAIN);
  const plan = (to: Hex, ...wanted: ('commit' | 'refund')[]) => planEvmRotation(ctx.db, chain, to, wanted);
  const missing = async (...of: Parameters<typeof plan>) => (await plan(...of)).funds[0]?.missing;
  expect(await missing(refundAddress, 'refund')).toEqual(['remit']);
  expect(await missing(refundAddress, 'commit', 'refund')).toEqual(['commit', 'remit']);
  await callAsOwner('grantRoles', [refundAddress, REMIT]);
  const { is_ready, steps } = await plan(refundAddress, 'refund');
  expect(is_ready).toBe(true);
  expect(steps.join()).toContain('"refund" in OPERATOR_KEYS_FILE');
  expect(steps.join()).not.toContain(roles.operator.address.toLowerCase());
});

describe('somebody who can write to the database', () => {
  const operatorKey = localSigner(hexToBytes(deriveSandboxKey('operator')));
  const thief = privateKeyToAddress(toHex(Buffer.alloc(32, 3)));

  /** Replaces the stored call of an unmined commit with another call, and requests that the commit be signed again. */
  async function forge(change: { target?: Hex; data?: Hex }, policy: SignerPolicy): Promise<string[]> {
    await worker('commit').settle();
    const { id } = await sale.participate(sale.buyer(3), 2n * UNIT);
    sale.pauseMining();
    await worker('commit').round();
    const { db } = sale.app.ctx;
    const { commit_id } = await rowOf(id);
    const before = await commitAttempts(sale, id);
    const { target, data } = await db
      .selectFrom('operator_transactions')
      .select(['target', 'data'])
      .where('id', '=', String(commit_id))
      .executeTakeFirstOrThrow();
    const store = (to: string, bytes: Buffer) =>
      sql`update operator_transactions set target = ${to}, data = ${bytes}, requested = 'bump'
        where id = ${commit_id}`.execute(db);
    await store(
      change.target ?? target,
      change.data === undefined ? data : Buffer.from(change.data.slice(2), 'hex'),
    );
    const { clock } = sale.app.ctx;
    const hasRole = (role: string) => role === 'commit';
    const signer = withPolicy(operatorKey, { policy, hasRole, clock, ledger: openSpendLedger(null, clock) });
    await saleWorker(sale, { signer, roles: ['commit'] }).round();
    const reasons = [];
    for (const reason of ['signer_policy', 'daily_limit'])
      if ((await blockedCount(sale, reason)) > 0) reasons.push(reason);
    expect(await commitAttempts(sale, id)).toEqual(before);
    await store(target, data);
    await db.updateTable('operator_transactions').set({ requested: null }).execute();
    sale.resumeMining();
    await sale.mine(1);
    await worker('commit').settle();
    expect(await sale.statusOf(id)).toBe('completed');
    return reasons;
  }

  const policy = (amount: bigint): SignerPolicy => {
    const targets = new Set([sale.fund.toLowerCase()]);
    return new Map([[11_155_111, { targets, dailyFee: null, dailyAmounts: new Map([[sale.usdc, amount]]) }]]);
  };
  const rowFor = (user: Hex, amount: bigint) => ({
    ...{ commitment: `0x${'01'.repeat(32)}` as Hex, optionId: 'o', user, token: sale.usdc, amount },
  });

  test('cannot send the money to another contract', async () => {
    expect(await forge({ target: thief }, policy(10n ** 12n))).toEqual(['signer_policy']);
  });

  test('cannot turn a commit into a refund to another wallet', async () => {
    const data = encodeRemit([rowFor(thief, 2n * UNIT)], 1);
    expect(await forge({ data }, policy(10n ** 12n))).toEqual(['signer_policy']);
  });

  test('cannot transfer tokens or approve somebody, not even without a policy file', async () => {
    const transfer: Hex = `0xa9059cbb${thief.slice(2).padStart(64, '0')}${'1'.padStart(64, '0')}`;
    const approve: Hex = `0x095ea7b3${thief.slice(2).padStart(64, '0')}${'1'.padStart(64, '0')}`;
    expect(await forge({ target: sale.usdc, data: transfer }, null)).toEqual(['signer_policy']);
    expect(await forge({ target: sale.usdc, data: approve }, null)).toEqual(['signer_policy']);
  });

  test('cannot commit more than the daily limit out of existing allowances', async () => {
    const data = encodeCommit([rowFor(sale.buyer(4).address, 100n * UNIT)], 'single', 1);
    expect(await forge({ data }, policy(50n * UNIT))).toEqual(['daily_limit']);
  });
});

test('a commit key in KMS and a local refund key send with the right key each', async () => {
  const kms = await startKms({ 'alias/commit': toHex(Buffer.alloc(32, 11)) });
  const { clock, log } = sale.app.ctx;
  const { signerOf: keyOf } = await openSigners(
    {
      ...{ operatorKey: null, supplierKey: null, retiredKeys: [] },
      roleKeys: [
        { role: 'commit', chain: CHAIN, key: { kind: 'kms', key: kms.keyOf('alias/commit') } },
        { role: 'refund', chain: CHAIN, key: { kind: 'local', privateKey: REFUND_KEY } },
      ],
    },
    { clock, log, registry: new Registry() },
  );
  const [commit, refund] = [keyOf('commit', CHAIN), keyOf('refund', CHAIN)];
  if (commit === null || refund === null) throw new Error('a key is missing');
  await sale.chain.chain.request({
    method: 'hardhat_setBalance',
    params: [commit.address, toHex(10n ** 18n)],
  });
  await callAsOwner('grantRoles', [commit.address, COMMIT]);
  const { id } = await sale.participate(sale.buyer(5), 2n * UNIT);
  await saleWorker(sale, { signer: commit, roles: ['commit'] }).settle();
  expect(await sale.statusOf(id)).toBe('completed');
  const signed = ['GetPublicKey alias/commit', 'Sign alias/commit'];
  expect(kms.state.seen).toEqual(signed);
  await requestRemit(sale.app.ctx, id);
  await saleWorker(sale, { signer: refund, roles: ['refund'], refundDepth: 1 }).settle();
  expect(await sale.statusOf(id)).toBe('remitted');
  expect(kms.state.seen).toEqual(signed);
  const { rows } = await sale.app.ctx.pool.query(
    `select t.kind, '0x' || encode(t.mined_hash, 'hex') as hash
    from participations p join operator_transactions t on t.id in (p.commit_id, p.remit_id) where p.id = $1 order by 1`,
    [id],
  );
  const senders = await Promise.all(
    rows.map(async ({ kind, hash }) => [kind, (await sale.chain.direct.getTransaction({ hash })).from]),
  );
  expect(senders).toEqual([
    ['commit', commit.address],
    ['remit', refundAddress],
  ]);
  await kms.close();
});
