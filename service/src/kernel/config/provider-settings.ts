import type { Source } from './read.ts';
import type { SettingName } from './settings.ts';

export type IdentitySettings = {
  url: string;
  appToken: string;
  secret: string;
  /** A webhook may be signed with any of these secrets, so that a secret can be rotated. */
  webhookSecrets: readonly string[];
};

export type DocumentSettings = {
  url: string;
  apiKey: string;
  templates: { w8_ben: number; w8_ben_e: number };
  /**
   * If there are secrets, every webhook must be signed with one of them. Otherwise every webhook must have
   * `webhookHeader`, because older versions of DocuSeal do not sign webhooks.
   */
  webhookSecrets: readonly string[];
  webhookHeader: { name: string; value: string } | null;
  /** How long a signing link is valid. */
  linkDays: number;
};

export type VenueSettings = { url: string; apiKey: string };

/**
 * Returns null if there is no app token. A sandbox then uses its own provider. In production, only commands run without
 * an app token.
 */
export function readIdentitySettings(source: Source): IdentitySettings | null {
  const { read, problems, isProduction, reader } = source;
  const url = read('SUMSUB_URL');
  const appToken = read('SUMSUB_APP_TOKEN') ?? '';
  if (appToken === '' && (!isProduction || reader === 'command')) return null;
  if (isProduction && appToken.startsWith('sbx:'))
    problems.push('SUMSUB_APP_TOKEN: must be a production token, which starts with "prd:"');
  const secret = readRequired(source, 'SUMSUB_SECRET', 'SUMSUB_APP_TOKEN');
  const webhookSecrets = readRequired(source, 'SUMSUB_WEBHOOK_SECRET', 'SUMSUB_APP_TOKEN');
  return { url, appToken, secret: secret ?? '', webhookSecrets: webhookSecrets ?? [] };
}

/** Returns null if there is no URL. A sandbox then uses its own provider. */
export function readDocumentSettings(source: Source): DocumentSettings | null {
  const { read, problems } = source;
  const url = read('DOCUSEAL_URL');
  if (url === null) return null;
  const template = (name: 'DOCUSEAL_TEMPLATE_W8_BEN' | 'DOCUSEAL_TEMPLATE_W8_BEN_E') =>
    readRequired(source, name, 'DOCUSEAL_URL') ?? 0;
  const webhookSecrets = read('DOCUSEAL_WEBHOOK_SECRET') ?? [];
  const webhookHeader = read('DOCUSEAL_WEBHOOK_HEADER');
  if (webhookSecrets.length === 0 && webhookHeader === null)
    problems.push(
      'DOCUSEAL_WEBHOOK_SECRET: is required with DOCUSEAL_URL; if your DocuSeal installation does not sign webhooks, set DOCUSEAL_WEBHOOK_HEADER instead',
    );
  return {
    url,
    apiKey: readRequired(source, 'DOCUSEAL_API_KEY', 'DOCUSEAL_URL') ?? '',
    templates: {
      w8_ben: template('DOCUSEAL_TEMPLATE_W8_BEN'),
      w8_ben_e: template('DOCUSEAL_TEMPLATE_W8_BEN_E'),
    },
    webhookSecrets,
    webhookHeader,
    linkDays: read('DOCUMENT_LINK_DAYS'),
  };
}

/** Returns null if no venue is configured. The service then refuses to start if there are tokenized swap offers. */
export function readVenueSettings({ read, problems }: Source): VenueSettings | null {
  const url = read('ONDO_URL');
  const apiKey = read('ONDO_API_KEY');
  if (url !== null && apiKey === null) problems.push('ONDO_API_KEY: is required with ONDO_URL');
  return apiKey === null ? null : { url: url ?? 'https://api.gm.ondo.finance', apiKey };
}

/**
 * Reads a setting that is required whenever `other` is set. Reports a missing setting, unless `read` has already
 * reported it, as `read` does in production.
 */
function readRequired<N extends SettingName>(source: Source, name: N, other: SettingName) {
  const before = source.problems.length;
  const value = source.read(name);
  if (value === null && source.problems.length === before)
    source.problems.push(`${name}: is required with ${other}`);
  return value;
}
