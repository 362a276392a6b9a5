import { saleFund } from '@causeway/contracts/abi/sale-fund.ts';
import { saleFundV2 } from '@causeway/contracts/abi/sale-fund-v2.ts';
import fc from 'fast-check';
import { type AbiEvent, encodeAbiParameters, encodeEventTopics, type Hex } from 'viem';
import { decodeEventLog } from 'viem/utils';
import { expect, test } from 'vitest';
import { decodeFundEvent } from './sale-fund.ts';

const events = [...saleFund.abi, ...saleFundV2.abi].filter(({ type }) => type === 'event') as AbiEvent[];
const hex = (bytes: number) =>
  fc
    .uint8Array({ minLength: bytes, maxLength: bytes })
    .map((array): Hex => `0x${Buffer.from(array).toString('hex')}`);
const values = fc.record({
  ...{ user: hex(20), token: hex(20), to: hex(20), option: hex(32), id: hex(32) },
  ...{ amount: fc.bigInt(0n, 2n ** 256n - 1n), kind: fc.bigInt(0n, 2n), succeeded: fc.nat().map(BigInt) },
  ...{ failed: fc.nat().map(BigInt), level: fc.nat().map(BigInt) },
});

type Values = { id?: Hex; user: Hex; option: Hex; token: Hex; amount: bigint; kind?: bigint };

/** The reference decoder: uses viem, which supports any event and checks every encoding rule. */
function decodeSlowly(topics: [Hex, ...Hex[]], data: Hex) {
  for (const abi of [saleFund.abi, saleFundV2.abi as unknown as typeof saleFund.abi]) {
    try {
      const { eventName: name, args } = decodeEventLog({ abi, topics, data });
      const { id = null, user, option, token, amount, kind = 0n } = args as unknown as Values;
      if (!['Committed', 'Remitted', 'BatchFail'].includes(name) || kind !== 0n) return null;
      const lower = (text: string) => text.toLowerCase();
      return { ...{ name, commitment: id, option, amount }, user: lower(user), token: lower(token) };
    } catch {}
  }
  return null;
}

test.each(events.map((event) => [`${event.name}(${event.inputs.length})`, event] as const))(
  'reads %s as viem does, and nothing from one that is cut off',
  (_name, event) => {
    fc.assert(
      fc.property(values, fc.nat(300), (given, cut) => {
        const args = Object.fromEntries(event.inputs.map(({ name = '' }) => [name, given[name as 'user']]));
        const topics = encodeEventTopics({ abi: [event], args } as never) as [Hex, ...Hex[]];
        const plain = event.inputs.filter(({ indexed }) => indexed !== true);
        const data = encodeAbiParameters(
          plain,
          plain.map(({ name = '' }) => given[name as 'user']),
        );
        const address: Hex = `0x${'11'.repeat(20)}`;
        expect(decodeFundEvent({ address, topics, data })).toEqual(decodeSlowly(topics, data));
        const short = data.slice(0, 2 + 2 * Math.floor(cut / 2)) as Hex;
        expect(decodeFundEvent({ address, topics, data: short })).toEqual(decodeSlowly(topics, short));
        const fewer = topics.slice(0, -1) as [Hex, ...Hex[]];
        expect(decodeFundEvent({ address, topics: fewer, data })).toEqual(decodeSlowly(fewer, data));
      }),
      { numRuns: 50 },
    );
  },
);
