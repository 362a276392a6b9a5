import { UpstreamFailure } from '../../outbound/failure.ts';
import type { Endpoint, RpcCall, RpcReply } from './endpoint.ts';

type Head = { network: string; number: bigint; timestamp: number };

export type EndpointHead = Head & {
  provider: string;
  /** The position of the endpoint's URL in the configured list, counted from 0. */
  position: number;
};

/** The requests that ask a node for its head, and how to read the results. */
export type HeadQuery = {
  /** Each inner list is one HTTP request, so a provider that rejects batches needs a list per call. */
  requests: RpcCall[][];
  /** Returns null if the results are malformed. */
  read(results: unknown[]): Head | null;
};

export type SurveyOptions = {
  /** The chain that the endpoints must serve. If null, any chain is accepted. */
  network: string | null;
  query: HeadQuery;
  /** How many seconds an endpoint's head may lag behind the newest head. */
  maxLagSeconds: number;
  now(): number;
};

const SURVEY_TIMEOUT_MS = 1_500;
const STALE_DISTRUST_MS = 15_000;
/**
 * A later timestamp means that the node lies or a clock is wrong. Such a head is not used to judge other endpoints,
 * because honest ones would look stale in comparison.
 */
const MAX_FUTURE_SECONDS = 60;

/**
 * Excludes endpoints that serve another chain, and demotes those whose head is too old or too far in the future.
 * Compares timestamps rather than block numbers: a lying endpoint could report any block number, but its timestamp
 * must be close to the current time.
 */
export async function surveyEndpoints(
  endpoints: readonly Endpoint[],
  { network, query, maxLagSeconds, now }: SurveyOptions,
): Promise<EndpointHead[]> {
  const found = await Promise.all(
    endpoints.map(async (endpoint, position) => ({
      endpoint,
      head: await readHead(endpoint, position, query),
    })),
  );
  const latest = now() / 1000 + MAX_FUTURE_SECONDS;
  const isPlausible = (head: EndpointHead) =>
    (network === null || head.network === network) && head.timestamp <= latest;
  const times = found.flatMap(({ head }) => (head !== null && isPlausible(head) ? [head.timestamp] : []));
  const newest = Math.max(...times);
  for (const { endpoint, head } of found) {
    if (head === null) continue;
    endpoint.exclude(network !== null && head.network !== network);
    if (!isPlausible(head) || head.timestamp < newest - maxLagSeconds) endpoint.distrust(STALE_DISTRUST_MS);
  }
  return found.flatMap(({ head }) => (head === null ? [] : [head]));
}

/** Returns null if the endpoint does not answer or replies with an error. */
async function readHead(
  endpoint: Endpoint,
  position: number,
  { requests, read }: HeadQuery,
): Promise<EndpointHead | null> {
  try {
    const post = (calls: RpcCall[]) => endpoint.post(calls, SURVEY_TIMEOUT_MS, 'survey');
    const replies = await Promise.all(requests.map(post));
    const head = read(replies.flat().map(resultOrNull));
    return head && { provider: endpoint.provider, position, ...head };
  } catch (error) {
    if (error instanceof UpstreamFailure) return null;
    throw error;
  }
}

function resultOrNull(reply: RpcReply): unknown {
  return 'result' in reply ? reply.result : null;
}
