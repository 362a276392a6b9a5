import { decodeFunctionData, parseAbi } from 'viem/utils';
import type { Causeway } from '../client.ts';
import { isCausewayError } from '../error.ts';
import { sleep } from '../sleep.ts';
import type { AllowWalletTransaction, EvmChain, OfferDetails } from '../wire.ts';
import { type FlowOptions, runFlow, Stop } from './flow.ts';
import { findContract, lower } from './offer-contract.ts';
import { askForText, signEvmText } from './proof.ts';
import { waitForReceipt } from './receipt.ts';
import { connectWallet, openSession, type Session } from './session.ts';
import { type Call, sendTransaction, simulate } from './transaction.ts';
import type { EvmWallet } from './wallet.ts';

type Hex = `0x${string}`;

export type AllowWalletPhase =
  | 'connecting'
  | 'checking'
  | 'challenging'
  | 'signing'
  | 'allowing'
  | 'broadcasting'
  | 'confirming';

export type AllowWalletInput = { offerId: string; chain: EvmChain; wallet: EvmWallet };

/** `transactionHash` is null when the wallet was allowed already, or the offer keeps no list. */
export type WalletIsAllowed = { allowed: true; transactionHash: Hex | null };

/** So long the service's node may be behind the wallet's. */
const CATCH_UP = 30_000;

/**
 * Puts a wallet on the allow-list of a swap offer: the wallet proves who owns it and broadcasts the permission.
 *
 * @example
 * ```ts
 * import { createCauseway } from '@causeway/sdk';
 * import { allowWallet, type EvmWallet } from '@causeway/sdk/flows';
 *
 * export async function allow(causeway: ReturnType<typeof createCauseway>, wallet: EvmWallet) {
 *   const offer = await causeway.offers.get('treasury-fund');
 *   const { transactionHash } = await allowWallet(causeway, { offerId: offer.id, chain: 'ethereum_sepolia', wallet });
 *   console.log(transactionHash ?? 'allowed already');
 * }
 * ```
 */
export async function allowWallet(
  causeway: Causeway,
  input: AllowWalletInput,
  options: FlowOptions<AllowWalletPhase> = {},
): Promise<WalletIsAllowed> {
  return runFlow(options, 'connecting', async ({ enter, tell }) => {
    const { offerId, chain } = input;
    const { signal } = options;
    const session = openSession(causeway, input, options, tell);
    await connectWallet(session);
    enter('checking');
    const offer = await causeway.offers.get(offerId, { signal });
    if (offer.type === 'platform::token_sale')
      throw new Stop('offer_type_mismatch', 'A token sale keeps no allow-list.');
    const swap = lower(findContract(offer, offer.type, chain).address);
    const before = await readAuthorized(session, swap);
    if (before === true) return { allowed: true, transactionHash: null };
    enter('challenging');
    const text = await askForText(causeway, { address: session.address, chain }, signal);
    enter('signing');
    const signature = await signEvmText(session, text);
    enter('allowing');
    const proof = { chain, signature, wallet_address: session.address };
    const reply = await causeway.wallets.allow(offerId, proof, { signal });
    if (!('to' in reply)) return { allowed: true, transactionHash: null };
    const call = readPermission(reply as AllowWalletTransaction, session, offer, swap);
    await simulate(session, call);
    enter('broadcasting');
    const sent = await sendTransaction(session, call);
    enter('confirming');
    const { transactionHash } = await waitForReceipt(session, sent);
    if (before === false) await waitUntilSeen(session, swap, transactionHash);
    return { allowed: true, transactionHash };
  });
}

/** Null where the contract itself does not tell. */
async function readAuthorized(
  { causeway, address, chain, signal }: Session,
  swap: Hex,
): Promise<boolean | null> {
  const query = { contract_address: swap, wallet_address: address, chain };
  try {
    return (await causeway.swap.authorized(query, { signal })).authorized;
  } catch (error) {
    if (isCausewayError(error) && error.status >= 400 && error.status < 500) return null;
    throw error;
  }
}

async function waitUntilSeen(session: Session, swap: Hex, transactionHash: Hex): Promise<void> {
  const begun = Date.now();
  while ((await readAuthorized(session, swap)) === false) {
    if (Date.now() - begun > CATCH_UP)
      throw new Stop('outcome_unknown', 'The permission was mined, but the wallet is not allowed yet.', {
        transactionHash,
      });
    await sleep(session.pollEvery, session.signal);
  }
}

const allowAbi = parseAbi([
  'function allow(address wallet, bytes32 offer, uint256 deadline, bytes signature)',
]);
/** approve, transfer, transferFrom, increaseAllowance, setApprovalForAll, permit. */
const MOVES_MONEY = /^0x(095ea7b3|a9059cbb|23b872dd|39509351|a22cb465|d505accf)/i;

/** A permission moves no money: it is no call of a token, and of the swap contract no other call than `allow`. */
function readPermission(
  { to, data }: AllowWalletTransaction,
  { address }: Session,
  { contracts }: OfferDetails,
  swap: Hex,
): Call {
  const call = { to: lower(to), data: data as Hex };
  const tokens = contracts.flatMap((one) => [
    ...one.funding_tokens.map((token) => lower(token.address)),
    ...(one.asset_address === null ? [] : [lower(one.asset_address)]),
  ]);
  const isSafe =
    !tokens.includes(call.to) && !MOVES_MONEY.test(data) && (call.to !== swap || allows(call.data, address));
  if (!isSafe)
    throw new Stop(
      'calldata_refused',
      'The transaction is not a permission for this wallet; it was not sent.',
      {
        details: { to, data },
      },
    );
  return call;
}

function allows(data: Hex, wallet: Hex): boolean {
  try {
    return lower(decodeFunctionData({ abi: allowAbi, data }).args[0]) === wallet;
  } catch {
    return false;
  }
}
