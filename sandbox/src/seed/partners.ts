import { findClient, LOCALHOST_PATTERN } from '@causeway/service/domain/oauth/client.ts';
import { upsertPartner } from '@causeway/service/domain/partners/store.ts';
import { SCOPES } from '@causeway/service/kernel/access.ts';
import { hashSecret } from '@causeway/service/kernel/secret-hash.ts';
import type { Context } from '@causeway/service/platform/context/context.ts';

export type SandboxPartner = {
  client_id: string;
  client_secret: string;
  redirect_uris: string[];
  post_logout_redirect_uris: string[];
  origins: string[];
};

/** The usual origins of a partner's app in development. */
const ORIGINS = [
  'http://localhost:3000',
  'http://127.0.0.1:3000',
  'http://localhost:4000',
  'http://localhost:5173',
];

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

/** The client that `POST /sandbox/token` issues tokens for by default. */
export const DEFAULT_CLIENT_ID = SEEDS.partner.client_id;

export type PartnerSeed = keyof typeof SEEDS;

export const partnerIds: Record<PartnerSeed, string> = {
  partner: SEEDS.partner.id,
  other_partner: SEEDS.other_partner.id,
};

/** Creates or updates the partners that every sandbox has. Their origins include the demo app's origin. */
export async function seedPartners(ctx: Context, demoUrl: string | null): Promise<void> {
  const origins = [...new Set([...(demoUrl === null ? [] : [demoUrl]), ...ORIGINS])];
  for (const { id, name, client_id } of Object.values(SEEDS)) {
    await upsertPartner(
      ctx.db,
      { id, name, origins, contactEmail: `developers@${client_id}.test` },
      {
        client_id,
        redirect_uris: [...origins.map((origin) => `${origin}/callback`), LOCALHOST_PATTERN],
        post_logout_redirect_uris: [...origins.map((origin) => `${origin}/`), LOCALHOST_PATTERN],
        scopes: Object.keys(SCOPES),
        secret_hash: hashSecret(deriveSecret(ctx, client_id)),
      },
    );
  }
}

/** Returns the credentials of both partners, as in `GET /sandbox`. */
export async function describePartners(ctx: Context): Promise<Record<PartnerSeed, SandboxPartner>> {
  const describe = async ({ client_id }: { client_id: string }): Promise<SandboxPartner> => {
    const client = await findClient(ctx.db, client_id);
    const { redirect_uris = [], post_logout_redirect_uris = [], origins = [] } = client ?? {};
    return {
      client_id,
      client_secret: deriveSecret(ctx, client_id),
      redirect_uris,
      post_logout_redirect_uris,
      origins: origins.toSorted(),
    };
  };
  return { partner: await describe(SEEDS.partner), other_partner: await describe(SEEDS.other_partner) };
}

/** Returns the credentials that the demo app uses. */
export function partnerCredentials(ctx: Context): { client_id: string; client_secret: string } {
  return { client_id: DEFAULT_CLIENT_ID, client_secret: deriveSecret(ctx, DEFAULT_CLIENT_ID) };
}

/** Derives a client secret from the sandbox's master key, so that the secret survives restarts without being stored. */
function deriveSecret({ sealing }: Context, clientId: string): string {
  return `cws_${sealing.tag('sandbox client secret', clientId).toString('base64url')}`;
}
