import { randomBytes } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import {
  type ClientCredentials,
  createEventClient,
  type EventClient,
  type ReceivedEvent,
} from '../../domain/webhooks/event-client.ts';
import { newWebhookSecret, signatureHeaders } from '../../domain/webhooks/signature.ts';
import { realTime } from '../../kernel/clock.ts';
import type { Config } from '../../kernel/config/config.ts';
import { UsageError } from '../../kernel/errors.ts';
import type { CommandHelp } from './command.ts';

export const help: CommandHelp = {
  usage: [
    'listen --forward URL [--service URL] [--client-id ID --client-secret-file FILE] [--replay DURATION]',
  ],
  description:
    "Receives a partner's events over the event stream and posts each one to a local URL, signed like a webhook, so that a receiver can be developed without a public address. It stores its position in CAUSEWAY_DATA and resumes there. Without credentials, it uses the sandbox's partner.",
  options: {
    '--forward URL': 'Where to post the events, such as http://localhost:3000/hooks.',
    '--service URL': 'The address of the service. Default: http://127.0.0.1:8080.',
    '--client-id ID': "The partner's client id.",
    '--client-secret-file FILE': "A file with the partner's client secret.",
    '--replay DURATION':
      'Begin by posting the events of a recent period again, for example of the last 30m, 12h or 2d.',
  },
  examples: {
    'listen --forward http://localhost:3000/hooks': "Forward the events of the sandbox's partner",
    'listen --forward http://localhost:3000/hooks --replay 1h':
      'Begin by posting the events of the last hour again',
  },
};

const DEFAULT_SERVICE = 'http://127.0.0.1:8080';
const UNITS_MS: Record<string, number> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const POST_TIMEOUT_MS = 15_000;
const RETRY_MS = 1_000;
const TIMEOUT_MS = 5_000;

/** Kept between runs: `after` is the id of the last forwarded event, and `secret` signs the requests. */
type State = { after: string | null; secret: string };
type Forward = { url: string; secret: string; signal: AbortSignal };

export async function run(config: Config, args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      forward: { type: 'string' },
      service: { type: 'string' },
      'client-id': { type: 'string' },
      'client-secret-file': { type: 'string' },
      replay: { type: 'string' },
    },
  });
  const { forward: url } = values;
  if (url === undefined || !URL.canParse(url))
    throw new UsageError('listen requires --forward with an absolute URL');
  const since = values.replay === undefined ? null : realTime() - readDuration(values.replay);
  const baseUrl = (values.service ?? DEFAULT_SERVICE).replace(/\/+$/, '');
  const credentials = await readCredentials(baseUrl, values['client-id'], values['client-secret-file']);
  const stop = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => stop.abort());

  const file = join(config.dataDir, `listen-${credentials.clientId}.json`);
  const state = await readState(file);
  console.error(`Posting events to ${url}. Verify them with the secret ${state.secret}`);
  const forward = { url, secret: state.secret, signal: stop.signal };
  const client = createEventClient(credentials);
  for await (const text of events(client, state.after, since, stop.signal)) {
    const event = JSON.parse(text) as ReceivedEvent;
    console.log(`${event.sequence} ${event.type} ${event.id} → ${await post(forward, event.id, text)}`);
    if (stop.signal.aborted) return;
    state.after = event.id;
    await writeState(file, state);
  }
}

/** Yields the events of the replayed period, then the events that follow. */
async function* events(client: EventClient, after: string | null, since: number | null, signal: AbortSignal) {
  const replayed = since === null ? [] : (await client.listSince(since)).reverse();
  for (const event of replayed) yield JSON.stringify(event);
  yield* client.stream(replayed.at(-1)?.id ?? after, signal);
}

/** Waits while the receiver is not running, so that a restart of the receiver loses no event. */
async function post({ url, secret, signal }: Forward, id: string, body: string): Promise<string> {
  for (let isWaiting = false; ; isWaiting = true) {
    const timestampSeconds = Math.floor(realTime() / 1000);
    const headers = {
      'content-type': 'application/json',
      ...signatureHeaders([secret], { id, timestampSeconds, body }),
    };
    try {
      const timeout = AbortSignal.timeout(POST_TIMEOUT_MS);
      const options = { method: 'POST', headers, body, redirect: 'manual' as const };
      const reply = await fetch(url, { ...options, signal: AbortSignal.any([signal, timeout]) });
      await reply.body?.cancel();
      return String(reply.status);
    } catch (error) {
      if (signal.aborted) return 'stopped';
      if ((error as Error).name === 'TimeoutError') return 'timeout';
      if (!isWaiting) console.error(`${url} does not answer; waiting for it`);
      await sleep(RETRY_MS, undefined, { signal }).catch(() => undefined);
    }
  }
}

async function readCredentials(
  baseUrl: string,
  clientId: string | undefined,
  secretFile: string | undefined,
): Promise<ClientCredentials> {
  if ((clientId === undefined) !== (secretFile === undefined))
    throw new UsageError('listen requires both --client-id and --client-secret-file, or neither');
  if (clientId !== undefined && secretFile !== undefined)
    return { baseUrl, clientId, clientSecret: (await readFile(secretFile, 'utf8')).trim() };
  const reply = await fetch(`${baseUrl}/sandbox`, { signal: AbortSignal.timeout(TIMEOUT_MS) }).catch(
    () => null,
  );
  if (reply === null)
    throw new UsageError(`${baseUrl} does not answer; set --service to the address of the service`);
  if (!reply.ok)
    throw new UsageError('the service is not a sandbox; set --client-id and --client-secret-file');
  const { partner } = (await reply.json()) as { partner: { client_id: string; client_secret: string } };
  return { baseUrl, clientId: partner.client_id, clientSecret: partner.client_secret };
}

function readDuration(text: string): number {
  const [, count, unit = ''] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  if (count === undefined) throw new UsageError('--replay must be a duration such as 30m, 12h or 2d');
  return Number(count) * (UNITS_MS[unit] ?? 0);
}

async function readState(file: string): Promise<State> {
  const stored = await readFile(file, 'utf8').catch(() => null);
  const state: State =
    stored === null ? { after: null, secret: newWebhookSecret(randomBytes) } : JSON.parse(stored);
  await writeState(file, state);
  return state;
}

async function writeState(file: string, state: State): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(`${file}.new`, JSON.stringify(state), { mode: 0o600 });
  await rename(`${file}.new`, file);
}
