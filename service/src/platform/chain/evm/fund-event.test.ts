import { saleFund } from '@causeway/contracts/abi/sale-fund.ts';
import { saleFundV2 } from '@causeway/contracts/abi/sale-fund-v2.ts';
import fc from 'fast-check';
import { type AbiEvent, encodeAbiParameters, encodeEventTopics, type Hex } from 'viem';
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

test.each(events.map((event) => [`${event.name}(${event.inputs.length})`, event] as const))(
  'reads %s if it is about a row, and nothing from one that is cut off',
  (name, event) => {
    const isAboutRow = /^(Committed|Remitted|BatchFail)/.test(name);
    const hasId = event.inputs.some((input) => input.name === 'id');
    fc.assert(
      fc.property(values, (given) => {
        const args = Object.fromEntries(
          event.inputs.map((input) => [input.name, given[input.name as 'user']]),
        );
        const topics = encodeEventTopics({ abi: [event], args } as never) as [Hex, ...Hex[]];
        const plain = event.inputs.filter(({ indexed }) => indexed !== true);
        const data = encodeAbiParameters(
          plain,
          plain.map((input) => given[input.name as 'user']),
        );
        const { id, user, option, token, amount, kind } = given;
        const isCommit = event.name !== 'BatchFail' || kind === 0n;
        const address: Hex = `0x${'11'.repeat(20)}`;
        expect(decodeFundEvent({ address, topics, data })).toEqual(
          isAboutRow && isCommit
            ? { name: event.name, commitment: hasId ? id : null, user, option, token, amount }
            : null,
        );
        expect(decodeFundEvent({ address, topics, data: data.slice(0, -2) as Hex })).toBeNull();
        expect(decodeFundEvent({ address, topics: topics.slice(0, -1), data })).toBeNull();
      }),
      { numRuns: 50 },
    );
  },
);
