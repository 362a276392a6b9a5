import { hexToBigInt, isHex } from 'viem/utils';
import { UpstreamFailure } from '../../outbound/failure.ts';
import { rpcError } from '../rpc/failures.ts';
import type { EvmChain } from './client.ts';

/** Sends an RPC call whose result is a quantity, such as `eth_getBalance`. */
export async function readQuantity(
  { rpc, name }: EvmChain,
  method: string,
  params: unknown[],
): Promise<bigint> {
  const result = await rpc.request({ method, params });
  if (!isHex(result))
    throw rpcError(name, new UpstreamFailure('invalid_response', `${method} did not return a quantity`));
  return hexToBigInt(result);
}
