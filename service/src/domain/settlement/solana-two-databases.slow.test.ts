import { solanaRoles } from '@causeway/sandbox/seed/solana-keys.ts';
import { NO_FAULTS } from '@causeway/sandbox/simulators/solana/node.ts';
import { expect, test } from 'vitest';
import { copyTestDatabase, createTestDatabase } from '../../../test/setup/database.ts';
import { startSolanaChain, type TestSolana } from '../../../test/support/solana-chain.ts';
import { MINT, revoke } from '../../../test/support/solana-instructions.ts';
import {
  EXPIRY_SLOTS,
  FINALITY_SLOTS,
  type SolanaKey,
  type SolanaSale,
  solanaWorker,
  startSolanaSale,
  UNIT,
  VAULT,
} from '../../../test/support/solana-sale.ts';
import { createRandomChoices, type RandomChoices } from '../../../test/torture/random-choices.ts';
import { associatedAccount, receiptAddress } from '../../platform/chain/solana/addresses.ts';
import { localSolanaSigner } from '../../platform/operator/solana-signer.ts';

const OPERATOR = solanaRoles.operator;
const ROWS = 16;
const STEPS = 60;
const AMOUNT = 7n * UNIT;

type Investment = { buyer: SolanaKey; id: string };

/**
 * Creates participations, each with an allowance for many payments, so that a second payment would succeed.
 */
async function createInvestments(sale: SolanaSale): Promise<Investment[]> {
  const investments: Investment[] = [];
  for (let i = 0; i < ROWS; i++) {
    const buyer = await sale.buyer(`two databases ${i}`);
    const { body } = await sale.post(buyer, AMOUNT, sale.approve(buyer, 900n * UNIT));
    investments.push({ buyer, id: String(body.id) });
  }
  return investments;
}

/** Returns a signer that crashes after it has signed, before anything is stored. */
function crashingSigner() {
  const signer = localSolanaSigner(OPERATOR.seed);
  const signTransaction: typeof signer.signTransaction = async (...args) => {
    await signer.signTransaction(...args);
    throw new Error('crash');
  };
  return { ...signer, signTransaction };
}

/** Runs a round of one installation, with random faults in the chain and its nodes. */
async function disturb(
  sales: readonly SolanaSale[],
  solana: TestSolana,
  investments: readonly Investment[],
  random: RandomChoices,
): Promise<void> {
  const sale = random.pick(sales);
  for (const { faults } of solana.nodes)
    Object.assign(faults, NO_FAULTS, {
      sending: random.pick(['now', 'now', 'lost', { lateBySlots: 1 + random.integer(140) }]),
      hasHistory: random.chance(0.5),
    });
  const worker = solanaWorker(sale, {
    timings: { resendSeconds: -1, renewSeconds: random.chance(0.3) ? -1 : 20 },
    ...(random.chance(0.2) && { signer: crashingSigner() }),
  });
  await worker.round().catch(() => undefined);
  if (random.chance(0.1)) {
    const { buyer } = random.pick(investments);
    sale.land(buyer, [revoke(associatedAccount(buyer.address, MINT), buyer.address)]);
  }
  if (random.chance(0.2))
    solana.chain.rollBack(1 + random.integer(FINALITY_SLOTS - 1), random.chance(0.5) ? 'return' : 'drop');
  solana.chain.mine(1 + random.integer(12));
}

/** Mines until everything that was sent has expired, and settles what remains in both databases. */
async function calmDown(sales: readonly SolanaSale[], solana: TestSolana): Promise<void> {
  for (const { faults } of solana.nodes) Object.assign(faults, NO_FAULTS);
  const workers = sales.map((sale) => solanaWorker(sale, { timings: { resendSeconds: -1 } }));
  for (let i = 0; i < 6; i++) {
    solana.chain.mine(2 * EXPIRY_SLOTS);
    for (const worker of workers) await worker.settle();
  }
}

test.each([1, 2, 3])(
  'two installations with copies of a database pull each row at most once (seed %d)',
  async (seed) => {
    const solana = await startSolanaChain({ slotMs: 0, finalityLag: FINALITY_SLOTS, nodes: 2 });
    const original = await createTestDatabase();
    const first = await startSolanaSale({ solana, databaseUrl: original.url });
    const investments = await createInvestments(first);
    await first.close();
    const copy = await copyTestDatabase(original);
    const sales = [
      await startSolanaSale({ solana, databaseUrl: original.url }),
      await startSolanaSale({ solana, databaseUrl: copy.url }),
    ];
    try {
      const random = createRandomChoices(seed);
      for (let i = 0; i < STEPS; i++) await disturb(sales, solana, investments, random);
      await calmDown(sales, solana);
      const [one, two] = sales as [SolanaSale, SolanaSale];
      let pulled = 0n;
      for (const { buyer, id } of investments) {
        const isPulled = one.tokenAccount(receiptAddress(OPERATOR.address, id, 'commit')) !== null;
        const taken = 1_000n * UNIT - one.balanceOf(associatedAccount(buyer.address, MINT));
        expect(taken).toBe(isPulled ? AMOUNT : 0n);
        const expected = isPulled ? 'completed' : 'failed';
        expect([await one.statusOf(id), await two.statusOf(id)]).toEqual([expected, expected]);
        pulled += taken;
      }
      expect(one.balanceOf(VAULT)).toBe(pulled);
      expect(pulled).toBeGreaterThan(0n);
    } finally {
      for (const sale of sales) await sale.close();
      await solana.stop();
      await original.drop();
      await copy.drop();
    }
  },
);
