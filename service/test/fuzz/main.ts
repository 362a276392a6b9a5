import { randomInt } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { Agent, request } from 'undici';
import { startService } from '../support/service.ts';
import { createArbitrary, createRandom, type Schema } from './arbitrary.ts';
import { type Memory, openMemoryProbe } from './memory.ts';

// Sends random requests for every operation in openapi.json to a sandbox, with tokens for every kind of caller. No
// reply may be a server error, and every reply must match its declared schema. The memory that the service holds after
// a garbage collection must not grow.
const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '20000' },
    seed: { type: 'string', default: String(randomInt(2 ** 31)) },
  },
});
const total = Number(values.requests);
const seed = Number(values.seed);
const CONCURRENCY = 16;
const MAX_PROBLEMS = 20;
/** The maximum factor by which the held memory may grow from the first half of the run to the second. */
const MAX_GROWTH = 1.15;
/** The operations that are left out. The stream never ends, and the others answer with pages and redirects. */
const SKIPPED = new Set(['/v1/events/stream', '/oauth/authorize', '/oauth/logout']);

type Operation = {
  method: string;
  path: string;
  parameters: { name: string; in: string; required?: boolean; schema?: Schema }[];
  body: Schema | null;
  replies: Record<string, Schema | undefined>;
};
type Document = {
  paths: Record<string, Record<string, RawOperation>>;
  components: { schemas: Record<string, Schema> };
};
type RawOperation = {
  parameters?: Operation['parameters'];
  requestBody?: { content: Record<string, { schema: Schema }> };
  responses: Record<string, { content?: Record<string, { schema?: Schema }> }>;
};

const document = JSON.parse(
  readFileSync(new URL('../../../openapi.json', import.meta.url), 'utf8'),
) as Document;
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  SKIPPED.has(path)
    ? []
    : Object.entries(methods).flatMap(([method, raw]): Operation[] =>
        raw.responses === undefined
          ? []
          : [
              {
                method: method.toUpperCase(),
                path,
                parameters: raw.parameters ?? [],
                body: raw.requestBody?.content['application/json']?.schema ?? null,
                replies: Object.fromEntries(
                  Object.entries(raw.responses).map(([status, { content }]) => [
                    status,
                    content?.['application/json']?.schema,
                  ]),
                ),
              },
            ],
      ),
);
const resolve = (schema: Schema): Schema =>
  schema.$ref === undefined
    ? schema
    : (document.components.schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {});
const ajv = new Ajv2020({ strict: false, validateFormats: false });
ajv.addSchema({ $id: 'api', components: document.components });
const validators = new Map<Schema, (data: unknown) => boolean>();
function matches(schema: Schema, data: unknown): boolean {
  const text = JSON.stringify(schema).replaceAll('"#/components', '"api#/components');
  const known = validators.get(schema) ?? ajv.compile(JSON.parse(text));
  validators.set(schema, known);
  return known(data) === true;
}

const dataDir = await mkdtemp(join(tmpdir(), 'causeway-fuzz-'));
const limits = Object.fromEntries(
  [
    'API',
    'KYC_TOKEN',
    'DOCUMENTS',
    'TOKENIZED_TRANSACTION',
    'WALLET_OWNERSHIP',
    'OAUTH_TOKEN',
    'INTROSPECTION',
    'WEBHOOK_TEST',
  ].map((name) => [`RATE_LIMIT_${name}`, '1000000']),
);
const bin = fileURLToPath(new URL('../../bin/causeway.mjs', import.meta.url));
const service = await startService({ CAUSEWAY_DATA: dataDir, LOG_LEVEL: 'error', ...limits }, [
  process.execPath,
  '--inspect=127.0.0.1:0',
  ...[bin, 'serve'],
]);
const probe = await openMemoryProbe(service.output());
const agent = new Agent({ connections: CONCURRENCY });
const problems: string[] = [];
const statuses = new Map<number, number>();
const startedAt = performance.now();
try {
  const { tokens, known } = await prepare();
  const random = createRandom(seed);
  const { value } = createArbitrary(random, resolve, known);
  console.log(
    `fuzz: ${total} requests of ${operations.length} operations, seed ${seed} (repeat with --seed ${seed})`,
  );

  const text = (given: unknown) => (typeof given === 'object' ? JSON.stringify(given) : String(given));
  const build = () => {
    const operation = random.pick(operations);
    let path = operation.path;
    const query: string[] = [];
    const headers: Record<string, string> = {};
    for (const { name, in: place, required, schema = {} } of operation.parameters) {
      if (place === 'path') path = path.replace(`{${name}}`, segment(text(value(schema)).slice(0, 300)));
      else if (required === true ? random.chance(0.95) : random.chance(0.4)) {
        const given = text(value(schema));
        if (place === 'query')
          query.push(`${encodeURIComponent(name)}=${encodeURIComponent(given.slice(0, 1000))}`);
        else if (/^[\x20-\x7e]{0,200}$/.test(given)) headers[name] = given;
      }
    }
    const token = random.pick([...tokens, ...tokens, 'garbage', null]);
    if (token !== null) headers.authorization = `Bearer ${token}`;
    if (random.chance(0.1)) headers['idempotency-key'] = `key-${Math.floor(random.next() * 50)}`;
    const body = operation.body === null ? undefined : JSON.stringify(value(operation.body));
    if (body !== undefined) headers['content-type'] = 'application/json';
    return { operation, path: path + (query.length > 0 ? `?${query.join('&')}` : ''), headers, body };
  };

  const check = async (): Promise<void> => {
    const { operation, path, headers, body } = build();
    const name = `${operation.method} ${operation.path}`;
    const reply = await request(service.url + path, {
      method: operation.method as 'GET',
      headers,
      ...(body !== undefined && { body }),
      dispatcher: agent,
    });
    const content = await reply.body.text();
    const status = reply.statusCode;
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
    const report = (problem: string) =>
      problems.push(
        `${name} answered ${status}: ${problem}\n  ${path}\n  ${body?.slice(0, 500) ?? ''}\n  ${content.slice(0, 500)}`,
      );
    if (status >= 500) return void report('server error');
    if (!String(reply.headers['content-type']).startsWith('application/json')) return;
    const schema = operation.replies[String(status)];
    if (schema === undefined) return void report('the status is not declared');
    if (!matches(schema, JSON.parse(content))) report('the reply does not match its schema');
  };

  let sent = 0;
  const memory: Memory[] = [];
  await Promise.all(
    Array.from({ length: CONCURRENCY }, async () => {
      while (sent < total && problems.length < MAX_PROBLEMS) {
        if (++sent % Math.ceil(total / 10) === 0) memory.push(await probe.measure());
        await check();
      }
    }),
  );
  const seconds = (performance.now() - startedAt) / 1000;
  console.log({
    sent,
    seconds: Math.round(seconds),
    statuses: Object.fromEntries([...statuses].sort(([a], [b]) => a - b)),
    held_mib: memory.map(({ held }) => held),
    resident_mib: memory.map(({ resident }) => resident),
  });
  for (const kind of ['held', 'resident'] as const) {
    const [early, late] = [memory.slice(0, 5), memory.slice(5)].map((half) =>
      Math.max(...half.map((each) => each[kind])),
    ) as [number, number];
    if (late > early * MAX_GROWTH)
      problems.push(`the memory is not flat: ${kind} grew from ${early} to ${late} MiB in the second half`);
  }
} finally {
  probe.close();
  await agent.close();
  await service.stop();
  await rm(dataDir, { recursive: true, force: true });
}
for (const problem of problems) console.error(`PROBLEM ${problem}`);
console.log(
  problems.length === 0
    ? 'no server error, every reply matches its schema, flat memory'
    : `${problems.length} problems (seed ${seed})`,
);
process.exitCode = problems.length === 0 ? 0 : 1;

/** Returns tokens for every kind of caller, and values that exist in the sandbox. */
async function prepare(): Promise<{ tokens: string[]; known: string[] }> {
  const overview = await json('/sandbox');
  const known =
    JSON.stringify(overview)
      .match(/"[^"]{1,80}"/g)
      ?.map((each) => each.slice(1, -1)) ?? [];
  const users = overview.users as { email: string }[];
  const user = async (email: string, client_id: string) =>
    String((await json('/sandbox/token', { email, client_id })).access_token);
  const partner = async ({ client_id, client_secret }: Record<string, string>) =>
    String(
      (await json('/oauth/token', { grant_type: 'client_credentials', client_id, client_secret }))
        .access_token,
    );
  const [one, two] = [overview.partner, overview.other_partner] as Record<string, string>[];
  const tokens = await Promise.all([
    ...users.slice(0, 3).map(({ email }) => user(email, String(one?.client_id))),
    user(String(users[0]?.email), String(two?.client_id)),
    partner(one ?? {}),
    partner(two ?? {}),
  ]);
  const ids = known.filter((each) =>
    /^[0-9a-f-]{36}$|^0x[0-9a-f]{40}$|^[a-z]+_[a-z]+$|^[A-Z]{2,6}on$/i.test(each),
  );
  return { tokens, known: [...new Set(ids)] };
}

/**
 * Encodes a value for use in a path. Replaces empty values and dots, because they would turn the path into that of
 * another operation.
 */
function segment(value: string): string {
  return /^\.{0,2}$/.test(value) ? 'x' : encodeURIComponent(value);
}

async function json(path: string, body?: object): Promise<Record<string, unknown>> {
  const reply = await fetch(service.url + path, {
    ...(body !== undefined && {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    }),
  });
  if (!reply.ok) throw new Error(`${path} answered ${reply.status}: ${await reply.text()}`);
  return reply.json() as Promise<Record<string, unknown>>;
}
