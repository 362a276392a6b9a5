import type { Instruction } from '@causeway/contracts/encodings/solana-message.ts';
import { solanaRoles } from '@causeway/sandbox/seed/solana-keys.ts';
import { NO_FAULTS } from '@causeway/sandbox/simulators/solana/node.ts';
import { parseTransaction } from '@causeway/sandbox/simulators/solana/wire-transaction.ts';
import { base58 } from '@scure/base';
import { describe, expect, test } from 'vitest';
import { setTokenAccount } from '../../../test/support/solana-accounts.ts';
import {
  approveChecked,
  freezeOrThaw,
  MINT,
  revoke,
  setOwner,
} from '../../../test/support/solana-instructions.ts';
import {
  backUpRow,
  EXPIRY_SLOTS,
  FINALITY_SLOTS,
  FUND,
  faucetKey,
  type SolanaKey,
  signTransaction,
  solanaKey,
  solanaWorker,
  UNIT,
  useSolanaSale,
  VAULT,
} from '../../../test/support/solana-sale.ts';
import { NodeError } from '../../platform/chain/rpc/failures.ts';
import { associatedAccount, keyOf, receiptAddress } from '../../platform/chain/solana/addresses.ts';
import type { SolanaChain } from '../../platform/chain/solana/client.ts';
import {
  closeAccount,
  createAssociatedAccount,
  transferChecked,
  transferLamports,
} from '../../platform/chain/solana/instructions.ts';
import { requestRemit } from '../participations/refunds.ts';
import { APPROVAL_TTL_MS } from './prepared.ts';

const sale = useSolanaSale({ nodes: 2 });
const OPERATOR = solanaRoles.operator.address;
const AMOUNT = 11n * UNIT;

const settle = () => solanaWorker(sale).settle();
const lamportsOf = (address: string) => sale.solana.chain.svm.balance(keyOf(address));

async function complete(): Promise<void> {
  await settle();
  sale.mine(FINALITY_SLOTS + 1);
  await settle();
}

describe('an approval that a rollback removes', () => {
  const approveUnconfirmed = (buyer: SolanaKey) => {
    const source = associatedAccount(buyer.address, MINT);
    return sale.land(buyer, [approveChecked(source, MINT, FUND, buyer.address, AMOUNT)]);
  };

  test('while it is only processed leaves the row prepared until it fails, and nothing is pulled', async () => {
    const buyer = await sale.buyer('processed');
    const before = sale.balanceOf(VAULT);
    const id = String((await sale.post(buyer, AMOUNT, approveUnconfirmed(buyer))).body.id);
    sale.solana.chain.rollBack(1, 'drop');
    sale.mine(3);
    await settle();
    expect(await sale.statusOf(id)).toBe('prepared');
    sale.app.clock.set(sale.app.clock.now() + APPROVAL_TTL_MS + 1_000);
    const worker = solanaWorker(sale);
    await worker.settle();
    sale.mine(2 * EXPIRY_SLOTS);
    await worker.settle();
    expect(await sale.reasonOf(id)).toBe('approval_not_mined');
    expect(sale.balanceOf(VAULT)).toBe(before);
  });

  test('after it was accepted returns the row to prepared, and another block brings it back', async () => {
    const buyer = await sale.buyer('vanished');
    const { chain } = sale.solana;
    const source = associatedAccount(buyer.address, MINT);
    const approval = approveChecked(source, MINT, FUND, buyer.address, AMOUNT);
    // Uses an older blockhash, which is still valid after the rollback.
    const raw = signTransaction(chain.timeline.blockhash(chain.slots().confirmed - 3), buyer, [approval]);
    chain.submit(parseTransaction(raw));
    sale.mine(1);
    const hash = base58.encode(raw.subarray(1, 65));
    const { body } = await sale.post(buyer, AMOUNT, hash);
    expect(body.status).toBe('pending');
    sale.solana.chain.rollBack(2, 'return');
    await settle();
    expect(await sale.statusOf(String(body.id))).toBe('prepared');
    sale.mine(3);
    await complete();
    expect(await sale.statusOf(String(body.id))).toBe('completed');
  });
});

type Change = { name: string; payer?: SolanaKey; build: (owner: string, source: string) => Instruction[] };

/** Sends everything to a stranger. */
function spend(owner: string, source: string): Instruction {
  const stranger = associatedAccount(solanaKey('stranger').address, MINT);
  setTokenAccount(sale.solana, stranger, solanaKey('stranger').address, 0n);
  const transfer = { source, mint: MINT, destination: stranger, authority: owner, decimals: 6, signers: [] };
  return transferChecked({ ...transfer, amount: 1_000n * UNIT });
}

const CHANGES: Change[] = [
  { name: 'revoked', build: (owner, source) => [revoke(source, owner)] },
  { name: 'spent', build: (owner, source) => [spend(owner, source)] },
  { name: 'frozen', payer: faucetKey, build: (_, source) => [freezeOrThaw(10, source)] },
  { name: 'closed', build: (owner, source) => [spend(owner, source), closeAccount(source, owner)] },
  {
    name: 'closed and created again',
    build: (owner, source) => [
      spend(owner, source),
      closeAccount(source, owner),
      createAssociatedAccount(owner, source, owner, MINT),
    ],
  },
  { name: 're-owned', build: (owner, source) => [setOwner(source, owner, solanaKey('stranger').address)] },
];

test.each(CHANGES)(
  'an account that is $name between approval and pull fails the row after expiry, and costs a fee only',
  async ({ name, payer, build }) => {
    const buyer = await sale.buyer(`changed ${name}`);
    const id = await sale.participate(buyer, AMOUNT);
    const [vault, operator] = [sale.balanceOf(VAULT), lamportsOf(OPERATOR)];
    sale.setFaults({ sending: { lateBySlots: 3 } });
    await settle();
    sale.land(payer ?? buyer, build(buyer.address, associatedAccount(buyer.address, MINT)));
    sale.mine(10);
    const cost = operator - lamportsOf(OPERATOR);
    expect(cost).toBeGreaterThanOrEqual(5_000n);
    expect(cost).toBeLessThan(1_000_000n);
    await settle();
    expect(await sale.statusOf(id)).toBe('submitted');
    sale.mine(EXPIRY_SLOTS);
    await settle();
    expect(await sale.statusOf(id)).toBe('failed');
    expect(sale.balanceOf(VAULT)).toBe(vault);
    expect(sale.tokenAccount(receiptAddress(OPERATOR, id, 'commit'))).toBeNull();
  },
);

/** Returns the chain as seen by a process that makes `calls` calls to nodes and dies at the next one. */
function crashingChain(calls: number): SolanaChain {
  let left = calls;
  const crash =
    <A extends unknown[], R>(call: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      if (--left < 0) throw new Error('the process died');
      return call(...args);
    };
  const chain = sale.app.ctx.chains.solana('solana_devnet');
  const { rpc } = chain;
  return {
    ...chain,
    rpc: {
      ...rpc,
      request: crash(rpc.request),
      requestAll: crash(rpc.requestAll),
      batch: crash(rpc.batch),
    },
  };
}

test('a process that dies at any call of a node commits once', async () => {
  const buyer = await sale.buyer('dying');
  const before = sale.balanceOf(VAULT);
  const { body } = await sale.post(buyer, AMOUNT, sale.approve(buyer, 900n * UNIT));
  const id = String(body.id);
  for (let calls = 0; (await sale.statusOf(id)) !== 'completed'; calls++) {
    if (calls > 60) throw new Error('the row does not complete');
    await solanaWorker(sale, { chain: crashingChain(calls), timings: { resendSeconds: -1 } })
      .round()
      .catch(() => undefined);
    sale.mine(2);
  }
  expect(sale.balanceOf(VAULT) - before).toBe(AMOUNT);
});

test('lamports at the address of a receipt are not taken for one', async () => {
  const buyer = await sale.buyer('fooled');
  const id = await sale.participate(buyer, AMOUNT);
  sale.setFaults({ sending: 'lost' });
  await settle();
  sale.land(buyer, [transferLamports(buyer.address, receiptAddress(OPERATOR, id, 'commit'), 2_039_280n)]);
  sale.mine(FINALITY_SLOTS + 1);
  await settle();
  expect(await sale.statusOf(id)).toBe('submitted');
  sale.setFaults({ sending: 'now' });
  await solanaWorker(sale, { timings: { resendSeconds: -1 } }).round();
  await complete();
  expect(await sale.statusOf(id)).toBe('completed');
});

test('a node that denies accounts ends no row that two providers must agree on', async () => {
  const { config } = sale.app.ctx;
  config.settlementQuorumUsd = 0;
  const buyer = await sale.buyer('denied');
  const before = sale.balanceOf(VAULT);
  const id = await sale.participate(buyer, AMOUNT);
  await settle();
  const [liar] = sale.solana.nodes;
  Object.assign(liar?.faults ?? {}, { hidesTokenAccounts: true });
  for (let i = 0; i < 3; i++) {
    sale.mine(EXPIRY_SLOTS);
    await settle().catch(() => undefined);
    expect(['submitted', 'pending']).toContain(await sale.statusOf(id));
  }
  Object.assign(liar?.faults ?? {}, NO_FAULTS);
  await complete();
  expect(await sale.statusOf(id)).toBe('completed');
  expect(sale.balanceOf(VAULT) - before).toBe(AMOUNT);
  config.settlementQuorumUsd = 1_000;
});

test('a refund cannot be asked for before the commit is final', async () => {
  const buyer = await sale.buyer('early refund');
  const id = await sale.participate(buyer, AMOUNT);
  await settle();
  sale.mine(2);
  await expect(requestRemit(sale.app.ctx, id)).rejects.toMatchObject({ code: 'validation_failed' });
  await complete();
  await requestRemit(sale.app.ctx, id);
  await complete();
  expect(await sale.statusOf(id)).toBe('remitted');
});

/** Returns the chain, but its nodes report the rent multiplied by `factor`. */
function expensiveChain(factor: number): SolanaChain {
  const chain = sale.app.ctx.chains.solana('solana_devnet');
  const { rpc } = chain;
  const batch: typeof rpc.batch = async (calls, accept) => {
    const replies = await rpc.batch(calls, accept);
    if (calls[0]?.method !== 'getMinimumBalanceForRentExemption') return replies;
    return replies.map((reply) =>
      'error' in reply ? reply : { ...reply, result: Number(reply.result) * factor },
    );
  };
  return { ...chain, rpc: { ...rpc, batch } };
}

test.each([
  [1_000_000, 'operator_out_of_gas'],
  [100, 'signer_policy'],
])('a rent that is raised %d times makes rows wait with the reason %s', async (factor, reason) => {
  const buyer = await sale.buyer(`rent ${factor}`);
  const id = await sale.participate(buyer, AMOUNT);
  await solanaWorker(sale, { chain: expensiveChain(factor) }).settle();
  expect(await sale.statusOf(id)).toBe('pending');
  expect(await sale.app.ctx.metrics.registry.metrics()).toMatch(
    new RegExp(`settlement_waiting\\{[^}]*reason="${reason}"[^}]*\\} [1-9]`),
  );
  await complete();
  expect(await sale.statusOf(id)).toBe('completed');
});

test('a transaction that nodes reject is sent again only after resendSeconds, with one log line', async () => {
  const chain = sale.app.ctx.chains.solana('solana_devnet');
  let sent = 0;
  const requestAll: typeof chain.rpc.requestAll = async () => {
    throw new NodeError(-32_005, `Node is behind by ${++sent} slots`, undefined);
  };
  const id = await sale.participate(await sale.buyer('rejected'), AMOUNT);
  const start = sale.app.logged().length;
  const rejecting = solanaWorker(sale, {
    chain: { ...chain, rpc: { ...chain.rpc, requestAll } },
    timings: { resendSeconds: 600, renewSeconds: 600 },
  });
  for (let i = 0; i < 4; i++) await rejecting.round();
  expect(sent).toBe(1);
  const lines = sale.app.logged().slice(start).split('\n');
  const found = lines.filter((line) => line.includes('no node accepted the transaction'));
  expect(found).toEqual([expect.stringContaining('Node is behind')]);
  expect(found[0]).not.toContain('stack');
  await complete();
  expect(await sale.statusOf(id)).toBe('completed');
});

/** Returns the chain, but the replies to the first `count` simulations are `reply`. */
function badSimulations(reply: object, count: number): SolanaChain {
  const chain = sale.app.ctx.chains.solana('solana_devnet');
  const { rpc } = chain;
  let left = count;
  const batch: typeof rpc.batch = (calls, accept) =>
    rpc.batch(calls, (replies) => {
      const isBad = calls[0]?.method === 'simulateTransaction' && left-- > 0;
      accept?.(isBad ? replies.map((each) => ({ ...each, result: reply })) : replies);
    });
  return { ...chain, rpc: { ...rpc, batch } };
}

describe.each([
  ['no units', { value: { err: null, logs: [] } }],
  ['no result', { value: null }],
])('a simulation with %s', (name, reply) => {
  test('signs nothing, because a transaction without compute units fails', async () => {
    const id = await sale.participate(await sale.buyer(`simulation with ${name}`), AMOUNT);
    const before = lamportsOf(OPERATOR);
    const faulty = solanaWorker(sale, { chain: badSimulations(reply, Number.POSITIVE_INFINITY) });
    await expect(faulty.round()).rejects.toMatchObject({ code: 'upstream_error' });
    expect(await sale.statusOf(id)).toBe('pending');
    expect(lamportsOf(OPERATOR)).toBe(before);
    await complete();
    expect(await sale.statusOf(id)).toBe('completed');
  });

  test('is repeated by another node', async () => {
    const id = await sale.participate(await sale.buyer(`one simulation with ${name}`), AMOUNT);
    await solanaWorker(sale, { chain: badSimulations(reply, 1) }).round();
    expect(await sale.statusOf(id)).toBe('submitted');
    await complete();
  });
});

/** Returns the chain, but with `change` applied to the expiry of the first `count` blockhashes. */
function wrongExpiries(change: (height: number) => number, count: number): SolanaChain {
  const chain = sale.app.ctx.chains.solana('solana_devnet');
  const { rpc } = chain;
  let left = count;
  const batch: typeof rpc.batch = (calls, accept) =>
    rpc.batch(calls, (replies) => {
      const [reply] = replies;
      if (calls[0]?.method === 'getLatestBlockhash' && reply && 'result' in reply && left-- > 0) {
        const { value } = reply.result as { value: { lastValidBlockHeight: number } };
        value.lastValidBlockHeight = change(value.lastValidBlockHeight);
      }
      accept?.(replies);
    });
  return { ...chain, rpc: { ...rpc, batch } };
}

describe.each([
  ['months later', (height: number) => height + 20_000_000],
  ['earlier', () => 1],
])('a blockhash that expires %s', (name, change) => {
  test('is not used, so that the row ends', async () => {
    const buyer = await sale.buyer(`expires ${name}`);
    const id = await sale.participate(buyer, AMOUNT);
    sale.setFaults({ sending: 'lost' });
    const faulty = solanaWorker(sale, { chain: wrongExpiries(change, Number.POSITIVE_INFINITY) });
    await expect(faulty.round()).rejects.toMatchObject({ code: 'upstream_error' });
    sale.setFaults({ sending: 'now' });
    sale.land(buyer, [revoke(associatedAccount(buyer.address, MINT), buyer.address)]);
    const worker = solanaWorker(sale);
    for (let i = 0; i < 3; i++) {
      sale.mine(EXPIRY_SLOTS);
      await worker.settle();
    }
    expect(await sale.statusOf(id)).toBe('failed');
  });

  test('is replaced by that of another node', async () => {
    const id = await sale.participate(await sale.buyer(`one expires ${name}`), AMOUNT);
    await solanaWorker(sale, { chain: wrongExpiries(change, 1) }).round();
    expect(await sale.statusOf(id)).toBe('submitted');
    await complete();
    expect(await sale.statusOf(id)).toBe('completed');
  });
});

test('an expiry in the past fails no row whose commit, lost by a restore, can still land', async () => {
  const buyer = await sale.buyer('expired early');
  const id = await sale.participate(buyer, AMOUNT);
  const restore = await backUpRow(sale, id);
  sale.setFaults({ sending: { lateBySlots: 60 } });
  await settle();
  await restore();
  sale.land(buyer, [revoke(associatedAccount(buyer.address, MINT), buyer.address)]);
  sale.mine(FINALITY_SLOTS + 1);
  const worker = solanaWorker(sale, { chain: wrongExpiries(() => 1, Number.POSITIVE_INFINITY) });
  for (let i = 0; i < 3; i++) await worker.settle().catch(() => undefined);
  expect(await sale.statusOf(id)).toBe('pending');
});
