import { setTimeout as sleep } from 'node:timers/promises';
import { token } from '@causeway/contracts/abi/token.ts';
import { roles } from '@causeway/sandbox/seed/keys.ts';
import { encodeCommit, type FundGeneration } from '@causeway/service/chain/evm/sale-fund.ts';
import { newId } from '@causeway/service/http/ids.ts';
import { toTimestamp } from '@causeway/service/http/wire.ts';
import { deriveSandboxKey } from '@causeway/service/operator/sandbox-keys.ts';
import { startSettlement } from '@causeway/service/settlement/settlement.ts';
import { createWalletClient, custom, type Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { sepolia } from 'viem/chains';
import { encodeFunctionData, hexToBytes, keccak256, toHex } from 'viem/utils';
import { startTestChain, type TestChain } from '../../service/test/support/chain.ts';
import { makeFundV2 } from '../../service/test/support/fund-v2.ts';
import { makeOffer } from '../../service/test/support/offers.ts';
import { saleOfferFile } from '../../service/test/support/sale.ts';
import { makeUser, partnerOf } from '../../service/test/support/tokens.ts';
import { proveWallets } from '../../service/test/support/wallets.ts';
import { benchContext } from './context.ts';

const UNIT = 1_000_000n;
const SINGLE_COMMITS = 50;
const WALLETS_PER_BLOCK = 100;

/** Sent to the parent process, which then stops this process. CPU time includes the simulated chain. */
export type GasFigures = {
  single: number;
  batched: number;
  transactions: number;
  seconds: number;
  cpuMsPerRow: number;
};

/**
 * How the simulated chain behaves: the generation of the fund, the milliseconds between two blocks (0 mines on demand) and
 * the number of blocks until a commit is confirmed.
 */
type ChainModel = { generation: FundGeneration; blockMs: number; confirmations: number };

/**
 * Measures the gas per participation: `count` new users settled in batches by the worker, and
 * `SINGLE_COMMITS` more with one commit each.
 */
async function measureGas(
  count: number,
  { generation, blockMs, confirmations }: ChainModel,
): Promise<GasFigures> {
  const chain = await startTestChain();
  const node = await chain.addNode();
  const { ctx } = await benchContext({
    rpcUrls: { ethereum_sepolia: [node.url] },
    operatorKey: { kind: 'local', privateKey: Buffer.from(hexToBytes(deriveSandboxKey('operator'))) },
  });
  const fund = generation === 2 ? await makeFundV2(chain) : chain.deployment.sale_funds.open;
  const offer = await makeOffer(ctx, saleOfferFile(chain.deployment, fund));
  const option = offer.options[0]?.id ?? '';
  const evm = ctx.chains.evm('ethereum_sepolia');
  evm.facts = { ...evm.facts, confirmations };
  const usdc = chain.deployment.tokens.find(({ asset_id }) => asset_id === 'usd-coin')?.address ?? '0x';
  const approvals = await approveAll(chain, fund, usdc, count + SINGLE_COMMITS);
  const single = await commitOneByOne(chain, fund, usdc, option, approvals.slice(count), generation);

  const userId = await makeUser(ctx);
  const now = toTimestamp(ctx.clock.micros());
  const rows = approvals.slice(0, count).map(({ address, hash }) => ({
    ...{ id: newId(ctx.clock, ctx.random), partner_id: partnerOf('partner-one'), user_id: userId },
    ...{ offer_id: offer.id, offer_option_id: option, status: 'pending' as const, reason: null },
    ...{
      amount: String(UNIT),
      asset_id: 'usd-coin',
      asset_code: 'USDC',
      asset_name: 'USD Coin',
      asset_digits: 6,
    },
    ...{ chain: 'ethereum_sepolia', wallet_address: address, fund_address: fund, token_address: usdc },
    ...{ approval_hash: Buffer.from(hexToBytes(hash)), prepared_at: now, inserted_at: now, updated_at: now },
  }));
  for (let i = 0; i < count; i += 500) {
    const chunk = rows.slice(i, i + 500);
    await ctx.db.insertInto('participations').values(chunk).execute();
    await proveWallets(
      ctx,
      chunk.map((row) => row.wallet_address),
    );
  }
  chain.chain.setBlockInterval(blockMs);
  const start = performance.now();
  const cpuStart = process.cpuUsage();
  const settlement = await startSettlement(ctx);
  const countUnsettled = async () =>
    (await ctx.db.selectFrom('participations').select('id').where('status', '<>', 'completed').execute())
      .length;
  while ((await countUnsettled()) > 0) await sleep(200);
  const seconds = (performance.now() - start) / 1000;
  const { user, system } = process.cpuUsage(cpuStart);
  await settlement.stop();
  const mined = await ctx.db.selectFrom('operator_transactions').select('mined_hash').execute();
  let gas = 0n;
  for (const { mined_hash } of mined)
    gas += (await chain.direct.getTransactionReceipt({ hash: toHex(mined_hash ?? Buffer.alloc(0)) })).gasUsed;
  return {
    single,
    batched: Number(gas) / count,
    transactions: mined.length,
    seconds: Math.round(seconds),
    cpuMsPerRow: (user + system) / 1000 / count,
  };
}

type ApprovedWallet = { address: Hex; hash: Hex };

/** Funds wallets and has them approve, a hundred per block: one transaction per block would take too long. */
async function approveAll(chain: TestChain, fund: Hex, usdc: Hex, count: number): Promise<ApprovedWallet[]> {
  const transport = custom(chain.chain);
  const deployer = createWalletClient({ account: roles.deployer, chain: sepolia, transport });
  const approved: ApprovedWallet[] = [];
  const fees = { maxFeePerGas: 10n ** 12n, maxPriorityFeePerGas: 0n };
  let nonce = await chain.direct.getTransactionCount({ address: roles.deployer.address });
  chain.chain.setBlockInterval(1e8);
  for (let i = 0; i < count; i += WALLETS_PER_BLOCK) {
    const accounts = Array.from({ length: Math.min(WALLETS_PER_BLOCK, count - i) }, (_, j) =>
      privateKeyToAccount(keccak256(toHex(`bench wallet ${i + j}`))),
    );
    for (const { address } of accounts) {
      const mint = encodeFunctionData({ abi: token.abi, functionName: 'mint', args: [address, UNIT] });
      for (const payment of [
        { to: address, value: 10n ** 18n, gas: 21_000n },
        { to: usdc, data: mint, gas: 100_000n },
      ])
        await deployer.sendTransaction({ ...payment, ...fees, nonce: nonce++ });
    }
    await chain.chain.mine(1);
    for (const account of accounts) {
      const data = encodeFunctionData({ abi: token.abi, functionName: 'approve', args: [fund, UNIT] });
      const raw = await account.signTransaction({
        ...{ type: 'eip1559', chainId: sepolia.id, nonce: 0, to: usdc, data, gas: 100_000n, ...fees },
      });
      await chain.chain.request({ method: 'eth_sendRawTransaction', params: [raw] });
      approved.push({ address: account.address.toLowerCase() as Hex, hash: keccak256(raw) });
    }
    await chain.chain.mine(1);
  }
  chain.chain.setBlockInterval(0);
  return approved;
}

async function commitOneByOne(
  chain: TestChain,
  fund: Hex,
  usdc: Hex,
  option: string,
  users: ApprovedWallet[],
  generation: FundGeneration,
): Promise<number> {
  const operator = createWalletClient({
    account: roles.operator,
    chain: sepolia,
    transport: custom(chain.chain),
  });
  let gas = 0n;
  for (const { address, hash: commitment } of users) {
    const row = { commitment, user: address, optionId: option, token: usdc, amount: UNIT };
    const data = encodeCommit([row], 'single', generation);
    const hash = await operator.sendTransaction({ to: fund, data, gas: 500_000n });
    gas += (await chain.direct.getTransactionReceipt({ hash })).gasUsed;
  }
  return Number(gas) / users.length;
}

const [count = 1_000, generation = 1, blockMs = 0, confirmations = 1] = process.argv.slice(2).map(Number);
process.send?.(await measureGas(count, { generation: generation === 2 ? 2 : 1, blockMs, confirmations }));
