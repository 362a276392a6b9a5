import { encodeFunctionData, type Hex, parseAbi } from 'viem';

/** The chain and the swap contract from which all targets read previews of swaps. */
export type ReadsInput = { rpcUrl: string; swap: Hex; token: Hex };

export const previewAbi = parseAbi([
  'function preview(address inputToken, uint256 amount) view returns (uint256 input, uint256 fee, uint256 output)',
]);

export function readInput(): ReadsInput {
  return JSON.parse(process.argv[2] ?? '{}');
}

export function previewPath({ swap, token }: ReadsInput, amount: bigint): string {
  return `/v1/swap/preview?chain=ethereum_sepolia&contract_address=${swap}&input_token=${token}&amount=${amount}`;
}

/** Reads the preview directly from the chain's node, as a baseline. */
export async function readFromNode({ rpcUrl, swap, token }: ReadsInput, amount: bigint): Promise<void> {
  const data = encodeFunctionData({ abi: previewAbi, args: [token, amount] });
  const body = { jsonrpc: '2.0', id: 1, method: 'eth_call', params: [{ to: swap, data }, 'latest'] };
  const reply = await fetch(rpcUrl, { method: 'POST', body: JSON.stringify(body) });
  await reply.json();
}
