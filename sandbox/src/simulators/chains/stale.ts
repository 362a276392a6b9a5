import { numberToHex } from 'viem/utils';
import { RpcError } from '../rpc-error.ts';
import type { Chain } from './chain.ts';
import type { RpcRequest } from './evm.ts';

const BLOCKS_BEHIND = 50;

/** The index of the block parameter in each method's parameters. */
const BLOCK_PARAMETER: Record<string, number> = {
  eth_call: 1,
  eth_estimateGas: 1,
  eth_getBalance: 1,
  eth_getCode: 1,
  eth_getStorageAt: 2,
  eth_getTransactionCount: 1,
  eth_getBlockByNumber: 0,
};

/** Handles a request as if the node had stopped following the chain 50 blocks ago. */
export async function requestStale(chain: Chain, { method, params }: RpcRequest): Promise<unknown> {
  const head = Math.max(0, chain.height() - BLOCKS_BEHIND);
  if (method === 'eth_blockNumber') return numberToHex(head);
  const list = Array.isArray(params) ? [...params] : [];
  const index = BLOCK_PARAMETER[method];
  if (index !== undefined) {
    const tag = list[index] ?? 'latest';
    if (typeof tag === 'string' && !tag.startsWith('0x'))
      list[index] = tag === 'earliest' ? tag : numberToHex(head);
    else if (typeof tag === 'string' && Number(tag) > head) {
      if (method === 'eth_getBlockByNumber') return null;
      throw new RpcError(-32_000, 'header not found');
    }
  }
  const result = await chain.request({ method, params: list });
  return isAfter(result, head) ? null : result;
}

function isAfter(result: unknown, head: number): boolean {
  const { blockNumber } = (result ?? {}) as { blockNumber?: unknown };
  return typeof blockNumber === 'string' && Number(blockNumber) > head;
}
