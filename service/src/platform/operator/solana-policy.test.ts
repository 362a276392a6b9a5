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
import { realClock } from '../../kernel/clock.ts';
import type { ChainPolicy, SignerPolicy } from '../../kernel/config/operator-key.ts';
import { SENDING_ROLES, type SendingRole } from '../../kernel/config/role.ts';
import { createLog } from '../../kernel/log.ts';
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
import { openSolanaSigners } from './solana-signers.ts';

const newAddress = () => base58.encode(randomBytes(32));
const [fund, mint, wallet, source, vault, thief] = Array.from({ length: 6 }, newAddress) as [
  ...[string, string, string, string, string, string],
];
const own = associatedAccount(wallet, mint);
const CLUSTER = 'solana_devnet';
const LISTED: ChainPolicy = { targets: new Set([fund, vault]), dailyFee: null, dailyAmounts: null };

const policyOf = (change: Partial<ChainPolicy> = {}): SignerPolicy =>
  new Map([[CLUSTER, { ...LISTED, ...change }]]);

async function open(policy: SignerPolicy, roles: readonly SendingRole[] = SENDING_ROLES) {
  const key = { kind: 'local' as const, privateKey: randomBytes(32), policy };
  const registry = new Registry();
  const log = createLog({ level: 'silent', pretty: false });
  const roleKeys = roles.map((role) => ({ role, chain: CLUSTER, key }));
  const signerOf = await openSolanaSigners(
    { solanaKey: null, roleKeys, rpcUrls: { [CLUSTER]: [] } },
    { clock: realClock(), log, registry },
  );
  const signer = roles.map((role) => signerOf(role, CLUSTER)).find((each) => each !== null);
  if (signer == null) throw new Error('no key');
  const { address } = signer;
  /** Signs with an `assertAllowed` that never throws, as a caller that lies about its plan would. */
  const sign = (...instructions: Instruction[]) => {
    const message = { feePayer: keyOf(address), blockhash: randomBytes(32), instructions };
    return signer.signTransaction(encodeMessage(message), () => undefined);
  };
  const receiptOf = (seed: string) => deriveWithSeed(address, seed, TOKEN_PROGRAM);
  const allocate = (seed: string, rent: bigint) => [
    transferLamports(address, receiptOf(seed), rent),
    allocateWithSeed(receiptOf(seed), address, seed, 165),
    initializeTokenAccount(receiptOf(seed), mint, address),
  ];
  /** `create` creates the receipt for a commit, and `createBack` the receipt for a refund. */
  const create = (id: string, rent = 2_000_000n) => allocate(`${id.padEnd(22, '_')}.c`, rent);
  const createBack = (id: string) => allocate(`${id.padEnd(22, '_')}.r`, 2_000_000n);
  const transfer = { mint, authority: fund, signers: [address], amount: 5n, decimals: 6 };
  const commit = (change: Partial<typeof transfer & { source: string; destination: string }> = {}) =>
    transferChecked({ ...transfer, source, destination: vault, ...change });
  const refund = (change: Partial<typeof transfer & { source: string; destination: string }> = {}) =>
    transferChecked({ ...transfer, source: vault, destination: own, ...change });
  const createOwn = createAssociatedAccount(address, own, wallet, mint);
  return { address, registry, sign, receiptOf, allocate, create, createBack, commit, refund, createOwn };
}

describe('the signer of Solana', () => {
  test('signs commits into the listed vault and refunds to the associated account of a wallet', async () => {
    const { sign, create, createBack, commit, refund, createOwn } = await open(policyOf());
    await sign(setComputeUnitLimit(2_000), setComputeUnitPrice(10n), ...create('a'), commit(), memo('a'));
    await sign(...createBack('b'), createOwn, refund(), memo('b'));
  });

  test('refuses a fund that the policy file does not list', async () => {
    const { sign, create, createBack, commit, refund, createOwn } = await open(policyOf());
    const wrong = { authority: thief };
    await expect(sign(...create('a'), commit(wrong))).rejects.toThrow('does not list the fund');
    await expect(sign(...createBack('b'), createOwn, refund(wrong))).rejects.toThrow(
      'does not list the fund',
    );
  });

  test('refuses a destination other than a listed vault or the associated account of a wallet', async () => {
    const { sign, address, create, createBack, commit, refund, createOwn } = await open(policyOf());
    const destination = associatedAccount(thief, mint);
    await expect(sign(...create('a'), commit({ destination }))).rejects.toThrow('does not list the vault');
    await expect(sign(...createBack('b'), refund({ destination: thief }))).rejects.toThrow(
      'not the associated account',
    );
    await expect(sign(...createBack('c'), refund({ destination }))).rejects.toThrow(
      'not the associated account',
    );
    // This instruction names `thief` as the account to create, but that is not the associated account of `wallet`.
    const other = createAssociatedAccount(address, thief, wallet, mint);
    await expect(sign(...createBack('d'), other, refund({ destination: thief }))).rejects.toThrow(
      'not the associated account',
    );
    await expect(sign(...createBack('e'), createOwn, refund({ source: thief }))).rejects.toThrow(
      'does not list the vault',
    );
  });

  test('refuses everything on a cluster that the policy file does not name', async () => {
    const { sign, create, commit } = await open(new Map());
    await expect(sign(...create('a'), commit())).rejects.toThrow('does not list the fund');
  });

  test('applies the funds, vaults and limits of each role', async () => {
    const roles = new Map([['refund' as const, { ...LISTED, dailyAmounts: new Map([[mint, 4n]]) }]]);
    const limited = await open(policyOf({ roles }));
    await limited.sign(...limited.create('a'), limited.commit());
    await expect(
      limited.sign(...limited.createBack('b'), limited.createOwn, limited.refund()),
    ).rejects.toThrow(`refund on solana_devnet would spend up to 5 of ${mint}`);
    const elsewhere = new Map([['refund' as const, { ...LISTED, targets: new Set([fund]) }]]);
    const { sign, createBack, createOwn, refund } = await open(policyOf({ roles: elsewhere }));
    await expect(sign(...createBack('a'), createOwn, refund())).rejects.toThrow('does not list the vault');
  });

  test('takes nothing from a vault by a commit, and puts nothing into one by a refund', async () => {
    const other = newAddress();
    const { sign, create, createBack, commit, refund, createOwn } = await open(
      policyOf({ targets: new Set([fund, vault, other]) }),
    );
    await expect(sign(...create('a'), commit({ source: other }))).rejects.toThrow('from the vault');
    await expect(sign(...createBack('b'), createOwn, refund({ source }))).rejects.toThrow(
      'does not list the vault',
    );
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
    // This transfer counts although its memo `a` was used before: only a reused receipt prevents a second transfer.
    await expect(sign(...create('c'), commit(), memo('a'))).rejects.toThrow(`15 of ${mint}`);
  });

  test('hold for fees, rent included, whatever the transaction does', async () => {
    const fees = (dailyFee: bigint) => open(policyOf({ dailyFee }));
    const commits = await fees(3_000_000n);
    await commits.sign(...commits.create('a'), commits.commit());
    await expect(commits.sign(...commits.create('b'), commits.commit())).rejects.toThrow('of fees');
    const refunds = await fees(4_000_000n);
    await expect(
      refunds.sign(...refunds.createBack('a'), refunds.createOwn, refunds.refund()),
    ).rejects.toThrow('4044280 of fees');
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
  const NOT_USED = 'in a way that settlement does not';

  test('other programs are refused', async () => {
    const { sign } = await open(policy);
    const other = { program: keyOf(newAddress()), accounts: [], data: Buffer.alloc(1) };
    await expect(sign(other)).rejects.toThrow('settlement does not use the program');
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
    const { sign, address, receiptOf, allocate, commit } = await open(policy);
    const fundAccount = allocate('f', 2_000_000n).slice(0, 2);
    await sign(...fundAccount, initializeMultisig(receiptOf('f'), 1, [address, thief]));
    await sign(closeAccount(receiptOf('a'), address));
    const [payment, allocation] = allocate('b', 1n) as [Instruction, Instruction];
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

  test('a transfer needs its own receipt', async () => {
    const { sign, create, commit } = await open(policy);
    for (const wrong of [
      [commit()],
      [...create('a'), commit(), commit()],
      [...create('a'), ...create('b'), commit()],
    ])
      await expect(sign(...wrong)).rejects.toThrow('each transfer needs its own message');
  });

  test('a receipt needs its transfer, because it shows that the participation was paid', async () => {
    const { sign, create, createBack } = await open(policy);
    for (const receipt of [create('a'), createBack('a')])
      await expect(sign(...receipt)).rejects.toThrow('must not be created without the transfer');
  });

  test('accounts of wallets are created only for the transfer into them', async () => {
    const { sign, address, create, commit, createOwn } = await open(policy);
    await expect(sign(createOwn)).rejects.toThrow(NOT_USED);
    const other = createAssociatedAccount(address, associatedAccount(thief, mint), thief, mint);
    await expect(sign(...create('a'), other, commit())).rejects.toThrow(NOT_USED);
  });

  test('a key signs transfers of its roles only, and the receipt shows the role', async () => {
    const commits = await open(policy, ['commit']);
    await commits.sign(...commits.create('a'), commits.commit());
    await commits.sign(closeAccount(commits.receiptOf('a'), commits.address));
    await expect(
      commits.sign(...commits.createBack('b'), commits.createOwn, commits.refund()),
    ).rejects.toThrow('it is not the refund key');
    const refunds = await open(policy, ['refund']);
    await refunds.sign(...refunds.createBack('a'), refunds.createOwn, refunds.refund());
    await refunds.sign(closeAccount(refunds.receiptOf('a'), refunds.address));
    await expect(refunds.sign(...refunds.create('b'), refunds.commit())).rejects.toThrow(
      'it is not the commit key',
    );
    // A key cannot make the other role's transfer by combining that transfer with a receipt of the key's own role.
    await expect(commits.sign(...commits.create('c'), commits.createOwn, commits.refund())).rejects.toThrow(
      'a commit must not create a token account for a wallet',
    );
    await expect(refunds.sign(...refunds.createBack('c'), refunds.commit())).rejects.toThrow(
      'not the associated account of a wallet',
    );
    for (const seed of ['a', `${'a'.repeat(22)}.x`, `${'a'.repeat(22)}.rc`])
      await expect(commits.sign(...commits.allocate(seed, 1n), commits.commit())).rejects.toThrow(
        'the receipt account of a transfer must belong to a participation',
      );
  });

  test('a receipt does not hide another seed', async () => {
    const { sign, create, commit } = await open(policy);
    const [payment, allocation, initialization] = create('a') as [Instruction, Instruction, Instruction];
    const data = Buffer.from(allocation.data);
    data.writeBigUInt64LE(1n, 36);
    await expect(sign(payment, { ...allocation, data }, initialization, commit())).rejects.toThrow(NOT_USED);
    const short = { ...allocation, data: data.subarray(0, 40) };
    await expect(sign(payment, short, initialization, commit())).rejects.toThrow(NOT_USED);
  });

  test('nobody else signs', async () => {
    const { sign, create, commit } = await open(policy);
    await expect(sign(...create('a'), commit(), transferLamports(thief, wallet, 1n))).rejects.toThrow(
      'the operator must be the only signer',
    );
  });
});
