import { type Insertable, sql, type Updateable } from 'kysely';
import { invalidField } from '../../kernel/errors.ts';
import type { Db } from '../../platform/db/pool.ts';
import type { Database } from '../../platform/db/tables.ts';

export type ListedPartner = {
  client_id: string;
  partner_id: string;
  name: string;
  redirect_uris: string[];
  post_logout_redirect_uris: string[];
  origins: string[];
  scopes: string[];
  contact_email: string | null;
  disabled_at: string | null;
  previous_secret_until: string | null;
};

export async function insertPartner(
  db: Db,
  partner: Insertable<Database['partners']>,
  client: Insertable<Database['oauth_clients']>,
): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await tx.insertInto('partners').values(partner).execute();
    await tx.insertInto('oauth_clients').values(client).execute();
  });
}

/** Replaces a known partner's contact, secret and scopes. Adds missing origins and redirects, and keeps the others. */
export async function upsertPartner(
  db: Db,
  partner: { id: string; name: string; origins: string[]; contactEmail: string },
  client: Pick<Database['oauth_clients'], 'client_id' | 'redirect_uris' | 'scopes' | 'secret_hash'> & {
    post_logout_redirect_uris: string[];
  },
): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await sql`insert into partners as p (id, name, origins, contact_email)
      values (${partner.id}, ${partner.name}, ${partner.origins}, ${partner.contactEmail})
      on conflict (id) do update set contact_email = excluded.contact_email, origins = array(select distinct unnest(p.origins || excluded.origins))`.execute(
      tx,
    );
    await sql`insert into oauth_clients as c
        (client_id, partner_id, redirect_uris, post_logout_redirect_uris, scopes, secret_hash)
      values (${client.client_id}, ${partner.id}, ${client.redirect_uris}, ${client.post_logout_redirect_uris},
        ${client.scopes}, ${client.secret_hash})
      on conflict (client_id) do update set secret_hash = excluded.secret_hash, scopes = excluded.scopes,
        redirect_uris = c.redirect_uris || array(select unnest(excluded.redirect_uris) except select unnest(c.redirect_uris)),
        post_logout_redirect_uris = c.post_logout_redirect_uris ||
          array(select unnest(excluded.post_logout_redirect_uris) except select unnest(c.post_logout_redirect_uris))`.execute(
      tx,
    );
  });
}

export async function listPartners(db: Db): Promise<ListedPartner[]> {
  const { rows } = await sql<ListedPartner>`
    select c.client_id, c.partner_id, p.name, c.redirect_uris, c.post_logout_redirect_uris, p.origins, c.scopes,
      p.contact_email, p.disabled_at,
      case when c.previous_secret_until > now() then c.previous_secret_until end as previous_secret_until
    from oauth_clients c join partners p on p.id = c.partner_id order by c.inserted_at, c.client_id`.execute(
    db,
  );
  return rows;
}

export type PartnerUse = {
  name: string;
  disabled_at: string | null;
  clients: number;
  tokens: number;
  endpoints: number;
  users: number;
};

export async function findPartnerUse(db: Db, clientId: string): Promise<PartnerUse | null> {
  const { rows } = await sql<PartnerUse>`
    select p.name, p.disabled_at,
      (select count(*)::int from oauth_clients c where c.partner_id = p.id) as clients,
      (select count(*)::int from oauth_tokens t join oauth_clients c on c.client_id = t.client_id
        left join oauth_grants g on g.id = t.grant_id
        where c.partner_id = p.id and t.expires_at > now() and t.inserted_at > p.tokens_valid_from
          and (t.grant_id is null or g.revoked_at is null)) as tokens,
      (select count(*)::int from webhook_endpoints w where w.partner_id = p.id and w.deleted_at is null) as endpoints,
      (select count(distinct g.user_id)::int from oauth_grants g join oauth_clients c on c.client_id = g.client_id
        where c.partner_id = p.id and g.revoked_at is null and g.expires_at > now()) as users
    from partners p where p.id = (select partner_id from oauth_clients where client_id = ${clientId})`.execute(
    db,
  );
  return rows[0] ?? null;
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
  change: Updateable<Database['oauth_clients']>,
): Promise<void> {
  const { numUpdatedRows } = await db
    .updateTable('oauth_clients')
    .set(change)
    .where('client_id', '=', clientId)
    .executeTakeFirst();
  requireOne(numUpdatedRows);
}

type PartnerChange = { origins?: string[]; contactEmail?: string; isDisabled?: boolean };

export async function updatePartner(
  db: Db,
  clientId: string,
  { origins, contactEmail, isDisabled }: PartnerChange,
): Promise<void> {
  const { numUpdatedRows } = await db
    .updateTable('partners')
    .set({
      ...(origins !== undefined && { origins }),
      ...(contactEmail !== undefined && { contact_email: contactEmail }),
      ...(isDisabled !== undefined && { disabled_at: isDisabled ? sql<string>`now()` : null }),
    })
    .where('id', '=', (query) =>
      query.selectFrom('oauth_clients').select('partner_id').where('client_id', '=', clientId),
    )
    .executeTakeFirst();
  requireOne(numUpdatedRows);
}

function requireOne(count: bigint | undefined): void {
  if (count !== 1n) throw invalidField('client_id', 'is not registered');
}
