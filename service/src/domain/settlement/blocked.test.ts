import { saleFund } from '@causeway/contracts/abi/sale-fund.ts';
import { otherSaleFund } from '@causeway/contracts/abi/test/other-sale-fund.ts';
import { roles } from '@causeway/sandbox/seed/keys.ts';
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { copyParticipation } from '../../../test/support/copies.ts';
import { makeOffer } from '../../../test/support/offers.ts';
import { saleOfferFile, saleWorker, UNIT } from '../../../test/support/sale.ts';
import {
  blockedCount,
  expectDatabaseToMatchFund,
  rejectingWorker,
  sendForeignTransaction,
  stopFund,
  useSale,
} from '../../../test/support/settlement.ts';
import { NodeError } from '../../platform/chain/rpc/failures.ts';
import { adoptNonce } from './adopt.ts';

const sale = useSale();

describe('a fund with a large backlog does not delay other funds', () => {
  /** Creates a participation in another fund, newer than all other participations. */
  async function participateElsewhere(slug: string): Promise<string> {
    const fund = await sale.chain.create(otherSaleFund, [roles.operator.address]);
    const file = saleOfferFile(sale.chain.deployment, fund);
    const offer = await makeOffer(sale.app.ctx, { ...file, slug });
    // Uses another token, because other tests expect all USDC rows to belong to one fund.
    const hash = await sale.buyer(5).approve(5n * UNIT, { spender: fund, token: sale.usdt });
    const { body } = await sale.person.call('POST', '/v1/participations', {
      ...sale.request(sale.buyer(5), 5n * UNIT, hash),
      ...{ offer_id: offer.id, offer_option_id: offer.options[0]?.id ?? '', asset_id: 'tether' },
    });
    return String(body.id);
  }
  const revert = (method: string, [call]: unknown[]) =>
    method === 'eth_estimateGas' && (call as { to: string }).to === sale.fund
      ? new NodeError(3, 'execution reverted', '0xdeadbeef')
      : undefined;

  test.each([
    ['rejects every commit', 2n, 'fund_stopped', () => undefined],
    ['reverts every commit for an unknown reason', 0n, 'reverts', revert],
  ] as const)('while it %s', async (name, mask, reason, reject) => {
    await stopFund(sale, mask);
    await sale.buyer(4).approve(10n ** 12n);
    const { id } = await sale.participate(sale.buyer(4), UNIT);
    await copyParticipation(sale.app, id, 700);
    const other = await participateElsewhere(name.replaceAll(' ', '-'));
    const { round } = rejectingWorker(sale, {}, reject);
    await round();
    expect(await blockedCount(sale, reason)).toBeGreaterThan(0);
    expect(['submitted', 'completed']).toContain(await sale.statusOf(other));
    await sql`delete from participations where chain = 'ethereum_sepolia' and status = 'pending'`.execute(
      sale.app.ctx.db,
    );
    await stopFund(sale, 0n);
    await saleWorker(sale).settle();
    expect(await sale.statusOf(other)).toBe('completed');
  });

  test('nor does a commit in progress, although the same wallet pays', async () => {
    const buyer = sale.buyer(5);
    // Uses the token of `participateElsewhere`, so that both participations are paid from one balance.
    const hash = await buyer.approve(7n * UNIT, { token: sale.usdt });
    const { body } = await sale.person.call('POST', '/v1/participations', {
      ...sale.request(buyer, 7n * UNIT, hash),
      asset_id: 'tether',
    });
    const ids = [String(body.id), await participateElsewhere('own-allowance')];
    sale.pauseMining();
    const { round, settle } = saleWorker(sale);
    await round();
    const statuses = () => Promise.all(ids.map((id) => sale.statusOf(id)));
    expect(await statuses()).toEqual(['submitted', 'submitted']);
    sale.resumeMining();
    await sale.mine(1);
    await settle();
    expect(await statuses()).toEqual(['completed', 'completed']);
  });

  test('nor is it tried again in every round', async () => {
    await stopFund(sale, 2n);
    const { id } = await sale.participate(sale.buyer(4), UNIT);
    await copyParticipation(sale.app, id, 100);
    let estimates = 0;
    const { round } = rejectingWorker(sale, {}, (method) => {
      if (method === 'eth_estimateGas') estimates++;
      return undefined;
    });
    await round();
    const first = estimates;
    for (let i = 0; i < 3; i++) expect(await round()).not.toBe('busy');
    expect(estimates).toBe(first);
    await sql`delete from participations where id <> ${id} and status = 'pending'`.execute(sale.app.ctx.db);
    await stopFund(sale, 0n);
    await saleWorker(sale).settle();
    expect(await sale.statusOf(id)).toBe('completed');
  });
});

describe('rows stay pending and an alert is raised', () => {
  const callAsOwner = (functionName: 'stop' | 'grantRoles' | 'revokeRoles', args: readonly unknown[]) =>
    sale.chain.owner.writeContract({
      ...{ address: sale.fund, abi: saleFund.abi, functionName, args, gas: 200_000n },
    } as never);

  test.each([
    ['the fund is stopped', 'fund_stopped', () => callAsOwner('stop', [2n]), () => callAsOwner('stop', [0n])],
    [
      'the operator has lost its role',
      'role_missing',
      () => callAsOwner('revokeRoles', [roles.operator.address, 2n]),
      () => callAsOwner('grantRoles', [roles.operator.address, 2n]),
    ],
  ] as const)('while %s', async (_name, reason, block, unblock) => {
    const { settle } = saleWorker(sale);
    await block();
    const { id } = await sale.participate(sale.buyer(1), 9n * UNIT);
    await saleWorker(sale).round();
    expect(await sale.statusOf(id)).toBe('pending');
    expect(await blockedCount(sale, reason)).toBeGreaterThan(0);
    await unblock();
    await settle();
    expect(await sale.statusOf(id)).toBe('completed');
    await settle();
    await expectDatabaseToMatchFund(sale);
  });

  test('while the chain is unreachable', async () => {
    const { round, settle } = saleWorker(sale);
    const { id } = await sale.participate(sale.buyer(1), 9n * UNIT);
    sale.node.fault.set('down');
    await expect(round()).rejects.toMatchObject({ code: 'upstream_unavailable' });
    expect(await blockedCount(sale, 'unreachable')).toBeGreaterThan(0);
    expect(sale.app.logged()).toContain('"msg":"settlement blocked: rpc:ethereum_sepolia: ');
    sale.node.fault.set('none');
    const status = async () => {
      await settle().catch(() => undefined);
      return sale.statusOf(id);
    };
    await expect.poll(status, { timeout: 10_000 }).toBe('completed');
  });

  // The next two tests change the chain in ways that a simulated reorganization would not replay, so no test
  // with a reorganization may follow them.
  test('while the operator has no gas', async () => {
    const { round, settle } = saleWorker(sale);
    const address = roles.operator.address;
    const balance = await sale.chain.direct.getBalance({ address });
    await sale.chain.chain.request({ method: 'hardhat_setBalance', params: [address, '0x1'] });
    const { id } = await sale.participate(sale.buyer(1), 9n * UNIT);
    await round();
    expect(await sale.statusOf(id)).toBe('pending');
    expect(await blockedCount(sale, 'operator_out_of_gas')).toBeGreaterThan(0);
    await sale.chain.chain.request({
      method: 'hardhat_setBalance',
      params: [address, `0x${balance.toString(16)}`],
    });
    await settle();
    expect(await sale.statusOf(id)).toBe('completed');
    expect(await blockedCount(sale, 'operator_out_of_gas')).toBe(0);
  });

  test('after the key was used elsewhere, until an operator adopts the nonce', async () => {
    const { round } = saleWorker(sale, { timings: { nonceGraceMs: 0 } });
    await sendForeignTransaction(sale);
    const { id } = await sale.participate(sale.buyer(1), 9n * UNIT);
    await round();
    expect(await sale.statusOf(id)).toBe('pending');
    expect(await blockedCount(sale, 'foreign_nonce')).toBeGreaterThan(0);
    const { worker, settle } = saleWorker(sale);
    await adoptNonce(sale.app.ctx, worker.account);
    await settle();
    expect(await sale.statusOf(id)).toBe('completed');
  });
});
