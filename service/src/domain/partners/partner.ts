import { SCOPES } from '../../kernel/access.ts';
import { invalidField } from '../../kernel/errors.ts';
import { newId } from '../../kernel/ids.ts';
import { isLoopback } from '../../kernel/loopback.ts';
import { hashSecret, newSecret } from '../../kernel/secret-hash.ts';
import { FORMATS } from '../../kernel/wire.ts';
import { setReason } from '../../platform/audit/store.ts';
import type { Context } from '../../platform/context/context.ts';
import * as store from './store.ts';

type Parts = Pick<Context, 'db' | 'clock' | 'random'>;

export type NewPartner = {
  name: string;
  redirectUris: readonly string[];
  postLogoutRedirectUris?: readonly string[];
  /** Default: all scopes. */
  scopes?: readonly string[];
  origins?: readonly string[];
  logoUrl?: string | null;
  contactEmail?: string | null;
};

/** The partner's credentials. Only a hash of the secret is stored. */
export type Credentials = { partner_id: string; client_id: string; client_secret: string };

export async function createPartner(ctx: Parts, input: NewPartner): Promise<Credentials> {
  const { name, redirectUris, scopes = Object.keys(SCOPES), origins = [], logoUrl = null } = input;
  const { postLogoutRedirectUris = [] } = input;
  const { contactEmail = null } = input;
  if (name.trim() === '' || name.length > 100) throw invalidField('name', 'must be 1 to 100 characters');
  checkScopes(scopes);
  if (logoUrl !== null && !isWebUrl(logoUrl))
    throw invalidField('logo', 'must be a URL that starts with https://');
  const secret = newClientSecret(ctx);
  const partner = {
    id: newId(ctx.clock, ctx.random),
    name: name.trim(),
    logo_url: logoUrl,
    origins: origins.map(checkOrigin),
    contact_email: contactEmail === null ? null : checkEmail(contactEmail),
  };
  const client = {
    client_id: clientIdFor(name, ctx),
    partner_id: partner.id,
    redirect_uris: redirectUris.map(checkRedirect),
    post_logout_redirect_uris: postLogoutRedirectUris.map(checkRedirect),
    scopes: [...scopes],
    secret_hash: hashSecret(secret),
  };
  await store.insertPartner(ctx.db, partner, client);
  return { partner_id: partner.id, client_id: client.client_id, client_secret: secret };
}

/** Replaces the secret. The previous secret stays valid for `graceSeconds`; older secrets stop working immediately. */
export async function rotateSecret(ctx: Parts, clientId: string, graceSeconds: number): Promise<string> {
  const secret = newClientSecret(ctx);
  await store.replaceSecret(ctx.db, clientId, hashSecret(secret), graceSeconds);
  return secret;
}

export async function setRedirects(ctx: Parts, clientId: string, uris: readonly string[]): Promise<void> {
  await store.updateClient(ctx.db, clientId, { redirect_uris: uris.map(checkRedirect) });
}

export async function setLogoutRedirects(
  ctx: Parts,
  clientId: string,
  uris: readonly string[],
): Promise<void> {
  await store.updateClient(ctx.db, clientId, { post_logout_redirect_uris: uris.map(checkRedirect) });
}

export async function setOrigins(ctx: Parts, clientId: string, origins: readonly string[]): Promise<void> {
  await store.updatePartner(ctx.db, clientId, { origins: origins.map(checkOrigin) });
}

/** Sets the email address to which the service reports integration problems, such as a failing webhook endpoint. */
export async function setContact(ctx: Parts, clientId: string, email: string): Promise<void> {
  await store.updatePartner(ctx.db, clientId, { contactEmail: checkEmail(email) });
}

/** Sets the client's scopes. Tokens already issued lose the scopes that were removed. */
export async function setScopes(ctx: Parts, clientId: string, scopes: readonly string[]): Promise<void> {
  checkScopes(scopes);
  await store.updateClient(ctx.db, clientId, { scopes: [...new Set(scopes)] });
}

function checkScopes(scopes: readonly string[]): void {
  for (const scope of scopes)
    if (!(scope in SCOPES))
      throw invalidField(
        'scopes',
        `${scope} is not a scope; the scopes are ${Object.keys(SCOPES).join(', ')}`,
      );
}

/** Tokens stay invalid even after the partner is enabled again. Consents and the partner's data are kept. */
export async function disablePartner(ctx: Parts, clientId: string, reason: string): Promise<void> {
  await ctx.db.transaction().execute(async (tx) => {
    await setReason(tx, reason);
    await store.updatePartner(tx, clientId, { isDisabled: true });
  });
}

export async function readPartnerUse({ db }: Pick<Parts, 'db'>, clientId: string): Promise<store.PartnerUse> {
  const use = await store.findPartnerUse(db, clientId);
  if (use === null) throw invalidField('client_id', 'is not registered');
  return use;
}

export async function enablePartner(ctx: Parts, clientId: string): Promise<void> {
  await store.updatePartner(ctx.db, clientId, { isDisabled: false });
}

/** The prefix lets secret scanners recognize a leaked secret. */
function newClientSecret({ random }: Parts): string {
  return `cws_${newSecret(random)}`;
}

function clientIdFor(name: string, { random }: Parts): string {
  const slug = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 30);
  return `${slug === '' ? 'partner' : slug}-${random(6).toString('hex')}`;
}

/** Throws if the redirect URI is not allowed. Returns the URI unchanged, because redirect URIs are compared as text. */
function checkRedirect(uri: string): string {
  if (!isWebUrl(uri) && !isAppUri(uri))
    throw invalidField(
      'redirect',
      `${uri} must start with https:// (or http:// on localhost) or with an app's own scheme, such as "com.example.app:", and must not contain a user, fragment or wildcard`,
    );
  return uri;
}

/** A mobile app's private-use scheme in reverse domain notation, such as `com.example.app:` (RFC 8252 §7.1). */
function isAppUri(text: string): boolean {
  return /^[a-z][a-z0-9-]*(\.[a-z0-9-]+)+:[^#*\s\\]+$/.test(text) && URL.canParse(text);
}

function checkOrigin(origin: string): string {
  if (!isWebUrl(origin) || new URL(origin).origin !== origin)
    throw invalidField(
      'origin',
      `${origin} must be an origin such as https://app.example.com, without a path`,
    );
  return origin;
}

function checkEmail(email: string): string {
  if (!FORMATS.email?.test(email)) throw invalidField('contact', `${email} must be an email address`);
  return email;
}

function isWebUrl(text: string): boolean {
  if (!URL.canParse(text) || /[#*\s\\]/.test(text)) return false;
  const { protocol, hostname, username, password } = new URL(text);
  const isSafe = protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname));
  return username === '' && password === '' && isSafe;
}
