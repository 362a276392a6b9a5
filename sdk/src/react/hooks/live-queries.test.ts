import { expect, test } from 'vitest';
import { queries } from '../../queries.ts';
import type { Event } from '../../wire.ts';
import { isAffected, isCovered } from './live-queries.ts';

const participations = queries.participations().key;
const wallets = queries.connectedWallets('offer').key;
const balance = queries.tokenBalance({} as never).key;

test.each([
  ['participation.completed', [participations]],
  ['wallet.bound', [wallets]],
  // All events that the app may not read have this type.
  ['redacted', [participations, wallets]],
  ['offer.published', []],
  ['from.the.future', []],
])('%s reloads what it may have changed', (type, keys) => {
  const isReloaded = (key: string) => isAffected({ type } as Event, key);
  expect([participations, wallets, balance].filter(isReloaded)).toEqual(keys);
});

test('only resources whose changes are all reported are polled rarely', () => {
  expect([participations, wallets, balance].map(isCovered)).toEqual([true, true, false]);
});
