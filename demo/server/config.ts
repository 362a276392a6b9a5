import { type Overview, readOverview } from './sandbox.ts';
import type { DemoSettings } from './settings.ts';

/** The configuration that the page loads. It is public, so it contains no partner secret. */
export type PageConfig = {
  base_url: string;
  is_sandbox: boolean;
  docs_url: string | null;
  identity_flow_url: string | null;
  chains: Overview['chains'];
  sandbox_user: { email: string; password: string } | null;
};

/** Reads the configuration once, because a running sandbox's URLs do not change. A failed read is retried. */
export function configFor(settings: DemoSettings): () => Promise<PageConfig> {
  let cached: Promise<PageConfig> | undefined;
  return () => {
    cached ??= readConfig(settings);
    cached.catch(() => {
      cached = undefined;
    });
    return cached;
  };
}

async function readConfig(settings: DemoSettings): Promise<PageConfig> {
  const { baseUrl, isSandbox } = settings;
  const common = { base_url: baseUrl, is_sandbox: isSandbox };
  if (!isSandbox)
    return { ...common, docs_url: null, identity_flow_url: null, chains: [], sandbox_user: null };
  const { docs_url, identity_flow_url, chains, users } = await readOverview(settings);
  const [first] = users;
  const sandbox_user = first === undefined ? null : { email: first.email, password: first.password };
  return { ...common, docs_url, identity_flow_url, chains, sandbox_user };
}

/**
 * Returns the Content-Security-Policy. It allows this app's own assets, the identity provider, and connections to this
 * app, Causeway and the chains.
 */
export function policyFor({ baseUrl }: DemoSettings, config: PageConfig | null): string {
  const identity = config?.identity_flow_url;
  const frames =
    identity == null ? ['https://static.sumsub.com', 'https://*.sumsub.com'] : [new URL(identity).origin];
  const nodes = config?.chains.map(({ rpc_url }) => new URL(rpc_url).origin) ?? [];
  return [
    "default-src 'none'",
    `script-src 'self'${identity == null ? ' https://static.sumsub.com' : ''}`,
    "style-src 'self'",
    `img-src 'self' data: ${baseUrl}`,
    `connect-src 'self' ${[baseUrl, ...nodes].join(' ')}`,
    `frame-src ${frames.join(' ')}`,
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; ');
}
