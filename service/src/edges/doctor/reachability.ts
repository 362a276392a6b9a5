import { listEnabled } from '../../domain/webhooks/endpoint-store.ts';
import { openWebhookSender } from '../../domain/webhooks/sender.ts';
import type { Config } from '../../kernel/config/config.ts';
import type { Db } from '../../platform/db/pool.ts';
import { verifySmtp } from '../../platform/mail/smtp.ts';
import { type Check, describeError, type Finding, failed, ok, skipped, warning } from './finding.ts';

const TIMEOUT_MS = 5_000;
const MAX_ENDPOINTS = 50;

export function reachabilityChecks(config: Config, db: Db | null): Check[] {
  return [
    { name: 'public URL', run: () => checkPublicUrl(config.publicUrl) },
    { name: 'mail', run: () => checkMail(config) },
    { name: 'webhooks', run: () => checkWebhooks(config, db) },
  ];
}

/** Calls the service through its public URL, as providers do when they send webhooks. */
async function checkPublicUrl(publicUrl: string | null): Promise<Finding[]> {
  const name = 'public URL';
  if (publicUrl === null) return [skipped(name, 'PUBLIC_URL is not set')];
  try {
    const reply = await fetch(`${publicUrl}/health`, {
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const body: unknown = await reply.json().catch(() => null);
    if (reply.ok && (body as { object?: unknown } | null)?.object === 'health') return [ok(name, 'answers')];
    return [
      failed(
        name,
        `replies with status ${reply.status}, but the reply is not from Causeway`,
        'Configure the proxy at PUBLIC_URL to forward requests to the nodes.',
      ),
    ];
  } catch (error) {
    const { cause = error } = error as { cause?: unknown };
    const remedy =
      'Check DNS, the certificate and the proxy. A failure is expected before the first start, or if this machine cannot reach its own public address.';
    return [warning(name, describeError(cause), remedy)];
  }
}

async function checkMail({ smtpUrl, smtpTls, profile }: Config): Promise<Finding[]> {
  if (smtpUrl === null)
    return [
      skipped('mail', profile === 'sandbox' ? 'the sandbox has its own mailbox' : 'SMTP_URL is not set'),
    ];
  try {
    await verifySmtp(smtpUrl, smtpTls);
    return [ok('mail', 'the mail server accepts the credentials')];
  } catch (error) {
    return [failed('mail', describeError(error), 'Check SMTP_URL and SMTP_TLS.')];
  }
}

/** An endpoint counts as reachable if it sends any answer. */
async function checkWebhooks(config: Config, db: Db | null): Promise<Finding[]> {
  const name = 'webhooks';
  if (db === null) return [skipped(name, 'needs a migrated database')];
  const endpoints = await listEnabled(db, MAX_ENDPOINTS);
  if (endpoints.length === 0) return [ok(name, 'no partner has an endpoint')];
  const allowCidrs =
    config.webhookAllowCidrs ?? (config.profile === 'sandbox' ? ['127.0.0.0/8', '::1/128'] : []);
  const sender = openWebhookSender({
    ...{ allowCidrs, baseUrl: config.publicUrl ?? 'http://127.0.0.1', proxyUrl: config.webhookProxy },
    timeoutMs: TIMEOUT_MS,
  });
  try {
    const results = await Promise.all(
      endpoints.map(async ({ id, url }) => ({ id, error: await sender.probe(url) })),
    );
    const broken = results.filter(({ error }) => error !== null);
    if (broken.length === 0) return [ok(name, `${results.length} endpoints reached`)];
    const remedy = 'Tell the partner, and check that your firewall or WEBHOOK_PROXY lets requests out.';
    return broken.map(({ id, error }) => warning(name, `endpoint ${id}: ${error}`, remedy));
  } finally {
    await sender.close();
  }
}
