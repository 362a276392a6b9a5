import { REQUEST_TYPES, swapDomain } from '@causeway/contracts/encodings/tokenized-order.ts';
import { Registry } from 'prom-client';
import { type Hex, recoverAddress, recoverTransactionAddress, recoverTypedDataAddress } from 'viem';
import { privateKeyToAddress } from 'viem/accounts';
import { toHex } from 'viem/utils';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Kms, startKms } from '../../../test/support/kms.ts';
import { realClock } from '../../kernel/clock.ts';
import type { OperatorKey } from '../../kernel/config/operator-key.ts';
import { KEY_ROLES, type KeyRole } from '../../kernel/config/role.ts';
import { createLog } from '../../kernel/log.ts';
import { hashPermission } from '../chain/evm/allow-list.ts';
import { encodeCommit, encodeRemit } from '../chain/evm/sale-fund.ts';
import { openSigners, type SigningKeys } from './signers.ts';

const CHAIN = 'ethereum_sepolia';
const CHAIN_ID = 11_155_111;
const CONTRACT: Hex = `0x${'fa'.repeat(20)}`;
const privateKeys = Object.fromEntries(KEY_ROLES.map((role, i) => [role, toHex(Buffer.alloc(32, i + 1))]));
const addressOf = (role: KeyRole) => privateKeyToAddress(privateKeys[role] as Hex).toLowerCase();

let kms: Kms;
beforeAll(async () => {
  kms = await startKms(privateKeys as Record<string, Hex>);
});
afterAll(() => kms.close());
beforeEach(() => void kms.state.seen.splice(0));

const inKms = (role: KeyRole): OperatorKey => ({ kind: 'kms', key: kms.keyOf(role) });
const local = (role: KeyRole): OperatorKey => ({
  ...{ kind: 'local', privateKey: Buffer.from(String(privateKeys[role]).slice(2), 'hex') },
});
const open = (keys: Partial<SigningKeys>) =>
  openSigners(
    { operatorKey: null, supplierKey: null, roleKeys: [], retiredKeys: [], ...keys },
    { clock: realClock(), log: createLog({ level: 'silent', pretty: false }), registry: new Registry() },
  );

const row = {
  commitment: toHex(1, { size: 32 }),
  user: CONTRACT,
  optionId: 'o',
  token: CONTRACT,
  amount: 5n,
};
const DATA = { commit: encodeCommit([row], 'single', 2), refund: encodeRemit([row], 2) };
const call = (role: 'commit' | 'refund') => ({
  ...{ chainId: CHAIN_ID, nonce: 0, to: CONTRACT, gas: 1n, maxFeePerGas: 1n, data: DATA[role] },
});
const soon = () => BigInt(Math.floor(Date.now() / 1000) + 60);

/**
 * Signs a message or transaction that belongs to the role, with the role's key. Returns the address recovered from the
 * signature.
 */
async function recoverRole(signers: Awaited<ReturnType<typeof open>>, role: KeyRole): Promise<string> {
  const signer = signers.signerOf(role, CHAIN);
  if (signer === null) throw new Error(`no ${role} key`);
  if (role === 'quote') {
    const tokens = { inputToken: CONTRACT, outputToken: CONTRACT, sender: CONTRACT };
    const message = { side: 0, ...tokens, nonce: 1n, expiry: soon(), amount: 3n };
    const domain = swapDomain('Swap', CHAIN_ID, CONTRACT);
    const signature = await signer.signRequest(domain, message);
    const typed = { domain, types: REQUEST_TYPES, primaryType: 'VerifyRequest', message } as const;
    return (await recoverTypedDataAddress({ ...typed, signature })).toLowerCase();
  }
  if (role === 'supplier') {
    const domain = { name: 'List', version: '1', chainId: CHAIN_ID, verifyingContract: CONTRACT };
    const permission = { wallet: CONTRACT, offer: toHex(1, { size: 32 }), nonce: 0n, deadline: soon() };
    const signature = await signer.signPermission(domain, permission);
    return (await recoverAddress({ hash: hashPermission(domain, permission), signature })).toLowerCase();
  }
  const raw = await signer.signTransaction(call(role));
  const from = await recoverTransactionAddress({ serializedTransaction: raw as `0x02${string}` });
  return from.toLowerCase();
}

test.each(KEY_ROLES)('the %s key can be in KMS while the others are not', async (held) => {
  const roleKeys = KEY_ROLES.map((role) => ({
    ...{ role, chain: CHAIN, key: role === held ? inKms(role) : local(role) },
  }));
  const signers = await open({ roleKeys });
  for (const role of KEY_ROLES) expect(await recoverRole(signers, role)).toBe(addressOf(role));
  expect(kms.state.seen).toEqual([`GetPublicKey ${held}`, `Sign ${held}`]);
});

test('each role can have its own KMS key, and only that one signs for it', async () => {
  const signers = await open({
    roleKeys: KEY_ROLES.map((role) => ({ role, chain: null, key: inKms(role) })),
  });
  for (const role of KEY_ROLES) {
    kms.state.seen.splice(0);
    expect(await recoverRole(signers, role)).toBe(addressOf(role));
    expect(kms.state.seen).toEqual([`Sign ${role}`]);
  }
  const refused = signers.signerOf('refund', CHAIN)?.signTransaction(call('commit'));
  await expect(refused).rejects.toThrow('to act as the commit key');
  expect(kms.state.seen).toEqual(['Sign supplier']);
});

test('a role whose key only other nodes have does not fall back to the operator key', async () => {
  const elsewhere = { role: 'refund' as const, chain: null, key: null, address: addressOf('refund') };
  const { signerOf } = await open({ operatorKey: local('commit'), roleKeys: [elsewhere] });
  expect(signerOf('refund', CHAIN)).toBeNull();
  const operator = signerOf('commit', CHAIN);
  await operator?.signTransaction(call('commit'));
  await expect(operator?.signTransaction(call('refund'))).rejects.toThrow('to act as the refund key');
});

test('a replaced key signs in the roles that it is listed with, and no order or permission', async () => {
  const retiredKeys = [
    { key: local('refund'), roles: ['refund'] as const },
    { key: inKms('commit'), roles: ['commit', 'refund'] as const },
  ];
  const { retired } = await open({ operatorKey: local('quote'), retiredKeys });
  const [refund, both] = retired.map(({ signer }) => signer);
  await refund?.signTransaction(call('refund'));
  await expect(refund?.signTransaction(call('commit'))).rejects.toThrow('to act as the commit key');
  await both?.signTransaction(call('commit'));
  await both?.signTransaction(call('refund'));
  const domain = { name: 'List', version: '1', chainId: CHAIN_ID, verifyingContract: CONTRACT };
  const permission = { wallet: CONTRACT, offer: toHex(1, { size: 32 }), nonce: 0n, deadline: soon() };
  await expect(both?.signPermission(domain, permission)).rejects.toThrow('to act as the supplier key');
});
