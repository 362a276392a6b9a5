import { saleFund } from '@causeway/contracts/abi/sale-fund.ts';
import { roles } from '@causeway/sandbox/seed/keys.ts';
import type { Hex } from 'viem';
import { keccak256, toHex } from 'viem/utils';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  expectBooksToAgree,
  type Sale,
  saleWorker,
  startSale,
  UNIT,
  useKeyElsewhere,
} from '../../test/support/sale.ts';
import { followTransactions } from '../operator/follow.ts';
import type { Signer } from '../operator/signer.ts';
import { adoptNonce } from './adopt.ts';

let sale: Sale;

beforeAll(async () => {
  sale = await startSale();
});
afterAll(() => sale.close());

const at = (i: number) => sale.buyer(i);
/** Node numbers whose lock nobody holds: processes that are gone. */
let dead = 1_000;

/** A worker of a process that will die: nobody waits for its lease. */
async function doomedWorker(signer?: Signer) {
  await sale.app.ctx.db.updateTable('operator_keys').set({ lease_until: '2000-01-01T00:00:00Z' }).execute();
  return saleWorker(sale, { node: dead++, ...(signer && { signer }) });
}

async function metric(name: string, reason: string): Promise<number> {
  const text = await sale.app.ctx.metrics.render();
  return Number(new RegExp(`${name}\\{[^}]*reason="${reason}"[^}]*\\} (\\d+)`).exec(text)?.[1] ?? 0);
}
const waiting = (reason: string) => metric('causeway_settlement_waiting', reason);

/** For when the way to the chain was closed and opens again in a while. */
async function settleSoon(id: string): Promise<void> {
  const { settle } = saleWorker(sale);
  const look = async () => {
    await settle().catch(() => undefined);
    return sale.statusOf(id);
  };
  await expect.poll(look, { timeout: 10_000 }).toBe('completed');
}

test('a participation with a good approval is taken exactly once and completed', async () => {
  const { settle } = saleWorker(sale);
  const { id, status } = await sale.participate(at(0), 25n * UNIT);
  expect(status).toBe('pending');
  expect(await settle()).toBe('idle');
  expect(await sale.statusOf(id)).toBe('completed');
  expect(await sale.eventsOf(id)).toEqual(['pending', 'submitted', 'completed']);
  expect(await sale.totalsOf(at(0).address)).toEqual({ count: 1n, sum: 25n * UNIT, remitted: 0n });
});

test('rows of one fund go into one transaction, and one that cannot be taken fails alone', async () => {
  const { settle } = saleWorker(sale);
  const made = [];
  for (const i of [0, 1, 2, 3]) made.push(await sale.participate(at(i), 10n * UNIT));
  await at(2).approve(0n);
  await settle();
  const rows = await sale.app.ctx.db
    .selectFrom('participations')
    .select(['id', 'status', 'reason', 'commit_id'])
    .where(
      'id',
      'in',
      made.map(({ id }) => id),
    )
    .orderBy('inserted_at')
    .execute();
  expect(rows.map(({ status }) => status)).toEqual(['completed', 'completed', 'failed', 'completed']);
  expect(rows[2]?.reason).toBe('commit_failed');
  expect(new Set(rows.map(({ commit_id }) => commit_id)).size).toBe(1);
  await expectBooksToAgree(sale);
});

test('a user who commits the same amount twice at once gets two participations, one of which fails when one approval is left', async () => {
  const { settle } = saleWorker(sale);
  const first = await sale.participate(at(1), 7n * UNIT);
  const second = await sale.participate(at(1), 7n * UNIT);
  await settle();
  expect([await sale.statusOf(first.id), await sale.statusOf(second.id)]).toEqual(['completed', 'failed']);
  await expectBooksToAgree(sale);
});

describe('approvals that come late', () => {
  test('wait prepared until they are mined', async () => {
    const { settle } = saleWorker(sale);
    sale.chain.chain.setBlockInterval(1e8);
    const { id, status } = await sale.participate(at(0), 5n * UNIT);
    expect(status).toBe('prepared');
    await settle();
    expect(await sale.statusOf(id)).toBe('prepared');
    sale.chain.chain.setBlockInterval(0);
    await sale.chain.chain.mine(1);
    await settle();
    expect(await sale.eventsOf(id)).toEqual(['prepared', 'pending', 'submitted', 'completed']);
  });

  test('fail when they are not mined within 30 minutes, and only then', async () => {
    const { settle } = saleWorker(sale);
    const unknown: Hex = `0x${'ab'.repeat(32)}`;
    const asked = sale.request(at(0), 5n * UNIT, unknown);
    const { body } = await sale.person.call('POST', '/v1/participations', asked);
    sale.app.clock.advance(30 * 60 - 1);
    await settle();
    expect(await sale.statusOf(String(body.id))).toBe('prepared');
    sale.app.clock.advance(2);
    await settle();
    expect(await sale.statusOf(String(body.id))).toBe('failed');
    expect(await sale.reasonOf(String(body.id))).toBe('approval_not_mined');
    const again = await sale.person.call('POST', '/v1/participations', asked);
    expect(again.body).toMatchObject({ id: body.id, status: 'failed' });
    const stranger = { ...asked, wallet_address: at(1).address };
    expect((await sale.person.call('POST', '/v1/participations', stranger)).status).toBe(200);
  });

  test('fail when they turn out to approve too little', async () => {
    const { settle } = saleWorker(sale);
    sale.chain.chain.setBlockInterval(1e8);
    const hash = await at(0).approve(4n * UNIT);
    const asked = sale.request(at(0), 5n * UNIT, hash);
    const { body } = await sale.person.call('POST', '/v1/participations', asked);
    sale.chain.chain.setBlockInterval(0);
    await sale.chain.chain.mine(1);
    await settle();
    expect(await sale.reasonOf(String(body.id))).toBe('approval_invalid: amount');
  });
});

describe('reorganisations', () => {
  test.each(['return', 'drop'] as const)(
    'put a completed row back and settle it once more: transactions %s',
    async (transactions) => {
      const { settle } = saleWorker(sale, { pace: { resend: 0 } });
      const { id } = await sale.participate(at(3), 11n * UNIT);
      await settle();
      expect(await sale.statusOf(id)).toBe('completed');
      await sale.chain.chain.reorg({ depth: 1, transactions });
      expect((await sale.totalsOf(at(3).address)).sum).not.toBe(11n * UNIT);
      await settle();
      await sale.chain.chain.mine(1);
      await settle();
      expect(await sale.statusOf(id)).toBe('completed');
      expect(await sale.eventsOf(id)).toEqual([
        'pending',
        'submitted',
        'completed',
        'submitted',
        'completed',
      ]);
      await expectBooksToAgree(sale);
    },
  );

  // Else a block of the new branch would vouch for those of the old one below it.
  test('that happen while a round reads are noticed before it records anything', async () => {
    const { worker, round } = saleWorker(sale);
    const { id } = await sale.participate(at(3), 12n * UNIT);
    sale.chain.chain.setBlockInterval(1e8);
    await round();
    await sale.chain.chain.mine(1);
    sale.chain.chain.setBlockInterval(0);
    const { chain } = worker.operator;
    const number = toHex(await sale.chain.direct.getBlockNumber());
    const stale = { number, hash: keccak256('0x') };
    const batch: typeof chain.rpc.batch = async (calls, accept) => {
      const [call] = calls;
      const isHead = call?.method === 'eth_getBlockByNumber' && (call.params as unknown[])[0] === 'latest';
      if (!isHead) return chain.rpc.batch(calls, accept);
      return [{ result: stale }];
    };
    const mistaken = { ...worker.operator, chain: { ...chain, rpc: { ...chain.rpc, batch } } };
    const following = { head: null, suspectSince: null };
    const follow = (operator: typeof mistaken) =>
      followTransactions(operator, worker.lease(), following, worker.pace, worker.outcomes);
    await follow(mistaken);
    expect(await sale.statusOf(id)).toBe('submitted');
    await follow(worker.operator);
    expect(await sale.statusOf(id)).toBe('completed');
  });

  test('that take an approval away put its row back to prepared before anything is sent', async () => {
    const { settle } = saleWorker(sale);
    const { id } = await sale.participate(at(4), 3n * UNIT);
    await sale.chain.chain.reorg({ depth: 1, transactions: 'return' });
    await settle();
    expect(await sale.statusOf(id)).toBe('prepared');
    await sale.chain.chain.mine(1);
    await settle();
    expect(await sale.statusOf(id)).toBe('completed');
    await expectBooksToAgree(sale);
  });
});

describe('whatever crashes when', () => {
  const operator = () => {
    const { operator: signer } = sale.app.ctx;
    if (signer === null) throw new Error('no operator');
    return signer;
  };
  const signing = (hook: (raw: Hex) => Promise<void> | void): Signer => ({
    ...operator(),
    signTransaction: async (transaction) => {
      const raw = await operator().signTransaction(transaction);
      await hook(raw);
      return raw;
    },
  });

  test('before the signed transaction is stored: nothing was sent, and the next node settles it', async () => {
    const { id } = await sale.participate(at(5), 2n * UNIT);
    const signer = signing(() => {
      throw new Error('the process died');
    });
    await expect((await doomedWorker(signer)).round()).rejects.toThrow('died');
    expect(await sale.statusOf(id)).toBe('pending');
    await saleWorker(sale).settle();
    expect(await sale.statusOf(id)).toBe('completed');
    await expectBooksToAgree(sale);
  });

  test('after it is stored and before it is sent: the next node sends the same bytes', async () => {
    const { id } = await sale.participate(at(5), 2n * UNIT);
    const signer = signing(() => sale.node.fault.set('down'));
    await (await doomedWorker(signer)).round().catch(() => undefined);
    sale.node.fault.set('none');
    expect(await sale.statusOf(id)).toBe('submitted');
    await settleSoon(id);
    await expectBooksToAgree(sale);
  });

  test('after it is mined and before that is recorded: the next node reads what happened', async () => {
    const { id } = await sale.participate(at(5), 2n * UNIT);
    await (await doomedWorker()).round();
    expect(await sale.statusOf(id)).toBe('submitted');
    await saleWorker(sale).settle();
    expect(await sale.statusOf(id)).toBe('completed');
    await expectBooksToAgree(sale);
  });

  test('a node that hangs while it signs cannot store once another has taken over', async () => {
    const { id } = await sale.participate(at(5), 2n * UNIT);
    const signer = signing(async () => void (await saleWorker(sale).settle()));
    expect(await (await doomedWorker(signer)).round()).toBe('away');
    expect(await sale.eventsOf(id)).toEqual(['pending', 'submitted', 'completed']);
    await expectBooksToAgree(sale);
  });

  test('two nodes at once settle every row once', async () => {
    const ids: string[] = [];
    for (let i = 0; i < 12; i++) ids.push((await sale.participate(at(i % 6), UNIT)).id);
    const nodes = [await doomedWorker(), await doomedWorker()];
    for (let i = 0; i < 6; i++) await Promise.all(nodes.map(({ round }) => round().catch(() => undefined)));
    await saleWorker(sale).settle();
    const statuses = new Set(await Promise.all(ids.map((id) => sale.statusOf(id))));
    expect([...statuses].toSorted()).toEqual(['completed', 'failed']);
    await expectBooksToAgree(sale);
  });
});

test('a transaction that is not mined is replaced with higher fees, and only one of the two counts', async () => {
  const { round, settle } = saleWorker(sale, { pace: { bump: -1 } });
  const { id } = await sale.participate(at(0), 6n * UNIT);
  sale.chain.chain.setBlockInterval(1e8);
  await round();
  await round();
  const attempts = await sale.app.ctx.db
    .selectFrom('operator_attempts as a')
    .innerJoin('participations as p', 'p.commit_id', 'a.transaction_id')
    .select(['a.max_fee'])
    .where('p.id', '=', id)
    .orderBy('a.max_fee')
    .execute();
  expect(attempts.length).toBe(2);
  sale.chain.chain.setBlockInterval(0);
  await sale.chain.chain.mine(1);
  await settle();
  expect(await sale.statusOf(id)).toBe('completed');
  await expectBooksToAgree(sale);
});

describe('rows wait, and an alert says why', () => {
  const owner = (functionName: 'stop' | 'grantRoles' | 'revokeRoles', args: readonly unknown[]) =>
    sale.chain.owner.writeContract({
      ...{ address: sale.fund, abi: saleFund.abi, functionName, args, gas: 200_000n },
    } as never);

  test.each([
    ['the fund is stopped', 'fund_stopped', () => owner('stop', [2n]), () => owner('stop', [0n])],
    [
      'the role is lost',
      'role_missing',
      () => owner('revokeRoles', [roles.operator.address, 2n]),
      () => owner('grantRoles', [roles.operator.address, 2n]),
    ],
  ] as const)('while %s', async (_name, reason, breakIt, mend) => {
    const { settle } = saleWorker(sale);
    await breakIt();
    const { id } = await sale.participate(at(1), 9n * UNIT);
    await saleWorker(sale).round();
    expect(await sale.statusOf(id)).toBe('pending');
    expect(await waiting(reason)).toBeGreaterThan(0);
    await mend();
    await settle();
    expect(await sale.statusOf(id)).toBe('completed');
    await settle();
    await expectBooksToAgree(sale);
  });

  test('while the chain cannot be reached', async () => {
    const { round } = saleWorker(sale);
    const { id } = await sale.participate(at(1), 9n * UNIT);
    sale.node.fault.set('down');
    await expect(round()).rejects.toMatchObject({ code: 'upstream_unavailable' });
    expect(await waiting('unreachable')).toBeGreaterThan(0);
    sale.node.fault.set('none');
    await settleSoon(id);
  });
});

// What follows changes the chain past its journal or past our nonces, so nothing may be reorganised afterwards.
test('while the operator has no gas rows wait', async () => {
  const { round, settle } = saleWorker(sale);
  const address = roles.operator.address;
  const balance = await sale.chain.direct.getBalance({ address });
  await sale.chain.chain.request({ method: 'hardhat_setBalance', params: [address, '0x1'] });
  const { id } = await sale.participate(at(1), 9n * UNIT);
  await round();
  expect(await sale.statusOf(id)).toBe('pending');
  expect(await waiting('operator_out_of_gas')).toBeGreaterThan(0);
  await sale.chain.chain.request({
    method: 'hardhat_setBalance',
    params: [address, `0x${balance.toString(16)}`],
  });
  await settle();
  expect(await sale.statusOf(id)).toBe('completed');
  expect(await waiting('operator_out_of_gas')).toBe(0);
});

test('when somebody else uses the key everything waits', async () => {
  const { round } = saleWorker(sale, { pace: { suspect: 0 } });
  await useKeyElsewhere(sale);
  const { id } = await sale.participate(at(1), 9n * UNIT);
  await round();
  expect(await sale.statusOf(id)).toBe('pending');
  expect(await waiting('foreign_nonce')).toBeGreaterThan(0);
  const { worker, settle } = saleWorker(sale);
  await adoptNonce(sale.app.ctx, worker.operator);
  await settle();
  expect(await sale.statusOf(id)).toBe('completed');
});
