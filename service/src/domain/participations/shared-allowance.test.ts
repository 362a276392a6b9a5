import { token } from '@causeway/contracts/abi/token.ts';
import type { Hex } from 'viem';
import { describe, expect, test } from 'vitest';
import { type Buyer, saleWorker, UNIT } from '../../../test/support/sale.ts';
import { firstAttempt, submitCommit, useSale } from '../../../test/support/settlement.ts';
import { person, proveWallets, userId } from '../../../test/support/wallets.ts';
import { insertRequest } from '../../platform/operator/replacement-store.ts';
import { checkPrepared } from '../settlement/prepared.ts';

const sale = useSale();
const AMOUNT = 10n * UNIT;

/** Approves `approved` and asks for a participation of `AMOUNT`. */
async function buy(buyer: Buyer, approved: bigint, caller = sale.person) {
  const hash = await buyer.approve(approved);
  return caller.call('POST', '/v1/participations', sale.request(buyer, AMOUNT, hash));
}

const refusal = ({ status, body }: Awaited<ReturnType<typeof buy>>) => ({
  ...{ status, code: body.code },
  ...(body.errors as object),
});
const short = (required: bigint, allowance: bigint) => ({
  ...{ status: 422, code: 'insufficient_allowance', spender: sale.fund, token: sale.usdc },
  ...{ required: String(required), allowance: String(allowance) },
});

describe('an approval on an EVM chain', () => {
  test('must cover the participations of the wallet that still have to be paid, so that it starves none', async () => {
    const buyer = sale.buyer(0);
    const first = await buy(buyer, AMOUNT);
    expect(refusal(await buy(buyer, AMOUNT))).toEqual(short(2n * AMOUNT, AMOUNT));
    const second = await buy(buyer, 2n * AMOUNT);
    expect(second.body.status).toBe('pending');
    await saleWorker(sale).settle();
    for (const { body } of [first, second]) expect(await sale.statusOf(String(body.id))).toBe('completed');
  });

  test('must cover those of other users of the wallet', async () => {
    const buyer = sale.buyer(1);
    expect((await buy(buyer, AMOUNT)).status).toBe(200);
    const other = await person(sale.app, { userId: userId(7) });
    await proveWallets(sale.app.ctx, [buyer.address], { userId: userId(7) });
    expect(refusal(await buy(buyer, AMOUNT, other))).toEqual(short(2n * AMOUNT, AMOUNT));
  });

  test('must cover all of them even if many requests arrive at once', async () => {
    const buyer = sale.buyer(2);
    const hashes: Hex[] = [];
    for (let i = 0; i < 8; i++) hashes.push(await buyer.approve(3n * AMOUNT));
    const replies = await Promise.all(
      hashes.map((hash) => sale.person.call('POST', '/v1/participations', sale.request(buyer, AMOUNT, hash))),
    );
    const accepted = replies.filter(({ status }) => status === 200);
    expect(accepted.length).toBe(3);
    const refused = replies.filter(({ status }) => status !== 200);
    expect(refused.map(refusal)).toEqual(refused.map(() => short(4n * AMOUNT, 3n * AMOUNT)));
    await saleWorker(sale).settle();
    for (const { body } of accepted) expect(await sale.statusOf(String(body.id))).toBe('completed');
  });

  test('need not cover one that is prepared, nor one of another token', async () => {
    const buyer = sale.buyer(3);
    const unmined = sale.request(buyer, AMOUNT, `0x${'77'.repeat(32)}`);
    expect((await sale.person.call('POST', '/v1/participations', unmined)).body.status).toBe('prepared');
    const tether = await buyer.approve(AMOUNT, { token: sale.usdt });
    const request = { ...sale.request(buyer, AMOUNT, tether), asset_id: 'tether' };
    expect((await sale.person.call('POST', '/v1/participations', request)).body.status).toBe('pending');
    expect((await buy(buyer, AMOUNT)).body.status).toBe('pending');
  });

  test('must cover a commit in progress, until it is mined', async () => {
    const first = await submitCommit(sale, 4, AMOUNT);
    const hash = await sale.buyer(4).approve(AMOUNT);
    await sale.mine(1);
    expect(await sale.statusOf(first)).toBe('submitted');
    const request = sale.request(sale.buyer(4), AMOUNT, hash);
    const { body } = await sale.person.call('POST', '/v1/participations', request);
    expect(body.status).toBe('pending');
    sale.resumeMining();
    await saleWorker(sale).settle();
    expect([await sale.statusOf(first), await sale.statusOf(String(body.id))]).toEqual([
      'completed',
      'completed',
    ]);
  });

  test('must cover a commit whose cancellation is mined, because its participation is paid later', async () => {
    const buyer = sale.buyer(4);
    const first = await submitCommit(sale, 4, AMOUNT);
    await insertRequest(sale.app.ctx.db, (await firstAttempt(sale, first)).transaction, 'cancel');
    await saleWorker(sale).round();
    const hash = await buyer.approve(AMOUNT);
    await sale.mine(1);
    const request = sale.request(buyer, AMOUNT, hash);
    const reply = await sale.person.call('POST', '/v1/participations', request);
    sale.resumeMining();
    expect(refusal(reply)).toEqual(short(2n * AMOUNT, AMOUNT));
  });

  test('that is mined later lets its participation wait until it covers all of them', async () => {
    const buyer = sale.buyer(5);
    const { worker, settle } = saleWorker(sale);
    const first = String((await buy(buyer, AMOUNT)).body.id);
    sale.pauseMining();
    const second = String((await buy(buyer, AMOUNT)).body.id);
    expect(await sale.statusOf(second)).toBe('prepared');
    await sale.mine(1);
    sale.resumeMining();
    await checkPrepared(worker);
    expect(await sale.statusOf(second)).toBe('prepared');
    await settle();
    expect([await sale.statusOf(first), await sale.statusOf(second)]).toEqual(['completed', 'failed']);
    expect(await sale.reasonOf(second)).toBe('insufficient_allowance');
  });
});

test('the balance must cover the participations of the wallet that still have to be paid', async () => {
  const buyer = sale.buyer(0);
  const balance = await sale.chain.direct.readContract({
    ...{ address: sale.usdc, abi: token.abi },
    ...{ functionName: 'balanceOf', args: [buyer.address] },
  });
  const half = (balance as bigint) / 2n + 1n;
  const post = async () => {
    const hash = await buyer.approve(2n * half);
    return sale.person.call('POST', '/v1/participations', sale.request(buyer, half, hash));
  };
  expect((await post()).status).toBe(200);
  expect(refusal(await post())).toMatchObject({
    ...{ code: 'insufficient_balance', required: String(2n * half), balance: String(balance) },
  });
});
