import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';

export type Request = {
  method: 'GET' | 'POST';
  path: string;
  headers: Record<string, string>;
  body?: string;
};

export type Outcome = {
  /** Milliseconds from the time at which a request was due to its reply, for each reply that is not a refusal. */
  latencies: number[];
  /** Replies with 429 or 503. */
  refused: number;
  unanswered: number;
};

/**
 * Sends requests at a steady rate, as many independent users do: a request is sent when it is due, on a new connection
 * if all others wait for a reply. Throws if a reply has an unexpected status.
 */
export async function sendAtRate(
  url: string,
  { rate, seconds, next }: { rate: number; seconds: number; next: () => Request },
): Promise<Outcome> {
  const pool = new Pool(url, { connections: null, headersTimeout: 20_000 });
  const outcome: Outcome = { latencies: [], refused: 0, unanswered: 0 };
  const failures: string[] = [];
  const send = async (request: Request, due: number) => {
    const { statusCode, body } = await pool.request(request);
    const text = await body.text();
    if (statusCode === 200) outcome.latencies.push(performance.now() - due);
    else if (statusCode === 429 || statusCode === 503) outcome.refused++;
    else failures.push(`${request.method} ${request.path}: ${statusCode} ${text}`);
  };
  const sent: Promise<void>[] = [];
  const startedAt = performance.now();
  while (sent.length < rate * seconds) {
    const due = Math.min(rate * seconds, ((performance.now() - startedAt) / 1000) * rate);
    while (sent.length < due)
      sent.push(send(next(), startedAt + (sent.length / rate) * 1000).catch(() => void outcome.unanswered++));
    await sleep(1);
  }
  await Promise.all(sent);
  await pool.close();
  if (failures.length > 0) throw new Error(`${failures.length} failures, the first: ${failures[0]}`);
  return outcome;
}
