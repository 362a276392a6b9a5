import { saleFund } from '@causeway/contracts/abi/sale-fund.ts';
import { roles } from '@causeway/sandbox/seed/keys.ts';
import { describe, expect, test } from 'vitest';
import { saleWorker, UNIT } from '../../test/support/sale.ts';
import {
  blockedCount,
  expectDatabaseToMatchFund,
  sendForeignTransaction,
  useSale,
} from '../../test/support/settlement.ts';
import { adoptNonce } from './adopt.ts';

const sale = useSale();

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
    sale.node.fault.set('none');
    const status = async () => {
      await settle().catch(() => undefined);
      return sale.statusOf(id);
    };
    await expect.poll(status, { timeout: 10_000 }).toBe('completed');
  });

  // The next two tests change the chain in ways that a simulated reorganisation would not replay, so no test
  // may follow them.
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
