import type { Hex } from 'viem';
import { erc6492SignatureValidatorAbi, erc6492SignatureValidatorByteCode, parseAbi } from 'viem';
import {
  bytesToHex,
  encodeDeployData,
  encodeFunctionData,
  isErc6492Signature,
  size,
  toHex,
} from 'viem/utils';
import { ApiError } from '../../../kernel/errors.ts';
import { UpstreamFailure } from '../../outbound/failure.ts';
import { rpcError } from '../rpc/failures.ts';
import type { EvmChain } from './client.ts';
import { callNode } from './node-reads.ts';

/**
 * Checks can make the node run arbitrary code. Enough for a Safe with many owners or a passkey verified in Solidity.
 */
const VALIDATION_GAS = toHex(10_000_000n);
const SUFFIX_BYTES = 32;
const ERC_1271 = parseAbi(['function isValidSignature(bytes32, bytes) view returns (bytes4)']);
/** For a valid signature, `isValidSignature` returns its own selector, padded to a word. */
const MAGIC_VALUE = `0x1626ba7e${'00'.repeat(28)}`;

/**
 * The contract may be deployed (ERC-1271, EIP-7702) or counterfactual (ERC-6492). Runs the ERC-6492 validator in one
 * `eth_call`. Throws if the node fails, unlike viem's `verifyHash`, which returns false.
 */
export async function isSignedByContract(
  chain: EvmChain,
  address: Hex,
  hash: Uint8Array,
  signature: Hex,
): Promise<boolean> {
  const code = await callNode(chain, 'eth_getCode', [address, 'latest']);
  if (code === '0x' && !isErc6492Signature(signature)) return false;
  if (size(signature) < SUFFIX_BYTES) return acceptsSignature(chain, address, hash, signature);
  const data = encodeDeployData({
    abi: erc6492SignatureValidatorAbi,
    bytecode: erc6492SignatureValidatorByteCode,
    args: [address, bytesToHex(hash), signature],
  });
  const result = await runValidator(chain, data);
  if (result === '0x01') return true;
  if (result === '0x00' || result === null) return false;
  throw rpcError(
    chain.name,
    new UpstreamFailure('invalid_response', 'the signature validator returned neither true nor false'),
  );
}

/** The ERC-6492 validator reverts for signatures that are shorter than the ERC-6492 suffix. */
async function acceptsSignature(
  chain: EvmChain,
  to: Hex,
  hash: Uint8Array,
  signature: Hex,
): Promise<boolean> {
  const data = encodeFunctionData({ abi: ERC_1271, args: [bytesToHex(hash), signature] });
  return (await runValidator(chain, data, to)) === MAGIC_VALUE;
}

async function runValidator(chain: EvmChain, data: Hex, to?: Hex): Promise<unknown> {
  const call = { ...(to !== undefined && { to }), data, gas: VALIDATION_GAS };
  try {
    return (await callNode(chain, 'eth_call', [call, 'latest'])) ?? undefined;
  } catch (error) {
    if (error instanceof ApiError && error.code === 'contract_reverted') return null;
    throw error;
  }
}
