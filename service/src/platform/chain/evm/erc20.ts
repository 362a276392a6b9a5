import { token } from '@causeway/contracts/abi/token.ts';
import { type Hex, pad } from 'viem';
import {
  decodeFunctionResult,
  encodeFunctionData,
  hexToBigInt,
  hexToBytes,
  isHex,
  size,
  toEventSelector,
} from 'viem/utils';
import { ApiError } from '../../../kernel/errors.ts';
import { toLowerHex } from '../address.ts';
import type { EvmChain } from './client.ts';
import { type Call, contractCall, erc20Abi } from './contract-call.ts';
import type { EventLog } from './node-reads.ts';

type TokenMetadata = { name: string; symbol: string; decimals: number };

export function readBalance({ reader }: Pick<EvmChain, 'reader'>, token: Hex, owner: Hex): Promise<bigint> {
  return reader.read(contractCall(token, erc20Abi, 'balanceOf', [owner]));
}

export function readAllowance(
  { reader }: Pick<EvmChain, 'reader'>,
  token: Hex,
  owner: Hex,
  spender: Hex,
): Promise<bigint> {
  return reader.read(contractCall(token, erc20Abi, 'allowance', [owner, spender]));
}

export function encodeTransfer(to: Hex, amount: bigint): Hex {
  return encodeFunctionData({ abi: token.abi, functionName: 'transfer', args: [to, amount] });
}

export function encodeTransferFrom(from: Hex, to: Hex, amount: bigint): Hex {
  return encodeFunctionData({ abi: token.abi, functionName: 'transferFrom', args: [from, to, amount] });
}

/** Reads name, symbol and decimals once per token. */
export function readTokenMetadata(chain: EvmChain, token: Hex): Promise<TokenMetadata> {
  return chain.memoize(`metadata ${token}`, async () => {
    const [name, symbol, decimals] = await Promise.all([
      chain.reader.read(textCall(token, 'name')),
      chain.reader.read(textCall(token, 'symbol')),
      readDecimals(chain, token),
    ]);
    return { name, symbol, decimals };
  });
}

export function readDecimals({ reader, memoize }: EvmChain, token: Hex): Promise<number> {
  return memoize(`decimals ${token}`, async () => {
    const decimals = await reader.read(contractCall(token, erc20Abi, 'decimals', []));
    if (decimals > 255n)
      throw new ApiError('contract_reverted', { reason: 'decimals() returned more than 255' });
    return Number(decimals);
  });
}

// Builds a call that reads a string. Also decodes the zero-padded bytes32 that some early tokens return.
function textCall(token: Hex, functionName: 'name' | 'symbol'): Call<string> {
  const call = contractCall(token, erc20Abi, functionName, []);
  return {
    ...call,
    decode: (data) =>
      size(data) === 32 ? decodePadded(data) : decodeFunctionResult({ abi: erc20Abi, functionName, data }),
  };
}

function decodePadded(data: Hex): string {
  const bytes = hexToBytes(data);
  const end = bytes.indexOf(0);
  return new TextDecoder().decode(end === -1 ? bytes : bytes.subarray(0, end));
}

const APPROVAL_TOPIC = toEventSelector('Approval(address,address,uint256)');
export const TRANSFER_TOPIC = toEventSelector('Transfer(address,address,uint256)');

type Approval = { token: Hex; owner: Hex; spender: Hex; value: bigint };

export function readApprovals(logs: readonly EventLog[]): Approval[] {
  return logs.flatMap(({ address, topics, data }) => {
    const [topic, owner, spender] = topics;
    // Skips ERC-721's `Approval` event, which has the same signature as ERC-20's but also indexes the third argument.
    if (topic !== APPROVAL_TOPIC || owner === undefined || spender === undefined || topics.length !== 3)
      return [];
    if (size(data) !== 32) return [];
    const toAddress = (word: Hex) => toLowerHex(`0x${word.slice(26)}`);
    return [
      {
        token: toLowerHex(address),
        owner: toAddress(owner),
        spender: toAddress(spender),
        value: hexToBigInt(data),
      },
    ];
  });
}

/**
 * Returns for each row how much of its token its user sent to `to`, or null. Rows with the same user and token get
 * their events in order.
 */
export function readTransfers(
  to: Hex,
  logs: readonly EventLog[],
  rows: readonly { user: Hex; token: Hex }[],
): (bigint | null)[] {
  const sent = new Map<string, bigint[]>();
  for (const { address, topics, data } of logs) {
    const [name, from, recipient, ...more] = topics;
    if (name !== TRANSFER_TOPIC || from === undefined || more.length > 0 || !isHex(data) || data === '0x')
      continue;
    if (recipient?.toLowerCase() !== pad(to).toLowerCase()) continue;
    const key = transferKey(address, from);
    sent.set(key, [...(sent.get(key) ?? []), hexToBigInt(data)]);
  }
  return rows.map(({ user, token }) => sent.get(transferKey(token, pad(user)))?.shift() ?? null);
}

function transferKey(token: Hex, from: Hex): string {
  return `${token} ${from}`.toLowerCase();
}
