import { encodeFunctionData, type Hex, parseAbi } from 'viem';

/** What the contestants are asked for: the same previews of the same contract. */
export type ReadsSetting = { rpcUrl: string; swap: Hex; token: Hex };

export const previewAbi = parseAbi([
  'function preview(address inputToken, uint256 amount) view returns (uint256 input, uint256 fee, uint256 output)',
]);

export function readSetting(): ReadsSetting {
  return JSON.parse(process.argv[2] ?? '{}');
}

export function previewPath({ swap, token }: ReadsSetting, amount: bigint): string {
  return `/v1/swap/preview?chain=ethereum_sepolia&contract_address=${swap}&input_token=${token}&amount=${amount}`;
}

/** The RPC's own time for one such read. */
export async function askNode({ rpcUrl, swap, token }: ReadsSetting, amount: bigint): Promise<void> {
  const data = encodeFunctionData({ abi: previewAbi, args: [token, amount] });
  const body = { jsonrpc: '2.0', id: 1, method: 'eth_call', params: [{ to: swap, data }, 'latest'] };
  const reply = await fetch(rpcUrl, { method: 'POST', body: JSON.stringify(body) });
  await reply.json();
}
