import { randomBytes, randomUUID } from 'node:crypto';
import { base58 } from '@scure/base';
import { describe, expect, test } from 'vitest';
import { realClock } from '../../kernel/clock.ts';
import type { ChainPolicy, OperatorKey, SignerPolicy } from '../../kernel/config/operator-key.ts';
import type { SendingRole } from '../../kernel/config/role.ts';
import { buildReceiptMessage } from './receipt-message.ts';
import { localSolanaSigner, type SolanaSigner } from './solana-signer.ts';
import { openSolanaSigners } from './solana-signers.ts';

const newAddress = () => base58.encode(randomBytes(32));
const [MAINNET, DEVNET] = ['solana_mainnet', 'solana_devnet'] as const;
const BOTH = { [MAINNET]: [], [DEVNET]: [] };
const [fund, vault, mint] = [newAddress(), newAddress(), newAddress()];
const token = { fund, mint, decimals: 6 };
const LISTED: ChainPolicy = { targets: new Set([fund, vault]), dailyFee: null, dailyAmounts: null };

const newKey = (policy: SignerPolicy = null) => ({
  ...{ kind: 'local' as const, privateKey: randomBytes(32), policy },
});
const addressOf = ({ privateKey }: ReturnType<typeof newKey>) => localSolanaSigner(privateKey).address;
const roleKey = (role: SendingRole, chain: string, key: OperatorKey) => ({ role, chain, key });
const open = (keys: Partial<Parameters<typeof openSolanaSigners>[0]>) =>
  openSolanaSigners({ solanaKey: null, roleKeys: [], rpcUrls: BOTH, ...keys }, { clock: realClock() });

function commit(signer: SolanaSigner | null, amount = 5n): Promise<unknown> {
  if (signer === null) throw new Error('no key');
  const accounts = { wallet: newAddress(), source: newAddress(), destination: vault };
  const plan = { kind: 'commit' as const, participationId: randomUUID(), ...token, amount, ...accounts };
  const fees = { rent: 1n, units: 1, price: 0n };
  const message = buildReceiptMessage(signer.address, plan, fees, newAddress());
  return signer.signTransaction(message, () => undefined);
}

test('a role has its key of the cluster, else the operator key, on clusters with an RPC URL', async () => {
  const [operator, refund] = [newKey(), newKey()];
  const roleKeys = [roleKey('refund', MAINNET, refund), { ...roleKey('commit', '', newKey()), chain: null }];
  const signerOf = await open({ solanaKey: operator, roleKeys, rpcUrls: { [MAINNET]: [] } });
  expect(signerOf('commit', MAINNET)?.address).toBe(addressOf(operator));
  expect(signerOf('refund', MAINNET)?.address).toBe(addressOf(refund));
  expect(signerOf('commit', DEVNET)).toBeNull();
  const alone = await open({ roleKeys, rpcUrls: { [MAINNET]: [] } });
  expect(alone('commit', MAINNET)).toBeNull();
  const elsewhere = { role: 'refund' as const, chain: MAINNET, key: null, address: addressOf(refund) };
  const without = await open({ solanaKey: operator, roleKeys: [elsewhere], rpcUrls: { [MAINNET]: [] } });
  expect(without('refund', MAINNET)).toBeNull();
  expect(without('commit', MAINNET)?.address).toBe(addressOf(operator));
});

describe('a key on two clusters, whose signatures are valid on both', () => {
  test('must have the same roles on both', async () => {
    const [operator, refund] = [newKey(), newKey()];
    const roleKeys = [roleKey('refund', MAINNET, refund)];
    await expect(open({ solanaKey: operator, roleKeys })).rejects.toThrow(
      `${addressOf(operator)} has different roles on solana_mainnet and solana_devnet`,
    );
    // The same key, configured a second time.
    const copy = { ...refund };
    const crossed = [
      ...[roleKey('refund', MAINNET, refund), roleKey('commit', DEVNET, copy)],
      ...[roleKey('commit', MAINNET, newKey()), roleKey('refund', DEVNET, newKey())],
    ];
    await expect(open({ roleKeys: crossed })).rejects.toThrow('has different roles');
    const same = await open({ solanaKey: operator });
    expect(same('refund', DEVNET)).toBe(same('refund', MAINNET));
  });

  test('must not have two policies', async () => {
    const policy = new Map([MAINNET, DEVNET].map((name) => [name, LISTED] as const));
    await expect(open({ solanaKey: newKey(policy) })).rejects.toThrow(
      'OPERATOR_POLICY_FILE: lists solana_mainnet and solana_devnet',
    );
    const signerOf = await open({ solanaKey: newKey(new Map([[MAINNET, LISTED]])) });
    await commit(signerOf('commit', DEVNET));
  });
});

test('each cluster has the policy and the limits of its own keys', async () => {
  const dailyAmounts = new Map([[mint, 8n]]);
  const policy = new Map([
    [MAINNET, { ...LISTED, dailyAmounts }],
    [DEVNET, { ...LISTED, dailyAmounts }],
  ]);
  const roleKeys = [MAINNET, DEVNET].map((name) => roleKey('commit', name, newKey(policy)));
  const signerOf = await open({ roleKeys });
  for (const name of [MAINNET, DEVNET]) {
    await commit(signerOf('commit', name));
    await expect(commit(signerOf('commit', name))).rejects.toThrow(
      `commit on ${name} would spend up to 10 of ${mint}`,
    );
  }
  const elsewhere = new Map([[MAINNET, LISTED]]);
  const other = await open({ roleKeys: [roleKey('commit', DEVNET, newKey(elsewhere))] });
  await expect(commit(other('commit', DEVNET))).rejects.toThrow('does not list the fund');
});
