import { randomBytes } from 'node:crypto';
import { encodeMessage, type Instruction } from '@causeway/contracts/encodings/solana-message.ts';
import { base58 } from '@scure/base';
import {
  type Address,
  address,
  createAddressWithSeed,
  getCompiledTransactionMessageDecoder,
  type Instruction as KitInstruction,
} from '@solana/kit';
import { getTransferSolInstruction } from '@solana-program/system';
import {
  findAssociatedTokenPda,
  getCreateAssociatedTokenIdempotentInstruction,
  getInitializeAccount3Instruction,
  getInitializeMultisig2Instruction,
  getTransferCheckedInstruction,
  TOKEN_PROGRAM_ADDRESS,
} from '@solana-program/token';
import { describe, expect, test } from 'vitest';
import { associatedAccount, deriveWithSeed, keyOf, receiptSeed, TOKEN_PROGRAM } from './addresses.ts';
import * as own from './instructions.ts';

const newAddress = (): Address => address(base58.encode(randomBytes(32)));
const signerOf = (key: Address) => ({ address: key, signTransactions: async () => [] }) as never;
const [payer, mint, owner, source, destination, fund] = Array.from({ length: 6 }, newAddress) as [
  Address,
  Address,
  Address,
  Address,
  Address,
  Address,
];

/** Compares program, data, and the order and roles of the accounts. */
function expectSame(instruction: Instruction, oracle: KitInstruction): void {
  expect(base58.encode(instruction.program)).toBe(oracle.programAddress);
  expect(Buffer.from(instruction.data)).toEqual(Buffer.from(oracle.data ?? []));
  const roles = instruction.accounts.map(({ key, isSigner, isWritable }) => ({
    address: base58.encode(key),
    role: (isSigner ? 2 : 0) + (isWritable ? 1 : 0),
  }));
  expect(roles).toEqual(oracle.accounts?.map((each) => ({ address: each.address, role: each.role })));
}

describe('instructions are those of the official client', () => {
  test('transfer of lamports', () => {
    const input = { source: signerOf(payer), destination, amount: 2_039_280n };
    expectSame(own.transferLamports(payer, destination, 2_039_280n), getTransferSolInstruction(input));
  });

  test('initialization of token and multisig accounts', () => {
    expectSame(
      own.initializeTokenAccount(source, mint, owner),
      getInitializeAccount3Instruction({ account: source, mint, owner }),
    );
    expectSame(
      own.initializeMultisig(fund, 1, [payer, owner]),
      getInitializeMultisig2Instruction({ multisig: fund, m: 1, signers: [payer, owner] }),
    );
  });

  test('transfer by a multisig account', () => {
    const transfer = { source, mint, destination, authority: fund, amount: 2n ** 64n - 1n, decimals: 6 };
    expectSame(
      own.transferChecked({ ...transfer, signers: [payer] }),
      getTransferCheckedInstruction({ ...transfer, multiSigners: [signerOf(payer)] }),
    );
  });

  test('creation of an associated account', async () => {
    const [ata] = await findAssociatedTokenPda({ owner, mint, tokenProgram: TOKEN_PROGRAM_ADDRESS });
    expectSame(
      own.createAssociatedAccount(payer, ata, owner, mint),
      getCreateAssociatedTokenIdempotentInstruction({ payer: signerOf(payer), ata, owner, mint }),
    );
  });
});

describe('addresses are those of the official client', () => {
  test('associated accounts and addresses by seed, for many keys', async () => {
    for (let i = 0; i < 50; i++) {
      const [wallet, token] = [newAddress(), newAddress()];
      const [ata] = await findAssociatedTokenPda({
        owner: wallet,
        mint: token,
        tokenProgram: TOKEN_PROGRAM_ADDRESS,
      });
      expect(associatedAccount(wallet, token)).toBe(ata);
      const seed = receiptSeed('01900000-0000-7000-8000-00000000000a', i % 2 === 0 ? 'commit' : 'remit');
      const derived = await createAddressWithSeed({
        baseAddress: wallet,
        programAddress: TOKEN_PROGRAM_ADDRESS,
        seed,
      });
      expect(deriveWithSeed(wallet, seed, TOKEN_PROGRAM)).toBe(derived);
    }
  });

  test('a seed fits the limit, and differs by direction', () => {
    const id = '01900000-0000-7000-8000-00000000000a';
    expect(receiptSeed(id, 'commit')).toHaveLength(24);
    expect(receiptSeed(id, 'commit')).not.toBe(receiptSeed(id, 'remit'));
  });
});

test('a message decodes to the same accounts and instructions', () => {
  const blockhash = randomBytes(32);
  const instructions = [own.transferLamports(payer, destination, 5n), own.memo('hello')];
  const message = encodeMessage({ feePayer: keyOf(payer), blockhash, instructions });
  const decoded = getCompiledTransactionMessageDecoder().decode(message) as unknown as {
    staticAccounts: string[];
    header: { numSignerAccounts: number };
    lifetimeToken: string;
    instructions: { programAddressIndex: number; data?: Uint8Array }[];
  };
  expect(decoded.staticAccounts[0]).toBe(payer);
  expect(decoded.header.numSignerAccounts).toBe(1);
  expect(decoded.lifetimeToken).toBe(base58.encode(blockhash));
  expect(decoded.instructions.map(({ data }) => Buffer.from(data ?? []))).toEqual(
    instructions.map(({ data }) => Buffer.from(data)),
  );
});
