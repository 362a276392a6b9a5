import { multicall3 } from '@causeway/contracts/abi/multicall3.ts';
import type { Hex } from 'viem';
import { hexToBigInt, isHex, numberToHex } from 'viem/utils';
import { ApiError } from '../../../kernel/errors.ts';
import { UpstreamFailure } from '../../outbound/failure.ts';
import { rpcError } from '../rpc/failures.ts';
import { resultOf } from '../rpc/reply.ts';
import type { EvmChain } from './client.ts';
import { contractCall } from './contract-call.ts';
import { callNode } from './node-call.ts';

export type Block = { number: bigint; hash: Hex };

export type BlockTag = 'latest' | bigint;

/** Reads the blocks in one batch, so that all of them come from the same node. Throws if a block is missing. */
export async function readBlocks<const Tags extends readonly BlockTag[]>(
  { rpc, name }: EvmChain,
  tags: Tags,
): Promise<{ [Index in keyof Tags]: Block }> {
  const params = tags.map((tag) => (tag === 'latest' ? tag : numberToHex(tag)));
  const replies = await rpc.batch(
    params.map((tag) => ({ method: 'eth_getBlockByNumber', params: [tag, false] })),
  );
  const blocks = params.map((tag, i) => {
    const block = resultOf(replies[i]) as { number: Hex; hash: Hex } | null;
    // A missing block does not prove that a reorganization removed it: the node may just lag behind.
    if (block === null)
      throw rpcError(name, new UpstreamFailure('invalid_response', `there is no block ${tag}`));
    return { number: hexToBigInt(block.number), hash: block.hash };
  });
  return blocks as { [Index in keyof Tags]: Block };
}

/** Returns the timestamp of the latest block in seconds since the epoch. */
export async function readChainTime(chain: EvmChain): Promise<bigint> {
  const block = await callNode(chain, 'eth_getBlockByNumber', ['latest', false]);
  const timestamp = (block as { timestamp?: unknown } | null)?.timestamp;
  if (isHex(timestamp) && timestamp !== '0x') return BigInt(timestamp);
  throw rpcError(chain.name, new UpstreamFailure('invalid_response', 'the block has no timestamp'));
}

/** Returns the number of a recent block. If the chain has a multicall contract, batches this read with other reads. */
export async function readBlockNumber({ rpc, reader, facts: { multicall } }: EvmChain): Promise<bigint> {
  const requestNumber = async () => BigInt(String(await rpc.request({ method: 'eth_blockNumber' })));
  if (multicall === null) return requestNumber();
  const call = contractCall(multicall, multicall3.abi, 'getBlockNumber', []);
  return reader.read(call).catch((error: unknown) => {
    if (error instanceof ApiError && error.status === 422) return requestNumber();
    throw error;
  });
}
