import {
  type Address,
  address,
  appendTransactionMessageInstructions,
  createKeyPairSignerFromPrivateKeyBytes,
  createSolanaRpc,
  createTransactionMessage,
  devnet,
  getBase64EncodedWireTransaction,
  getSignatureFromTransaction,
  type Instruction,
  isSolanaError,
  type KeyPairSigner,
  pipe,
  type Signature,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingBlockhash,
  signTransactionMessageWithSigners,
} from '@solana/kit';
import { getTransferSolInstruction } from '@solana-program/system';
import {
  fetchToken,
  findAssociatedTokenPda,
  getApproveCheckedInstruction,
  getTransferCheckedInstruction,
  TOKEN_PROGRAM_ADDRESS,
} from '@solana-program/token';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startSolanaChain, type TestSolana } from '../../../../service/test/support/solana-chain.ts';
import { solanaRoles } from '../../seed/solana-keys.ts';
import { solanaDeployment } from './genesis.ts';
import { NO_FAULTS } from './node.ts';

const SOL = 1_000_000_000n;
const mint = address(solanaDeployment.tokens[0]?.address ?? '');
const fund = address(solanaDeployment.sale_fund);

let solana: TestSolana;
let url: string;
let rpc: ReturnType<typeof connect>;
let seed = 0;

const connect = (endpoint: string) => createSolanaRpc(devnet(endpoint));

beforeAll(async () => {
  solana = await startSolanaChain({ finalityLag: 31, slotMs: 0 });
  url = solana.nodes[0]?.url ?? '';
  rpc = connect(url);
  solana.chain.mine(200);
});
afterAll(() => solana.stop());
beforeEach(() => {
  Object.assign(solana.nodes[0]?.faults ?? {}, NO_FAULTS);
});

/** Sends a raw call, for requests that the typed client does not allow. */
async function call(method: string, params: unknown[] = []) {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  const response = await fetch(url, { method: 'POST', body });
  return (await response.json()) as {
    result: { value: unknown };
    error: { code: number; message: string; data?: unknown };
  };
}

async function newWallet(lamports = 10n * SOL): Promise<KeyPairSigner> {
  seed += 1;
  const wallet = await createKeyPairSignerFromPrivateKeyBytes(new Uint8Array(32).fill(seed));
  await rpc.requestAirdrop(wallet.address, lamports as never).send();
  return wallet;
}

type Commitment = 'processed' | 'confirmed' | 'finalized';

async function sign(payer: KeyPairSigner, instructions: Instruction[], commitment: Commitment = 'processed') {
  const { value: lifetime } = await rpc.getLatestBlockhash({ commitment }).send();
  const message = pipe(
    createTransactionMessage({ version: 0 }),
    (m) => setTransactionMessageFeePayerSigner(payer, m),
    (m) => setTransactionMessageLifetimeUsingBlockhash(lifetime, m),
    (m) => appendTransactionMessageInstructions(instructions, m),
  );
  const transaction = await signTransactionMessageWithSigners(message);
  return {
    wire: getBase64EncodedWireTransaction(transaction),
    signature: getSignatureFromTransaction(transaction),
    lifetime,
  };
}

function send(wire: string, options: { skipPreflight?: boolean; preflightCommitment?: Commitment } = {}) {
  const { preflightCommitment = 'processed', skipPreflight = false } = options;
  return rpc
    .sendTransaction(wire as never, { encoding: 'base64', preflightCommitment, skipPreflight })
    .send();
}

const transfer = (source: KeyPairSigner, destination: Address, amount: bigint) =>
  getTransferSolInstruction({ source, destination, amount });
const status = async (signature: Signature) =>
  (await rpc.getSignatureStatuses([signature]).send()).value[0] ?? null;
const lamports = async (owner: Address, commitment: Commitment) =>
  (await rpc.getBalance(owner, { commitment }).send()).value;
const associated = async (owner: Address) =>
  (await findAssociatedTokenPda({ owner, mint, tokenProgram: TOKEN_PROGRAM_ADDRESS }))[0];

describe('commitment', () => {
  test('a transaction is processed immediately, then confirmed, then final, and each read sees its own slot', async () => {
    const payer = await newWallet();
    const receiver = await newWallet(1n * SOL);
    solana.chain.mine(40);
    const { wire, signature } = await sign(payer, [transfer(payer, receiver.address, SOL)]);
    expect(await send(wire)).toBe(signature);
    expect(await status(signature)).toMatchObject({ confirmationStatus: 'processed', confirmations: 0n });
    expect(await lamports(receiver.address, 'processed')).toBe(2n * SOL);
    expect(await lamports(receiver.address, 'confirmed')).toBe(SOL);
    solana.chain.mine(1);
    expect(await status(signature)).toMatchObject({ confirmationStatus: 'confirmed', confirmations: 1n });
    expect(await lamports(receiver.address, 'confirmed')).toBe(2n * SOL);
    expect(await lamports(receiver.address, 'finalized')).toBe(SOL);
    solana.chain.mine(30);
    expect(await status(signature)).toMatchObject({ confirmationStatus: 'finalized', confirmations: null });
    expect(await lamports(receiver.address, 'finalized')).toBe(2n * SOL);
  });

  test('the default commitment is finalized, also for the preflight', async () => {
    const payer = await newWallet();
    const { wire } = await sign(payer, [transfer(payer, payer.address, 1n)]);
    expect((await call('sendTransaction', [wire, { encoding: 'base64' }])).error).toMatchObject({
      code: -32_002,
      message: 'Transaction simulation failed: Blockhash not found',
      data: { err: 'BlockhashNotFound' },
    });
    expect((await call('getBalance', [payer.address])).result.value).toBe(0);
  });

  test('a read of a slot that the node has not reached is refused', async () => {
    const slot = await rpc.getSlot({ commitment: 'finalized' }).send();
    const { error } = await call('getAccountInfo', [
      mint,
      { encoding: 'base64', minContextSlot: Number(slot) + 1 },
    ]);
    expect(error).toMatchObject({ code: -32_016, data: { contextSlot: Number(slot) } });
  });
});

describe('the lifetime of a blockhash', () => {
  test('a transaction can land until the last valid block height and not after it', async () => {
    const payer = await newWallet();
    const late = await sign(payer, [transfer(payer, payer.address, 1n)]);
    const tooLate = await sign(payer, [transfer(payer, payer.address, 2n)]);
    expect(
      late.lifetime.lastValidBlockHeight - (await rpc.getBlockHeight({ commitment: 'processed' }).send()),
    ).toBe(150n);
    // Skipped slots have no block, so they do not count towards the 150 blocks.
    solana.chain.skip(20);
    solana.chain.mine(149);
    await send(late.wire);
    expect(await status(late.signature)).not.toBeNull();
    solana.chain.mine(1);
    await send(tooLate.wire, { skipPreflight: true });
    expect(await status(tooLate.signature)).toBeNull();
    await expect(send(tooLate.wire)).rejects.toThrow(/simulation failed/i);
    expect(
      (await rpc.isBlockhashValid(late.lifetime.blockhash, { commitment: 'processed' }).send()).value,
    ).toBe(false);
  });

  test('a transaction lands once, however often it is sent', async () => {
    const [payer, receiver] = [await newWallet(), await newWallet(1n * SOL)];
    const { wire } = await sign(payer, [transfer(payer, receiver.address, SOL)]);
    await send(wire);
    solana.chain.mine(1);
    await send(wire, { skipPreflight: true });
    expect(
      (await call('sendTransaction', [wire, { encoding: 'base64', preflightCommitment: 'processed' }])).error,
    ).toMatchObject({ code: -32_002, data: { err: 'AlreadyProcessed' } });
    expect(await lamports(receiver.address, 'processed')).toBe(2n * SOL);
  });
});

describe('rollbacks', () => {
  test('dropped blocks take their transactions, balances and blockhashes with them', async () => {
    const [payer, receiver] = [await newWallet(), await newWallet(1n * SOL)];
    solana.chain.mine(1);
    const { wire, signature } = await sign(payer, [transfer(payer, receiver.address, SOL)], 'confirmed');
    await send(wire, { preflightCommitment: 'confirmed' });
    solana.chain.mine(10);
    const after = await sign(payer, [transfer(payer, receiver.address, 5n)]);
    solana.chain.rollBack(11, 'drop');
    expect(await status(signature)).toBeNull();
    expect(await lamports(receiver.address, 'processed')).toBe(SOL);
    await expect(send(after.wire)).rejects.toThrow(/simulation failed/i);
    await send(wire, { preflightCommitment: 'confirmed' });
    expect(await lamports(receiver.address, 'processed')).toBe(2n * SOL);
  });

  test('returned transactions land again in the next slot, 30 slots deep', async () => {
    const [payer, receiver] = [await newWallet(), await newWallet(1n * SOL)];
    solana.chain.mine(1);
    const { wire, signature } = await sign(payer, [transfer(payer, receiver.address, SOL)], 'confirmed');
    await send(wire, { preflightCommitment: 'confirmed' });
    solana.chain.mine(29);
    solana.chain.rollBack(30, 'return');
    expect(await status(signature)).toBeNull();
    solana.chain.mine(1);
    expect(await status(signature)).toMatchObject({ err: null, confirmationStatus: 'processed' });
    expect(await lamports(receiver.address, 'processed')).toBe(2n * SOL);
  });

  test('final blocks cannot be rolled back', () => {
    expect(() => solana.chain.rollBack(32, 'drop')).toThrow('at most 31 slots');
  });
});

describe('tokens', () => {
  test('an approval by a client library and a pull by the fund move test dollars', async () => {
    const owner = await createKeyPairSignerFromPrivateKeyBytes(solanaRoles.vaultOwner.seed);
    const vault = await associated(owner.address);
    expect(vault).toBe(solanaDeployment.vault);
    const before = await fetchToken(rpc, vault, { commitment: 'processed' });
    expect(before.data.delegate).toEqual({ __option: 'Some', value: fund });
    const approve = getApproveCheckedInstruction({
      source: vault,
      mint,
      delegate: fund,
      owner,
      amount: 77n,
      decimals: 6,
    });
    await send((await sign(owner, [approve])).wire);
    expect((await fetchToken(rpc, vault, { commitment: 'processed' })).data.delegatedAmount).toBe(77n);
    const operator = await createKeyPairSignerFromPrivateKeyBytes(solanaRoles.operator.seed);
    const pull = getTransferCheckedInstruction({
      source: vault,
      mint,
      destination: vault,
      authority: fund,
      amount: 0n,
      decimals: 6,
      multiSigners: [operator],
    });
    const { wire, signature } = await sign(operator, [pull]);
    await send(wire);
    expect(await status(signature)).toMatchObject({ err: null });
  });

  test('a failed instruction is reported with its number and error, and costs its fee', async () => {
    const payer = await newWallet();
    const { wire, signature } = await sign(payer, [
      transfer(payer, payer.address, 1n),
      transfer(payer, mint, 100n * SOL),
    ]);
    await send(wire, { skipPreflight: true });
    expect(await status(signature)).toMatchObject({ err: { InstructionError: [1n, { Custom: 1n }] } });
    expect(await lamports(payer.address, 'processed')).toBe(10n * SOL - 5_000n);
    const error = await send((await sign(payer, [transfer(payer, mint, 100n * SOL)])).wire).catch((e) => e);
    expect(isSolanaError(error)).toBe(true);
    expect(error.context).toMatchObject({ __code: -32_002 });
  });
});

test('the fee is what the payer loses, with the price of its compute units', async () => {
  const payer = await newWallet();
  solana.chain.mine(1);
  const programAddress = address('ComputeBudget111111111111111111111111111111');
  const limit = Uint8Array.of(2, 0xe8, 3, 0, 0);
  const price = Uint8Array.of(3, 0x89, 0x13, 0, 0, 0, 0, 0, 0);
  const { wire, signature } = await sign(payer, [
    { programAddress, data: limit },
    { programAddress, data: price },
    transfer(payer, payer.address, 1n),
  ]);
  await send(wire);
  solana.chain.mine(1);
  // 1,000 units at 5,001 micro-lamports each, rounded up.
  expect(await lamports(payer.address, 'processed')).toBe(10n * SOL - 5_006n);
  const options = { commitment: 'confirmed', maxSupportedTransactionVersion: 0, encoding: 'json' } as const;
  expect((await rpc.getTransaction(signature, options).send())?.meta?.fee).toBe(5_006n);
  const fees = await rpc.getRecentPrioritizationFees([payer.address]).send();
  expect(fees.map(({ prioritizationFee }) => prioritizationFee)).toContain(5_001n);
});

describe('history', () => {
  test('a transaction is found by signature and by address, with its metadata', async () => {
    const [payer, receiver] = [await newWallet(), await newWallet(1n * SOL)];
    const first = await sign(payer, [transfer(payer, receiver.address, SOL)]);
    await send(first.wire);
    solana.chain.mine(1);
    const second = await sign(payer, [transfer(payer, receiver.address, 2n)]);
    await send(second.wire);
    solana.chain.mine(1);
    const found = await rpc
      .getTransaction(first.signature, {
        commitment: 'confirmed',
        maxSupportedTransactionVersion: 0,
        encoding: 'json',
      })
      .send();
    expect(found).toMatchObject({
      version: 0,
      meta: {
        err: null,
        fee: 5_000n,
        preBalances: [10n * SOL, SOL, 1n],
        postBalances: [9n * SOL - 5_000n, 2n * SOL, 1n],
      },
    });
    expect((await call('getTransaction', [first.signature, { commitment: 'confirmed' }])).error.code).toBe(
      -32_015,
    );
    expect(
      await rpc
        .getTransaction(first.signature, {
          commitment: 'finalized',
          maxSupportedTransactionVersion: 0,
          encoding: 'base64',
        })
        .send(),
    ).toBeNull();
    const list = (options: object) =>
      rpc
        .getSignaturesForAddress(payer.address, { commitment: 'confirmed', ...options })
        .send()
        .then((entries) => entries.map(({ signature }) => signature));
    expect((await list({})).slice(0, 2)).toEqual([second.signature, first.signature]);
    expect(await list({ limit: 1 })).toEqual([second.signature]);
    expect((await list({ before: second.signature }))[0]).toBe(first.signature);
    expect(await list({ until: first.signature })).toEqual([second.signature]);
  });

  test('a node without history returns null for a transaction that it no longer knows', async () => {
    const payer = await newWallet();
    const { wire, signature } = await sign(payer, [transfer(payer, payer.address, 1n)]);
    await send(wire);
    solana.chain.mine(1);
    Object.assign(solana.nodes[0]?.faults ?? {}, { hasHistory: false });
    const options = { commitment: 'confirmed', maxSupportedTransactionVersion: 0 } as const;
    expect(await rpc.getTransaction(signature, { ...options, encoding: 'base64' }).send()).toBeNull();
    expect(await status(signature)).not.toBeNull();
    solana.chain.mine(301);
    const search = () => rpc.getSignatureStatuses([signature], { searchTransactionHistory: true }).send();
    expect((await search()).value).toEqual([null]);
    Object.assign(solana.nodes[0]?.faults ?? {}, NO_FAULTS);
    expect((await search()).value).not.toEqual([null]);
    expect(await status(signature)).toBeNull();
  });
});

describe('faults of a node', () => {
  test('a transaction can be lost or late', async () => {
    const payer = await newWallet();
    Object.assign(solana.nodes[0]?.faults ?? {}, { sending: 'lost' });
    const lost = await sign(payer, [transfer(payer, payer.address, 1n)]);
    await send(lost.wire);
    solana.chain.mine(3);
    expect(await status(lost.signature)).toBeNull();
    Object.assign(solana.nodes[0]?.faults ?? {}, { sending: { lateBySlots: 140 } });
    const late = await sign(payer, [transfer(payer, payer.address, 2n)]);
    await send(late.wire);
    solana.chain.mine(139);
    expect(await status(late.signature)).toBeNull();
    solana.chain.mine(1);
    expect(await status(late.signature)).toMatchObject({ err: null });
  });

  test('a node that is behind shows an older state and says so', async () => {
    const payer = await newWallet();
    const { wire, signature } = await sign(payer, [transfer(payer, payer.address, 1n)]);
    const before = await rpc.getSlot({ commitment: 'processed' }).send();
    await send(wire);
    Object.assign(solana.nodes[0]?.faults ?? {}, { slotsBehind: 50 });
    expect(await rpc.getSlot({ commitment: 'processed' }).send()).toBe(before - 50n);
    expect(await status(signature)).toBeNull();
    expect(await lamports(payer.address, 'processed')).toBe(0n);
    expect((await call('getHealth')).error).toMatchObject({ code: -32_005, data: { numSlotsBehind: 50 } });
  });
});

describe('limits', () => {
  test('requests beyond a node’s limits are refused with its codes', async () => {
    const codeOf = async (method: string, params: unknown[]) => (await call(method, params)).error.code;
    const signature = '1'.repeat(64);
    expect(await codeOf('getSignatureStatuses', [Array(257).fill(signature)])).toBe(-32_602);
    expect(await codeOf('getMultipleAccounts', [Array(101).fill(mint)])).toBe(-32_602);
    expect(await codeOf('getSignaturesForAddress', [mint, { limit: 1_001 }])).toBe(-32_602);
    expect(await codeOf('getSignaturesForAddress', [mint, { commitment: 'processed' }])).toBe(-32_602);
    expect(await codeOf('getBalance', ['not an address'])).toBe(-32_602);
    expect(await codeOf('getBalance', [`${mint}1`])).toBe(-32_602);
    expect(await codeOf('getBlock', [1])).toBe(-32_601);
    for (const bytes of [1_233, 10])
      expect(
        await codeOf('sendTransaction', [Buffer.alloc(bytes, 1).toString('base64'), { encoding: 'base64' }]),
      ).toBe(-32_602);
    const large = await fetch(url, { method: 'POST', body: 'x'.repeat(60_000) });
    expect(large.status).toBe(413);
  });

  test('a transaction that needs more compute units than its limit fails, and costs its fee', async () => {
    const payer = await newWallet();
    const programAddress = address('ComputeBudget111111111111111111111111111111');
    const limit = { programAddress, data: Uint8Array.of(2, 1, 0, 0, 0) };
    const { wire, signature } = await sign(payer, [limit, transfer(payer, mint, 1n)]);
    expect((await send(wire).catch((error) => error)).context).toMatchObject({ __code: -32_002 });
    await send(wire, { skipPreflight: true });
    expect((await status(signature))?.err).not.toBeNull();
    expect(await lamports(payer.address, 'processed')).toBe(10n * SOL - 5_000n);
  });

  test('a wrong signature is refused', async () => {
    const payer = await newWallet();
    const { wire } = await sign(payer, [transfer(payer, payer.address, 1n)]);
    const bytes = Buffer.from(wire, 'base64');
    bytes.writeUInt8(bytes.readUInt8(5) ^ 1, 5);
    const options = { encoding: 'base64', preflightCommitment: 'processed' };
    expect((await call('sendTransaction', [bytes.toString('base64'), options])).error.code).toBe(-32_003);
  });

  test('u64 values are bare numbers', async () => {
    const body = JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'getAccountInfo',
      params: [fund, { encoding: 'base64' }],
    });
    const text = await (await fetch(url, { method: 'POST', body })).text();
    expect(text).toContain('"rentEpoch":18446744073709551615');
    expect(text).toContain('"lamports":3361680');
  });
});

test('the chain claims to be devnet', async () => {
  expect(await rpc.getGenesisHash().send()).toBe('EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG');
  expect(await rpc.getHealth().send()).toBe('ok');
});
