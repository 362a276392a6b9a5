import type { DemoSettings } from './settings.ts';

/** The parts of `GET /sandbox` that the page needs. */
export type Overview = {
  docs_url: string;
  identity_flow_url: string;
  chains: {
    chain: string;
    chain_id: number | null;
    rpc_url: string;
    tokens: { asset_id: string; code: string; address: string; decimals: number }[];
  }[];
  users: { email: string; password: string; note: string }[];
};

const TIMEOUT_MS = 15_000;

export async function readOverview({ baseUrl }: DemoSettings): Promise<Overview> {
  const reply = await fetch(`${baseUrl}/sandbox`, { signal: AbortSignal.timeout(TIMEOUT_MS) });
  if (!reply.ok) throw new Error(`GET ${baseUrl}/sandbox failed with status ${reply.status}`);
  return (await reply.json()) as Overview;
}

/**
 * Returns the user's mail. If no user is signed in, returns all mail, because new users must confirm their address by
 * mail before they can sign in.
 */
export function forwardMail({ baseUrl }: DemoSettings, email: string | undefined): Promise<Response> {
  const query = email === undefined ? '' : `?to=${encodeURIComponent(email)}`;
  return forward(`${baseUrl}/sandbox/mail${query}`, { method: 'GET' });
}

const FAUCET = /^\/sandbox\/chains\/(ethereum_sepolia|base_sepolia|solana_devnet)\/faucet$/;

/** Controls for a single user. A visitor can use them only for their own account. */
const OWN = new Set(['/sandbox/identity/reviews', '/sandbox/documents/actions']);
const CLOCK = '/sandbox/clock';
const SHARED = new Set(['/sandbox/venue', CLOCK]);
/**
 * How far one move may advance the clock, and how far the clock may be ahead of real time. All visitors share the
 * clock, and it never goes back. Without these limits, one visitor could end every offer.
 */
const MAX_ADVANCE_SECONDS = 30 * 86_400;

/**
 * Forwards the sandbox controls that the demo offers: the faucet, the market, the clock, and the signed-in user's
 * reviews and forms. Returns null for any other path.
 */
export async function forwardControl(
  { baseUrl }: DemoSettings,
  path: string,
  request: Request,
  email: string | undefined,
): Promise<Response | null> {
  const isKnown = OWN.has(path) || SHARED.has(path) || FAUCET.test(path);
  if (request.method !== 'POST' || !isKnown) return null;
  const text = await request.text();
  if (text.length > 10_000) return Response.json({ code: 'payload_too_large' }, { status: 413 });
  if ((OWN.has(path) || path === CLOCK) && email === undefined)
    return Response.json({ code: 'unauthorized', message: 'Sign in first.' }, { status: 401 });
  if (path === CLOCK && !isSmallAdvance(text))
    return Response.json(
      {
        code: 'validation_failed',
        message: `The demo accepts only advance_seconds, a whole number from 1 to ${MAX_ADVANCE_SECONDS}.`,
      },
      { status: 422 },
    );
  if (path === CLOCK) return moveClock(`${baseUrl}${CLOCK}`, text);
  const body = OWN.has(path) ? withEmail(text, email) : text;
  return post(`${baseUrl}${path}`, body);
}

let lastMove: Promise<unknown> = Promise.resolve();

/**
 * Moves the clock, unless the move would put it too far ahead. Moves run one at a time. Otherwise concurrent moves
 * could all pass the check and together exceed the limit.
 */
function moveClock(url: string, text: string): Promise<Response> {
  const move = async () => {
    const { now } = (await (await post(url, JSON.stringify({ advance_seconds: 0 }))).json()) as {
      now?: string;
    };
    const { advance_seconds } = JSON.parse(text) as { advance_seconds: number };
    // If the call above failed, `now` is missing. The call below then normally fails too, and the visitor gets that
    // error.
    if (
      now === undefined ||
      Date.parse(now) + advance_seconds * 1000 <= Date.now() + MAX_ADVANCE_SECONDS * 1000
    )
      return post(url, text);
    const message = "This demo's clock can be at most 30 days ahead of real time.";
    return Response.json({ code: 'validation_failed', message }, { status: 422 });
  };
  const moved = lastMove.then(move);
  lastMove = moved.catch(() => undefined);
  return moved;
}

function post(url: string, body: string): Promise<Response> {
  return forward(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
}

function isSmallAdvance(text: string): boolean {
  try {
    const { advance_seconds: seconds, ...rest } = JSON.parse(text) as Record<string, unknown>;
    const isInRange =
      Number.isInteger(seconds) && Number(seconds) >= 1 && Number(seconds) <= MAX_ADVANCE_SECONDS;
    return isInRange && Object.keys(rest).length === 0;
  } catch {
    return false;
  }
}

/**
 * Sets `email` in a control's request body to the signed-in user's address. Does not change invalid JSON, because the
 * sandbox rejects it.
 */
function withEmail(text: string, email: string | undefined): string {
  try {
    return JSON.stringify({ ...(JSON.parse(text) as object), email });
  } catch {
    return text;
  }
}

async function forward(url: string, init: RequestInit): Promise<Response> {
  try {
    const reply = await fetch(url, { ...init, signal: AbortSignal.timeout(TIMEOUT_MS) });
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
