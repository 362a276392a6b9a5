import { decodeEventLog, type Hex, zeroAddress } from 'viem';
import { beforeEach, describe, expect, it } from 'vitest';
import { accounts, type Chain, expectRevert, send, setTime, startChain } from '../chain.ts';
import { balanceOf } from '../tokens.ts';
import { approve, deployVenue, makeQuote, register, signQuote, unit, userId, type Venue } from './venue.ts';

const { alice, mallory, owner } = accounts;
let chain: Chain;
let venue: Venue;

beforeEach(async () => {
  chain = await startChain();
  venue = await deployVenue(chain);
  await register(chain, venue, alice.address);
  for (const token of [venue.dollar, venue.usdon, venue.asset]) {
    await send(chain, owner, { ...token, functionName: 'mint', args: [alice.address, 10n ** 22n] });
    await approve(chain, token, alice, venue.manager.address);
  }
});

async function trade(side: 'mint' | 'redeem', token: Hex, amount: bigint) {
  const quote = makeQuote(chain, venue, { side: side === 'mint' ? 0 : 1 });
  const args = [quote, await signQuote(chain, venue, quote), token, amount];
  return { quote, call: { ...venue.manager, functionName: `${side}WithAttestation`, args } };
}

/** Runs `act` and returns how it changes Alice's balances. */
async function balanceChange(act: () => Promise<unknown>) {
  const tokens = { dollar: venue.dollar, usdon: venue.usdon, asset: venue.asset };
  const read = () =>
    Promise.all(Object.values(tokens).map((token) => balanceOf(chain, token.address, alice.address)));
  const before = await read();
  await act();
  const after = await read();
  return Object.fromEntries(
    Object.keys(tokens).map((name, i) => [name, (after[i] ?? 0n) - (before[i] ?? 0n)]),
  );
}

describe('mint', () => {
  it("takes exactly the cost in the venue's dollar, whatever amount was deposited", async () => {
    const { call } = await trade('mint', venue.usdon.address, 1n);
    expect(await balanceChange(() => send(chain, alice, call))).toEqual({
      dollar: 0n,
      usdon: -1_000n * unit,
      asset: 5n * unit,
    });
  });

  it("takes the whole deposit of another token and returns the surplus in the venue's dollar", async () => {
    const { call } = await trade('mint', venue.dollar.address, 1_000_000_007n);
    expect(await balanceChange(() => send(chain, alice, call))).toEqual({
      dollar: -1_000_000_007n,
      usdon: 7n * 10n ** 12n,
      asset: 5n * unit,
    });
  });

  it('reverts in the converter if the deposit is too small', async () => {
    const { call } = await trade('mint', venue.dollar.address, 999_999_999n);
    await expectRevert(chain, alice, call, '0x72d77b08');
  });

  it('rejects tokens it cannot convert', async () => {
    const { call } = await trade('mint', venue.asset.address, unit);
    await expectRevert(chain, alice, call, '0x00de0807');
    await send(chain, owner, { ...venue.manager, functionName: 'setConverter', args: [zeroAddress] });
    const { call: other } = await trade('mint', venue.dollar.address, 1_000_000_000n);
    await expectRevert(chain, alice, other, '0xcdce50bd');
  });

  it('rejects a stablecoin that lost its peg or has a stale price', async () => {
    const { converter, dollar } = venue;
    const post = (price: bigint, delay: bigint) =>
      send(chain, owner, { ...converter, functionName: 'setPrice', args: [dollar.address, price, delay] });
    const { call } = await trade('mint', dollar.address, 1_000_000_000n);
    await post(98n * 10n ** 16n - 1n, 100n);
    await expectRevert(chain, alice, call, '0xd4266859');
    await post(98n * 10n ** 16n, 100n);
    await setTime(chain, (await chain.client.getBlock()).timestamp + 200n);
    await expectRevert(chain, alice, call, '0x48afc38e');
  });

  it('emits every field of the quote, none of them indexed', async () => {
    const { quote, call } = await trade('mint', venue.usdon.address, 0n);
    const { logs } = await send(chain, alice, call);
    const log = logs.find((entry) => entry.address === venue.manager.address);
    expect(log?.topics).toEqual(['0xdfe4debbd7bc491e9db43820916e30a4ef9490863fc22b1e79e2f76013901035']);
    const { args } = decodeEventLog({
      abi: venue.manager.abi,
      data: log?.data ?? '0x',
      topics: log?.topics ?? [],
    });
    expect(args).toEqual({
      ...quote,
      executionId: 1n,
      asset: expect.stringMatching(new RegExp(quote.asset, 'i')),
    });
    const ids = [quote.attestationId] as const;
    expect(
      await chain.client.readContract({
        ...venue.manager,
        functionName: 'executedAttestationIds',
        args: ids,
      }),
    ).toBe(true);
  });
});

describe('redeem', () => {
  it("burns the asset and pays in the venue's dollar, ignoring the minimum", async () => {
    const { call } = await trade('redeem', venue.usdon.address, 10n ** 30n);
    expect(await balanceChange(() => send(chain, alice, call))).toEqual({
      dollar: 0n,
      usdon: 1_000n * unit,
      asset: -5n * unit,
    });
  });

  it('converts to another token and enforces the minimum', async () => {
    const { call } = await trade('redeem', venue.dollar.address, 1_000_000_000n);
    expect(await balanceChange(() => send(chain, alice, call))).toEqual({
      dollar: 1_000_000_000n,
      usdon: 0n,
      asset: -5n * unit,
    });
    const { call: greedy } = await trade('redeem', venue.dollar.address, 1_000_000_001n);
    await expectRevert(chain, alice, greedy, '0x3e7919fe');
  });

  it('has its own pauses, minimum and accepted tokens', async () => {
    const { manager, asset, dollar } = venue;
    const { call } = await trade('redeem', dollar.address, 0n);
    const { call: odd } = await trade('redeem', asset.address, 0n);
    await expectRevert(chain, alice, odd, '0xc54d817b');
    await send(chain, owner, { ...manager, functionName: 'setMinimums', args: [0n, 1_001n * unit] });
    await expectRevert(chain, alice, call, '0xd0022dba');
    await send(chain, owner, {
      ...manager,
      functionName: 'setTokenPause',
      args: [asset.address, false, true],
    });
    await expectRevert(chain, alice, call, '0x877009f3');
    await send(chain, owner, { ...manager, functionName: 'setGlobalPause', args: [false, true] });
    await expectRevert(chain, alice, call, '0xf162f686');
    expect(await chain.client.readContract({ ...manager, functionName: 'minimumDepositUSD' })).toBe(0n);
  });
});

describe('every setting', () => {
  it('can be changed only by the owner', async () => {
    const { manager, registry, oracle, hours, limiter, converter, asset, dollar } = venue;
    const acts: [
      typeof manager | typeof registry | typeof oracle | typeof hours | typeof limiter | typeof converter,
      string,
      unknown[],
    ][] = [
      [manager, 'setRole', [userId, mallory.address, true]],
      [manager, 'setAccepted', [asset.address, true]],
      [manager, 'setGlobalPause', [true, true]],
      [manager, 'setTokenPause', [asset.address, true, true]],
      [manager, 'setMinimums', [0n, 0n]],
      [manager, 'setConverter', [mallory.address]],
      [registry, 'register', [asset.address, mallory.address, userId]],
      [oracle, 'setPrice', [asset.address, 1n, 1, 1]],
      [hours, 'setHours', [0n, true]],
      [limiter, 'setGlobalLimit', [asset.address, 0, 1n, 1n]],
      [limiter, 'setUserLimit', [asset.address, 0, 1n, 1n]],
      [converter, 'setPrice', [dollar.address, 1n, 1n]],
      [converter, 'toDollar', [dollar.address, 1n, 1n]],
      [converter, 'fromDollar', [dollar.address, 1n, 1n, mallory.address]],
    ];
    for (const [contract, functionName, args] of acts) {
      await expectRevert(chain, mallory, { ...contract, functionName, args }, '0x82b42900');
    }
  });
});
