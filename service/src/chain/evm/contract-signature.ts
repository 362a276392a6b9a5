import type { Hex } from 'viem';
import { erc6492SignatureValidatorAbi, erc6492SignatureValidatorByteCode } from 'viem';
import { bytesToHex, encodeDeployData, isErc6492Signature, toHex } from 'viem/utils';
import { ApiError } from '../../errors.ts';
import { UpstreamFailure } from '../../outbound/failure.ts';
import type { EvmChain } from './client.ts';
import { rpcError } from './failures.ts';
import { revertData } from './revert.ts';

/** Enough for a Safe with many owners or a passkey checked in Solidity; a signature can make the node run any code. */
const GAS = toHex(10_000_000n);

/**
 * Whether the contract at `address`, deployed (ERC-1271, EIP-7702) or not yet (ERC-6492), accepts the signature. Asks
 * by the validator of ERC-6492 in one `eth_call`. Not by `verifyHash` of viem, for which a node that does not answer and
 * a contract that says no are the same: a failure of the node is thrown here and is never a no.
 */
export async function isSignedByContract(
  chain: EvmChain,
  address: Hex,
  hash: Uint8Array,
  signature: Hex,
): Promise<boolean> {
  const code = await ask(chain, 'eth_getCode', [address, 'latest']);
  if (code === '0x' && !isErc6492Signature(signature)) return false;
  const data = encodeDeployData({
    abi: erc6492SignatureValidatorAbi,
    bytecode: erc6492SignatureValidatorByteCode,
    args: [address, bytesToHex(hash), signature],
  });
  const answer = await ask(chain, 'eth_call', [{ data, gas: GAS }, 'latest']);
  if (answer === '0x01') return true;
  if (answer === '0x00' || answer === REVERTED) return false;
  throw rpcError(chain.name, new UpstreamFailure('invalid_response', 'neither yes nor no to a signature'));
}

const REVERTED = Symbol('reverted');

async function ask({ rpc, name }: EvmChain, method: string, params: unknown[]): Promise<unknown> {
  try {
    return await rpc.request({ method, params });
  } catch (error) {
    if (error instanceof ApiError) throw error;
    if (revertData(error) !== undefined) return REVERTED;
    throw rpcError(name, new UpstreamFailure('invalid_response', `${method} was refused`, { cause: error }));
  }
}
