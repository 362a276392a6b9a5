import { hexToBigInt, hexToNumber, isHex } from 'viem/utils';
import { UpstreamFailure } from '../../outbound/failure.ts';
import type { Endpoint, RpcReply } from './endpoint.ts';

/** What one endpoint reports about itself. `timestamp`: of its latest block, in seconds since the epoch. */
export type EndpointHead = { provider: string; chainId: number; number: bigint; timestamp: number };

export type SurveyOptions = {
  /** Null accepts every chain. */
  chainId: number | null;
  /** How far the head of an endpoint may lie behind the newest one, in seconds. */
  maxLagSeconds: number;
  /** The current time in milliseconds since the epoch. */
  now(): number;
};

const SURVEY_TIMEOUT_MS = 1_500;
const STALE_DISTRUST_MS = 15_000;
/** A head further in the future is a lie or a broken clock, and must not make honest endpoints look stale. */
const MAX_FUTURE_SECONDS = 60;

/**
 * Asks every endpoint for its chain id and head. Prefers other endpoints to those that lag behind, and stops using those
 * of another chain. Compares timestamps instead of numbers: a lying endpoint can report any number, but no later time than
 * the present, at which an honest endpoint is too. Returns the heads of the endpoints that answered.
 */
export async function surveyEndpoints(
  endpoints: readonly Endpoint[],
  { chainId, maxLagSeconds, now }: SurveyOptions,
): Promise<EndpointHead[]> {
  const found = await Promise.all(
    endpoints.map(async (endpoint) => ({ endpoint, head: await readHead(endpoint) })),
  );
  const latest = now() / 1000 + MAX_FUTURE_SECONDS;
  const isPlausible = (head: EndpointHead) =>
    (chainId === null || head.chainId === chainId) && head.timestamp <= latest;
  const times = found.flatMap(({ head }) => (head !== null && isPlausible(head) ? [head.timestamp] : []));
  const newest = Math.max(...times);
  for (const { endpoint, head } of found) {
    if (head === null) continue;
    endpoint.exclude(chainId !== null && head.chainId !== chainId);
    if (!isPlausible(head) || head.timestamp < newest - maxLagSeconds) endpoint.distrust(STALE_DISTRUST_MS);
  }
  return found.flatMap(({ head }) => (head === null ? [] : [head]));
}

/** Returns null if the endpoint does not answer. Errors that it reports about these calls count as no answer. */
async function readHead(endpoint: Endpoint): Promise<EndpointHead | null> {
  const calls = [
    { method: 'eth_chainId', params: [] },
    { method: 'eth_getBlockByNumber', params: ['latest', false] },
  ];
  try {
    const [id, block] = (await endpoint.post(calls, SURVEY_TIMEOUT_MS)).map(resultOrNull);
    const { number, timestamp } = (block ?? {}) as { number?: unknown; timestamp?: unknown };
    if (!isHex(id) || !isHex(number) || !isHex(timestamp)) return null;
    const head = { number: hexToBigInt(number), timestamp: hexToNumber(timestamp) };
    return { provider: endpoint.provider, chainId: hexToNumber(id), ...head };
  } catch (error) {
    if (error instanceof UpstreamFailure) return null;
    throw error;
  }
}

function resultOrNull(reply: RpcReply): unknown {
  return 'result' in reply ? reply.result : null;
}
