import { ApiError } from '../../../kernel/errors.ts';
import type { EvmChain } from './client.ts';
import { describeRevert, revertData } from './revert.ts';

/** Sends one RPC call. Throws `contract_reverted` if the call reverts, and an upstream error if no node answers it. */
export async function callNode({ rpc }: EvmChain, method: string, params: unknown[]): Promise<unknown> {
  try {
    return await rpc.request({ method, params });
  } catch (error) {
    const data = revertData(error);
    if (data === undefined) throw error;
    throw new ApiError('contract_reverted', { reason: describeRevert(data) });
  }
}
