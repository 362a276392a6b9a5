import { tokenizedSwapAbi } from '@causeway/contracts/encodings/tokenized-abi.ts';
import type { Hex } from 'viem';
import { pad, toEventSelector, toHex } from 'viem/utils';
import type { EventLog } from './receipts.ts';

/** The first topic of `Swapped`. It does not depend on which arguments are indexed. */
export const SWAPPED_TOPIC: Hex = toEventSelector(
  tokenizedSwapAbi.find((item) => item.type === 'event') ?? 'Swapped()',
);

export type ExecutedSwap = { wallet: Hex; input: Hex; output: Hex; attestationId: bigint };

const ARGUMENT_COUNT = 8;

/**
 * Returns whether a `Swapped` event reports this swap. The first four arguments are user, input, output and
 * attestation; each is one word. Deployments differ in which arguments they index, so this function tries every
 * combination.
 */
export function isSwapOf({ topics, data }: EventLog, swap: ExecutedSwap): boolean {
  const [topic, ...indexed] = topics.map((word) => word.toLowerCase());
  const plain = splitWords(data);
  if (topic !== SWAPPED_TOPIC || indexed.length + plain.length !== ARGUMENT_COUNT) return false;
  const wanted = [swap.wallet, swap.input, swap.output, toHex(swap.attestationId)].map((value) =>
    pad(value).toLowerCase(),
  );
  // Most events belong to other orders. This check skips such events early, because trying every placement would be
  // slow.
  if (!wanted.every((word) => indexed.includes(word) || plain.includes(word))) return false;
  return PLACEMENTS.some((isIndexed) => {
    const topicWords = [...indexed];
    const dataWords = [...plain];
    if (isIndexed.filter(Boolean).length !== indexed.length) return false;
    const words = isIndexed.map((each) => (each ? topicWords : dataWords).shift());
    return wanted.every((word, i) => words[i] === word);
  });
}

/** Every possible choice of indexed arguments. An event indexes at most three. */
const PLACEMENTS: readonly boolean[][] = Array.from({ length: 2 ** ARGUMENT_COUNT }, (_, mask) =>
  Array.from({ length: ARGUMENT_COUNT }, (_, i) => (mask & (1 << i)) !== 0),
).filter((isIndexed) => isIndexed.filter(Boolean).length <= 3);

function splitWords(data: Hex): string[] {
  return (
    data
      .slice(2)
      .toLowerCase()
      .match(/.{64}/g)
      ?.map((word) => `0x${word}`) ?? []
  );
}
