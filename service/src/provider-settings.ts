/** Settings of the providers of identity and documents; null in the sandbox, which brings its own. */
export type IdentitySettings = {
  url: string;
  appToken: string;
  secret: string;
  /** Any of them may have signed a webhook, so that one can be replaced by another. */
  webhookSecrets: readonly string[];
};

export type DocumentSettings = {
  url: string;
  apiKey: string;
  templates: { w8_ben: number; w8_ben_e: number };
  /** A signature is wanted when there is a secret; the plain header is for older installations. */
  webhookSecrets: readonly string[];
  webhookHeader: { name: string; value: string } | null;
  /** How long a signing link lives. */
  linkDays: number;
};

export type VenueSettings = { url: string; apiKey: string };

type Read = {
  text(name: string, fallback: string): string;
  integer(name: string, min: number, max: number, fallback: number): number;
  url(name: string, protocols: string[], isRequired: boolean): string | null;
};

type Source = { read: Read; problems: string[]; isProduction: boolean };

const SUMSUB = ['SUMSUB_APP_TOKEN', 'SUMSUB_SECRET', 'SUMSUB_WEBHOOK_SECRET'] as const;

export function readIdentitySettings({ read, problems, isProduction }: Source): IdentitySettings | null {
  const [appToken = '', secret = '', webhookSecret = ''] = SUMSUB.map((name) => read.text(name, ''));
  if (appToken === '' && !isProduction) return null;
  for (const name of SUMSUB)
    if (read.text(name, '') === '') problems.push(`${name}: is required with Sumsub; its dashboard shows it`);
  if (isProduction && appToken.startsWith('sbx:'))
    problems.push(
      'SUMSUB_APP_TOKEN: is a token of the test side; production needs one that begins with prd:',
    );
  const protocols = isProduction ? ['https:'] : ['https:', 'http:'];
  return {
    url: read.url('SUMSUB_URL', protocols, false) ?? 'https://api.sumsub.com',
    appToken,
    secret,
    webhookSecrets: list(webhookSecret),
  };
}

export function readDocumentSettings({ read, problems, isProduction }: Source): DocumentSettings | null {
  const protocols = isProduction ? ['https:'] : ['https:', 'http:'];
  const url = read.url('DOCUSEAL_URL', protocols, isProduction);
  if (url === null) return null;
  const apiKey = read.text('DOCUSEAL_API_KEY', '');
  if (apiKey === '') problems.push('DOCUSEAL_API_KEY: is required with DocuSeal');
  const template = (name: string) => {
    const id = read.integer(name, 0, 999_999_999, 0);
    if (id === 0)
      problems.push(`${name}: is required with DocuSeal: the number of the template of this form`);
    return id;
  };
  const settings = {
    url,
    apiKey,
    templates: {
      w8_ben: template('DOCUSEAL_TEMPLATE_W8_BEN'),
      w8_ben_e: template('DOCUSEAL_TEMPLATE_W8_BEN_E'),
    },
    webhookSecrets: list(read.text('DOCUSEAL_WEBHOOK_SECRET', '')),
    webhookHeader: readHeader(read.text('DOCUSEAL_WEBHOOK_HEADER', ''), problems),
    linkDays: read.integer('DOCUMENT_LINK_DAYS', 1, 365, 30),
  };
  if (settings.webhookSecrets.length === 0 && settings.webhookHeader === null)
    problems.push(
      'DOCUSEAL_WEBHOOK_SECRET: is required with DocuSeal (or DOCUSEAL_WEBHOOK_HEADER for older ones)',
    );
  return settings;
}

/** Needed only where tokenized swaps are served; then the start asks for it. */
export function readVenueSettings({ read, problems, isProduction }: Source): VenueSettings | null {
  const url = read.url('ONDO_URL', isProduction ? ['https:'] : ['https:', 'http:'], false);
  const apiKey = read.text('ONDO_API_KEY', '');
  if (url !== null && apiKey === '') problems.push('ONDO_API_KEY: is required with ONDO_URL');
  return apiKey === '' ? null : { url: url ?? 'https://api.gm.ondo.finance', apiKey };
}

function list(text: string): string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

/** `Name: value`, a pair that both sides are configured with. */
function readHeader(text: string, problems: string[]): DocumentSettings['webhookHeader'] {
  if (text === '') return null;
  const match = /^([A-Za-z0-9-]{1,100}):\s*(\S.{15,})$/.exec(text);
  if (match !== null) return { name: String(match[1]).toLowerCase(), value: String(match[2]).trim() };
  problems.push(
    'DOCUSEAL_WEBHOOK_HEADER: must be a header with at least 16 characters of value, such as X-Key: …',
  );
  return null;
}
