import { UpstreamFailure } from '../../outbound/failure.ts';
import type { SolanaChain } from './client.ts';
import { call } from './reads.ts';

/**
 * Sends signed bytes to every endpoint. Succeeds if a node accepts the bytes for relay, which does not mean that the
 * transaction will be executed. Throws if no node accepts the bytes. Asks the nodes to skip the simulation. Also asks
 * the nodes not to resend the transaction, because the service itself resends it. Repeating the call is safe.
 */
export async function sendTransaction({ rpc }: SolanaChain, raw: Uint8Array): Promise<void> {
  const options = { encoding: 'base64', skipPreflight: true, maxRetries: 0 };
  const params = [Buffer.from(raw).toString('base64'), options];
  await rpc.requestAll({ method: 'sendTransaction', params });
}

/**
 * `error` is the error that the transaction would fail with, as nodes describe it, or null if the transaction would
 * succeed.
 */
export type Simulation = { error: unknown; units: number };

/**
 * Simulates a transaction against the confirmed state without sending it. If a reply has neither an error nor the
 * compute units, tries another node: a transaction sent without compute units would fail.
 */
export async function simulateTransaction(chain: SolanaChain, raw: Uint8Array): Promise<Simulation> {
  const options = { encoding: 'base64', commitment: 'confirmed', sigVerify: false };
  const params = [Buffer.from(raw).toString('base64'), options];
  const reply = await call(chain, 'simulateTransaction', params, ([first]) => {
    if (first !== undefined && !('error' in first)) readSimulation(first.result);
  });
  return readSimulation(reply);
}

function readSimulation(reply: unknown): Simulation {
  const { err, unitsConsumed } = (reply as { value?: Record<string, unknown> | null } | null)?.value ?? {};
  const units = Number(unitsConsumed ?? 0);
  const hasError = err !== null && err !== undefined;
  if (!hasError && !(Number.isSafeInteger(units) && units > 0))
    throw new UpstreamFailure('invalid_response', 'the reply to simulateTransaction is malformed');
  return { error: err ?? null, units };
}
