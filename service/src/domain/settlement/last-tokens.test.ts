import { token } from '@causeway/contracts/abi/token.ts';
import { roles } from '@causeway/sandbox/seed/keys.ts';
import { sql } from 'kysely';
import { createWalletClient, custom, type Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { sepolia } from 'viem/chains';
import { encodeFunctionData, keccak256, toHex } from 'viem/utils';
import { expect, test } from 'vitest';
import { saleWorker, UNIT } from '../../../test/support/sale.ts';
import { expectDatabaseToMatchFund, useSale } from '../../../test/support/settlement.ts';
import { person, proveWallets, userId } from '../../../test/support/wallets.ts';

/** Set `BUYERS=500` for the full test. */
const BUYERS = Number(process.env.BUYERS ?? 60);
const TOKENS = 10;
const PRICE = 2n * UNIT;

const sale = useSale();

/** Creates users, each with a wallet that holds `PRICE` and has approved the fund to spend it. */
async function makeBuyers() {
  const { chain, usdc, fund, app } = sale;
  const transport = custom(chain.chain);
  const deployer = createWalletClient({ account: roles.deployer, chain: sepolia, transport });
  const fees = { maxFeePerGas: 10n ** 12n, maxPriorityFeePerGas: 0n };
  let nonce = await chain.direct.getTransactionCount({ address: roles.deployer.address });
  const accounts = Array.from({ length: BUYERS }, (_, i) =>
    privateKeyToAccount(keccak256(toHex(`last ${i}`))),
  );
  const encode = (functionName: 'mint' | 'approve', to: Hex) =>
    encodeFunctionData({ abi: token.abi, functionName, args: [to, PRICE] });
  sale.pauseMining();
  for (const { address } of accounts)
    for (const payment of [
      { to: address, value: 10n ** 18n, gas: 21_000n },
      { to: usdc, data: encode('mint', address), gas: 100_000n },
    ])
      await deployer.sendTransaction({ ...payment, ...fees, nonce: nonce++ });
  await sale.mine(1 + Math.ceil(BUYERS / 200));
  const hashes: Hex[] = [];
  for (const account of accounts) {
    const data = encode('approve', fund);
    const raw = await account.signTransaction({
      ...{ type: 'eip1559', chainId: sepolia.id, nonce: 0, to: usdc, data, gas: 100_000n, ...fees },
    });
    hashes.push((await chain.chain.request({ method: 'eth_sendRawTransaction', params: [raw] })) as Hex);
  }
  await sale.mine(1 + Math.ceil(BUYERS / 200));
  sale.resumeMining();
  return Promise.all(
    accounts.map(async ({ address }, i) => {
      const caller = await person(app, { userId: userId(i) });
      await proveWallets(app.ctx, [address], { userId: userId(i) });
      const request = sale.request({ address: address.toLowerCase() }, PRICE, hashes[i] ?? '0x');
      return () => caller.call('POST', '/v1/participations', request);
    }),
  );
}

test(`${BUYERS} parallel buyers of the last ${TOKENS} tokens buy exactly ${TOKENS}`, async () => {
  const buy = await makeBuyers();
  await sql`update offer_options set price_usd = 2, total_token_supply = ${TOKENS} where id = ${sale.option}`.execute(
    sale.app.ctx.db,
  );
  const replies = await Promise.all(buy.map((each) => each()));
  const refused = replies.filter(({ status }) => status !== 200);
  expect(new Set(refused.map(({ body }) => body.code))).toEqual(new Set(['sold_out']));
  const worker = saleWorker(sale);
  await worker.settle();
  await worker.settle();
  const { rows } = await sql<{ status: string; count: number }>`
    select status, count(*)::int as count from participations where status <> 'failed' group by status`.execute(
    sale.app.ctx.db,
  );
  expect(rows).toEqual([{ status: 'completed', count: TOKENS }]);
  await expectDatabaseToMatchFund(sale);
}, 120_000);
