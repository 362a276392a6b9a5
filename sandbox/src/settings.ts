import type { Config } from '@causeway/service/kernel/config/config.ts';
import { sandboxKey } from './seed/keys.ts';
import { solanaRoles } from './seed/solana-keys.ts';
import type { MailServer } from './simulators/mail-server.ts';
import type { Simulators } from './simulators/start.ts';

/** Returns the settings that make the service use the simulators. Settings already in `config` take precedence. */
export function sandboxSettings(
  config: Config,
  { chains, solana, identity, documents, venue }: Simulators,
  { smtpUrl }: MailServer,
  demoUrl: string | null,
): Partial<Config> {
  const rpcUrls = Object.fromEntries(chains.map(({ chain, service_url }) => [chain, [service_url]]));
  return {
    smtpUrl: config.smtpUrl ?? smtpUrl,
    ...(config.smtpUrl === null && {
      mailboxUrl: demoUrl === null ? '/sandbox/mailbox' : `${demoUrl}/mail`,
    }),
    webhookAllowCidrs: config.webhookAllowCidrs ?? ['127.0.0.0/8', '::1/128'],
    rpcUrls: { ...rpcUrls, [solana.chain]: [solana.service_url], ...config.rpcUrls },
    operatorKey: config.operatorKey ?? sandboxKey('operator'),
    solanaKey: config.solanaKey ?? { kind: 'local', privateKey: Buffer.from(solanaRoles.operator.seed) },
    supplierKey: config.supplierKey ?? sandboxKey('supplier'),
    venue: config.venue ?? { url: venue.url, apiKey: venue.api_key },
    identity: config.identity ?? {
      url: identity.url,
      appToken: identity.app_token,
      secret: identity.secret,
      webhookSecrets: [identity.webhook_secret],
    },
    documents: config.documents ?? {
      url: documents.url,
      apiKey: documents.api_key,
      templates: documents.templates,
      webhookSecrets: [documents.webhook_secret],
      webhookHeader: null,
      linkDays: 30,
    },
  };
}
