import { type Overview, readOverview } from './sandbox.ts';
import type { DemoSettings } from './settings.ts';

/** What the page is told; nothing in it is a secret of the partner's. */
export type PageConfig = {
  base_url: string;
  is_sandbox: boolean;
  docs_url: string | null;
  identity_flow_url: string | null;
  chains: Overview['chains'];
  sandbox_user: { email: string; password: string } | null;
};

/** Asked of the sandbox once, as its addresses stay while it runs. */
export function configFor(settings: DemoSettings): () => Promise<PageConfig> {
  let known: Promise<PageConfig> | undefined;
  return () => {
    known ??= read(settings);
    known.catch(() => {
      known = undefined;
    });
    return known;
  };
}

async function read(settings: DemoSettings): Promise<PageConfig> {
  const { baseUrl, isSandbox } = settings;
  const plain = { base_url: baseUrl, is_sandbox: isSandbox };
  if (!isSandbox)
    return { ...plain, docs_url: null, identity_flow_url: null, chains: [], sandbox_user: null };
  const { docs_url, identity_flow_url, chains, users } = await readOverview(settings);
  const [first] = users;
  const sandbox_user = first === undefined ? null : { email: first.email, password: first.password };
  return { ...plain, docs_url, identity_flow_url, chains, sandbox_user };
}

/** Scripts and styles are our own files; the page talks to us, to Causeway and to the chains. */
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
