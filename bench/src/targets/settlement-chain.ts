import { token } from '@causeway/contracts/abi/token.ts';
import { roles } from '@causeway/sandbox/seed/keys.ts';
import type { ChainDeployment } from '@causeway/sandbox/simulators/chains/deploy.ts';
import { encodeCommit } from '@causeway/service/platform/chain/evm/sale-fund.ts';
import { createWalletClient, custom, type Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { sepolia } from 'viem/chains';
import { encodeFunctionData, keccak256, numberToHex, toHex } from 'viem/utils';
import { startTestChain } from '../../../service/test/support/chain.ts';
import { UNIT } from '../../../service/test/support/sale.ts';
import { readInput } from './input.ts';

type Approval = { address: Hex; hash: Hex };

export type SettlementChain = {
  url: string;
  deployment: ChainDeployment;
  fund: Hex;
  usdc: Hex;
  approvals: Approval[];
  /** The average gas of a commit with a single participation. */
  singleGas: number;
};

/** The operator's first nonce, as if it had sent as many transactions before. Its early nonces cost less gas. */
const PAST_NONCES = 10_000;
const SINGLE_COMMITS = 50;
const WALLETS_PER_BLOCK = 100;
const FEES = { maxFeePerGas: 10n ** 12n, maxPriorityFeePerGas: 0n };

const { wallets, blockMs } = await readInput<{ wallets: number; blockMs: number }>();
const { chain, direct, deployment, addNode } = await startTestChain();
const { url } = await addNode();
const transport = custom(chain);
const deployer = createWalletClient({ account: roles.deployer, chain: sepolia, transport });
const operator = createWalletClient({ account: roles.operator, chain: sepolia, transport });
const usdc = deployment.tokens.find(({ asset_id }) => asset_id === 'usd-coin')?.address ?? '0x';
// The single commits go to another fund. In the one that the service settles, it would stop for commits that are not
// its own.
const { open: fund, other } = deployment.sale_funds;
await chain.request({
  method: 'hardhat_setNonce',
  params: [roles.operator.address, numberToHex(PAST_NONCES)],
});
const approvals = await approveAll('wallet', fund, wallets);
const singleGas = await commitOneByOne(other, await approveAll('single', other, SINGLE_COMMITS));
chain.setBlockInterval(blockMs);
process.send?.({ url, deployment, fund, usdc, approvals, singleGas } satisfies SettlementChain);

/** Gives new wallets gas and a dollar, and lets each approve the fund. Mines a block per hundred wallets. */
async function approveAll(name: string, spender: Hex, count: number): Promise<Approval[]> {
  const approved: Approval[] = [];
  let nonce = await direct.getTransactionCount({ address: roles.deployer.address });
  chain.setBlockInterval(1e8);
  for (let i = 0; i < count; i += WALLETS_PER_BLOCK) {
    const accounts = Array.from({ length: Math.min(WALLETS_PER_BLOCK, count - i) }, (_, j) =>
      privateKeyToAccount(keccak256(toHex(`bench ${name} ${i + j}`))),
    );
    for (const { address } of accounts) {
      const data = encodeFunctionData({ abi: token.abi, functionName: 'mint', args: [address, UNIT] });
      for (const payment of [
        { to: address, value: 10n ** 18n, gas: 21_000n },
        { to: usdc, data, gas: 100_000n },
      ])
        await deployer.sendTransaction({ ...payment, ...FEES, nonce: nonce++ });
    }
    await chain.mine(1);
    for (const account of accounts) {
      const data = encodeFunctionData({ abi: token.abi, functionName: 'approve', args: [spender, UNIT] });
      const raw = await account.signTransaction({
        ...{ type: 'eip1559', chainId: sepolia.id, nonce: 0, to: usdc, data, gas: 100_000n, ...FEES },
      });
      await chain.request({ method: 'eth_sendRawTransaction', params: [raw] });
      approved.push({ address: account.address.toLowerCase() as Hex, hash: keccak256(raw) });
    }
    await chain.mine(1);
  }
  chain.setBlockInterval(0);
  return approved;
}

/** Returns the average gas. Each commit mines a block; these blocks also confirm the approvals. */
async function commitOneByOne(to: Hex, users: Approval[]): Promise<number> {
  let gas = 0n;
  for (const { address: user, hash: commitment } of users) {
    const optionId = '00000000-0000-7000-8000-000000000000';
    const data = encodeCommit([{ commitment, user, optionId, token: usdc, amount: UNIT }], 'single', 1);
    const hash = await operator.sendTransaction({ to, data, gas: 500_000n });
    gas += (await direct.getTransactionReceipt({ hash })).gasUsed;
  }
  return Number(gas) / users.length;
}
