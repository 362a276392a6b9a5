import type { OfferDetails } from '@causeway/sdk';
import { callNode } from '../call-node.ts';
import type { ChainConfig } from '../config.ts';

/** keccak-256 of `Swapped(address,address,address,uint256,uint256,uint256)`. */
const SWAPPED = '0xc9163c3bdf7263acf1bb3d24072cc7da025f7181c31e2edc7e1673edf5e0ca32';

export type FundSwap = {
  offer: OfferDetails;
  chain: ChainConfig['chain'];
  wallet: string;
  hash: string;
  at: string;
  token: string;
  /** In the token's smallest units, without the fee. */
  paid: bigint;
  fee: bigint;
  received: bigint;
};

type Log = { transactionHash: string; blockNumber: string; topics: string[]; data: string };

/** Finds the swaps with which the wallet bought shares of a fund. The chain is the only record of these swaps. */
export async function readFundSwaps(
  offer: OfferDetails,
  chains: readonly ChainConfig[],
  wallet: string,
): Promise<FundSwap[]> {
  const found = await Promise.all(
    offer.contracts.map(async ({ chain, address }) => {
      const url = chains.find((one) => one.chain === chain)?.rpc_url;
      if (url === undefined) return [];
      const user = `0x${wallet.slice(2).toLowerCase().padStart(64, '0')}`;
      const filter = { address, topics: [SWAPPED, user], fromBlock: '0x0', toBlock: 'latest' };
      const logs = await callNode<Log[]>(url, 'eth_getLogs', [filter]);
      return Promise.all(
        logs.map(async (log) => ({ ...toSwap(offer, chain, log, await readTime(url, log)), wallet })),
      );
    }),
  );
  return found.flat();
}

function toSwap(
  offer: OfferDetails,
  chain: FundSwap['chain'],
  log: Log,
  at: string,
): Omit<FundSwap, 'wallet'> {
  const word = (index: number) => BigInt(`0x${log.data.slice(2 + index * 64, 66 + index * 64)}`);
  const token = `0x${(log.topics[2] ?? '').slice(-40)}`;
  return {
    ...{ offer, chain, at, token, hash: log.transactionHash },
    ...{ paid: word(0), fee: word(1), received: word(2) },
  };
}

async function readTime(url: string, { blockNumber }: Log): Promise<string> {
  const block = await callNode<{ timestamp: string }>(url, 'eth_getBlockByNumber', [blockNumber, false]);
  return new Date(Number(block.timestamp) * 1_000).toISOString();
}
