import { saleFund } from '@causeway/contracts/abi/sale-fund.ts';
import { saleFundV2 } from '@causeway/contracts/abi/sale-fund-v2.ts';
import { type Abi, type AbiFunction, type Hex, zeroAddress, zeroHash } from 'viem';
import {
  decodeEventLog,
  decodeFunctionData,
  decodeFunctionResult,
  encodeErrorResult,
  encodeFunctionData,
  keccak256,
  numberToHex,
  parseAbi,
  slice,
  toFunctionSelector,
  toHex,
} from 'viem/utils';
import { ApiError } from '../../../kernel/errors.ts';
import { toLowerHex } from '../address.ts';
import type { EvmChain } from './client.ts';
import { contractCall } from './contract-call.ts';
import type { EventLog } from './node-reads.ts';
import { revertData } from './revert.ts';

const { abi } = saleFund;
const abiV2 = saleFundV2.abi;

/** One user's part of a call. Second-generation funds accept each `commitment` id only once. */
export type FundRow = { commitment: Hex; user: Hex; optionId: string; token: Hex; amount: bigint };

/** The generation of a fund contract. Only second-generation funds use commitment ids. */
export type FundGeneration = 1 | 2;

const TOTALS_ABI = parseAbi([
  'function totals(address token) view returns (uint256, uint256, uint256, uint256)',
]);

/** The ERC-165 id of `ISaleFundV2`. */
const GENERATION_2_INTERFACE = '0x5e89d71b';

/** Returns the option id that funds use on chain: the hash of the option's id as text. */
export function hashOption(optionId: string): Hex {
  return keccak256(toHex(optionId));
}

export function readMinCommit({ reader }: EvmChain, fund: Hex): Promise<bigint> {
  return reader.read(contractCall(fund, abi, 'minCommit', []));
}

/**
 * Without the interface of the second generation, it is the first. A wrong result moves no money, because each
 * generation rejects the other's `commit` and `remit` calls.
 */
export async function readFundGeneration({ reader }: EvmChain, fund: Hex): Promise<FundGeneration> {
  try {
    const call = contractCall(fund, abiV2, 'supportsInterface', [GENERATION_2_INTERFACE]);
    return (await reader.read(call)) ? 2 : 1;
  } catch (error) {
    if (error instanceof ApiError && error.status === 422) return 1;
    throw error;
  }
}

/** Keeps only the rows that a second-generation fund reports as committed or refunded, depending on `state`. */
export function readIdState<Row extends FundRow>(
  { reader }: EvmChain,
  fund: Hex,
  state: 'isCommitted' | 'isRemitted',
  rows: readonly Row[],
): Promise<Row[]> {
  const reads = rows.map(({ commitment }) => reader.readNow(contractCall(fund, abiV2, state, [commitment])));
  return Promise.all(reads).then((found) => rows.filter((_, i) => found[i]));
}

export type FundTotals = { commits: bigint; committed: bigint; refunds: bigint; refunded: bigint };

/** The totals that the fund itself keeps for a token, as of `block`; null if it keeps none, as some third-party funds. */
export async function readTokenTotals(
  { rpc }: EvmChain,
  fund: Hex,
  token: Hex,
  block: bigint,
): Promise<FundTotals | null> {
  const data = encodeFunctionData({ abi: TOTALS_ABI, functionName: 'totals', args: [token] });
  const params = [{ to: fund, data }, numberToHex(block)];
  const result = (await rpc.request({ method: 'eth_call', params }).catch((error: unknown) => {
    if (revertData(error) === undefined) throw error;
    return null;
  })) as Hex | null;
  if (result === null) return null;
  const [commits, committed, refunds, refunded] = decodeFunctionResult({
    ...{ abi: TOTALS_ABI, functionName: 'totals', data: result },
  });
  return { commits, committed, refunds, refunded };
}

/** A `single` call reverts if its row fails. In a `batch` call, a failed row does not affect the other rows. */
export function encodeCommit(
  rows: readonly FundRow[],
  form: 'single' | 'batch',
  generation: FundGeneration,
): Hex {
  const [first] = rows;
  const single = form === 'single' ? first : undefined;
  if (generation === 2) {
    const args = [single === undefined ? rows.map(toIdentified) : toIdentified(single)];
    return encodeFunctionData({ abi: abiV2, functionName: 'commit', args } as never);
  }
  if (single !== undefined) {
    const args = [single.user, hashOption(single.optionId), single.token, single.amount] as const;
    return encodeFunctionData({ abi, functionName: 'commit', args });
  }
  const args = [
    rows.map(({ user }) => user),
    rows.map(({ optionId }) => hashOption(optionId)),
    rows.map(({ token }) => token),
    rows.map(({ amount }) => amount),
  ] as const;
  return encodeFunctionData({ abi, functionName: 'commit', args });
}

export function encodeRemit(rows: readonly FundRow[], generation: FundGeneration): Hex {
  const [first] = rows;
  if (first === undefined) throw new Error('a refund call needs at least one participation');
  if (generation === 2) {
    const args = [rows.length === 1 ? toIdentified(first) : rows.map(toIdentified)];
    return encodeFunctionData({ abi: abiV2, functionName: 'remit', args } as never);
  }
  const option = hashOption(first.optionId);
  if (rows.length === 1) {
    const args = [first.user, option, first.token, first.amount] as const;
    return encodeFunctionData({ abi, functionName: 'remit', args });
  }
  const amounts = rows.map(({ amount }) => amount);
  const args = [rows.map(({ user }) => user), option, first.token, amounts] as const;
  return encodeFunctionData({ abi, functionName: 'remit', args });
}

function toIdentified({ commitment, user, optionId, token, amount }: FundRow) {
  return { id: commitment, user, option: hashOption(optionId), token, amount };
}

const EMPTY_ROW: FundRow = {
  commitment: zeroHash,
  user: zeroAddress,
  optionId: '',
  token: zeroAddress,
  amount: 0n,
};
const SINGLE_COMMIT_SELECTORS = ([1, 2] as const).map((generation) =>
  slice(encodeCommit([EMPTY_ROW], 'single', generation), 0, 4),
);

/** Returns whether `data` is a call that commits a single row. Unlike a batch, such a call reverts if its row fails. */
export function isSingleCommit(data: Hex): boolean {
  return SINGLE_COMMIT_SELECTORS.some((selector) => data.startsWith(selector));
}

/**
 * Every fund rejects this call: with `Unauthorized` if the sender lacks the role, otherwise because its row is empty.
 */
export function encodeRoleProbe(role: 'commit' | 'remit', token: Hex, generation: FundGeneration): Hex {
  const rows = [{ ...EMPTY_ROW, token }];
  return role === 'commit' ? encodeCommit(rows, 'single', generation) : encodeRemit(rows, generation);
}

const IS_STOPPED = encodeErrorResult({ abi, errorName: 'IsStopped' });
const UNAUTHORIZED = encodeErrorResult({ abi, errorName: 'Unauthorized' });

/** Why the fund rejects all calls like this one, or null if the revert concerns only the rows of this call. */
export function fundBlockedReason(revert: Hex): 'fund_stopped' | 'role_missing' | null {
  if (revert.startsWith(IS_STOPPED)) return 'fund_stopped';
  return revert.startsWith(UNAUTHORIZED) ? 'role_missing' : null;
}

type FundEventName = 'Committed' | 'Remitted' | 'BatchFail';

/**
 * Returns the name of each row's event, or null. The fund may emit its events in any order, so rows and events are
 * matched by their values; equal rows get different events.
 */
export function matchRows(
  fund: Hex,
  logs: readonly EventLog[],
  rows: readonly FundRow[],
): (FundEventName | null)[] {
  const events = new Map<string, FundEventName[]>();
  for (const log of logs) {
    if (log.address.toLowerCase() !== fund.toLowerCase()) continue;
    const event = decodeFundEvent(log);
    if (event === null) continue;
    events.set(keyOf(event), [...(events.get(keyOf(event)) ?? []), event.name]);
  }
  return rows.map((row) => {
    const values = { ...row, option: hashOption(row.optionId) };
    const found = events.get(keyOf(values)) ?? events.get(keyOf({ ...values, commitment: null }));
    return found?.shift() ?? null;
  });
}

/** An event about one row. `commitment` is null for first-generation funds. */
export type FundEvent = {
  name: FundEventName;
  commitment: Hex | null;
  user: Hex;
  option: Hex;
  token: Hex;
  amount: bigint;
};

type RowArguments = { kind?: bigint; id?: Hex; user: Hex; option: Hex; token: Hex; amount: bigint };

const EVENTS = [...abi, ...abiV2].filter(
  (item) => item.type === 'event' && ['Committed', 'Remitted', 'BatchFail'].includes(item.name),
) as Abi;

/** Decodes an event about a row: a commit, a refund or a failed commit. Returns null for any other log. */
export function decodeFundEvent({ topics, data }: EventLog): FundEvent | null {
  try {
    const event = decodeEventLog({ abi: EVENTS, topics: topics as [Hex, ...Hex[]], data });
    const { eventName: name, args } = event as unknown as { eventName: FundEventName; args: RowArguments };
    const { kind = 0n, id = null, user, option, token, amount } = args;
    // Only a `BatchFail` event of kind 0 is about a commit. Other kinds report other failures, such as a failed remit.
    if (kind !== 0n) return null;
    return { name, commitment: id, user: toLowerHex(user), option, token: toLowerHex(token), amount };
  } catch {
    return null;
  }
}

function keyOf({ commitment, user, option, token, amount }: Omit<FundEvent, 'name'>): string {
  return [commitment, user, option, token, amount].join().toLowerCase();
}

type Identified = { token: Hex; amount: bigint };

/** A commit or refund call. `amounts` maps the lower-case address of each token to the amount that the call moves. */
type FundCall = { functionName: 'commit' | 'remit'; amounts: Map<string, bigint> };

const FUNCTIONS: ReadonlyMap<string, AbiFunction> = new Map(
  [...saleFund.abi, ...saleFundV2.abi].flatMap((item) =>
    item.type === 'function' && (item.name === 'commit' || item.name === 'remit')
      ? [[toFunctionSelector(item as AbiFunction), item as AbiFunction] as const]
      : [],
  ),
);

/**
 * Returns null for any other call, and if the data is not in canonical ABI encoding, because another decoder could
 * read different amounts from such data.
 */
export function readFundCall(data: Hex): FundCall | null {
  const item = FUNCTIONS.get(data.slice(0, 10).toLowerCase());
  const args = item === undefined ? null : decodeArguments(item, data);
  if (item === undefined || args === null) return null;
  const amounts = new Map<string, bigint>();
  for (const { token, amount } of listRows(args)) {
    if (typeof token !== 'string' || typeof amount !== 'bigint') return null;
    const key = token.toLowerCase();
    amounts.set(key, (amounts.get(key) ?? 0n) + amount);
  }
  return { functionName: item.name as FundCall['functionName'], amounts };
}

export function isFundCall(selector: string): boolean {
  return FUNCTIONS.has(selector);
}

function decodeArguments(item: AbiFunction, data: Hex): readonly unknown[] | null {
  try {
    const { args = [] } = decodeFunctionData({ abi: [item], data });
    const encoded = encodeFunctionData({ abi: [item], args: args as unknown[] });
    return encoded === data.toLowerCase() ? args : null;
  } catch {
    return null;
  }
}

/**
 * Reads the token and the amount of each row from the arguments of a call. A row is one user's part of the call.
 * - First generation: the third argument has the tokens and the fourth the amounts, each a single value or a list.
 * - Second generation: the only argument is a row or a list of rows.
 */
function listRows([first, _option, tokens, amounts]: readonly unknown[]): Identified[] {
  if (tokens === undefined) return [first].flat() as Identified[];
  const values = [amounts].flat() as bigint[];
  return values.map((amount, i) => ({ token: (Array.isArray(tokens) ? tokens[i] : tokens) as Hex, amount }));
}
