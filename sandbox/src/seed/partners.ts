import type { Context } from '@causeway/service/context.ts';
import { SCOPES } from '@causeway/service/http/access.ts';
import { findClient } from '@causeway/service/oauth/client.ts';
import { upsertPartner } from '@causeway/service/partners/store.ts';
import { hashSecret } from '@causeway/service/secret-hash.ts';
import { tokenRoute } from '../controls/token.ts';
import type { ControlGroup } from '../start.ts';

export type SandboxPartner = { client_id: string; client_secret: string; redirect_uris: string[] };

/** Where a partner's app under development usually listens. */
const REDIRECTS = [
  'http://localhost:3000/callback',
  'http://127.0.0.1:3000/callback',
  'http://localhost:5173/callback',
];
const ORIGINS = ['http://localhost:3000', 'http://127.0.0.1:3000', 'http://localhost:5173'];

const SEEDS = {
  partner: {
    id: '019a0000-0000-7000-8000-000000000001',
    name: 'Harbour Invest',
    client_id: 'sandbox-partner',
  },
  other_partner: {
    id: '019a0000-0000-7000-8000-000000000002',
    name: 'Lighthouse Capital',
    client_id: 'sandbox-other-partner',
  },
} as const;

/** Whose tokens are issued when no client is named. */
const DEFAULT_CLIENT = SEEDS.partner.client_id;

export type PartnerSeed = keyof typeof SEEDS;

export const partnerIds: Record<PartnerSeed, string> = {
  partner: SEEDS.partner.id,
  other_partner: SEEDS.other_partner.id,
};

/** The partners and how to get tokens for them. */
export async function partnersShare(ctx: Context, extra: Extra = {}): Promise<ControlGroup> {
  await seedPartners(ctx, extra);
  return {
    overview: async () => ({ issuer: ctx.baseUrl, ...(await describePartners(ctx)) }),
    routes: [tokenRoute(DEFAULT_CLIENT)],
  };
}

/** Where the sandbox itself has an app of the partner. */
type Extra = { redirectUris?: readonly string[]; origins?: readonly string[] };

/** The partners that every sandbox has, with secrets that stay the same as long as its data. */
async function seedPartners(ctx: Context, { redirectUris = [], origins = [] }: Extra): Promise<void> {
  for (const { id, name, client_id } of Object.values(SEEDS)) {
    await upsertPartner(
      ctx.db,
      { id, name, origins: [...new Set([...origins, ...ORIGINS])] },
      {
        client_id,
        redirect_uris: [...new Set([...redirectUris, ...REDIRECTS])],
        scopes: Object.keys(SCOPES),
        secret_hash: hashSecret(secretOf(ctx, client_id)),
      },
    );
  }
}

/** The credentials as `GET /sandbox` tells them. */
async function describePartners(ctx: Context): Promise<Record<PartnerSeed, SandboxPartner>> {
  const describe = async ({ client_id }: { client_id: string }): Promise<SandboxPartner> => ({
    client_id,
    client_secret: secretOf(ctx, client_id),
    redirect_uris: (await findClient(ctx.db, client_id))?.redirect_uris ?? [],
  });
  return { partner: await describe(SEEDS.partner), other_partner: await describe(SEEDS.other_partner) };
}

/** What an app of the sandbox's partner identifies itself with. */
export function partnerCredentials(ctx: Context): { client_id: string; client_secret: string } {
  return { client_id: DEFAULT_CLIENT, client_secret: secretOf(ctx, DEFAULT_CLIENT) };
}

/** Derived from the sandbox's own secret, so that it survives restarts without being written anywhere. */
function secretOf({ sealing }: Context, clientId: string): string {
  return `cws_${sealing.tag('sandbox client secret', clientId).toString('base64url')}`;
}
