import { createCauseway } from '../client.ts';
import { errorOfReply } from '../error.ts';
import type { SandboxClient, SandboxInboxRequest, SandboxMail } from './sandbox-types.ts';

const TIMEOUT_MS = 60_000;

/**
 * Creates a client for a sandbox's controls (the endpoints under `/sandbox`), for tests and scripts. Failed calls throw
 * a `CausewayError`.
 *
 * @example
 * ```ts
 * import { createSandboxClient } from '@causeway/sdk/testing';
 *
 * const sandbox = createSandboxClient('http://127.0.0.1:8080');
 * const { causeway, user } = await sandbox.signIn();
 * await sandbox.reviewIdentity({ email: user.email, level_name: 'BasicKYCLevel', answer: 'GREEN' });
 * console.log((await causeway.offers.list()).data.length);
 * ```
 */
export function createSandboxClient(baseUrl: string): SandboxClient {
  const url = baseUrl.replace(/\/+$/, '');
  const call = async <Reply>(method: 'GET' | 'POST', path: string, body?: object): Promise<Reply> => {
    const reply = await fetch(`${url}/sandbox${path}`, {
      method,
      signal: AbortSignal.timeout(TIMEOUT_MS),
      ...(method === 'POST' && {
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body ?? {}),
      }),
    });
    const content: unknown = await reply.json().catch(() => undefined);
    if (!reply.ok) throw errorOfReply(reply.status, content, reply.headers);
    return content as Reply;
  };
  const post = async (path: string, body?: object) => void (await call('POST', path, body));
  const createUser: SandboxClient['createUser'] = (fields) => call('POST', '/users', fields);
  const issueTokens: SandboxClient['issueTokens'] = (fields) => call('POST', '/token', fields);
  return {
    overview: () => call('GET', ''),
    createUser,
    issueTokens,
    signIn: async (given) => {
      const email = given ?? (await createUser()).email;
      let tokens = await issueTokens({ email });
      const causeway = createCauseway({
        baseUrl: url,
        accessToken: async ({ refresh }) => {
          if (refresh) tokens = await issueTokens({ email });
          return tokens.access_token;
        },
      });
      return { causeway, user: { email } };
    },
    reviewIdentity: (review) => post('/identity/reviews', review),
    actOnDocument: (action) => post('/documents/actions', action),
    setVenue: (venue) => post('/venue', venue),
    fund: (chain, transfer) => post(`/chains/${chain}/faucet`, transfer),
    mine: (chain, blocks) => post(`/chains/${chain}/mine`, { blocks }),
    reorganize: (chain, depth) => post(`/chains/${chain}/reorg`, { depth }),
    setFault: (fault) => post('/faults', fault),
    moveClock: (change) => post('/clock', change),
    refund: (id) => post(`/participations/${encodeURIComponent(id)}/remit`),
    mail: async (to) => {
      const query = to === undefined ? '' : `?${new URLSearchParams({ to })}`;
      return (await call<{ data: SandboxMail[] }>('GET', `/mail${query}`)).data;
    },
    createInbox: () => call('POST', '/inbox'),
    setInbox: (id, mode) => post(`/inbox/${encodeURIComponent(id)}`, { mode }),
    readInbox: async (id) => {
      const path = `/inbox/${encodeURIComponent(id)}`;
      return (await call<{ requests: SandboxInboxRequest[] }>('GET', path)).requests;
    },
    holdUser: (id, reason) => post(`/users/${encodeURIComponent(id)}/hold`, { reason }),
    releaseUser: (id, reason) => post(`/users/${encodeURIComponent(id)}/release`, { reason }),
  };
}
