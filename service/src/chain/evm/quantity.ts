import { hexToBigInt, isHex } from 'viem/utils';
import type { EvmChain } from './client.ts';

/** Sends an RPC call whose result is a quantity, such as `eth_getBalance`. */
export async function readQuantity({ rpc }: EvmChain, method: string, params: unknown[]): Promise<bigint> {
  const result = await rpc.request({ method, params });
  if (!isHex(result)) throw new Error(`${method} did not return a quantity`);
  return hexToBigInt(result);
}
