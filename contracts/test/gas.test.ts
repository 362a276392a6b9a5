import { readFileSync, writeFileSync } from 'node:fs';
import { type TransactionReceipt, zeroAddress } from 'viem';
import { expect, it } from 'vitest';
import { accounts, type Call, type Chain, now, send, startChain } from './chain.ts';
import { commit, commitMany, deployFund, option, remit } from './sale/fund.ts';
import { commitV2, deployFundV2, idOf, remitV2, rowOf } from './sale/fund-v2.ts';
import { allowAndFund, allowCall, deploySwap, deploySwapV1, offer, signPermission } from './swap/swap.ts';
import { deployTokenized, signedSwap } from './tokenized/swap.ts';
import { deployDollar, mintAndApprove } from './tokens.ts';

const file = new URL('../gas.json', import.meta.url);
const { alice, bob, operator } = accounts;

type Gas = Record<string, number>;
const used = ({ gasUsed }: TransactionReceipt) => Number(gasUsed);

async function measureSale(chain: Chain): Promise<Gas> {
  const fund = await deployFund(chain);
  const dollar = await deployDollar(chain);
  const users = [alice, bob];
  for (const user of users) await mintAndApprove(chain, dollar, user, fund.address, 10n ** 9n);
  const by = (call: Call) => send(chain, operator, call).then(used);
  const row = (user: typeof alice) => ({ user: user.address, token: dollar.address, amount: 1_000n });
  const refused = { ...row(alice), user: zeroAddress };
  const many = [users.map((user) => user.address), option, dollar.address, [500n, 500n]];
  return {
    'SaleFund.commit, first of a user': await by(commit(fund, alice.address, dollar.address, 1_000n)),
    'SaleFund.commit, next': await by(commit(fund, alice.address, dollar.address, 1_000n)),
    'SaleFund.commit, batch of 10': await by(
      commitMany(
        fund,
        Array(5)
          .fill([row(alice), row(bob)])
          .flat(),
      ),
    ),
    'SaleFund.commit, batch of 10, all fail': await by(commitMany(fund, Array(10).fill(refused))),
    'SaleFund.remit': await by(remit(fund, alice.address, dollar.address, 1_000n)),
    'SaleFund.remit, batch of 2': await by({ ...fund, functionName: 'remit', args: many }),
  };
}

async function measureSaleV2(chain: Chain): Promise<Gas> {
  const fund = await deployFundV2(chain);
  const dollar = await deployDollar(chain);
  const users = [alice, bob];
  for (const user of users) await mintAndApprove(chain, dollar, user, fund.address, 10n ** 9n);
  const by = (call: Call) => send(chain, operator, call).then(used);
  const row = (name: string | number, user = alice) =>
    rowOf(idOf(name), user.address, dollar.address, 1_000n);
  const batch = Array.from({ length: 10 }, (_, i) => row(i, users[i % 2]));
  return {
    'SaleFundV2.commit, first of a user': await by(commitV2(fund, row('first'))),
    'SaleFundV2.commit, next': await by(commitV2(fund, row('next'))),
    'SaleFundV2.commit, batch of 10': await by(commitV2(fund, batch)),
    'SaleFundV2.commit, batch of 10, all fail': await by(commitV2(fund, batch)),
    'SaleFundV2.remit': await by(remitV2(fund, row('first'))),
  };
}

async function measureFundSwap(chain: Chain): Promise<Gas> {
  const gas: Gas = {};
  const generations = { FundSwap: await deploySwap(chain), FundSwapV1: await deploySwapV1(chain) };
  for (const [name, { swap, dollar }] of Object.entries(generations)) {
    const permission = { wallet: bob.address, offer, nonce: 0n, deadline: (await now(chain)) + 600n };
    const signature = await signPermission(chain, swap.address, permission);
    gas[`${name}.allow`] = used(await send(chain, bob, allowCall(swap, permission, signature)));
    await allowAndFund(chain, swap.address, dollar, alice, 10n ** 9n);
    const call = { ...swap, functionName: 'swap', args: [dollar.address, 10n ** 7n, 1n] };
    gas[`${name}.swap, first of a user`] = used(await send(chain, alice, call));
    gas[`${name}.swap, next`] = used(await send(chain, alice, call));
  }
  return gas;
}

async function measureTokenized(chain: Chain): Promise<Gas> {
  const deployment = await deployTokenized(chain);
  // Fixed attestation ids keep the figures reproducible. The gas depends on the bytes of the id and its signature.
  const by = async (overrides: Parameters<typeof signedSwap>[2]) =>
    used(await send(chain, alice, await signedSwap(chain, deployment, overrides)));
  return {
    'TokenizedSwap.swap, buy, first of a user': await by({ quote: { attestationId: 1n } }),
    'TokenizedSwap.swap, buy, next': await by({ quote: { attestationId: 2n }, request: { nonce: 1n } }),
    'TokenizedSwap.swap, sell': await by({ quote: { attestationId: 3n, side: 1 }, request: { amount: 0n } }),
  };
}

it('gas costs match gas.json (UPDATE_GAS=1 rewrites it)', async () => {
  const measured = {
    ...(await measureSale(await startChain())),
    ...(await measureSaleV2(await startChain())),
    ...(await measureFundSwap(await startChain())),
    ...(await measureTokenized(await startChain())),
  };
  if (process.env.UPDATE_GAS === '1') writeFileSync(file, `${JSON.stringify(measured, null, 2)}\n`);
  expect(measured).toEqual(JSON.parse(readFileSync(file, 'utf8')));
});
