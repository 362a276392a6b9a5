import { type Hex, maxUint256 } from 'viem';
import type { PrivateKeyAccount } from 'viem/accounts';
import { tokenizedSwap } from '../../abi/tokenized-swap.ts';
import { type Call, type Chain, type Deployed, deploy, people, send } from '../chain.ts';
import { deployVenue, makeQuote, type Quote, register, signQuote, type Venue } from '../venue/venue.ts';

export type Swap = Deployed<typeof tokenizedSwap.abi>;
export type Setting = { swap: Swap; venue: Venue };

export const name = 'Acme Securities Swap';
export const feeBps = 50n;
/** 1,000 dollars net (5 assets of 200) and the fee on them. */
export const gross = 1_005_000_000n;

export const requestTypes = {
  VerifyRequest: [
    { name: 'side', type: 'uint8' },
    { name: 'inputToken', type: 'address' },
    { name: 'outputToken', type: 'address' },
    { name: 'sender', type: 'address' },
    { name: 'nonce', type: 'uint256' },
    { name: 'expiry', type: 'uint256' },
    { name: 'amount', type: 'uint256' },
  ],
} as const;

export type Request = {
  side: number;
  inputToken: Hex;
  outputToken: Hex;
  sender: Hex;
  nonce: bigint;
  expiry: bigint;
  amount: bigint;
};

export function swapConfig(manager: Hex, operator: Hex = people.operator.address) {
  return {
    owner: people.owner.address,
    manager,
    operator,
    feeRecipient: people.treasury.address,
    feeBps,
    name,
  };
}

/** A swap known to its venue, with Alice and Bob rich and approving it. */
export async function deployTokenized(chain: Chain, operator?: Hex): Promise<Setting> {
  const venue = await deployVenue(chain);
  const swap = await deploy(chain, tokenizedSwap, [swapConfig(venue.manager.address, operator)]);
  await register(chain, venue, swap.address);
  for (const wallet of [people.alice, people.bob]) {
    for (const token of [venue.dollar, venue.asset]) {
      const minted = { ...token, functionName: 'mint', args: [wallet.address, 10n ** 22n] };
      await send(chain, people.owner, minted);
      await send(chain, wallet, { ...token, functionName: 'approve', args: [swap.address, maxUint256] });
    }
  }
  return { swap, venue };
}

export function requestDomain(chainId: number, swap: Hex) {
  return { name, version: '1', chainId, verifyingContract: swap };
}

export function signRequest(
  chain: Chain,
  swap: Swap,
  message: Request,
  signer = people.operator,
): Promise<Hex> {
  const domain = requestDomain(chain.id, swap.address);
  return signer.signTypedData({ domain, types: requestTypes, primaryType: 'VerifyRequest', message });
}

export function makeRequest({ venue }: Setting, quote: Quote, given: Partial<Request> = {}): Request {
  const [inputToken, outputToken] =
    quote.side === 0 ? [venue.dollar.address, quote.asset] : [quote.asset, venue.dollar.address];
  return {
    side: quote.side,
    inputToken,
    outputToken,
    sender: people.alice.address,
    nonce: 0n,
    expiry: quote.expiration,
    amount: gross,
    ...given,
  };
}

type Given = { quote?: Partial<Quote>; request?: Partial<Request>; signer?: PrivateKeyAccount };

/** A call that both the venue and the operator signed. */
export async function signedSwap(chain: Chain, setting: Setting, given: Given = {}): Promise<Call> {
  const quote = makeQuote(chain, setting.venue, given.quote);
  const request = makeRequest(setting, quote, given.request);
  const venueSignature = await signQuote(chain, setting.venue, quote);
  const operatorSignature = await signRequest(chain, setting.swap, request, given.signer);
  const token = setting.venue.dollar.address;
  return {
    ...setting.swap,
    functionName: 'swap',
    args: [quote, venueSignature, token, request.amount, operatorSignature],
  };
}
