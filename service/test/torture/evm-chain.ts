import { setTimeout as sleep } from 'node:timers/promises';
import { hostileToken } from '@causeway/contracts/abi/test/hostile-token.ts';
import { token } from '@causeway/contracts/abi/token.ts';
import { roles } from '@causeway/sandbox/seed/keys.ts';
import { nextNonce, transact } from '@causeway/sandbox/simulators/chains/transact.ts';
import { sql } from 'kysely';
import type { Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { encodeFunctionData, keccak256, toHex } from 'viem/utils';
import { adoptNonce, planAdoption } from '../../src/domain/settlement/adopt.ts';
import { applyReconcile } from '../../src/domain/settlement/reconcile.ts';
import { planReconcile } from '../../src/domain/settlement/reconcile-plan.ts';
import { buildReport } from '../../src/domain/settlement/reconcile-report.ts';
import { deriveSandboxKey } from '../../src/kernel/config/sandbox-keys.ts';
import { ApiError } from '../../src/kernel/errors.ts';
import type { FundGeneration } from '../../src/platform/chain/evm/sale-fund.ts';
import type { Context } from '../../src/platform/context/context.ts';
import type { ReadOnlyAccount } from '../../src/platform/operator/account.ts';
import { startTestChain, type TestChain } from '../support/chain.ts';
import { makeFundV2 } from '../support/fund-v2.ts';
import { saleOfferFile } from '../support/sale.ts';
import type { InvestorWallet, TortureChain } from './chain.ts';
import { checkEvmBooks, countUndone } from './evm-books.ts';
import { MAX_REORGANISATION_DEPTH, type RandomChoices } from './random-choices.ts';

const NAME = 'ethereum_sepolia';
const CHAIN_ID = 11_155_111;
const GWEI = 1_000_000_000n;
/** How many times the run's operator tries a command before the run fails. */
const MAX_ATTEMPTS = 20;
/**
 * How the token initially treats the last two investors (see `treat`), so that every run includes both kinds of hostile
 * behavior.
 */
const FIRST_TREATMENTS: Record<number, bigint> = { 4: 1n, 5: 2n };

/** Starts an embedded EVM chain with a fund of this generation. */
export async function startEvm(generation: FundGeneration): Promise<TortureChain> {
  const chain = await startTestChain();
  const rpcs = [await chain.addNode(), await chain.addNode()];
  const fund = generation === 2 ? await makeFundV2(chain) : chain.deployment.sale_funds.open;
  // Investors pay with a token that sometimes charges fees or burns all gas.
  const usdc = await chain.create(hostileToken, []);
  const tokens = chain.deployment.tokens.map((each) =>
    each.asset_id === 'usd-coin' ? { ...each, address: usdc } : each,
  );
  const approvals: Hex[] = [];
  let mayLackApprovals = false;
  const forgotten = new Set<bigint>();
  const wallets: Hex[] = [];
  const send = (raw: Hex) => chain.chain.request({ method: 'eth_sendRawTransaction', params: [raw] });
  return {
    name: NAME,
    flags: `--fund ${generation}`,
    variables: {
      RPC_URL_ETHEREUM_SEPOLIA: rpcs.map(({ url }, i) => `${url}#provider=node-${i}`).join(','),
      OPERATOR_KEY: deriveSandboxKey('operator'),
    },
    offerFile: saleOfferFile({ ...chain.deployment, tokens }, fund),
    rpcs,
    createWallet: async (index) => {
      const wallet = createWallet(index, { usdc, fund }, async (raw) => {
        approvals.push(raw);
        await send(raw);
      });
      wallets.push(wallet.address as Hex);
      await payInvestor(chain, usdc, wallet.address as Hex);
      await treat(chain, usdc, wallet.address as Hex, FIRST_TREATMENTS[index] ?? 0n);
      return wallet;
    },
    disturb: async (random, later) => {
      const done = await disturb(chain, random, later);
      if (random.chance(0.2)) {
        await treat(chain, usdc, random.pick(wallets), random.pick([0n, 0n, 1n, 2n]));
        done.push('hostile_treatments');
      }
      mayLackApprovals ||= done.includes('reorganisations');
      return done;
    },
    holdTransactions: (ctx) => holdTransactions(ctx, chain),
    forgetTransactions: async (ctx) => {
      const nonce = await forgetTransactions(ctx, chain);
      if (nonce !== null) forgotten.add(nonce);
      return nonce !== null;
    },
    attend: async (ctx) => {
      if (mayLackApprovals) {
        mayLackApprovals = false;
        for (const raw of approvals) await send(raw).catch(() => undefined);
      }
      if (forgotten.size > 0) await untilReachable(() => repair(ctx, forgotten));
    },
    calm: async () => {
      mayLackApprovals = true;
      chain.chain.setBlockInterval(0);
      await chain.chain.mine(1);
    },
    countUndone: (ctx) => countUndone(ctx, chain),
    checkBooks: (sale, rows, wallets) => checkEvmBooks({ ...sale, chain, fund, usdc }, rows, wallets),
    report: (ctx, db) => buildReport(db, ctx.chains.evm(NAME)),
    close: () => chain.close(),
  };
}

function createWallet(
  index: number,
  { usdc, fund }: { usdc: Hex; fund: Hex },
  send: (raw: Hex) => Promise<void>,
): InvestorWallet {
  const account = privateKeyToAccount(keccak256(toHex(`torture wallet ${index}`)));
  let nonce = 0;
  return {
    address: account.address.toLowerCase(),
    approve: async (amount) => {
      const data = encodeFunctionData({ abi: token.abi, functionName: 'approve', args: [fund, amount] });
      const raw = await account.signTransaction({
        ...{ type: 'eip1559', chainId: CHAIN_ID, nonce: nonce++, to: usdc, data, gas: 100_000n },
        ...{ maxFeePerGas: 1_000_000_000_000n, maxPriorityFeePerGas: 0n },
      });
      await send(raw);
      return keccak256(raw);
    },
  };
}

/**
 * Makes the token behave normally (0), charge a fee (1) or burn all gas (2) for a wallet. As with a real issuer, nobody
 * tracks the transaction, so a reorganization may drop it.
 */
async function treat({ owner }: TestChain, hostile: Hex, wallet: Hex, kind: bigint): Promise<void> {
  const data = encodeFunctionData({ abi: hostileToken.abi, functionName: 'treat', args: [wallet, kind] });
  const call = { to: hostile, data, gas: 100_000n, maxFeePerGas: 1_000n * GWEI };
  await owner.sendTransaction(call as never).catch(() => undefined);
}

/**
 * Sends ether and the token to an investor, and mines enough blocks that no reorganization can undo the
 * transfers.
 */
async function payInvestor(chain: TestChain, usdc: Hex, address: Hex): Promise<void> {
  const data = encodeFunctionData({ abi: token.abi, functionName: 'mint', args: [address, 10n ** 15n] });
  for (const { from, ...payment } of [
    { from: roles.deployer, to: address, value: 10n ** 19n },
    { from: roles.owner, to: usdc, data },
  ]) {
    const nonce = await nextNonce(chain.chain, from.address);
    await transact(chain.chain, from, { ...payment, chainId: CHAIN_ID, nonce });
  }
  await chain.chain.mine(8);
}

async function disturb(
  chain: TestChain,
  random: RandomChoices,
  later: (work: Promise<void>) => void,
): Promise<string[]> {
  const done: string[] = [];
  if (random.chance(0.1)) {
    await spikeFees(chain, 5n + BigInt(random.integer(60)));
    done.push('fee_spikes');
  }
  if (random.chance(0.08)) {
    later(stallBlocks(chain, 500 + random.integer(2_000)));
    done.push('stalls');
  }
  if (random.chance(0.12)) {
    const transactions = random.chance(0.5) ? 'return' : 'drop';
    await chain.chain.reorg({ depth: 1 + random.integer(MAX_REORGANISATION_DEPTH), transactions });
    await chain.chain.mine(1);
    done.push('reorganisations');
  }
  return done;
}

/** Raises the base fee of the next block above the fees of pending transactions. */
async function spikeFees({ chain }: TestChain, gwei: bigint): Promise<void> {
  await chain.request({ method: 'hardhat_setNextBlockBaseFeePerGas', params: [toHex(gwei * GWEI)] });
}

/** Raises the base fee. Then waits, for a few seconds at most, until a commit with lower fees is in the mempool. */
async function holdTransactions({ db }: Context, chain: TestChain): Promise<void> {
  await spikeFees(chain, 65n);
  for (let i = 0; i < 30; i++) {
    const { rows } = await sql`
      select from operator_transactions t join operator_attempts a on a.transaction_id = t.id
      where t.kind = 'commit' and t.state = 'open' and a.sent_at < now() - interval '0.3 seconds'`.execute(
      db,
    );
    if (rows.length > 0) return;
    await sleep(100);
  }
}

/** Stops the chain for a while. */
async function stallBlocks({ chain }: TestChain, milliseconds: number): Promise<void> {
  chain.setBlockInterval(1e8);
  await sleep(milliseconds);
  chain.setBlockInterval(0);
  await chain.mine(1);
}

/**
 * Removes the last commit, mined or not, from the database, like a failover to a lagging replica. Then reconciles and
 * adopts the nonce, as an operator does. Returns the nonce of the removed commit, or null if no commit was removed.
 */
async function forgetTransactions(ctx: Context, { chain }: TestChain): Promise<bigint | null> {
  const { rows } = await sql<{ id: string; nonce: bigint }>`
    select t.id, t.nonce from operator_transactions t
    where t.kind = 'commit' and t.state in ('open', 'settled') and t.nonce = (select max(nonce) from operator_transactions)
      and exists (select from operator_attempts a where a.transaction_id = t.id and a.sent_at is not null)
      and not exists (select from participations p where p.commit_id = t.id and p.status not in ('submitted', 'completed'))`.execute(
    ctx.db,
  );
  const [lost] = rows;
  if (lost !== undefined) await forget(ctx.db, lost.id);
  // Mines more blocks than any reorganization undoes, so that the reconciled transactions stay on the chain.
  await chain.mine(2 + MAX_REORGANISATION_DEPTH);
  if (lost === undefined) return null;
  await untilReachable(async () => {
    await applyReconcile(ctx, await planReconcile(ctx.db, ctx.chains.evm(NAME), 0n));
    await adoptNonce(ctx, accountOf(ctx));
  });
  return BigInt(lost.nonce);
}

/**
 * Does what an operator does when settlement reports a foreign nonce. This can happen after a fee spike: the forgotten
 * commit stays in the mempool, and later takes the nonce of a new transaction. Adopts nothing if any foreign nonce is
 * not in `forgotten`, because such a nonce would mean a bug in the service.
 */
async function repair(ctx: Context, forgotten: ReadonlySet<bigint>): Promise<void> {
  const plan = await planReconcile(ctx.db, ctx.chains.evm(NAME), 0n);
  if (plan.lost.length > 0) await applyReconcile(ctx, plan);
  const { displaced } = await planAdoption(accountOf(ctx));
  const isForgotten = displaced.every(({ nonce }) => forgotten.has(nonce));
  if (displaced.length > 0 && isForgotten) await adoptNonce(ctx, accountOf(ctx));
}

/** Repeats an operator's command while the nodes do not respond, as an operator does. */
async function untilReachable(command: () => Promise<void>): Promise<void> {
  for (let attempt = 1; ; attempt++)
    try {
      return await command();
    } catch (error) {
      const isUnreachable = error instanceof ApiError && error.code === 'upstream_unavailable';
      if (!isUnreachable || attempt === MAX_ATTEMPTS) throw error;
      await sleep(1000);
    }
}

function accountOf(ctx: Context): ReadOnlyAccount {
  const signer = ctx.signerOf('commit', NAME);
  if (signer === null) throw new Error(`no key signs commits on ${NAME}`);
  return { db: ctx.db, chain: ctx.chains.evm(NAME), signer };
}

async function forget(db: Context['db'], id: string): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await sql`update participations set status = 'pending', commit_id = null, commit_row = null, committed = null
      where commit_id = ${id}`.execute(tx);
    await sql`delete from operator_attempts where transaction_id = ${id}`.execute(tx);
    await sql`delete from operator_transactions where id = ${id}`.execute(tx);
    await sql`update operator_keys set next_nonce = next_nonce - 1, epoch = epoch + 1, seen_nonce = null`.execute(
      tx,
    );
  });
}
