import { createHash, sign } from 'node:crypto';
import {
  encodeMessage,
  encodeTransaction,
  type Instruction,
} from '@causeway/contracts/encodings/solana-message.ts';
import { solanaRoles } from '@causeway/sandbox/seed/solana-keys.ts';
import { solanaDeployment } from '@causeway/sandbox/simulators/solana/genesis.ts';
import { NO_FAULTS, type NodeFaults } from '@causeway/sandbox/simulators/solana/node.ts';
import { parseTransaction } from '@causeway/sandbox/simulators/solana/wire-transaction.ts';
import { base58 } from '@scure/base';
import { afterAll, afterEach, beforeAll } from 'vitest';
import { type Round, runRound } from '../../src/domain/settlement/round.ts';
import { createSolanaWorker, RECEIPT_TIMINGS } from '../../src/domain/settlement/solana-driver.ts';
import type { Config } from '../../src/kernel/config/config.ts';
import { SENDING_ROLES, type SendingRole } from '../../src/kernel/config/role.ts';
import { ed25519Key } from '../../src/kernel/ed25519-key.ts';
import { associatedAccount, keyOf } from '../../src/platform/chain/solana/addresses.ts';
import type { SolanaChain } from '../../src/platform/chain/solana/client.ts';
import { transferChecked } from '../../src/platform/chain/solana/instructions.ts';
import type { TokenAccount } from '../../src/platform/chain/solana/token-accounts.ts';
import type { Offer } from '../../src/platform/context/ports.ts';
import type { ReceiptTimings } from '../../src/platform/operator/receipt-follow.ts';
import type { SolanaSigner } from '../../src/platform/operator/solana-signer.ts';
import { type TestApp, testApp } from './app.ts';
import { makeOffer, saleFile } from './offers.ts';
import { gaugesOf } from './sale.ts';
import { setLamports, setTokenAccount, tokenAccountOf } from './solana-accounts.ts';
import { startSolanaChain, type TestSolana } from './solana-chain.ts';
import { approveChecked, MINT } from './solana-instructions.ts';
import { type Person, person, proveWallets } from './wallets.ts';

/** One dollar token, in its smallest unit. */
export const UNIT = 1_000_000n;
/** The number of slots after which a block is final on the test chain. */
export const FINALITY_SLOTS = 8;
/** The number of slots after which a signed transaction can no longer land, and every node knows that it cannot. */
export const EXPIRY_SLOTS = 151 + FINALITY_SLOTS;

export const FUND = solanaDeployment.sale_fund;
export const VAULT = solanaDeployment.vault;

export type SolanaKey = { address: string; sign(message: Uint8Array): Buffer };

/** A wallet derived from a name. */
export function solanaKey(name: string): SolanaKey {
  return keyOfSeed(seedOf(name));
}

/** The private seed of the wallet with this name. */
export function seedOf(name: string): Buffer {
  return createHash('sha256').update(`solana buyer ${name}`).digest();
}

export function keyOfSeed(seed: Uint8Array): SolanaKey {
  const { privateKey, publicKey } = ed25519Key(seed);
  return { address: base58.encode(publicKey), sign: (message) => sign(null, message, privateKey) };
}

export type SolanaSale = {
  app: TestApp;
  solana: TestSolana;
  offer: Offer;
  option: string;
  person: Person;
  /** Creates a proven wallet with lamports, and with 1,000 dollar tokens in its associated account. */
  buyer(name: string): Promise<SolanaKey>;
  /** Lands a transaction in the current slot. Returns its signature. */
  land(payer: SolanaKey, instructions: Instruction[], more?: readonly SolanaKey[]): string;
  /** Approves the fund and mines until the approval is confirmed. Returns the signature. */
  approve(
    buyer: SolanaKey,
    amount: bigint,
    change?: { delegate?: string; source?: string; mint?: string },
  ): string;
  request(buyer: { address: string }, amount: bigint, hash: string): Record<string, string>;
  post(buyer: { address: string }, amount: bigint, hash: string): ReturnType<Person['call']>;
  participate(buyer: SolanaKey, amount: bigint): Promise<string>;
  statusOf(id: string): Promise<string>;
  reasonOf(id: string): Promise<string | null>;
  balanceOf(account: string): bigint;
  tokenAccount(account: string): TokenAccount | null;
  mine(slots: number): void;
  /** Makes every node misbehave. */
  setFaults(faults: Partial<NodeFaults>): void;
  close(): Promise<void>;
};

/**
 * Starts a token sale on an embedded Solana chain. Slots advance and settlement runs only when the test
 * requests it.
 */
export async function startSolanaSale(
  options: { config?: Partial<Config>; nodes?: number; databaseUrl?: string; solana?: TestSolana } = {},
): Promise<SolanaSale> {
  const solana =
    options.solana ??
    (await startSolanaChain({ slotMs: 0, finalityLag: FINALITY_SLOTS, nodes: options.nodes ?? 1 }));
  solana.chain.mine(200);
  const app = await testApp({
    ...(options.databaseUrl !== undefined && { databaseUrl: options.databaseUrl }),
    config: {
      ...options.config,
      rpcUrls: { solana_devnet: solana.nodes.map(({ url }, i) => `${url}#provider=node${i}`) },
      solanaKey: { kind: 'local', privateKey: Buffer.from(solanaRoles.operator.seed) },
    },
  });
  const offer = await makeOffer(app.ctx, solanaSaleFile());
  const option = offer.options[0]?.id ?? '';
  const user = await person(app);
  const read = (id: string) =>
    app.ctx.db.selectFrom('participations').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
  const { chain } = solana;
  const tokenAccount = (account: string) => tokenAccountOf(solana, account);
  const land: SolanaSale['land'] = (payer, instructions, more = []) => {
    const transaction = signTransaction(
      chain.timeline.blockhash(chain.slots().processed),
      payer,
      instructions,
      more,
    );
    chain.submit(parseTransaction(transaction));
    return base58.encode(transaction.subarray(1, 65));
  };
  const approve: SolanaSale['approve'] = (buyer, amount, change = {}) => {
    const mint = change.mint ?? MINT;
    const source = change.source ?? associatedAccount(buyer.address, mint);
    const hash = land(buyer, [approveChecked(source, mint, change.delegate ?? FUND, buyer.address, amount)]);
    chain.mine(1);
    return hash;
  };
  const request: SolanaSale['request'] = ({ address }, amount, hash) => ({
    offer_id: offer.id,
    offer_option_id: option,
    chain: 'solana_devnet',
    wallet_address: address,
    amount: String(amount),
    asset_id: 'usd-coin',
    approval_transaction_hash: hash,
  });
  const post: SolanaSale['post'] = (buyer, amount, hash) =>
    user.call('POST', '/v1/participations', request(buyer, amount, hash));
  return {
    ...{ app, solana, offer, option, person: user, land, approve, request, post, tokenAccount },
    buyer: async (name) => {
      const key = solanaKey(name);
      setLamports(solana, key.address);
      setTokenAccount(solana, associatedAccount(key.address, MINT), key.address, 1_000n * UNIT);
      await proveWallets(app.ctx, [key.address]);
      return key;
    },
    participate: async (buyer, amount) => {
      const { status, body } = await post(buyer, amount, approve(buyer, amount));
      if (status !== 200) throw new Error(JSON.stringify(body));
      return String(body.id);
    },
    statusOf: async (id) => (await read(id)).status,
    reasonOf: async (id) => (await read(id)).reason,
    balanceOf: (account) => tokenAccount(account)?.amount ?? 0n,
    mine: (slots) => chain.mine(slots),
    setFaults: (faults) => {
      for (const node of solana.nodes) Object.assign(node.faults, faults);
    },
    close: async () => {
      await app.close();
      if (options.solana === undefined) await solana.stop();
    },
  };
}

/** Starts a sale before the tests of a file and closes the sale after them. Every test begins with nodes that work. */
export function useSolanaSale(options: Parameters<typeof startSolanaSale>[0] = {}): SolanaSale {
  const sale = {} as SolanaSale;
  beforeAll(async () => {
    Object.assign(sale, await startSolanaSale(options));
  });
  afterEach(() => {
    sale.setFaults(NO_FAULTS);
    for (const node of sale.solana.nodes) node.fault.set('none');
  });
  afterAll(() => sale.close());
  return sale;
}

/**
 * Returns a transfer from the buyer's account to a thief. The transfer's authority is the fund, a multisig account for
 * which `signer` must sign.
 */
export function theft({ solana }: SolanaSale, buyer: string, signer: string): Instruction {
  const thief = associatedAccount(solanaKey('thief').address, MINT);
  setTokenAccount(solana, thief, solanaKey('thief').address, 0n);
  const source = associatedAccount(buyer, MINT);
  const transfer = { source, mint: MINT, destination: thief, authority: FUND, amount: UNIT, decimals: 6 };
  return transferChecked({ ...transfer, signers: [signer] });
}

export function solanaSaleFile() {
  return saleFile({
    contracts: [
      {
        chain: 'solana_devnet',
        address: FUND,
        vault: VAULT,
        funding_tokens: [{ asset: 'usd-coin', address: MINT }],
      },
    ] as never,
    options: [{ slug: 'standard', minimum_purchase_usd: '0.01' }] as never,
  });
}

export function signTransaction(
  blockhash: Uint8Array,
  payer: SolanaKey,
  instructions: readonly Instruction[],
  more: readonly SolanaKey[] = [],
): Buffer {
  const message = encodeMessage({ feePayer: keyOf(payer.address), blockhash, instructions });
  return Buffer.from(
    encodeTransaction(
      message,
      [payer, ...more].map((each) => each.sign(message)),
    ),
  );
}

export const faucetKey: SolanaKey = keyOfSeed(solanaRoles.faucet.seed);

type WorkerChange = {
  timings?: Partial<ReceiptTimings>;
  node?: number;
  signer?: SolanaSigner;
  roles?: readonly SendingRole[];
  chain?: SolanaChain;
};

/** Creates a settlement worker whose rounds the test runs itself. */
export function solanaWorker({ app }: Pick<SolanaSale, 'app'>, change: WorkerChange = {}) {
  const { ctx } = app;
  const own = change.signer ?? ctx.solanaSignerOf('commit', 'solana_devnet');
  if (own === null) throw new Error('the app has no operator key on Solana');
  const worker = createSolanaWorker(
    { ...ctx, node: change.node ?? ctx.node },
    change.chain ?? ctx.chains.solana('solana_devnet'),
    { address: own.address, signer: own, roles: change.roles ?? SENDING_ROLES },
    gaugesOf(app),
    { ...RECEIPT_TIMINGS, ...change.timings },
  );
  const due = async () => {
    await ctx.db.updateTable('participations').set({ check_at: '2000-01-01T00:00:00Z' }).execute();
    for (const funds of Object.values(worker.skippedFunds)) funds.clear();
  };
  return {
    worker,
    round: async () => {
      await due();
      return runRound(worker);
    },
    /** Runs rounds until nothing more can be done without new slots. */
    settle: async (): Promise<Round> => {
      for (let i = 0; i < 20; i++) {
        await due();
        const round = await runRound(worker);
        if (round !== 'busy') return round;
      }
      return 'busy';
    },
  };
}

/**
 * Saves a participation. Returns a function that restores the participation and deletes the transactions that were sent
 * for it since then, as restoring a backup does.
 */
export async function backUpRow({ app }: Pick<SolanaSale, 'app'>, id: string): Promise<() => Promise<void>> {
  const { db } = app.ctx;
  const read = () =>
    db.selectFrom('participations').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
  const { id: _, ...columns } = await read();
  return async () => {
    const { commit_id, remit_id } = await read();
    await db.updateTable('participations').set(columns).where('id', '=', id).execute();
    for (const sent of [commit_id, remit_id]) {
      if (sent === null || [columns.commit_id, columns.remit_id].includes(sent)) continue;
      await db.deleteFrom('operator_attempts').where('transaction_id', '=', sent).execute();
      await db.deleteFrom('operator_transactions').where('id', '=', sent).execute();
    }
  };
}
