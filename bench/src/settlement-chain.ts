import { token } from '@causeway/contracts/abi/token.ts';
import { roles } from '@causeway/sandbox/seed/keys.ts';
import type { ChainDeployment } from '@causeway/sandbox/simulators/chains/deploy.ts';
import { encodeCommit, type FundGeneration } from '@causeway/service/chain/evm/sale-fund.ts';
import { createWalletClient, custom, type Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { sepolia } from 'viem/chains';
import { encodeFunctionData, keccak256, numberToHex, toHex } from 'viem/utils';
import { startTestChain, type TestChain } from '../../service/test/support/chain.ts';
import { makeFundV2 } from '../../service/test/support/fund-v2.ts';
import { UNIT } from '../../service/test/support/sale.ts';

/** The operator's first nonce, as if the operator had already sent 10,000 transactions. */
const PAST_NONCES = 10_000;
const SINGLE_COMMITS = 50;
const WALLETS_PER_BLOCK = 100;

export type ApprovedWallet = { address: Hex; hash: Hex };

/** A chain that runs in its own process, so that its CPU time does not count as the service's. */
export type SettlementChain = {
  url: string;
  pid: number;
  deployment: ChainDeployment;
  fund: Hex;
  usdc: Hex;
  approvals: ApprovedWallet[];
  /** The average gas for an on-chain commit with a single row (one participation). */
  single: number;
};

/**
 * Sends gas and dollars to new wallets and has each wallet approve the fund. Mines the transactions of a hundred
 * wallets together, because mining a block per transaction would take too long.
 */
async function approveAll(
  chain: TestChain,
  name: string,
  fund: Hex,
  usdc: Hex,
  count: number,
  amount: bigint,
) {
  const transport = custom(chain.chain);
  const deployer = createWalletClient({ account: roles.deployer, chain: sepolia, transport });
  const approved: ApprovedWallet[] = [];
  const fees = { maxFeePerGas: 10n ** 12n, maxPriorityFeePerGas: 0n };
  let nonce = await chain.direct.getTransactionCount({ address: roles.deployer.address });
  chain.chain.setBlockInterval(1e8);
  for (let i = 0; i < count; i += WALLETS_PER_BLOCK) {
    const accounts = Array.from({ length: Math.min(WALLETS_PER_BLOCK, count - i) }, (_, j) =>
      privateKeyToAccount(keccak256(toHex(`bench ${name} ${i + j}`))),
    );
    for (const { address } of accounts) {
      const mint = encodeFunctionData({ abi: token.abi, functionName: 'mint', args: [address, amount] });
      for (const payment of [
        { to: address, value: 10n ** 18n, gas: 21_000n },
        { to: usdc, data: mint, gas: 100_000n },
      ])
        await deployer.sendTransaction({ ...payment, ...fees, nonce: nonce++ });
    }
    await chain.chain.mine(1);
    for (const account of accounts) {
      const data = encodeFunctionData({ abi: token.abi, functionName: 'approve', args: [fund, amount] });
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
  users: ApprovedWallet[],
  generation: FundGeneration,
): Promise<number> {
  const transport = custom(chain.chain);
  const operator = createWalletClient({ account: roles.operator, chain: sepolia, transport });
  let gas = 0n;
  for (const { address, hash: commitment } of users) {
    const optionId = '00000000-0000-7000-8000-000000000000';
    const row = { commitment, user: address, optionId, token: usdc, amount: UNIT };
    const data = encodeCommit([row], 'single', generation);
    const hash = await operator.sendTransaction({ to: fund, data, gas: 500_000n });
    gas += (await chain.direct.getTransactionReceipt({ hash })).gasUsed;
  }
  return Number(gas) / users.length;
}

const [count = 1_000, units = 1, generation = 1, blockMs = 0] = process.argv.slice(2).map(Number);
const chain = await startTestChain();
const node = await chain.addNode();
const { open, other } = chain.deployment.sale_funds;
// The single-row commits go to a separate fund. If they went to the fund that the service settles, the service would
// mistake them for its own commits that are missing from its records, and would pause the offer.
const [fund, singleFund] =
  generation === 2 ? [await makeFundV2(chain), await makeFundV2(chain)] : [open, other];
const usdc = chain.deployment.tokens.find(({ asset_id }) => asset_id === 'usd-coin')?.address ?? '0x';
const nonce = numberToHex(PAST_NONCES);
await chain.chain.request({ method: 'hardhat_setNonce', params: [roles.operator.address, nonce] });
const approvals = await approveAll(chain, 'wallet', fund, usdc, count, BigInt(units) * UNIT);
const others = await approveAll(chain, 'single', singleFund, usdc, SINGLE_COMMITS, UNIT);
// Each single-row commit mines a block. These blocks also confirm all approvals.
const single = await commitOneByOne(chain, singleFund, usdc, others, generation === 2 ? 2 : 1);
chain.chain.setBlockInterval(blockMs);
const ready: SettlementChain = {
  ...{ url: node.url, pid: process.pid, deployment: chain.deployment, fund, usdc, approvals, single },
};
process.send?.(ready);
process.on('disconnect', () => process.exit());
