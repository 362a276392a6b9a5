import { multicall3 } from '@causeway/contracts/abi/multicall3.ts';
import type { Hex } from 'viem';
import { hexToBigInt, isHex, numberToHex } from 'viem/utils';
import { ApiError } from '../../../kernel/errors.ts';
import { UpstreamFailure } from '../../outbound/failure.ts';
import { resultOf } from '../rpc/endpoint.ts';
import { findNodeError, rpcError } from '../rpc/failures.ts';
import type { EvmChain } from './client.ts';
import { contractCall } from './contract-call.ts';
import { INTERNAL_ERROR } from './protocol.ts';
import { describeRevert, revertData } from './revert.ts';

export async function callNode({ rpc }: EvmChain, method: string, params: unknown[]): Promise<unknown> {
  try {
    return await rpc.request({ method, params });
  } catch (error) {
    const data = revertData(error);
    if (data === undefined) throw error;
    throw new ApiError('contract_reverted', { reason: describeRevert(data) });
  }
}

/** Throws `contract_reverted` if the transaction would fail against the latest block. */
export async function simulate(
  chain: EvmChain,
  transaction: { from: Hex; to: Hex; data: Hex },
): Promise<void> {
  await callNode(chain, 'eth_call', [transaction, 'latest']);
}

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

export type Block = { number: bigint; hash: Hex };

type BlockTag = 'latest' | bigint;

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

/**
 * A reorganization is unlikely to undo `confirmed` blocks; `final` ones count as irreversible. A transaction that
 * failed or lost its nonce in a `released` block can no longer take effect, so its work can be sent again: do not use
 * `final` to decide that.
 */
export type Finality = { confirmed: bigint; final: bigint; released: bigint };

/** If the node reports no finalized block. Test chains need it, because their `refundDepth` is only 1. */
const RELEASE_BLOCKS = 64;

/**
 * With finality tags, uses the node's `safe` and `finalized` blocks: counting blocks would not work for a rollup,
 * whose blocks are settled by its parent chain. Otherwise counts blocks, using the depths in `chains.ts`.
 */
export async function readFinality(
  { rpc, facts: { confirmations, refundDepth, finalityTags } }: EvmChain,
  head: Block,
): Promise<Finality> {
  const atDepth = (depth: number) => head.number + 1n - BigInt(depth);
  const byDepth = {
    confirmed: atDepth(confirmations),
    final: atDepth(refundDepth),
    released: atDepth(Math.max(refundDepth, RELEASE_BLOCKS)),
  };
  if (!finalityTags) return byDepth;
  const replies = await rpc.batch(
    ['safe', 'finalized'].map((tag) => ({ method: 'eth_getBlockByNumber', params: [tag, false] })),
  );
  const [safe, finalized] = replies.map((reply) => {
    // Nodes without the block say so. A node that fails must not lower what counts as final.
    if ('error' in reply && (findNodeError(reply.error)?.code ?? INTERNAL_ERROR) === INTERNAL_ERROR)
      throw reply.error;
    const { number } = ('result' in reply ? (reply.result ?? {}) : {}) as { number?: unknown };
    return isHex(number) ? hexToBigInt(number) : null;
  });
  return {
    confirmed: safe ?? byDepth.confirmed,
    final: finalized ?? byDepth.final,
    released: finalized ?? byDepth.released,
  };
}

export type EventLog = { address: Hex; topics: Hex[]; data: Hex };

export type Receipt = {
  transactionHash: Hex;
  blockNumber: Hex;
  blockHash: Hex;
  status: Hex;
  gasUsed: Hex;
  /** Some nodes leave it out. */
  effectiveGasPrice?: Hex;
  logs: EventLog[];
};

/** Two receipts have the same digest if they agree on the transaction, its block, its status and its events. */
export function digestReceipt({ transactionHash, blockHash, status, logs }: Receipt): string {
  const events = logs.map(({ address, topics, data }) => [address, ...topics, data]);
  return `${transactionHash} ${JSON.stringify([blockHash, status, events]).toLowerCase()}`;
}

export async function readReceipts({ rpc }: EvmChain, hashes: readonly Hex[]): Promise<(Receipt | null)[]> {
  if (hashes.length === 0) return [];
  const replies = await rpc.batch(
    hashes.map((hash) => ({ method: 'eth_getTransactionReceipt', params: [hash] })),
  );
  return hashes.map((_, i) => resultOf(replies[i]) as Receipt | null);
}

/** Returns a message for each RPC endpoint that serves the wrong chain. Skips endpoints that do not respond. */
export async function findChainIdProblems(chain: EvmChain): Promise<string[]> {
  const heads = await chain.rpc.survey();
  return heads
    .filter(({ network }) => network !== String(chain.chainId))
    .map(
      ({ provider, network }) =>
        `RPC_URL_${chain.name.toUpperCase()}: the endpoint of ${provider} serves chain id ${network}, not ${chain.chainId}`,
    );
}
