import { saleFund } from '@causeway/contracts/abi/sale-fund.ts';
import { token } from '@causeway/contracts/abi/token.ts';
import type { RollingSale } from '../rolling/investors.ts';
import { query, waitFor } from './cluster.ts';

export type Binding = { email: string; wallet: string };
export type Order = { wallet: string; amount: string; hash: string };

const UNSETTLED = ['prepared', 'pending', 'submitted'];

/** Everything that the service has confirmed to a client. */
export type Acknowledged = { participations: string[]; bindings: Binding[]; orders: Order[] };

/** Returns what is acknowledged but not stored, or stored but not on chain, or on chain but not stored. */
export async function findLosses(
  databaseUrl: string,
  sale: RollingSale,
  { participations, bindings, orders }: Acknowledged,
): Promise<string[]> {
  await waitFor('orders to be read from the chain, and participations to be settled', async () => {
    const { executed, unsettled } = await countRows(databaseUrl);
    return executed >= orders.length && unsettled === 0 ? true : null;
  }).catch(() => undefined);
  const stored = await query(databaseUrl, 'select id, status, amount from participations');
  const statusOf = new Map(stored.map(({ id, status }) => [id, status]));
  const bound = await query(
    databaseUrl,
    `select u.email || ' ' || a.address as binding from option_addresses a join users u on u.id = a.user_id`,
  );
  const executed = await query(
    databaseUrl,
    `select wallet || ' ' || amount || ' 0x' || encode(transaction_hash, 'hex') as trade from tokenized_orders
     where state = 'executed'`,
  );
  const known = new Set([...bound.map(({ binding }) => binding), ...executed.map(({ trade }) => trade)]);
  const texts = [
    ...bindings.map(({ email, wallet }) => `${email} ${wallet}`),
    ...orders.map(({ wallet, amount, hash }) => `${wallet} ${amount} ${hash}`),
  ];
  return [
    ...participations
      .filter((id) => statusOf.get(id) !== 'completed')
      .map((id) => `participation ${id} was acknowledged and is ${statusOf.get(id) ?? 'missing'}`),
    ...texts.filter((text) => !known.has(text)).map((text) => `acknowledged and missing: ${text}`),
    ...(executed.length === orders.length
      ? []
      : [`${executed.length} orders are executed, and ${orders.length} were acknowledged`]),
    ...stored
      .filter(({ status }) => UNSETTLED.includes(String(status)))
      .map(({ id, status }) => `participation ${id} is still ${status}`),
    ...(await compareWithFund(sale, stored)),
  ];
}

/** Checks that the fund contains every completed participation exactly once, and nothing else. */
async function compareWithFund(
  { chain: { direct }, fund, usdc }: RollingSale,
  stored: readonly Record<string, unknown>[],
): Promise<string[]> {
  const completed = stored.filter(({ status }) => status === 'completed');
  const sum = completed.reduce((total, { amount }) => total + BigInt(String(amount)), 0n);
  const args = [usdc] as const;
  const [count, committed] = (await direct.readContract({
    ...{ address: fund, abi: saleFund.abi, functionName: 'totals', args },
  } as never)) as readonly bigint[];
  const balance = await direct.readContract({
    ...{ address: usdc, abi: token.abi, functionName: 'balanceOf', args: [fund] },
  });
  const onChain = [count, committed, balance].join();
  const inDatabase = [completed.length, sum, sum].join();
  return onChain === inDatabase ? [] : [`the fund has ${onChain}, the database has ${inDatabase}`];
}

async function countRows(databaseUrl: string): Promise<{ executed: number; unsettled: number }> {
  const [row] = await query(
    databaseUrl,
    `select (select count(*) from tokenized_orders where state = 'executed') as executed,
       (select count(*) from participations where status = any($1)) as unsettled`,
    [UNSETTLED],
  );
  return { executed: Number(row?.executed), unsettled: Number(row?.unsettled) };
}
