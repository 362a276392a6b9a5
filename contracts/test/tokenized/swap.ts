import { type Hex, maxUint256 } from 'viem';
import type { PrivateKeyAccount } from 'viem/accounts';
import { tokenizedSwap } from '../../abi/tokenized-swap.ts';
import { accounts, type Call, type Chain, type Deployed, deploy, send } from '../chain.ts';
import { deployVenue, makeQuote, type Quote, register, signQuote, type Venue } from '../venue/venue.ts';

export type Swap = Deployed<typeof tokenizedSwap.abi>;
export type Deployment = { swap: Swap; venue: Venue };

export const name = 'Acme Securities Swap';
export const feeBps = 50n;
/** 1,000 dollars (5 asset tokens at 200 dollars each) plus the fee. */
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

export function swapConfig(manager: Hex, operator: Hex = accounts.operator.address) {
  return {
    owner: accounts.owner.address,
    manager,
    operator,
    feeRecipient: accounts.treasury.address,
    feeBps,
    name,
  };
}

/**
 * Deploys a swap contract and registers it with its venue. Mints dollars and asset tokens to Alice and Bob, who let the
 * contract spend them.
 */
export async function deployTokenized(chain: Chain, operator?: Hex): Promise<Deployment> {
  const venue = await deployVenue(chain);
  const swap = await deploy(chain, tokenizedSwap, [swapConfig(venue.manager.address, operator)]);
  await register(chain, venue, swap.address);
  for (const wallet of [accounts.alice, accounts.bob]) {
    for (const token of [venue.dollar, venue.asset]) {
      const minted = { ...token, functionName: 'mint', args: [wallet.address, 10n ** 22n] };
      await send(chain, accounts.owner, minted);
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
  signer = accounts.operator,
): Promise<Hex> {
  const domain = requestDomain(chain.id, swap.address);
  return signer.signTypedData({ domain, types: requestTypes, primaryType: 'VerifyRequest', message });
}

export function makeRequest({ venue }: Deployment, quote: Quote, overrides: Partial<Request> = {}): Request {
  const [inputToken, outputToken] =
    quote.side === 0 ? [venue.dollar.address, quote.asset] : [quote.asset, venue.dollar.address];
  return {
    side: quote.side,
    inputToken,
    outputToken,
    sender: accounts.alice.address,
    nonce: 0n,
    expiry: quote.expiration,
    amount: gross,
    ...overrides,
  };
}

type Overrides = { quote?: Partial<Quote>; request?: Partial<Request>; signer?: PrivateKeyAccount };

/** Returns a `swap` call signed by the venue and the operator. */
export async function signedSwap(
  chain: Chain,
  deployment: Deployment,
  overrides: Overrides = {},
): Promise<Call> {
  const quote = makeQuote(chain, deployment.venue, overrides.quote);
  const request = makeRequest(deployment, quote, overrides.request);
  const venueSignature = await signQuote(chain, deployment.venue, quote);
  const operatorSignature = await signRequest(chain, deployment.swap, request, overrides.signer);
  const token = deployment.venue.dollar.address;
  return {
    ...deployment.swap,
    functionName: 'swap',
    args: [quote, venueSignature, token, request.amount, operatorSignature],
  };
}
