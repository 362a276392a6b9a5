import {
  AccountRole,
  address,
  appendTransactionMessageInstructions,
  compressTransactionMessageUsingAddressLookupTables,
  createKeyPairSignerFromPrivateKeyBytes,
  createSolanaRpc,
  createTransactionMessage,
  getAddressEncoder,
  getBase64EncodedWireTransaction,
  getProgramDerivedAddress,
  getSignatureFromTransaction,
  type Instruction,
  type KeyPairSigner,
  pipe,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingBlockhash,
  signTransactionMessageWithSigners,
} from '@solana/kit';
import { getTransferSolInstruction } from '@solana-program/system';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startSolanaChain, type TestSolana } from '../../../../service/test/support/solana-chain.ts';
import { solanaRoles } from '../../seed/solana-keys.ts';

const PROGRAM = address('AddressLookupTab1e1111111111111111111111111');
const SYSTEM = address('11111111111111111111111111111111');
const receiver = address('SysvarC1ock11111111111111111111111111111112');

let solana: TestSolana;
let rpc: ReturnType<typeof createSolanaRpc>;
let payer: KeyPairSigner;

beforeAll(async () => {
  solana = await startSolanaChain({ slotMs: 0 });
  rpc = createSolanaRpc(solana.nodes[0]?.url ?? '');
  payer = await createKeyPairSignerFromPrivateKeyBytes(solanaRoles.vaultOwner.seed);
});
afterAll(() => solana.stop());

async function build(instructions: Instruction[], tables: Record<string, never[]> = {}) {
  const { value: lifetime } = await rpc.getLatestBlockhash({ commitment: 'processed' }).send();
  const message = pipe(
    createTransactionMessage({ version: 0 }),
    (m) => setTransactionMessageFeePayerSigner(payer, m),
    (m) => setTransactionMessageLifetimeUsingBlockhash(lifetime, m),
    (m) => appendTransactionMessageInstructions(instructions, m),
    (m) => compressTransactionMessageUsingAddressLookupTables(m, tables as never),
  );
  return signTransactionMessageWithSigners(message as never);
}

async function send(instructions: Instruction[], tables: Record<string, never[]> = {}) {
  const transaction = await build(instructions, tables);
  const wire = getBase64EncodedWireTransaction(transaction);
  await rpc.sendTransaction(wire, { encoding: 'base64', preflightCommitment: 'processed' }).send();
  return getSignatureFromTransaction(transaction);
}

test('a message can take its accounts from a lookup table, and its metadata names them', async () => {
  solana.chain.mine(2);
  const recentSlot = (await rpc.getSlot({ commitment: 'confirmed' }).send()) as bigint;
  const slotBytes = Buffer.alloc(8);
  slotBytes.writeBigUInt64LE(recentSlot);
  const seeds = [getAddressEncoder().encode(payer.address), slotBytes];
  const [table, bump] = await getProgramDerivedAddress({ programAddress: PROGRAM, seeds });
  const accounts = [
    { address: table, role: AccountRole.WRITABLE },
    { address: payer.address, role: AccountRole.READONLY_SIGNER, signer: payer },
    { address: payer.address, role: AccountRole.WRITABLE_SIGNER, signer: payer },
    { address: SYSTEM, role: AccountRole.READONLY },
  ];
  const create = Buffer.concat([Buffer.alloc(4), slotBytes, Buffer.of(bump)]);
  const extend = Buffer.alloc(12 + 32);
  extend.writeUInt32LE(2, 0);
  extend.writeBigUInt64LE(1n, 4);
  extend.set(getAddressEncoder().encode(receiver), 12);
  await send([
    { programAddress: PROGRAM, accounts, data: create },
    { programAddress: PROGRAM, accounts, data: extend },
  ]);
  solana.chain.mine(1);

  const transfer = getTransferSolInstruction({ source: payer, destination: receiver, amount: 1_000_000n });
  const signature = await send([transfer], { [table]: [receiver] as never[] });
  solana.chain.mine(1);
  expect((await rpc.getBalance(receiver, { commitment: 'processed' }).send()).value).toBe(1_000_000n);
  const found = await rpc
    .getTransaction(signature, {
      commitment: 'confirmed',
      maxSupportedTransactionVersion: 0,
      encoding: 'base64',
    })
    .send();
  expect(found?.meta?.loadedAddresses).toEqual({ writable: [receiver], readonly: [] });
  solana.chain.rollBack(2, 'drop');
  expect((await rpc.getBalance(receiver, { commitment: 'processed' }).send()).value).toBe(0n);
});
