import type { EvmChain } from './client.ts';
import { callNode } from './node-call.ts';

/** The code prefix of an EOA that has delegated to a contract (EIP-7702). */
const DELEGATION_PREFIX = '0xef0100';

/**
 * Returns `contract` if a contract is deployed at the address. Returns `none` for an EOA, even if it delegates to a
 * contract.
 */
export async function readCode(chain: EvmChain, address: string): Promise<'none' | 'contract'> {
  const code = await callNode(chain, 'eth_getCode', [address, 'latest']);
  return code === '0x' || String(code).startsWith(DELEGATION_PREFIX) ? 'none' : 'contract';
}
