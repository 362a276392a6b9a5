import { randomBytes } from 'node:crypto';
import { encodeMessage } from '@causeway/contracts/encodings/solana-message.ts';
import { base58 } from '@scure/base';
import { expect, test } from 'vitest';
import { associatedAccount, keyOf } from '../chain/solana/addresses.ts';
import { memo, transferLamports } from '../chain/solana/instructions.ts';
import { buildReceiptMessage, type ReceiptPlan } from './receipt-message.ts';
import { assertReceiptAllowed, SigningRefused } from './receipt-policy.ts';
import { localSolanaSigner } from './solana-signer.ts';

const newAddress = () => base58.encode(randomBytes(32));
const signer = localSolanaSigner(randomBytes(32));
const [fund, mint, wallet, source, vault, blockhash] = Array.from({ length: 6 }, newAddress) as [
  string,
  string,
  string,
  string,
  string,
  string,
];
const FEES = { rent: 2_039_280n, units: 2_000, price: 10n };
const base = {
  ...{ participationId: '01900000-0000-7000-8000-00000000000a', fund, mint, decimals: 6 },
  ...{ amount: 5n, wallet },
};
const plans: Record<'commit' | 'remit', ReceiptPlan> = {
  commit: { ...base, kind: 'commit', source, destination: vault },
  remit: { ...base, kind: 'remit', source: vault, destination: associatedAccount(wallet, mint) },
};

function sign(plan: ReceiptPlan, built: ReceiptPlan, fees = FEES) {
  const message = buildReceiptMessage(signer.address, built, fees, blockhash);
  const policy = { plan, vault };
  return signer.signTransaction(message, (bytes) => assertReceiptAllowed(signer.address, policy, bytes));
}

test.each(['commit', 'remit'] as const)('a %s is signed', async (kind) => {
  expect((await sign(plans[kind], plans[kind])).length).toBeGreaterThan(400);
});

test.each(['commit', 'remit'] as const)(
  'a %s to another account, of another amount or source is refused',
  async (kind) => {
    const plan = plans[kind];
    const changes: Partial<ReceiptPlan>[] = [
      { destination: newAddress() },
      { amount: 6n },
      { source: newAddress() },
      { fund: newAddress() },
      { participationId: '01900000-0000-7000-8000-00000000000b' },
    ];
    for (const change of changes)
      await expect(sign(plan, { ...plan, ...change })).rejects.toThrow(SigningRefused);
  },
);

test('a receipt of another owner is refused', async () => {
  const message = Buffer.from(buildReceiptMessage(signer.address, plans.commit, FEES, blockhash));
  // In the encoded instruction, the length of its data (33) comes first, then the tag (18), then the owner.
  const start = message.indexOf(Buffer.from([33, 18, ...keyOf(signer.address)]));
  expect(start).toBeGreaterThan(0);
  message.set(keyOf(newAddress()), start + 2);
  const policy = { plan: plans.commit, vault };
  await expect(
    signer.signTransaction(message, (bytes) => assertReceiptAllowed(signer.address, policy, bytes)),
  ).rejects.toThrow(SigningRefused);
});

test('an excessive rent or fee, and other instructions, are refused', async () => {
  for (const change of [{ rent: 10_000_001n }, { units: 1_400_000, price: 40_000_000n }])
    await expect(sign(plans.commit, plans.commit, { ...FEES, ...change })).rejects.toThrow(SigningRefused);
  const instructions = [transferLamports(signer.address, newAddress(), 1n), memo('hello')];
  const message = encodeMessage({
    feePayer: keyOf(signer.address),
    blockhash: keyOf(blockhash),
    instructions,
  });
  const policy = { plan: plans.commit, vault };
  await expect(
    signer.signTransaction(message, (bytes) => assertReceiptAllowed(signer.address, policy, bytes)),
  ).rejects.toThrow(SigningRefused);
});
