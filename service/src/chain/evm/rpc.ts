import { type Endpoint, openEndpoint, type RpcCall, type RpcReply } from './endpoint.ts';
import { EndpointFailure, upstreamFailure } from './failures.ts';

/** Checks an answer that has the right form; throws `EndpointFailure` when another endpoint should be asked. */
export type Accept = (replies: RpcReply[]) => void;

/** Calls to the nodes of one chain. Reads and `eth_sendRawTransaction` may be repeated, so every call may be. */
export type Rpc = {
  /** One call; throws `NodeError` when the node refuses it, `ApiError` when no node answers. */
  request(call: { method: string; params?: unknown }): Promise<unknown>;
  /** Several calls in one HTTP request. */
  batch(calls: RpcCall[], accept?: Accept): Promise<RpcReply[]>;
  /** HTTP requests sent so far. */
  sent(): number;
  close(): Promise<void>;
};

export type RpcOptions = {
  chain: string;
  urls: readonly string[];
  /** Milliseconds for one call, all attempts included. */
  timeout: number;
};

const WAITING_LIMIT = 1_000;

/** The endpoints are asked in the order they are configured, those in trouble last. */
export function openRpc({ chain, urls, timeout }: RpcOptions): Rpc {
  const endpoints = urls.map((url) => openEndpoint(url));
  // One more than there are endpoints: a kept-alive connection may turn out to be closed only when it is used.
  const attempts = endpoints.length + 1;
  let sent = 0;
  let waiting = 0;

  async function batch(calls: RpcCall[], accept?: Accept): Promise<RpcReply[]> {
    if (waiting >= WAITING_LIMIT)
      throw upstreamFailure(chain, new EndpointFailure('silent', 'too many calls are waiting'));
    waiting += 1;
    try {
      return await tryInTurn(calls, accept);
    } finally {
      waiting -= 1;
    }
  }

  async function tryInTurn(calls: RpcCall[], accept?: Accept): Promise<RpcReply[]> {
    const deadline = performance.now() + timeout;
    const tried = new Map<Endpoint, number>();
    let failure: EndpointFailure | undefined;
    for (let attempt = 0; attempt < attempts; attempt++) {
      const now = performance.now();
      const left = deadline - now;
      if (left < timeout / 8) break;
      const endpoint = pick(endpoints, tried, now);
      if (endpoint === undefined) break;
      tried.set(endpoint, (tried.get(endpoint) ?? 0) + 1);
      try {
        sent += 1;
        const replies = await endpoint.post(calls, Math.min(left, timeout / 2));
        acceptOrDistrust(endpoint, replies, accept);
        return replies;
      } catch (error) {
        if (!(error instanceof EndpointFailure)) throw error;
        failure = error;
      }
    }
    throw upstreamFailure(chain, failure ?? new EndpointFailure('silent', 'the circuit is open'));
  }

  return {
    batch,
    request: async ({ method, params = [] }) => {
      const [reply] = await batch([{ method, params }]);
      if (reply === undefined) throw upstreamFailure(chain, new EndpointFailure('nonsense', 'no reply'));
      if ('error' in reply) throw reply.error;
      return reply.result;
    },
    sent: () => sent,
    close: async () => void (await Promise.all(endpoints.map((endpoint) => endpoint.close()))),
  };
}

function acceptOrDistrust(endpoint: Endpoint, replies: RpcReply[], accept?: Accept): void {
  try {
    accept?.(replies);
  } catch (error) {
    endpoint.distrust();
    throw error;
  }
}

/**
 * The least tried, then the trusted, then the first configured. Once an endpoint has failed this call, others are asked
 * even while their circuit is open: it saves time, but an answer is worth more.
 */
function pick(endpoints: Endpoint[], tried: Map<Endpoint, number>, now: number): Endpoint | undefined {
  const [first] = endpoints;
  if (tried.size === 0 && first?.isTrusted(now) && first.isOpen(now)) return first;
  const times = (endpoint: Endpoint) => tried.get(endpoint) ?? 0;
  const ranked = endpoints
    .map((endpoint, place) => ({
      endpoint,
      place,
      rank: times(endpoint) * 2 + (endpoint.isTrusted(now) ? 0 : 1),
    }))
    .sort((a, b) => a.rank - b.rank || a.place - b.place)
    .map(({ endpoint }) => endpoint);
  const untried = tried.size > 0 ? ranked.find((endpoint) => times(endpoint) === 0) : undefined;
  return untried ?? ranked.find((endpoint) => endpoint.isOpen(now));
}
