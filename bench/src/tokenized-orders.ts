import type { Outside } from '@causeway/sandbox/start-outside.ts';
import { createWalletClient, type Hex, http, maxUint256, parseAbi } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { sepolia } from 'viem/chains';

/** A target that tells what it did so far. */
export type Measured = { url: string; headers: Record<string, string>; statsUrl: string };

const WARM_UP = 80;
const COUNTED = 80;
const AMOUNT = '10050000';
const abi = parseAbi(['function approve(address spender, uint256 amount)']);

/** Milliseconds of the service's own CPU time for a transaction; each has a wallet of its own, because one may have one. */
export async function measureTransactions(outside: Outside, target: Measured): Promise<number> {
  const wallets: Hex[] = [];
  for (let count = 0; count < WARM_UP + COUNTED; count++) wallets.push(await makeWallet(outside));
  for (const wallet of wallets.slice(0, WARM_UP)) await order(target, wallet);
  const before = await cpu(target);
  for (const wallet of wallets.slice(WARM_UP)) await order(target, wallet);
  return ((await cpu(target)) - before) / 1000 / COUNTED;
}

async function makeWallet({ chains, control }: Outside): Promise<Hex> {
  const [chain] = chains;
  const account = privateKeyToAccount(generatePrivateKey());
  const payment = { chain: 'ethereum_sepolia', address: account.address } as const;
  await control.call('chains/faucet', { ...payment, amount: (10n ** 18n).toString() });
  await control.call('chains/faucet', { ...payment, asset_id: 'usd-coin', amount: '1000000000' });
  const client = createWalletClient({ chain: sepolia, transport: http(chain?.rpc_url), account });
  await client.writeContract({
    address: chain?.deployment.tokens[0]?.address as Hex,
    abi,
    functionName: 'approve',
    args: [chain?.deployment.venue?.swap as Hex, maxUint256],
  });
  return account.address;
}

async function order({ url, headers }: Measured, wallet_address: Hex): Promise<void> {
  const reply = await fetch(`${url}/v1/tokenized/swap/transaction`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ amount: AMOUNT, chain: 'ethereum_sepolia', symbol: 'AAPLon', wallet_address }),
  });
  if (reply.status !== 200) throw new Error(`no transaction: ${await reply.text()}`);
  await reply.arrayBuffer();
}

/** Microseconds, user and system. */
async function cpu({ statsUrl }: Measured): Promise<number> {
  const { cpu } = (await (await fetch(statsUrl)).json()) as { cpu: NodeJS.CpuUsage };
  return cpu.user + cpu.system;
}
