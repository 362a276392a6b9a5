import { randomBytes } from 'node:crypto';
import {
  encodeMessage,
  type Instruction,
  readonly,
  writable,
} from '@causeway/contracts/encodings/solana-message.ts';
import { base58 } from '@scure/base';
import { Registry } from 'prom-client';
import { describe, expect, test } from 'vitest';
import {
  associatedAccount,
  deriveWithSeed,
  keyOf,
  SYSTEM_PROGRAM,
  TOKEN_PROGRAM,
} from '../chain/solana/addresses.ts';
import {
  allocateWithSeed,
  closeAccount,
  createAssociatedAccount,
  initializeMultisig,
  initializeTokenAccount,
  memo,
  setComputeUnitLimit,
  setComputeUnitPrice,
  transferChecked,
  transferLamports,
} from '../chain/solana/instructions.ts';
import { realClock } from '../clock.ts';
import { createLog } from '../log.ts';
import type { ChainPolicy, SignerPolicy } from './policy.ts';
import { openSolanaSigner } from './solana-signer.ts';

const newAddress = () => base58.encode(randomBytes(32));
const [fund, mint, wallet, source, vault, thief] = Array.from({ length: 6 }, newAddress) as [
  ...[string, string, string, string, string, string],
];
const own = associatedAccount(wallet, mint);
const LISTED: ChainPolicy = { targets: new Set([fund, vault]), dailyFee: null, dailyAmounts: null };

const policyOf = (change: Partial<ChainPolicy> = {}): SignerPolicy =>
  new Map([['solana', { ...LISTED, ...change }]]);

async function open(policy: SignerPolicy) {
  const key = { kind: 'local' as const, privateKey: randomBytes(32) };
  const registry = new Registry();
  const log = createLog({ level: 'silent', pretty: false });
  const signer = await openSolanaSigner({ ...key, policy }, { clock: realClock(), log, registry });
  const { address } = signer;
  /** Signs without the caller's own check, like a caller that lies about its plan. */
  const sign = (...instructions: Instruction[]) => {
    const message = { feePayer: keyOf(address), blockhash: randomBytes(32), instructions };
    return signer.signTransaction(encodeMessage(message), () => undefined);
  };
  const receiptOf = (seed: string) => deriveWithSeed(address, seed, TOKEN_PROGRAM);
  const create = (seed: string, rent = 2_000_000n) => [
    transferLamports(address, receiptOf(seed), rent),
    allocateWithSeed(receiptOf(seed), address, seed, 165),
    initializeTokenAccount(receiptOf(seed), mint, address),
  ];
  const transfer = { mint, authority: fund, signers: [address], amount: 5n, decimals: 6 };
  const commit = (change: Partial<typeof transfer & { destination: string }> = {}) =>
    transferChecked({ ...transfer, source, destination: vault, ...change });
  const refund = (change: Partial<typeof transfer & { source: string; destination: string }> = {}) =>
    transferChecked({ ...transfer, source: vault, destination: own, ...change });
  const createOwn = createAssociatedAccount(address, own, wallet, mint);
  return { address, registry, sign, receiptOf, create, commit, refund, createOwn };
}

describe('the signer of Solana', () => {
  test('signs commits into the listed vault and refunds to the associated account of a wallet', async () => {
    const { sign, create, commit, refund, createOwn } = await open(policyOf());
    await sign(setComputeUnitLimit(2_000), setComputeUnitPrice(10n), ...create('a'), commit(), memo('a'));
    await sign(...create('b'), createOwn, refund(), memo('b'));
  });

  test('refuses a fund that the policy file does not list', async () => {
    const { sign, create, commit, refund, createOwn } = await open(policyOf());
    const wrong = { authority: thief };
    await expect(sign(...create('a'), commit(wrong))).rejects.toThrow('does not list the fund');
    await expect(sign(...create('b'), createOwn, refund(wrong))).rejects.toThrow('does not list the fund');
  });

  test('refuses a destination other than a listed vault or the associated account of a wallet', async () => {
    const { sign, address, create, commit, refund, createOwn } = await open(policyOf());
    const destination = associatedAccount(thief, mint);
    await expect(sign(...create('a'), commit({ destination }))).rejects.toThrow('does not list the vault');
    await expect(sign(...create('b'), refund({ destination: thief }))).rejects.toThrow(
      'not the associated account',
    );
    await expect(sign(...create('c'), refund({ destination }))).rejects.toThrow('not the associated account');
    // The account is created, but it is not the associated account of the wallet that the instruction names.
    const other = createAssociatedAccount(address, thief, wallet, mint);
    await expect(sign(...create('d'), other, refund({ destination: thief }))).rejects.toThrow(
      'not the associated account',
    );
    await expect(sign(...create('e'), createOwn, refund({ source: thief }))).rejects.toThrow(
      'does not list the vault',
    );
  });

  test('refuses everything on a cluster that the policy file does not name', async () => {
    const { sign, create, commit } = await open(new Map());
    await expect(sign(...create('a'), commit())).rejects.toThrow('does not list the fund');
  });

  test('has the funds and vaults of each role, and the limits', async () => {
    const roles = new Map([['refund' as const, { ...LISTED, dailyAmounts: new Map([[mint, 4n]]) }]]);
    const limited = await open(policyOf({ roles }));
    await limited.sign(...limited.create('a'), limited.commit());
    await expect(limited.sign(...limited.create('b'), limited.createOwn, limited.refund())).rejects.toThrow(
      `refund on Solana would spend up to 5 of ${mint}`,
    );
    const elsewhere = new Map([['refund' as const, { ...LISTED, targets: new Set([fund]) }]]);
    const { sign, create, createOwn, refund } = await open(policyOf({ roles: elsewhere }));
    await expect(sign(...create('a'), createOwn, refund())).rejects.toThrow('does not list the vault');
  });

  test('counts what it refuses', async () => {
    const { sign, create, commit, registry } = await open(policyOf({ dailyAmounts: new Map() }));
    await expect(sign(...create('a'), commit())).rejects.toMatchObject({ reason: 'daily_limit' });
    await expect(sign(transferLamports(thief, thief, 1n))).rejects.toMatchObject({ reason: 'signer_policy' });
    const text = await registry.metrics();
    for (const reason of ['daily_limit', 'signer_policy'])
      expect(text).toContain(`causeway_signer_refusals_total{reason="${reason}"} 1`);
  });
});

describe('daily limits', () => {
  test('hold for tokens, all attempts with one receipt counted once', async () => {
    const { sign, create, commit } = await open(policyOf({ dailyAmounts: new Map([[mint, 12n]]) }));
    await sign(...create('a'), commit(), memo('a'));
    await sign(...create('a'), commit(), memo('a'));
    await sign(...create('b'), commit(), memo('b'));
    await expect(sign(...create('c'), commit(), memo('c'))).rejects.toThrow(`15 of ${mint}`);
    // A memo does not prevent a second transfer; only a receipt does.
    await expect(sign(...create('c'), commit(), memo('a'))).rejects.toThrow(`15 of ${mint}`);
  });

  test('hold for fees, rent included, whatever the transaction does', async () => {
    const fees = (dailyFee: bigint) => open(policyOf({ dailyFee }));
    const commits = await fees(3_000_000n);
    await commits.sign(...commits.create('a'), commits.commit());
    await expect(commits.sign(...commits.create('b'), commits.commit())).rejects.toThrow('of fees');
    const refunds = await fees(4_000_000n);
    await expect(refunds.sign(...refunds.create('a'), refunds.createOwn, refunds.refund())).rejects.toThrow(
      '4044280 of fees',
    );
    const { sign } = await fees(12_000n);
    await sign(memo('one'));
    await sign(memo('two'));
    await expect(sign(memo('three'))).rejects.toThrow('15000 of fees');
    const priced = [setComputeUnitLimit(1_000_000), setComputeUnitPrice(1_000_000n)];
    await expect((await fees(1_000_000n)).sign(...priced)).rejects.toThrow('1005000 of fees');
  });
});

// Without a policy file, any fund and any vault are accepted, but a message may still do only what settlement
// does.
describe.each([
  ['with', policyOf()],
  ['without', null],
] as const)('%s a policy file', (_name, policy) => {
  const NOT_USED = 'not used in this way by settlement';

  test('other programs are refused', async () => {
    const { sign } = await open(policy);
    const other = { program: keyOf(newAddress()), accounts: [], data: Buffer.alloc(1) };
    await expect(sign(other)).rejects.toThrow('is not used by settlement');
  });

  test('SOL goes into new accounts of the operator only, and only as rent', async () => {
    const { sign, address, create, commit } = await open(policy);
    await expect(sign(transferLamports(address, thief, 1n))).rejects.toThrow(NOT_USED);
    await expect(sign(...create('a', 10_000_001n), commit())).rejects.toThrow(NOT_USED);
    const allocation = allocateWithSeed(thief, address, 'seed', 165);
    const based = { ...allocation, accounts: [writable(keyOf(thief)), readonly(keyOf(thief))] };
    await expect(sign(based)).rejects.toThrow(NOT_USED);
    const assign = { program: keyOf(SYSTEM_PROGRAM), accounts: [], data: Buffer.alloc(36, 1) };
    await expect(sign(assign)).rejects.toThrow(NOT_USED);
    const owned = Buffer.concat([allocation.data.subarray(0, -32), keyOf(thief)]);
    await expect(sign({ ...allocation, data: owned })).rejects.toThrow(NOT_USED);
  });

  test('new accounts belong to the operator, and closed ones pay their rent to it', async () => {
    const { sign, address, receiptOf, create, commit } = await open(policy);
    const fundAccount = [create('f')[0], create('f')[1]].flatMap((each) => each ?? []);
    await sign(...fundAccount, initializeMultisig(receiptOf('f'), 1, [address, thief]));
    await sign(closeAccount(receiptOf('a'), address));
    const [payment, allocation] = create('b') as [Instruction, Instruction];
    const foreign = initializeTokenAccount(receiptOf('b'), mint, thief);
    await expect(sign(payment, allocation, foreign, commit())).rejects.toThrow(NOT_USED);
    await expect(sign(initializeTokenAccount(thief, mint, address))).rejects.toThrow(NOT_USED);
    await expect(sign(initializeMultisig(thief, 1, [address]))).rejects.toThrow(NOT_USED);
    const close = closeAccount(receiptOf('a'), address);
    const accounts = close.accounts.map((each, i) => (i === 1 ? { ...each, key: keyOf(thief) } : each));
    await expect(sign({ ...close, accounts })).rejects.toThrow(NOT_USED);
  });

  test('the token program may only transfer: approvals, burns and changes of owners are refused', async () => {
    const { sign, create, commit } = await open(policy);
    for (const tag of [3, 4, 5, 6, 7, 8, 13, 14, 15]) {
      const other = { ...commit(), data: Buffer.from([tag, ...commit().data.subarray(1)]) };
      await expect(sign(...create('a'), other), String(tag)).rejects.toThrow(NOT_USED);
    }
  });

  test('a transfer needs a receipt of its own', async () => {
    const { sign, create, commit } = await open(policy);
    for (const wrong of [
      [commit()],
      [...create('a'), commit(), commit()],
      [...create('a'), ...create('b'), commit()],
    ])
      await expect(sign(...wrong)).rejects.toThrow('a receipt of its own');
  });

  test('accounts of wallets are created only for the transfer into them', async () => {
    const { sign, address, create, commit, createOwn } = await open(policy);
    await expect(sign(createOwn)).rejects.toThrow(NOT_USED);
    const other = createAssociatedAccount(address, associatedAccount(thief, mint), thief, mint);
    await expect(sign(...create('a'), other, commit())).rejects.toThrow(NOT_USED);
  });

  test('nobody else signs', async () => {
    const { sign, create, commit } = await open(policy);
    await expect(sign(...create('a'), commit(), transferLamports(thief, wallet, 1n))).rejects.toThrow(
      'another account has to sign',
    );
  });
});
