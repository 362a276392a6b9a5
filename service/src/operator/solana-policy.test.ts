import { randomBytes } from 'node:crypto';
import { encodeMessage } from '@causeway/contracts/encodings/solana-message.ts';
import { base58 } from '@scure/base';
import { expect, test } from 'vitest';
import { associatedAccount, keyOf } from '../chain/solana/addresses.ts';
import { realClock } from '../clock.ts';
import type { ChainPolicy } from './policy.ts';
import { buildReceiptMessage, type ReceiptPlan } from './receipt-message.ts';
import { assertReceiptAllowed } from './receipt-policy.ts';
import { openSolanaSigner } from './solana-signer.ts';

const newAddress = () => base58.encode(randomBytes(32));
const [fund, mint, wallet, source, vault, blockhash] = Array.from({ length: 6 }, newAddress) as [
  string,
  string,
  string,
  string,
  string,
  string,
];
const FEES = { rent: 2_000_000n, units: 2_000, price: 10n };
const LISTED: ChainPolicy = { targets: new Set([fund, vault]), dailyFee: null, dailyAmounts: null };

async function open(policy: ChainPolicy) {
  const key = { kind: 'local' as const, privateKey: randomBytes(32) };
  const signer = await openSolanaSigner({ ...key, policy: new Map([['solana', policy]]) }, realClock());
  let count = 0;
  /** Signs as the service would for this database content: plan and vault are both read from the database. */
  const sign = (kind: 'commit' | 'remit', change: Partial<ReceiptPlan> & { vault?: string } = {}) => {
    const { vault: to = vault, ...rest } = change;
    const ends =
      kind === 'commit'
        ? { source, destination: to }
        : { source: to, destination: associatedAccount(wallet, mint) };
    const participationId = `01900000-0000-7000-8000-00000000000${count++}`;
    const base = { kind, participationId, fund, mint, decimals: 6, amount: 5n, wallet };
    const plan = { ...base, ...ends, ...rest } as ReceiptPlan;
    const message = buildReceiptMessage(signer.address, plan, FEES, blockhash);
    return signer.signTransaction(message, (bytes) =>
      assertReceiptAllowed(signer.address, { plan, vault: to }, bytes),
    );
  };
  return { signer, sign };
}

test('commits and refunds of the listed fund and vault are signed', async () => {
  const { sign } = await open(LISTED);
  await sign('commit');
  await sign('remit');
});

test.each(['commit', 'remit'] as const)(
  'a changed database cannot name another vault or fund for a %s',
  async (kind) => {
    const { sign } = await open(LISTED);
    await expect(sign(kind, { vault: newAddress() })).rejects.toThrow('does not list the vault');
    await expect(sign(kind, { fund: newAddress() })).rejects.toThrow('does not list the fund');
  },
);

test('other programs are refused', async () => {
  const { signer } = await open(LISTED);
  const instructions = [{ program: keyOf(newAddress()), accounts: [], data: Buffer.alloc(1) }];
  const message = encodeMessage({
    feePayer: keyOf(signer.address),
    blockhash: keyOf(blockhash),
    instructions,
  });
  await expect(signer.signTransaction(message, () => undefined)).rejects.toThrow('is not used by settlement');
});

test('tokens and fees stay within the daily limits', async () => {
  const tokens = await open({ ...LISTED, dailyAmounts: new Map([[mint, 12n]]) });
  await tokens.sign('commit');
  await tokens.sign('commit');
  await expect(tokens.sign('commit')).rejects.toThrow(`15 of ${mint}`);
  const fees = await open({ ...LISTED, dailyFee: 3_000_000n });
  await fees.sign('commit');
  await expect(fees.sign('commit')).rejects.toThrow('of fees');
});
