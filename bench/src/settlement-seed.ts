import type { Context } from '@causeway/service/context.ts';
import type { Offer } from '@causeway/service/offers/catalogue.ts';
import { UNIT } from '../../service/test/support/sale.ts';
import { partnerOf } from '../../service/test/support/tokens.ts';
import type { SettlementChain } from './settlement-chain.ts';

const ROWS_PER_TRANSACTION = 36;

const uuid = (expression: string) =>
  `('00000000-0000-7000-8000-' || lpad(to_hex(${expression}), 12, '0'))::uuid`;

/**
 * Inserts `history` settled participations and `backlog` participations waiting to be committed. Also inserts one user
 * with a proven wallet for each approval.
 */
export async function seedSettlement(
  { pool }: Pick<Context, 'pool'>,
  offer: Offer,
  { approvals, fund, usdc }: SettlementChain,
  operator: string,
  { backlog, history }: { backlog: number; history: number },
): Promise<void> {
  const partner = partnerOf('partner-one');
  const addresses = approvals.map(({ address }) => address);
  const hashes = approvals.map(({ hash }) => hash.slice(2));
  const option = offer.options[0]?.id;
  const row = (id: string, status: string, commitId: string, rank: string) => `
    select ${uuid(id)}, '${partner}', ${uuid(`i % ${approvals.length}`)}, '${offer.id}', '${option}', ${status}, ${UNIT},
      'usd-coin', 'USDC', 'USD Coin', 6, 'ethereum_sepolia', w.address, '${fund}', '${usdc}', decode(w.hash, 'hex'),
      i < ${approvals.length} and ${status} = 'pending', now(), ${commitId}, ${rank},
      now() - interval '1 hour' + i * interval '1 ms', now()`;
  const wallets = `join unnest($1::text[], $2::text[]) with ordinality as w (address, hash, n)
    on w.n = 1 + i % ${approvals.length}`;
  const columns = `(id, partner_id, user_id, offer_id, offer_option_id, status, amount, asset_id, asset_code, asset_name,
    asset_digits, chain, wallet_address, fund_address, token_address, approval_hash, holds_approval, prepared_at, commit_id,
    commit_row, inserted_at, updated_at)`;
  const transactions = Math.ceil(history / ROWS_PER_TRANSACTION);
  const statements: [string, unknown[]][] = [
    ['set statement_timeout = 0', []],
    [
      `insert into users (id, email, kind) select ${uuid('i')}, 'user' || i || '@bench.test', 'person'
        from generate_series(0, ${approvals.length - 1}) i on conflict do nothing`,
      [],
    ],
    [
      `insert into wallet_proofs (partner_id, address, chain, protocol, user_id, kind, proved_at)
        select '${partner}', address, '*', 'ethereum', ${uuid('n - 1')}, 'key', now()
        from unnest($1::text[]) with ordinality as w (address, n)`,
      [addresses],
    ],
    [
      `insert into operator_keys (chain, address, epoch, node, lease_until)
        values ('ethereum_sepolia', '${operator}', 1, 0, now())`,
      [],
    ],
    [
      `insert into operator_transactions (id, chain, signer, nonce, kind, target, data, gas, state, mined_hash,
          block_number, block_hash, succeeded, fee_paid)
        select ${uuid('i')}, 'ethereum_sepolia', '${operator}', i, 'commit', '${fund}', '', 1, 'final', '', 1, '', true, 1
        from generate_series(0, ${transactions - 1}) i`,
      [],
    ],
    [
      `insert into participations ${columns} ${row(
        '1000000000 + i',
        `'completed'`,
        uuid(`i / ${ROWS_PER_TRANSACTION}`),
        `i % ${ROWS_PER_TRANSACTION}`,
      )} from generate_series(0, ${history - 1}) i ${wallets}`,
      [addresses, hashes],
    ],
    [
      `insert into participations ${columns} ${row('i', `'pending'`, 'null::uuid', 'null::int')}
        from generate_series(0, ${backlog - 1}) i ${wallets}`,
      [addresses, hashes],
    ],
    ['vacuum analyze', []],
    ['checkpoint', []],
    ['reset statement_timeout', []],
  ];
  // Keeps the connection open after seeding. If it were closed, its database process would end during the benchmark,
  // and the CPU time that the database process spent on seeding would count towards the benchmark.
  const client = await pool.connect();
  try {
    for (const [text, values] of statements)
      await client.query({ text, values, query_timeout: 3_600_000 } as never);
  } finally {
    client.release();
  }
}
