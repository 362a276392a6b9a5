import type { Log, Receipt } from './receipt.ts';

type Hex = `0x${string}`;

// keccak-256 of the events' signatures, which are the same in every deployment.
const APPROVAL = '0x8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925';
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const FUND_SWAPPED = '0xc9163c3bdf7263acf1bb3d24072cc7da025f7181c31e2edc7e1673edf5e0ca32';
const TOKENIZED_SWAPPED = '0xed16f185c3a00feb3f10831b5798e60555d44ff78d2ea3af48abc70ed48ac35c';

/** The last allowance that a transaction gave; null when it gave none. */
export function findApproval(
  { logs }: Receipt,
  owner: Hex,
  { token, spender }: { token: Hex; spender: Hex },
): bigint | null {
  const mine = logs.filter((log) => isEvent(log, token, APPROVAL, [owner, spender]));
  const last = mine.at(-1);
  return last === undefined ? null : wordAt(last, 0);
}

/** How much of a token a transaction moved from or to a wallet. */
export function sumTransfers({ logs }: Receipt, token: Hex, ends: { from?: Hex; to?: Hex }): bigint {
  return logs
    .filter((log) => isEvent(log, token, TRANSFER, [ends.from, ends.to]))
    .reduce((sum, log) => sum + wordAt(log, 0), 0n);
}

/** What a swap contract says it has done for a wallet; null when it says nothing. */
export function findSwapped({ logs }: Receipt, swap: Hex, user: Hex): { output: Hex; fee: bigint } | null {
  for (const log of logs) {
    const output = addressOf(log.topics[3]);
    if (isEvent(log, swap, FUND_SWAPPED, [user])) return { output, fee: wordAt(log, 1) };
    if (isEvent(log, swap, TOKENIZED_SWAPPED, [user])) return { output, fee: wordAt(log, 3) };
  }
  return null;
}

function isEvent(log: Log, address: Hex, topic: string, indexed: (Hex | undefined)[]): boolean {
  return (
    log.address.toLowerCase() === address &&
    log.topics[0]?.toLowerCase() === topic &&
    indexed.every((one, i) => one === undefined || addressOf(log.topics[i + 1]) === one)
  );
}

function addressOf(topic: Hex | undefined): Hex {
  return `0x${(topic ?? '').slice(-40).toLowerCase()}`;
}

function wordAt({ data }: Log, index: number): bigint {
  const word = data.slice(2 + index * 64, 66 + index * 64);
  return word === '' ? 0n : BigInt(`0x${word}`);
}
