import { type Hex, zeroAddress } from 'viem';
import { beforeEach, describe, expect, it } from 'vitest';
import { type Call, type Chain, expectRevert, moveTo, people, send, startChain } from '../chain.ts';
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

const { alice, bob, mallory, owner } = people;
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

async function signedMint(given: Partial<Quote> = {}): Promise<Call> {
  const quote = makeQuote(chain, venue, given);
  return mint(quote, await signQuote(chain, venue, quote));
}

/** Each fault alone, in the order in which the deployed managers look for them. */
const faults: {
  name: string;
  selector: Hex;
  break: () => Promise<unknown>;
  quote?: Partial<Quote>;
  args?: unknown[];
}[] = [
  { name: 'GlobalMintsPaused', selector: '0xc614adcc', break: () => set('setGlobalPause', [true, false]) },
  {
    name: 'GMTokenMintsPaused',
    selector: '0x01c962ea',
    break: () => set('setTokenPause', [venue.asset.address, true, false]),
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
    break: () => set('setAccepted', [venue.asset.address, false]),
  },
  { name: 'InvalidChainId', selector: '0x7a47c9a2', quote: { chainId: 1n }, break: async () => {} },
  {
    name: 'InvalidAttestationSigner',
    selector: '0x127a982d',
    break: () => set('setRole', [signerRole, people.venue.address, false]),
  },
  {
    name: 'DepositAmountTooSmall',
    selector: '0x67627d07',
    break: () => set('setMinimums', [10n ** 30n, 0n]),
  },
  { name: 'RateLimitExceeded', selector: '0xa74c1c5f', break: () => limit(1n) },
];

function set(functionName: string, args: unknown[]) {
  return send(chain, owner, { ...venue.manager, functionName, args });
}

async function closeMarket() {
  await moveTo(chain, 1_735_948_800n);
  await send(chain, owner, { ...venue.hours, functionName: 'setHours', args: [0n, false] });
}

function limit(cap: bigint) {
  const args = [venue.asset.address, 0, cap, 86_400n];
  return send(chain, owner, { ...venue.limiter, functionName: 'setUserLimit', args });
}

describe('mint', () => {
  it.each(faults)('refuses with $name', async ({ selector, quote, break: breakIt }) => {
    await breakIt();
    await expectRevert(chain, alice, await signedMint(quote), selector);
  });

  it('names the first fault of several, in the order of the deployed managers', async () => {
    let quote: Partial<Quote> = {};
    for (const fault of [...faults].reverse()) {
      await fault.break();
      quote = { ...quote, ...fault.quote };
      await expectRevert(chain, alice, await signedMint(quote), fault.selector);
    }
  });

  it('refuses the zero token, the sell side and a used attestation', async () => {
    const quote = makeQuote(chain, venue);
    const signature = await signQuote(chain, venue, quote);
    await expectRevert(chain, alice, mint(quote, signature, zeroAddress), '0x885ce5f1');
    await expectRevert(chain, alice, await signedMint({ side: 1 }), '0x9ac721e4');
    await send(chain, alice, mint(quote, signature));
    await expectRevert(chain, alice, mint(quote, signature), '0x468752d8');
  });

  it("refuses another user's quote, naming both ids", async () => {
    const other: Hex = `0x474d${'11'.repeat(30)}`;
    await expectRevert(chain, alice, await signedMint({ userId: other }), '0xe9167b86', [userId, other]);
    await register(chain, venue, bob.address, other);
    await expectRevert(chain, bob, await signedMint(), '0xe9167b86', [other, userId]);
  });

  it('holds a quote to its last second', async () => {
    const call = await signedMint({ expiration: 1_800_000_000n });
    await chain.evm.request({ method: 'evm_setNextBlockTimestamp', params: [1_800_000_000] });
    await send(chain, alice, call);
    await moveTo(chain, 1_800_000_001n);
    await expectRevert(chain, alice, await signedMint({ expiration: 1_800_000_000n }), '0x716dcc39');
  });

  const fields: (keyof Quote)[] = ['attestationId', 'price', 'quantity', 'expiration', 'additionalData'];
  it.each(fields)('refuses a signed quote whose %s was changed', async (field) => {
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
  ])('refuses a quote signed for another $what', async ({ domain }) => {
    const quote = makeQuote(chain, venue);
    const signature = await people.venue.signTypedData({
      domain: { ...venueDomain(chain.id, venue.manager.address), ...domain },
      types: quoteTypes,
      primaryType: 'Quote',
      message: quote,
    });
    await expectRevert(chain, alice, mint(quote, signature), '0x127a982d');
  });

  it('refuses a signature that recovers to nobody', async () => {
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

  it('needs a posted price that is not stale', async () => {
    const post = (price: bigint, delay: number) =>
      send(chain, owner, {
        ...venue.oracle,
        functionName: 'setPrice',
        args: [venue.asset.address, price, delay, 1_000],
      });
    await post(posted, 5);
    await moveTo(chain, 1_735_700_000n);
    await expectRevert(chain, alice, await signedMint(), '0x19abf40e');
    await post(0n, 5);
    await expectRevert(chain, alice, await signedMint(), '0x27515afa');
  });
});

describe('the limiter', () => {
  it('lets use decay over the window, per user', async () => {
    await limit(1_000n * unit);
    await send(chain, alice, await signedMint());
    await expectRevert(chain, alice, await signedMint({ quantity: unit }), '0xa74c1c5f');
    await moveTo(chain, (await chain.client.getBlock()).timestamp + 43_200n);
    await send(chain, alice, await signedMint({ quantity: (5n * unit) / 2n }));
    await expectRevert(chain, alice, await signedMint({ quantity: unit }), '0xa74c1c5f');
  });

  it('caps all users together', async () => {
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

  it('refuses an asset without limits, and spenders that are not the manager', async () => {
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

describe('the weekend', () => {
  it.each([
    { day: 'Friday 23:59:58', time: 1_735_948_798n, open: true },
    { day: 'Saturday 00:00', time: 1_735_948_800n, open: false },
    { day: 'Sunday 23:59:58', time: 1_736_121_598n, open: false },
    { day: 'Monday 00:00', time: 1_736_121_600n, open: true },
  ])('$day', async ({ time, open }) => {
    const [zone] = [-5n * 3_600n];
    await send(chain, owner, { ...venue.hours, functionName: 'setHours', args: [zone, false] });
    await moveTo(chain, time - zone);
    if (open)
      expect(await chain.client.readContract({ ...venue.hours, functionName: 'check' })).toBeUndefined();
    else await expectRevert(chain, alice, await signedMint(), '0x6e961a0e');
  });
});
