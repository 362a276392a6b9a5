import { type Insertable, sql, type Updateable } from 'kysely';
import type { Db } from '../db/pool.ts';
import type { OauthClients, Partners } from '../db/tables.ts';
import { invalidField } from '../errors.ts';

export type ListedPartner = {
  client_id: string;
  partner_id: string;
  name: string;
  redirect_uris: string[];
  origins: string[];
  scopes: string[];
  disabled_at: string | null;
  previous_secret_until: string | null;
};

export async function insertPartner(
  db: Db,
  partner: Insertable<Partners>,
  client: Insertable<OauthClients>,
): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await tx.insertInto('partners').values(partner).execute();
    await tx.insertInto('oauth_clients').values(client).execute();
  });
}

export async function listPartners(db: Db): Promise<ListedPartner[]> {
  const { rows } = await sql<ListedPartner>`
    select c.client_id, c.partner_id, p.name, c.redirect_uris, p.origins, c.scopes, p.disabled_at,
      case when c.previous_secret_until > now() then c.previous_secret_until end as previous_secret_until
    from oauth_clients c join partners p on p.id = c.partner_id order by c.inserted_at, c.client_id`.execute(
    db,
  );
  return rows;
}

export async function replaceSecret(
  db: Db,
  clientId: string,
  hash: Buffer,
  graceSeconds: number,
): Promise<void> {
  const { numAffectedRows } = await sql`
    update oauth_clients set secret_hash = ${hash},
      previous_secret_hash = case when ${graceSeconds}::int > 0 then secret_hash end,
      previous_secret_until = case when ${graceSeconds}::int > 0 then now() + make_interval(secs => ${graceSeconds}) end
    where client_id = ${clientId}`.execute(db);
  requireOne(numAffectedRows);
}

export async function updateClient(
  db: Db,
  clientId: string,
  change: Updateable<OauthClients>,
): Promise<void> {
  const { numUpdatedRows } = await db
    .updateTable('oauth_clients')
    .set(change)
    .where('client_id', '=', clientId)
    .executeTakeFirst();
  requireOne(numUpdatedRows);
}

type PartnerChange = { origins?: string[]; disabled_at?: ReturnType<typeof sql> | null };

export async function updatePartner(db: Db, clientId: string, change: PartnerChange): Promise<void> {
  const { numUpdatedRows } = await db
    .updateTable('partners')
    .set(change as Updateable<Partners>)
    .where('id', '=', (query) =>
      query.selectFrom('oauth_clients').select('partner_id').where('client_id', '=', clientId),
    )
    .executeTakeFirst();
  requireOne(numUpdatedRows);
}

function requireOne(count: bigint | undefined): void {
  if (count !== 1n) throw invalidField('client_id', 'is not registered');
}
