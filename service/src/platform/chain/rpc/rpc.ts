import { realTime } from '../../../kernel/clock.ts';
import { UpstreamFailure } from '../../outbound/failure.ts';
import {
  type ClassifyError,
  type Endpoint,
  isFailed,
  openEndpoint,
  type RpcCall,
  type RpcReply,
} from './endpoint.ts';
import { rpcError } from './failures.ts';
import { type EndpointHead, type HeadQuery, type SurveyOptions, surveyEndpoints } from './survey.ts';

/** Checks the content of well-formed replies. Throws `UpstreamFailure` if another endpoint should be tried. */
export type Accept = (replies: RpcReply[]) => void;

/**
 * Every call may be retried: reading is idempotent, and so is sending a signed transaction. If a node cannot answer a
 * call, or has no result for it, other nodes are asked.
 */
export type Rpc = {
  /** Makes one call. Throws `NodeError` if it reverts or a node rejects it, `ApiError` if no node can answer it. */
  request(call: { method: string; params?: unknown }): Promise<unknown>;
  /**
   * Sends the call to every endpoint and returns the first result. If all fail, throws the error of a node that
   * rejected the call, or else an upstream error.
   */
  requestAll(call: { method: string; params?: unknown }): Promise<unknown>;
  /** Makes several calls in one HTTP request. All replies are from the same node. */
  batch(calls: RpcCall[], accept?: Accept): Promise<RpcReply[]>;
  /** Reads the latest block of every endpoint. Endpoints that lag behind are then tried last; see `surveyEndpoints`. */
  survey(): Promise<EndpointHead[]>;
  inLane(lane: string): Rpc;
  /** Returns one `Rpc` per provider, so that answers from independent sources can be compared. */
  providers(): Rpc[];
  sent(): number;
  /** Returns the number of HTTP requests by outcome for each endpoint. The endpoints are in the configured order. */
  outcomes(): { provider: string; outcomes: Endpoint['outcomes'] }[];
  close(): Promise<void>;
};

export type Protocol = { classifyError: ClassifyError; headQuery: HeadQuery };

type RpcOptions = Partial<Omit<SurveyOptions, 'query'>> & {
  chain: string;
  protocol: Protocol;
  urls: readonly string[];
  /** Time limit for one call, all attempts included. */
  timeoutMs: number;
};

type RpcParts = { chain: string; endpoints: Endpoint[]; timeoutMs: number; survey: SurveyOptions };

const MAX_WAITING = 1_000;
const OWN_LANE = '';
const SURVEY_INTERVAL_MS = 5_000;
const MAX_LAG_SECONDS = 60;

/** Calls try endpoints in the configured order, except that failing and stale ones come last. */
export function openRpc({ chain, urls, timeoutMs, protocol, ...options }: RpcOptions): Rpc {
  const query = protocol.headQuery;
  const survey = { network: null, query, maxLagSeconds: MAX_LAG_SECONDS, now: realTime, ...options };
  const endpoints = urls.map((url) => openEndpoint(url, protocol.classifyError));
  return createRpc({ chain, endpoints, timeoutMs, survey }).inLane(OWN_LANE);
}

function createRpc(parts: RpcParts): Pick<Rpc, 'inLane'> {
  const { chain, endpoints, timeoutMs } = parts;
  // One attempt per endpoint, plus one in case an attempt fails merely because a keep-alive connection was closed.
  const maxAttempts = endpoints.length + 1;
  let sent = 0;
  let waiting = 0;
  let nextSurvey = 0;

  function survey(): Promise<EndpointHead[]> {
    nextSurvey = performance.now() + SURVEY_INTERVAL_MS;
    return surveyEndpoints(endpoints, parts.survey);
  }

  async function batch(lane: string, calls: RpcCall[], accept?: Accept): Promise<RpcReply[]> {
    if (waiting >= MAX_WAITING)
      throw rpcError(chain, new UpstreamFailure('no_response', 'too many calls are waiting'));
    waiting += 1;
    // Surveys in the background, so that the call does not wait. With a single endpoint, there is nothing to compare.
    if (endpoints.length > 1 && performance.now() >= nextSurvey) survey().catch(() => undefined);
    try {
      return await tryEndpoints(lane, calls, accept);
    } finally {
      waiting -= 1;
    }
  }

  /** Retries a failed or incomplete attempt on the next best endpoint. Returns the most complete replies. */
  async function tryEndpoints(lane: string, calls: RpcCall[], accept?: Accept): Promise<RpcReply[]> {
    const deadline = performance.now() + timeoutMs;
    const tries = new Map<Endpoint, number>();
    const answered = new Set<Endpoint>();
    let best: RpcReply[] | undefined;
    let failure: UpstreamFailure | undefined;
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      const now = performance.now();
      const remaining = deadline - now;
      if (remaining < timeoutMs / 8) break;
      // If only results are missing, does not wait for endpoints that may be down: there may be nothing to find.
      const mayWait = best?.some(isFailed) ?? true;
      const usable = endpoints.filter(
        (each) => !each.isExcluded() && !answered.has(each) && (mayWait || each.isTrusted(now)),
      );
      const endpoint = pickEndpoint(usable, tries, now);
      if (endpoint === undefined) break;
      tries.set(endpoint, (tries.get(endpoint) ?? 0) + 1);
      try {
        sent += 1;
        const replies = await endpoint.post(calls, Math.min(remaining, timeoutMs / 2), lane);
        acceptOrDistrust(endpoint, replies, accept);
        if (countGaps(replies) === 0) return replies;
        answered.add(endpoint);
        if (best === undefined || countGaps(replies) < countGaps(best)) best = replies;
      } catch (error) {
        if (!(error instanceof UpstreamFailure)) throw error;
        failure = error;
      }
    }
    if (best !== undefined) return best.map((reply) => asApiError(chain, reply));
    throw rpcError(chain, failure ?? new UpstreamFailure('no_response', 'circuit open'));
  }

  const inLane = (lane: string): Rpc => ({
    inLane,
    batch: (calls, accept) => batch(lane, calls, accept),
    request: async ({ method, params = [] }) => {
      const [reply] = await batch(lane, [{ method, params }]);
      if (reply === undefined) throw rpcError(chain, new UpstreamFailure('invalid_response', 'no reply'));
      if ('error' in reply) throw reply.error;
      return reply.result;
    },
    requestAll: async ({ method, params = [] }) => {
      const usable = endpoints.filter((each) => !each.isExcluded());
      const answers = usable.map(async (endpoint) => {
        sent += 1;
        const [reply] = await endpoint.post([{ method, params }], timeoutMs / 2, lane);
        if (reply === undefined) throw new UpstreamFailure('invalid_response', 'no reply');
        if ('error' in reply) throw reply.error;
        return reply.result;
      });
      return Promise.any(answers).catch((failures: AggregateError) => {
        const errors = failures.errors as Error[];
        const [first] = errors;
        const rejected = errors.find((error) => !(error instanceof UpstreamFailure));
        throw rejected ?? rpcError(chain, first instanceof UpstreamFailure ? first : noEndpoint());
      });
    },
    survey,
    outcomes: () => endpoints.map(({ provider, outcomes }) => ({ provider, outcomes })),
    providers: () => {
      const names = new Set(endpoints.map(({ provider }) => provider));
      const endpointsOf = (name: string) => endpoints.filter(({ provider }) => provider === name);
      return [...names].map((name) => createRpc({ ...parts, endpoints: endpointsOf(name) }).inLane(lane));
    },
    sent: () => sent,
    close: async () => void (await Promise.all(endpoints.map((endpoint) => endpoint.close()))),
  });
  return { inLane };
}

function noEndpoint(): UpstreamFailure {
  return new UpstreamFailure('no_response', 'no endpoint can be used');
}

/** Counts the calls that another endpoint may answer better. A failed call counts twice, a missing result once. */
function countGaps(replies: readonly RpcReply[]): number {
  let gaps = 0;
  for (const reply of replies)
    if (isFailed(reply)) gaps += 2;
    else if ('result' in reply && reply.result === null) gaps += 1;
  return gaps;
}

function asApiError(chain: string, reply: RpcReply): RpcReply {
  return 'error' in reply && reply.error instanceof UpstreamFailure
    ? { error: rpcError(chain, reply.error) }
    : reply;
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
 * The endpoint that this call has tried least often; among equals, trusted ones, then the configured order. Skips
 * open circuits, except that an untried endpoint is better than to fail the call after a failed attempt.
 */
function pickEndpoint(
  endpoints: Endpoint[],
  tries: Map<Endpoint, number>,
  now: number,
): Endpoint | undefined {
  const [first] = endpoints;
  if (tries.size === 0 && first?.isTrusted(now) && first.isAvailable()) return first;
  const triesOf = (endpoint: Endpoint) => tries.get(endpoint) ?? 0;
  const ranked = endpoints
    .map((endpoint, position) => ({
      endpoint,
      position,
      rank: triesOf(endpoint) * 2 + (endpoint.isTrusted(now) ? 0 : 1),
    }))
    .sort((a, b) => a.rank - b.rank || a.position - b.position)
    .map(({ endpoint }) => endpoint);
  const untried = tries.size > 0 ? ranked.find((endpoint) => triesOf(endpoint) === 0) : undefined;
  return untried ?? ranked.find((endpoint) => endpoint.isAvailable());
}
