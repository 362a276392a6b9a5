import type { Hex } from 'viem';
import { decodeFunctionResult, hexToBytes, size } from 'viem/utils';
import { ApiError } from '../../errors.ts';
import { erc20Abi } from './abi.ts';
import type { EvmChain } from './client.ts';
import { type Call, contractCall } from './reads.ts';

export type TokenMetadata = { name: string; symbol: string; decimals: number };

export function readBalance({ reader }: EvmChain, token: Hex, owner: Hex): Promise<bigint> {
  return reader.read(contractCall(token, erc20Abi, 'balanceOf', [owner]));
}

export function readAllowance({ reader }: EvmChain, token: Hex, owner: Hex, spender: Hex): Promise<bigint> {
  return reader.read(contractCall(token, erc20Abi, 'allowance', [owner, spender]));
}

/** Name, symbol and decimals, asked once per token. */
export function readTokenMetadata({ reader, memoize }: EvmChain, token: Hex): Promise<TokenMetadata> {
  return memoize(`metadata ${token}`, async () => {
    const [name, symbol, decimals] = await Promise.all([
      reader.read(textCall(token, 'name')),
      reader.read(textCall(token, 'symbol')),
      reader.read(contractCall(token, erc20Abi, 'decimals', [])),
    ]);
    if (decimals > 255n) throw new ApiError('contract_reverted', { reason: 'decimals() is beyond 255' });
    return { name, symbol, decimals: Number(decimals) };
  });
}

/** For those who need no more than that of a token. */
export function readDecimals({ reader, memoize }: EvmChain, token: Hex): Promise<number> {
  return memoize(`decimals ${token}`, async () => {
    const decimals = await reader.read(contractCall(token, erc20Abi, 'decimals', []));
    if (decimals > 255n) throw new ApiError('contract_reverted', { reason: 'decimals() is beyond 255' });
    return Number(decimals);
  });
}

// The first tokens answer a bytes32, padded with zeros, where a string was agreed on later.
function textCall(token: Hex, functionName: 'name' | 'symbol'): Call<string> {
  const call = contractCall(token, erc20Abi, functionName, []);
  return {
    ...call,
    decode: (data) =>
      size(data) === 32 ? readPadded(data) : decodeFunctionResult({ abi: erc20Abi, functionName, data }),
  };
}

function readPadded(data: Hex): string {
  const bytes = hexToBytes(data);
  const end = bytes.indexOf(0);
  return new TextDecoder().decode(end === -1 ? bytes : bytes.subarray(0, end));
}
