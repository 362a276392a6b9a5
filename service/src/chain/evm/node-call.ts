import { ApiError } from '../../errors.ts';
import { UpstreamFailure } from '../../outbound/failure.ts';
import { rpcError } from '../rpc/failures.ts';
import type { EvmChain } from './client.ts';
import { describeRevert, revertData } from './revert.ts';

/** Sends one RPC call. Throws `contract_reverted` if the call reverts, and an upstream error if the node rejects it. */
export async function callNode({ rpc, name }: EvmChain, method: string, params: unknown[]): Promise<unknown> {
  try {
    return await rpc.request({ method, params });
  } catch (error) {
    if (error instanceof ApiError) throw error;
    const data = revertData(error);
    if (data !== undefined) throw new ApiError('contract_reverted', { reason: describeRevert(data) });
    throw rpcError(
      name,
      new UpstreamFailure('invalid_response', `the node rejected ${method}`, { cause: error }),
    );
  }
}
