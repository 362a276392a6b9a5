import { execFile } from 'node:child_process';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import {
  encodeTransaction,
  readonly,
  signer,
  writable,
} from '@causeway/contracts/encodings/solana-message.ts';
import { parseTransaction } from '@causeway/sandbox/simulators/solana/wire-transaction.ts';
import { base58 } from '@scure/base';
import {
  address,
  appendTransactionMessageInstructions,
  createKeyPairSignerFromPrivateKeyBytes,
  createSolanaRpc,
  createTransactionMessage,
  getAddressEncoder,
  getBase64EncodedWireTransaction,
  getProgramDerivedAddress,
  getSignatureFromTransaction,
  pipe,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingBlockhash,
  signTransactionMessageWithSigners,
} from '@solana/kit';
import {
  findAssociatedTokenPda,
  getApproveCheckedInstruction,
  TOKEN_PROGRAM_ADDRESS,
} from '@solana-program/token';
import { beforeAll, expect, test } from 'vitest';
import {
  associatedAccount,
  keyOf,
  SYSTEM_PROGRAM,
  TOKEN_PROGRAM,
} from '../src/platform/chain/solana/addresses.ts';
import { installPackages } from './support/packages.ts';
import { MINT } from './support/solana-instructions.ts';
import {
  FINALITY_SLOTS,
  FUND,
  type SolanaKey,
  seedOf,
  solanaWorker,
  UNIT,
  useSolanaSale,
  VAULT,
} from './support/solana-sale.ts';

// Tests the kinds of approval that wallets and other applications build, because the service must accept any valid
// approval, not only the kind that it builds itself.
const TABLE_PROGRAM = 'AddressLookupTab1e1111111111111111111111111';
const AMOUNT = 10n * UNIT;

const sale = useSolanaSale();
let folder: string;

beforeAll(async () => {
  folder = await installPackages('solana-clients');
  await cp(fileURLToPath(new URL('./foreign', import.meta.url)), folder, { recursive: true });
}, 10 * 60_000);

/** Posts the participation over HTTP and settles it. Returns its statuses. */
async function invest(buyer: SolanaKey, signature: string): Promise<unknown[]> {
  const before = sale.balanceOf(VAULT);
  sale.mine(1);
  const { body } = await sale.post(buyer, AMOUNT, signature);
  await solanaWorker(sale).settle();
  sale.mine(FINALITY_SLOTS + 1);
  await solanaWorker(sale).settle();
  expect(sale.balanceOf(VAULT) - before).toBe(AMOUNT);
  return [body.status, await sale.statusOf(String(body.id))];
}

test('an approval by @solana/kit is accepted and settled', async () => {
  const buyer = await sale.buyer('kit');
  const rpc = createSolanaRpc(sale.solana.nodes[0]?.url ?? '');
  const owner = await createKeyPairSignerFromPrivateKeyBytes(seedOf('kit'));
  const [source] = await findAssociatedTokenPda({
    ...{ owner: owner.address, mint: address(MINT), tokenProgram: TOKEN_PROGRAM_ADDRESS },
  });
  const { value: lifetime } = await rpc.getLatestBlockhash({ commitment: 'confirmed' }).send();
  const approval = getApproveCheckedInstruction({
    ...{ source, owner, mint: address(MINT), delegate: address(FUND), amount: AMOUNT, decimals: 6 },
  });
  const message = pipe(
    createTransactionMessage({ version: 0 }),
    (m) => setTransactionMessageFeePayerSigner(owner, m),
    (m) => setTransactionMessageLifetimeUsingBlockhash(lifetime, m),
    (m) => appendTransactionMessageInstructions([approval], m),
  );
  const transaction = await signTransactionMessageWithSigners(message);
  const wire = getBase64EncodedWireTransaction(transaction);
  await rpc.sendTransaction(wire, { encoding: 'base64', preflightCommitment: 'confirmed' }).send();
  expect(await invest(buyer, getSignatureFromTransaction(transaction))).toEqual(['pending', 'completed']);
});

test('approvals by @solana/web3.js with @solana/spl-token are accepted and settled', async () => {
  const buyers = { legacy: await sale.buyer('web3 legacy'), versioned: await sale.buyer('web3 versioned') };
  const seeds = {
    legacy: seedOf('web3 legacy').toString('hex'),
    versioned: seedOf('web3 versioned').toString('hex'),
  };
  const url = sale.solana.nodes[0]?.url;
  const settings = { url, seeds, mint: MINT, fund: FUND, amount: String(AMOUNT) };
  const { stdout } = await promisify(execFile)(process.execPath, [join(folder, 'solana-approvals.mjs')], {
    env: { PATH: process.env.PATH, SETTINGS: JSON.stringify(settings) },
    timeout: 60_000,
  });
  const signatures = JSON.parse(stdout) as Record<keyof typeof buyers, string>;
  for (const kind of ['legacy', 'versioned'] as const)
    expect(await invest(buyers[kind], signatures[kind])).toEqual(['pending', 'completed']);
});

/** Creates a lookup table with these addresses. */
async function createTable(payer: SolanaKey, addresses: readonly string[]): Promise<string> {
  const slot = Buffer.alloc(8);
  slot.writeBigUInt64LE(BigInt(sale.solana.chain.slots().confirmed));
  const seeds = [getAddressEncoder().encode(address(payer.address)), slot];
  const [table, bump] = await getProgramDerivedAddress({ programAddress: address(TABLE_PROGRAM), seeds });
  const accounts = [
    writable(keyOf(table)),
    signer(keyOf(payer.address), false),
    signer(keyOf(payer.address), true),
    readonly(keyOf(SYSTEM_PROGRAM)),
  ];
  const extend = Buffer.alloc(12);
  extend.writeUInt32LE(2, 0);
  extend.writeBigUInt64LE(BigInt(addresses.length), 4);
  const program = keyOf(TABLE_PROGRAM);
  sale.land(payer, [
    { program, accounts, data: Buffer.concat([Buffer.alloc(4), slot, Buffer.of(bump)]) },
    { program, accounts, data: Buffer.concat([extend, ...addresses.map(keyOf)]) },
  ]);
  sale.mine(2);
  return table;
}

test('an approval in a v0 message made by hand, with accounts from a lookup table, is accepted and settled', async () => {
  const buyer = await sale.buyer('by hand');
  const source = associatedAccount(buyer.address, MINT);
  const table = await createTable(buyer, [MINT, source, FUND]);
  const { chain } = sale.solana;
  const data = Buffer.alloc(10);
  data.writeUInt8(13, 0);
  data.writeBigUInt64LE(AMOUNT, 1);
  data.writeUInt8(6, 9);
  const message = Buffer.concat([
    Buffer.of(0x80, 1, 0, 1),
    // The static keys are the wallet (0) and the program (1). The lookup table adds the source (2), the mint
    // (3) and the fund (4).
    ...[Buffer.of(2), keyOf(buyer.address), keyOf(TOKEN_PROGRAM)],
    chain.timeline.blockhash(chain.slots().confirmed),
    ...[Buffer.of(1, 1, 4, 2, 3, 4, 0, data.length), data],
    ...[Buffer.of(1), keyOf(table), Buffer.of(1, 1, 2, 0, 2)],
  ]);
  const raw = Buffer.from(encodeTransaction(message, [buyer.sign(message)]));
  chain.submit(parseTransaction(raw));
  const signature = base58.encode(raw.subarray(1, 65));
  expect(chain.ledger.find(signature)?.err).toBeNull();
  expect(await invest(buyer, signature)).toEqual(['pending', 'completed']);
});
