import type { Hex } from 'viem';
import { hashTypedData, parseAbi } from 'viem/utils';
import { ApiError } from '../../errors.ts';
import { UpstreamFailure } from '../../outbound/failure.ts';
import type { EvmChain } from './client.ts';
import { rpcError } from './failures.ts';
import { contractCall } from './reads.ts';
import { describeRevert, revertData } from './revert.ts';

export const allowListAbi = parseAbi([
  'function nonces(address wallet) view returns (uint256)',
  'function eip712Domain() view returns (bytes1 fields, string name, string version, uint256 chainId, address verifyingContract, bytes32 salt, uint256[] extensions)',
  'function allow(address wallet, bytes32 offer, uint256 deadline, bytes signature)',
]);

const TYPES = {
  AllowWallet: [
    { name: 'wallet', type: 'address' },
    { name: 'offer', type: 'bytes32' },
    { name: 'nonce', type: 'uint256' },
    { name: 'deadline', type: 'uint256' },
  ],
} as const;

export type Permission = { wallet: Hex; offer: Hex; deadline: bigint };

/** What the supplier signs, for this contract on this chain and the wallet's present nonce. */
export async function hashPermission(chain: EvmChain, contract: Hex, permission: Permission): Promise<Hex> {
  const { reader, chainId, memoize } = chain;
  const [nonce, [, name, version]] = await Promise.all([
    reader.read(contractCall(contract, allowListAbi, 'nonces', [permission.wallet])),
    memoize(`domain ${contract}`, () =>
      reader.read(contractCall(contract, allowListAbi, 'eip712Domain', [])),
    ),
  ]);
  // The name is the contract's to say; the chain and the address are ours, so that nothing else can be signed for.
  return hashTypedData({
    domain: { name, version, chainId, verifyingContract: contract },
    types: TYPES,
    primaryType: 'AllowWallet',
    message: { ...permission, nonce },
  });
}

/** Seconds since the epoch in the newest block. */
export async function readChainTime(chain: EvmChain): Promise<bigint> {
  const block = await call(chain, 'eth_getBlockByNumber', ['latest', false]);
  const timestamp = (block as { timestamp?: unknown } | null)?.timestamp;
  if (typeof timestamp === 'string' && /^0x[0-9a-f]+$/i.test(timestamp)) return BigInt(timestamp);
  throw rpcError(chain.name, new UpstreamFailure('invalid_response', 'a block without a time'));
}

/** Throws `contract_reverted` when the transaction would fail now. */
export async function simulate(
  chain: EvmChain,
  transaction: { from: Hex; to: Hex; data: Hex },
): Promise<void> {
  await call(chain, 'eth_call', [transaction, 'latest']);
}

async function call({ rpc, name }: EvmChain, method: string, params: unknown[]): Promise<unknown> {
  try {
    return await rpc.request({ method, params });
  } catch (error) {
    if (error instanceof ApiError) throw error;
    const data = revertData(error);
    if (data !== undefined) throw new ApiError('contract_reverted', { reason: describeRevert(data) });
    throw rpcError(name, new UpstreamFailure('invalid_response', `${method} was refused`, { cause: error }));
  }
}
