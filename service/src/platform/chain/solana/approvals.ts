import { TOKEN_PROGRAM } from './addresses.ts';
import type { WireInstruction } from './wire-transaction.ts';

/** An approval granted by a transaction: `delegate` may move `amount` out of the token account `source`. */
export type TokenApproval = {
  source: string;
  /** Null if the instruction does not specify the mint. */
  mint: string | null;
  delegate: string;
  owner: string;
  amount: bigint;
};

const APPROVE = 4;
const APPROVE_CHECKED = 13;
const BATCH = 255;

/**
 * Also reads inner instructions and the items of a token program batch, which do not appear as inner instructions.
 * Accepts extra bytes at the end, because the program ignores them.
 */
export function readTokenApprovals(instructions: readonly WireInstruction[]): TokenApproval[] {
  return listTokenInstructions(instructions).flatMap((each) => readApproval(each) ?? []);
}

export type TokenInstruction = { accounts: string[]; data: Buffer };

export function listTokenInstructions(instructions: readonly WireInstruction[]): TokenInstruction[] {
  return instructions.filter(({ program }) => program === TOKEN_PROGRAM).flatMap(expandBatch);
}

function expandBatch({ accounts, data }: TokenInstruction): TokenInstruction[] {
  if (data[0] !== BATCH) return [{ accounts, data }];
  const items: TokenInstruction[] = [];
  let [offset, used] = [1, 0];
  while (offset + 2 <= data.length) {
    const [count = 0, length = 0] = data.subarray(offset, offset + 2);
    const end = offset + 2 + length;
    // The program rejects truncated batches, so it executed none of these items.
    if (end > data.length || used + count > accounts.length) return [];
    items.push({ accounts: accounts.slice(used, used + count), data: data.subarray(offset + 2, end) });
    offset = end;
    used += count;
  }
  return items.filter((item) => item.data[0] !== BATCH);
}

function readApproval({ accounts, data }: TokenInstruction): TokenApproval | null {
  if (data[0] === APPROVE && data.length >= 9) {
    const [source, delegate, owner] = accounts;
    if (source === undefined || delegate === undefined || owner === undefined) return null;
    return { source, mint: null, delegate, owner, amount: data.readBigUInt64LE(1) };
  }
  if (data[0] === APPROVE_CHECKED && data.length >= 10) {
    const [source, mint, delegate, owner] = accounts;
    if (source === undefined || mint === undefined || delegate === undefined || owner === undefined)
      return null;
    return { source, mint, delegate, owner, amount: data.readBigUInt64LE(1) };
  }
  return null;
}
