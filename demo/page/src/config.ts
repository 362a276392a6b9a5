import { type Chain, type EvmChain, isEvmChain } from '@causeway/sdk';

export type ChainConfig = {
  chain: Chain;
  /** Null on Solana. */
  chain_id: number | null;
  rpc_url: string;
  tokens: { asset_id: string; code: string; address: string; decimals: number }[];
};

export type EvmChainConfig = ChainConfig & { chain: EvmChain };

export function isEvmConfig(config: ChainConfig): config is EvmChainConfig {
  return isEvmChain(config.chain);
}

/** The page's configuration from the server. Sandbox-only fields are null or empty outside a sandbox. */
export type DemoConfig = {
  base_url: string;
  is_sandbox: boolean;
  docs_url: string | null;
  /** The URL of the identity flow. The page replaces `{kyc_token}` with the user's token. */
  identity_flow_url: string | null;
  chains: ChainConfig[];
  sandbox_user: { email: string; password: string } | null;
};

export type SessionState = {
  signed_in: boolean;
  user?: { id: string; email?: string | undefined } | undefined;
};

export async function loadJson<Body>(url: string): Promise<Body> {
  const response = await fetch(url, { signal: AbortSignal.timeout(15_000) });
  if (!response.ok) throw new Error(`${url} responded with ${response.status}`);
  return (await response.json()) as Body;
}

/** Sends a POST request to the demo's own server. On failure, throws an error with the server's message. */
export async function postJson<Body>(url: string, body: unknown): Promise<Body> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(30_000),
  });
  const parsed = (await response.json().catch(() => ({}))) as Body & { message?: string };
  if (!response.ok) throw new Error(parsed.message ?? `The server responded with status ${response.status}.`);
  return parsed;
}
