import type { EvmChain } from '@causeway/sdk';

export type ChainConfig = {
  chain: EvmChain;
  chain_id: number;
  rpc_url: string;
  tokens: { asset_id: string; code: string; address: string; decimals: number }[];
};

/** What the server tells the page; null members are parts of the sandbox. */
export type DemoConfig = {
  base_url: string;
  is_sandbox: boolean;
  docs_url: string | null;
  /** With `{kyc_token}` to be replaced. */
  identity_flow_url: string | null;
  chains: ChainConfig[];
  sandbox_user: { email: string; password: string } | null;
};

export type SessionState = {
  signed_in: boolean;
  user?: { id: string; email?: string | undefined } | undefined;
};

export async function loadJson<Body>(url: string): Promise<Body> {
  const reply = await fetch(url, { signal: AbortSignal.timeout(15_000) });
  if (!reply.ok) throw new Error(`${url} answered ${reply.status}`);
  return (await reply.json()) as Body;
}

/** A POST to our own server. */
export async function postJson<Body>(url: string, body: unknown): Promise<Body> {
  const reply = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(30_000),
  });
  const parsed = (await reply.json().catch(() => ({}))) as Body & { message?: string };
  if (!reply.ok) throw new Error(parsed.message ?? `The server answered ${reply.status}.`);
  return parsed;
}
