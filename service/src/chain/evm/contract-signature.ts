import type { Hex } from 'viem';
import { erc6492SignatureValidatorAbi, erc6492SignatureValidatorByteCode } from 'viem';
import { bytesToHex, encodeDeployData, isErc6492Signature, toHex } from 'viem/utils';
import { ApiError } from '../../errors.ts';
import { UpstreamFailure } from '../../outbound/failure.ts';
import type { EvmChain } from './client.ts';
import { rpcError } from './failures.ts';
import { callNode } from './node-call.ts';

/** A signature can make the node run arbitrary code. This is enough for a Safe with many owners or a Solidity passkey. */
const VALIDATION_GAS = toHex(10_000_000n);

/**
 * Returns whether the contract at `address`, deployed (ERC-1271, EIP-7702) or counterfactual (ERC-6492), accepts the
 * signature, by running the ERC-6492 validator in one `eth_call`. viem's `verifyHash` also returns false if the node
 * fails; this function throws instead.
 */
export async function isSignedByContract(
  chain: EvmChain,
  address: Hex,
  hash: Uint8Array,
  signature: Hex,
): Promise<boolean> {
  const code = await callNode(chain, 'eth_getCode', [address, 'latest']);
  if (code === '0x' && !isErc6492Signature(signature)) return false;
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

/** Returns null if the validator reverts. */
async function runValidator(chain: EvmChain, data: Hex): Promise<unknown> {
  try {
    return (await callNode(chain, 'eth_call', [{ data, gas: VALIDATION_GAS }, 'latest'])) ?? undefined;
  } catch (error) {
    if (error instanceof ApiError && error.code === 'contract_reverted') return null;
    throw error;
  }
}
