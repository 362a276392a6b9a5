import { transferProbe } from '@causeway/contracts/abi/transfer-probe.ts';
import { type Hex, zeroAddress } from 'viem';
import { decodeFunctionResult, encodeFunctionData, isHex, numberToHex, parseAbi } from 'viem/utils';
import { findNodeError } from '../rpc/failures.ts';
import type { EvmChain } from './client.ts';
import { contractCall, optionalView } from './contract-call.ts';
import { readBalance, TRANSFER_TOPIC } from './erc20.ts';
import type { EventLog } from './node-reads.ts';

const { abi, deployedBytecode: code } = transferProbe;
/** In blocks. The second is used if the node rejects the first, as it may for a busy token. */
const HOLDER_RANGES = [2_000n, 20n];
const MAX_HOLDERS = 20;
const MAX_PROBED = 10n ** 12n;

/** Found only in tokens whose balances change without transfers: staking, lending and elastic supply. */
const REBASING_VIEWS = parseAbi([
  'function sharesOf(address account) view returns (uint256)',
  'function scaledBalanceOf(address account) view returns (uint256)',
  'function rebasingCreditsPerToken() view returns (uint256)',
]);
const FEE_VIEWS = parseAbi(['function basisPointsRate() view returns (uint256)']);

/** Returns why transfers of the token do not move exact amounts, or null, also if the probe cannot tell. */
export async function findInexactTransfers(chain: EvmChain, token: Hex, to: Hex): Promise<string | null> {
  const { reader } = chain;
  const views = {
    'sharesOf(address)': contractCall(token, REBASING_VIEWS, 'sharesOf', [to]),
    'scaledBalanceOf(address)': contractCall(token, REBASING_VIEWS, 'scaledBalanceOf', [to]),
    'rebasingCreditsPerToken()': contractCall(token, REBASING_VIEWS, 'rebasingCreditsPerToken', []),
  };
  for (const [signature, call] of Object.entries(views))
    if ((await optionalView(reader.read(call))) !== undefined)
      return `is a rebasing token: it has ${signature}; only tokens with exact transfers can fund an offer`;
  const rate = await optionalView(reader.read(contractCall(token, FEE_VIEWS, 'basisPointsRate', [])));
  if (rate !== undefined && rate > 0n)
    return `charges a fee on transfers: basisPointsRate() is ${rate}; only tokens with exact transfers can fund an offer`;
  const probed = await probeTransfer(chain, token, to);
  if (probed === null || probed.received === probed.amount) return null;
  return `charges a fee on transfers: of ${probed.amount} sent, ${probed.received} arrive; only tokens with exact transfers can fund an offer`;
}

/** Null if no recent holder is found or the node cannot simulate the transfer. */
async function probeTransfer(
  chain: EvmChain,
  token: Hex,
  to: Hex,
): Promise<{ amount: bigint; received: bigint } | null> {
  const holder = await findHolder(chain, token, to);
  if (holder === null) return null;
  const amount = holder.balance < MAX_PROBED ? holder.balance : MAX_PROBED;
  const data = encodeFunctionData({ abi, functionName: 'probe', args: [token, to, amount] });
  const override = { [holder.address]: { code } };
  const result = await nullIfRefused(
    chain.rpc.request({ method: 'eth_call', params: [{ to: holder.address, data }, 'latest', override] }),
  );
  // A node that ignores the state override does not run the probe's code, so the node's answer has no data.
  if (!isHex(result) || result.length !== 2 + 2 * 64) return null;
  const [, received] = decodeFunctionResult({ abi, functionName: 'probe', data: result });
  return { amount, received };
}

async function findHolder(
  chain: EvmChain,
  token: Hex,
  to: Hex,
): Promise<{ address: Hex; balance: bigint } | null> {
  const head = await chain.client.getBlockNumber();
  for (const range of HOLDER_RANGES) {
    const fromBlock = numberToHex(head > range ? head - range : 0n);
    const filter = { address: token, topics: [TRANSFER_TOPIC], fromBlock, toBlock: 'latest' };
    const logs = await nullIfRefused(chain.rpc.request({ method: 'eth_getLogs', params: [filter] }));
    if (logs === null) continue;
    const recipients = (logs as EventLog[]).map(({ topics }) => `0x${topics[2]?.slice(26) ?? ''}` as Hex);
    const others = [...new Set(recipients)].filter((address) => address !== zeroAddress && address !== to);
    for (const address of others.slice(-MAX_HOLDERS)) {
      const balance = await optionalView(readBalance(chain, token, address));
      if (balance !== undefined && balance > 0n) return { address, balance };
    }
    return null;
  }
  return null;
}

/** Resolves to null if the node rejects the request, for example because the range is too long or the call reverts. */
async function nullIfRefused(request: Promise<unknown>): Promise<unknown> {
  try {
    return await request;
  } catch (error) {
    if (findNodeError(error) !== undefined) return null;
    throw error;
  }
}
