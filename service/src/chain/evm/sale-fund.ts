import type { Hex } from 'viem';
import { decodeEventLog, encodeFunctionData, hexToBigInt, keccak256, parseAbi, toHex } from 'viem/utils';
import type { Log } from '../../operator/follow.ts';

const saleFundAbi = parseAbi([
  'function commit(address user, bytes32 option, address token, uint256 amount)',
  'function commit(address[] users, bytes32[] options, address[] tokens, uint256[] amounts)',
  'function remit(address user, bytes32 option, address token, uint256 amount)',
  'function remit(address[] users, bytes32 option, address token, uint256[] amounts)',
  'function minCommit() view returns (uint256)',
]);

const eventAbi = parseAbi([
  'event Committed(address indexed user, bytes32 indexed option, address indexed token, uint256 amount)',
  'event Remitted(address indexed user, bytes32 indexed option, address indexed token, uint256 amount)',
  'event BatchFail(uint256 kind, address indexed user, bytes32 indexed option, address indexed token, uint256 amount)',
]);

export const minCommitAbi = parseAbi(['function minCommit() view returns (uint256)']);

/** One user's part of a commit or a remit. */
export type FundRow = { user: Hex; optionId: string; token: Hex; amount: bigint };

/** A fund knows an option by the hash of its id's text. */
export function hashOption(optionId: string): Hex {
  return keccak256(toHex(optionId));
}

/** One row reverts as a whole; several stand or fall each by itself. */
export function encodeCommit(rows: readonly FundRow[], form: 'single' | 'batch'): Hex {
  const [first] = rows;
  if (form === 'single' && first !== undefined) {
    const args = [first.user, hashOption(first.optionId), first.token, first.amount] as const;
    return encodeFunctionData({ abi: saleFundAbi, functionName: 'commit', args });
  }
  const args = [
    rows.map(({ user }) => user),
    rows.map(({ optionId }) => hashOption(optionId)),
    rows.map(({ token }) => token),
    rows.map(({ amount }) => amount),
  ] as const;
  return encodeFunctionData({ abi: saleFundAbi, functionName: 'commit', args });
}

/** Of one option and one token; all or nothing. */
export function encodeRemit(rows: readonly FundRow[]): Hex {
  const [first] = rows;
  if (first === undefined) throw new Error('nothing to remit');
  const option = hashOption(first.optionId);
  if (rows.length === 1) {
    const args = [first.user, option, first.token, first.amount] as const;
    return encodeFunctionData({ abi: saleFundAbi, functionName: 'remit', args });
  }
  const args = [rows.map(({ user }) => user), option, first.token, rows.map(({ amount }) => amount)] as const;
  return encodeFunctionData({ abi: saleFundAbi, functionName: 'remit', args });
}

/** `commit` of one row: what it reverts with concerns that row. */
export function isSingleCommit(data: Hex): boolean {
  return data.startsWith('0xf79a7d23');
}

/** Reverts that are not the user's: the fund is stopped, or our role is gone. */
export function blockedReasonOf(revert: Hex): 'fund_stopped' | 'role_missing' | null {
  if (revert.startsWith('0xd05c7c78')) return 'fund_stopped';
  return revert.startsWith('0x82b42900') ? 'role_missing' : null;
}

export type FundEventName = 'Committed' | 'Remitted' | 'BatchFail';

/**
 * What became of each row, by the events of the fund: null where no event tells. Equal rows take equal events in their
 * order, so nobody's event is counted for somebody else, whatever order the fund writes them in.
 */
export function matchRows(
  fund: Hex,
  logs: readonly Log[],
  rows: readonly FundRow[],
): (FundEventName | null)[] {
  const found = new Map<string, FundEventName[]>();
  for (const log of logs) {
    if (log.address.toLowerCase() !== fund.toLowerCase()) continue;
    const event = readEvent(log);
    if (event === null) continue;
    found.set(event.key, [...(found.get(event.key) ?? []), event.name]);
  }
  return rows.map((row) => found.get(rowKey(row))?.shift() ?? null);
}

function readEvent({ topics, data }: Log): { key: string; name: FundEventName } | null {
  try {
    const { eventName, args } = decodeEventLog({ abi: eventAbi, topics: topics as [Hex, ...Hex[]], data });
    // A remit that fails in a batch of another kind of fund says nothing about a commit.
    if (eventName === 'BatchFail' && args.kind !== 0n) return null;
    return { name: eventName, key: [args.user, args.option, args.token, args.amount].join().toLowerCase() };
  } catch {
    return null;
  }
}

function rowKey({ user, optionId, token, amount }: FundRow): string {
  return [user, hashOption(optionId), token, amount].join().toLowerCase();
}

const APPROVAL = keccak256(toHex('Approval(address,address,uint256)'));

export type Approval = { token: Hex; owner: Hex; spender: Hex; value: bigint };

/** Every ERC-20 approval that a receipt tells of, whoever called what. */
export function readApprovals(logs: readonly Log[]): Approval[] {
  return logs.flatMap(({ address, topics, data }) => {
    const [topic, owner, spender] = topics;
    // ERC-721 has the same event with a third indexed argument.
    if (topic !== APPROVAL || owner === undefined || spender === undefined || topics.length !== 3) return [];
    if (data.length !== 66) return [];
    const short = (word: Hex) => `0x${word.slice(26).toLowerCase()}` as Hex;
    return [
      {
        token: address.toLowerCase() as Hex,
        owner: short(owner),
        spender: short(spender),
        value: hexToBigInt(data),
      },
    ];
  });
}
