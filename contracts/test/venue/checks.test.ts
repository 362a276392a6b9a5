import { type Hex, zeroAddress } from 'viem';
import { beforeEach, describe, expect, it } from 'vitest';
import { accounts, type Call, type Chain, expectRevert, send, setTime, startChain } from '../chain.ts';
import {
  approve,
  deployVenue,
  makeQuote,
  posted,
  type Quote,
  quoteTypes,
  register,
  signerRole,
  signQuote,
  unit,
  userId,
  type Venue,
  venueDomain,
} from './venue.ts';

const { alice, bob, mallory, owner } = accounts;
let chain: Chain;
let venue: Venue;

beforeEach(async () => {
  chain = await startChain();
  venue = await deployVenue(chain);
  await register(chain, venue, alice.address);
  await send(chain, owner, { ...venue.dollar, functionName: 'mint', args: [alice.address, 10n ** 12n] });
  await approve(chain, venue.dollar, alice, venue.manager.address);
});

const mint = (quote: Quote, signature: Hex, token: Hex = venue.dollar.address): Call => ({
  ...venue.manager,
  functionName: 'mintWithAttestation',
  args: [quote, signature, token, 1_000_000_000n],
});

async function signedMint(overrides: Partial<Quote> = {}): Promise<Call> {
  const quote = makeQuote(chain, venue, overrides);
  return mint(quote, await signQuote(chain, venue, quote));
}

/**
 * Each entry causes one fault. The faults are in the order in which the venue's manager contracts on public chains
 * check for them.
 */
const faults: {
  name: string;
  selector: Hex;
  break: () => Promise<unknown>;
  quote?: Partial<Quote>;
  args?: unknown[];
}[] = [
  {
    name: 'GlobalMintsPaused',
    selector: '0xc614adcc',
    break: () => configure('setGlobalPause', [true, false]),
  },
  {
    name: 'GMTokenMintsPaused',
    selector: '0x01c962ea',
    break: () => configure('setTokenPause', [venue.asset.address, true, false]),
  },
  {
    name: 'UserNotRegistered',
    selector: '0x2163950f',
    break: () => register(chain, venue, alice.address, `0x${'00'.repeat(32)}`),
  },
  {
    name: 'AttestationExpired',
    selector: '0x716dcc39',
    quote: { expiration: 1_735_689_600n },
    break: async () => {},
  },
  { name: 'OutsideMarketHours', selector: '0x6e961a0e', break: closeMarket },
  { name: 'PriceOutOfRange', selector: '0x37c8a83c', quote: { price: 2n * posted }, break: async () => {} },
  {
    name: 'GMTokenNotRegistered',
    selector: '0x26b5ecf3',
    break: () => configure('setAccepted', [venue.asset.address, false]),
  },
  { name: 'InvalidChainId', selector: '0x7a47c9a2', quote: { chainId: 1n }, break: async () => {} },
  {
    name: 'InvalidAttestationSigner',
    selector: '0x127a982d',
    break: () => configure('setRole', [signerRole, accounts.venue.address, false]),
  },
  {
    name: 'DepositAmountTooSmall',
    selector: '0x67627d07',
    break: () => configure('setMinimums', [10n ** 30n, 0n]),
  },
  { name: 'RateLimitExceeded', selector: '0xa74c1c5f', break: () => setUserLimit(1n) },
];

function configure(functionName: string, args: unknown[]) {
  return send(chain, owner, { ...venue.manager, functionName, args });
}

async function closeMarket() {
  await setTime(chain, 1_735_948_800n);
  await send(chain, owner, { ...venue.hours, functionName: 'setHours', args: [0n, false] });
}

function setUserLimit(cap: bigint) {
  const args = [venue.asset.address, 0, cap, 86_400n];
  return send(chain, owner, { ...venue.limiter, functionName: 'setUserLimit', args });
}

describe('mint', () => {
  it.each(faults)('reverts with $name', async ({ selector, quote, break: breakIt }) => {
    await breakIt();
    await expectRevert(chain, alice, await signedMint(quote), selector);
  });

  it("reports the first of several faults in the order of the venue's managers on public chains", async () => {
    let quote: Partial<Quote> = {};
    for (const fault of [...faults].reverse()) {
      await fault.break();
      quote = { ...quote, ...fault.quote };
      await expectRevert(chain, alice, await signedMint(quote), fault.selector);
    }
  });

  it('rejects the zero token, the sell side and a used attestation', async () => {
    const quote = makeQuote(chain, venue);
    const signature = await signQuote(chain, venue, quote);
    await expectRevert(chain, alice, mint(quote, signature, zeroAddress), '0x885ce5f1');
    await expectRevert(chain, alice, await signedMint({ side: 1 }), '0x9ac721e4');
    await send(chain, alice, mint(quote, signature));
    await expectRevert(chain, alice, mint(quote, signature), '0x468752d8');
  });

  it("rejects another user's quote and reports both ids", async () => {
    const other: Hex = `0x474d${'11'.repeat(30)}`;
    await expectRevert(chain, alice, await signedMint({ userId: other }), '0xe9167b86', [userId, other]);
    await register(chain, venue, bob.address, other);
    await expectRevert(chain, bob, await signedMint(), '0xe9167b86', [other, userId]);
  });

  it('accepts a quote until its last second', async () => {
    const call = await signedMint({ expiration: 1_800_000_000n });
    await chain.evm.request({ method: 'evm_setNextBlockTimestamp', params: [1_800_000_000] });
    await send(chain, alice, call);
    await setTime(chain, 1_800_000_001n);
    await expectRevert(chain, alice, await signedMint({ expiration: 1_800_000_000n }), '0x716dcc39');
  });

  const fields: (keyof Quote)[] = ['attestationId', 'price', 'quantity', 'expiration', 'additionalData'];
  it.each(fields)('rejects a signed quote with a changed %s', async (field) => {
    const quote = makeQuote(chain, venue);
    const signature = await signQuote(chain, venue, quote);
    const value = quote[field];
    const changed = typeof value === 'bigint' ? value + 1n : `0x${'00'.repeat(31)}01`;
    await expectRevert(chain, alice, mint({ ...quote, [field]: changed } as Quote, signature), '0x127a982d');
  });

  it.each([
    { what: 'chain', domain: { chainId: 1 } },
    { what: 'manager', domain: { verifyingContract: mallory.address } },
    { what: 'name', domain: { name: 'GMTokenManager' } },
    { what: 'version', domain: { version: '2' } },
  ])('rejects a quote signed for a different $what', async ({ domain }) => {
    const quote = makeQuote(chain, venue);
    const signature = await accounts.venue.signTypedData({
      domain: { ...venueDomain(chain.id, venue.manager.address), ...domain },
      types: quoteTypes,
      primaryType: 'Quote',
      message: quote,
    });
    await expectRevert(chain, alice, mint(quote, signature), '0x127a982d');
  });

  it('rejects a signature that recovers to the zero address', async () => {
    const quote = makeQuote(chain, venue);
    await expectRevert(chain, alice, mint(quote, '0x'), '0x127a982d');
    await expectRevert(chain, alice, mint(quote, `0x${'00'.repeat(65)}`), '0x127a982d');
  });
});

describe('the price band', () => {
  it('is inclusive at both ends', async () => {
    for (const price of [posted - 20n * unit, posted + 20n * unit])
      await send(chain, alice, await signedMint({ price, quantity: unit }));
    for (const price of [posted - 20n * unit - 1n, posted + 20n * unit + 1n]) {
      await expectRevert(chain, alice, await signedMint({ price, quantity: unit }), '0x37c8a83c');
    }
  });

  it('requires a posted price that is not stale', async () => {
    const post = (price: bigint, delay: number) =>
      send(chain, owner, {
        ...venue.oracle,
        functionName: 'setPrice',
        args: [venue.asset.address, price, delay, 1_000],
      });
    await post(posted, 5);
    await setTime(chain, 1_735_700_000n);
    await expectRevert(chain, alice, await signedMint(), '0x19abf40e');
    await post(0n, 5);
    await expectRevert(chain, alice, await signedMint(), '0x27515afa');
  });
});

describe('the limiter', () => {
  it('decays usage over the window, per user', async () => {
    await setUserLimit(1_000n * unit);
    await send(chain, alice, await signedMint());
    await expectRevert(chain, alice, await signedMint({ quantity: unit }), '0xa74c1c5f');
    await setTime(chain, (await chain.client.getBlock()).timestamp + 43_200n);
    await send(chain, alice, await signedMint({ quantity: (5n * unit) / 2n }));
    await expectRevert(chain, alice, await signedMint({ quantity: unit }), '0xa74c1c5f');
  });

  it('limits all users together', async () => {
    const { asset, limiter, dollar, manager } = venue;
    const cap = (args: unknown[]) =>
      send(chain, owner, { ...limiter, functionName: 'setGlobalLimit', args: [asset.address, 0, ...args] });
    await cap([1_000n * unit, 86_400n]);
    await send(chain, alice, await signedMint());
    const other: Hex = `0x474d${'11'.repeat(30)}`;
    await register(chain, venue, bob.address, other);
    await send(chain, owner, { ...dollar, functionName: 'mint', args: [bob.address, 10n ** 12n] });
    await approve(chain, dollar, bob, manager.address);
    await expectRevert(chain, bob, await signedMint({ userId: other }), '0xa74c1c5f');
    await cap([2_000n * unit, 86_400n]);
    await send(chain, bob, await signedMint({ userId: other }));
  });

  it('rejects assets without limits and callers other than the manager', async () => {
    const { asset, limiter } = venue;
    const zero = (functionName: string) =>
      send(chain, owner, { ...limiter, functionName, args: [asset.address, 0, 0n, 0n] });
    await zero('setUserLimit');
    await expectRevert(chain, alice, await signedMint(), '0x0868a19c');
    await zero('setGlobalLimit');
    await expectRevert(chain, alice, await signedMint(), '0xfc674000');
    const spend = { ...limiter, functionName: 'spend', args: [asset.address, 0, userId, 1n] };
    await expectRevert(chain, mallory, spend, '0x82b42900');
  });
});

describe('market hours on a weekend', () => {
  it.each([
    { day: 'Friday 23:59:58', time: 1_735_948_798n, open: true },
    { day: 'Saturday 00:00', time: 1_735_948_800n, open: false },
    { day: 'Sunday 23:59:58', time: 1_736_121_598n, open: false },
    { day: 'Monday 00:00', time: 1_736_121_600n, open: true },
  ])('$day: open $open', async ({ time, open }) => {
    const zone = -5n * 3_600n;
    await send(chain, owner, { ...venue.hours, functionName: 'setHours', args: [zone, false] });
    await setTime(chain, time - zone);
    if (open)
      expect(await chain.client.readContract({ ...venue.hours, functionName: 'check' })).toBeUndefined();
    else await expectRevert(chain, alice, await signedMint(), '0x6e961a0e');
  });
});
