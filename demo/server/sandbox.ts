import type { DemoSettings } from './settings.ts';

/** The parts of `GET /sandbox` that the page needs. */
export type Overview = {
  docs_url: string;
  identity_flow_url: string;
  chains: {
    chain: string;
    chain_id: number;
    rpc_url: string;
    tokens: { asset_id: string; code: string; address: string; decimals: number }[];
  }[];
  users: { email: string; password: string; note: string }[];
};

const TIMEOUT = 15_000;

export async function readOverview({ baseUrl }: DemoSettings): Promise<Overview> {
  const reply = await fetch(`${baseUrl}/sandbox`, { signal: AbortSignal.timeout(TIMEOUT) });
  if (!reply.ok) throw new Error(`GET /sandbox answered ${reply.status}`);
  return (await reply.json()) as Overview;
}

/** Those of the user; of anybody while nobody is signed in, as a new user has to confirm an address first. */
export function readMails({ baseUrl }: DemoSettings, email: string | undefined): Promise<Response> {
  const query = email === undefined ? '' : `?to=${encodeURIComponent(email)}`;
  return pass(`${baseUrl}/sandbox/mail${query}`, { method: 'GET' });
}

const FAUCET = /^\/sandbox\/chains\/(ethereum_sepolia|base_sepolia)\/faucet$/;

/** The controls that a person trying the demo wants: test money, and the market's hours. */
export async function passControl(
  { baseUrl }: DemoSettings,
  path: string,
  request: Request,
): Promise<Response | null> {
  if (request.method !== 'POST' || (path !== '/sandbox/venue' && !FAUCET.test(path))) return null;
  const body = await request.text();
  if (body.length > 10_000) return Response.json({ code: 'payload_too_large' }, { status: 413 });
  return pass(`${baseUrl}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  });
}

async function pass(url: string, init: RequestInit): Promise<Response> {
  try {
    const reply = await fetch(url, { ...init, signal: AbortSignal.timeout(TIMEOUT) });
    return new Response(await reply.text(), {
      status: reply.status,
      headers: { 'content-type': 'application/json', 'cache-control': 'no-store' },
    });
  } catch {
    return Response.json(
      { code: 'network_error', message: 'The service could not be reached.' },
      { status: 502 },
    );
  }
}
