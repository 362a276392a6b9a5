import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type TestApp, testApp } from './support/app.ts';
import { ROOT } from './support/guide.ts';
import { makeOffer, saleFile } from './support/offers.ts';
import { installPackages } from './support/packages.ts';

/**
 * Each client generator, with a program that uses the generated client. The program compiles only if the generated type
 * of a requirement is a union that narrows by `type`.
 */
const GENERATORS = {
  'openapi-fetch': {
    command: ['openapi-typescript', 'openapi.json', '-o', 'openapi-fetch/schema.ts'],
    journey: `
import createClient from 'openapi-fetch';
import type { paths } from './schema';

const api = createClient<paths>({ baseUrl: BASE, headers: { authorization: \`Bearer \${TOKEN}\` } });
const { data: offers } = await api.GET('/v1/offers', { params: { query: { limit: 5, include: ['summary'] } } });
const id = offers?.data[0]?.id ?? '';
const { data: details } = await api.GET('/v1/offers/{id}', { params: { path: { id } } });
const { data: found } = await api.GET('/v1/offers/{offer_id}/requirements', { params: { path: { offer_id: id } } });
const options = Object.values(found?.options ?? {});
const { error, response } = await api.GET('/v1/participations/{id}', { params: { path: { id: 'unknown' } } });
print(details?.object, options.flatMap(({ data }) => data.map((one) => (one.type === 'jurisdiction' ? one.details.filters.length : one.type))), response.status, error?.code);`,
  },
  'hey-api': {
    command: ['openapi-ts', '-i', 'openapi.json', '-o', 'hey-api', '-c', '@hey-api/client-fetch'],
    journey: `
import { client } from './client.gen';
import { getOffer, getParticipation, getRequirements, listOffers } from './sdk.gen';

client.setConfig({ baseUrl: BASE, headers: { authorization: \`Bearer \${TOKEN}\` } });
const { data: offers } = await listOffers({ query: { limit: 5, include: ['summary'] } });
const id = offers?.data[0]?.id ?? '';
const { data: details } = await getOffer({ path: { id } });
const { data: found } = await getRequirements({ path: { offer_id: id } });
const options = Object.values(found?.options ?? {});
const { error, response } = await getParticipation({ path: { id: 'unknown' } });
print(details?.object, options.flatMap(({ data }) => data.map((one) => (one.type === 'jurisdiction' ? one.details.filters.length : one.type))), response?.status, error?.code);`,
  },
  orval: {
    command: ['orval', '--input', './openapi.json', '--output', './orval/api.ts', '--client', 'fetch'],
    journey: `
import { getOffer, getParticipation, getRequirements, listOffers } from './api';

const send = globalThis.fetch;
globalThis.fetch = (url, init) => send(new URL(String(url), BASE), init);
const init = { headers: { authorization: \`Bearer \${TOKEN}\` } };
const offers = await listOffers({ limit: 5, include: ['summary'] }, init);
const id = offers.status === 200 ? (offers.data.data[0]?.id ?? '') : '';
const details = await getOffer(id, undefined, init);
const found = await getRequirements(id, init);
const options = found.status === 200 ? Object.values(found.data.options) : [];
const missing = await getParticipation('unknown', undefined, init);
print(
  details.status === 200 && details.data.object,
  options.flatMap(({ data }) => data.map((one) => (one.type === 'jurisdiction' ? one.details.filters.length : one.type))),
  missing.status,
  missing.status === 404 && missing.data.code,
);`,
  },
};

/** The code that follows the imports in every program. */
const PREAMBLE = `
declare const process: { env: Record<string, string | undefined> };
const { BASE = '', TOKEN = '' } = process.env;
const print = (...values: unknown[]) => console.log(JSON.stringify(values));
`;

const TSCONFIG = {
  compilerOptions: {
    target: 'es2022',
    module: 'esnext',
    moduleResolution: 'bundler',
    strict: true,
    skipLibCheck: true,
    lib: ['es2023', 'dom', 'dom.iterable'],
    types: [],
    noEmit: true,
  },
  include: ['*/**/*.ts'],
  exclude: ['node_modules'],
};

let node: TestApp;
let folder: string;
let tools: string;
const run = (command: string, ...args: string[]) =>
  promisify(execFile)(join(tools, 'node_modules/.bin', command), args, { cwd: folder, timeout: 120_000 });

beforeAll(async () => {
  node = await testApp({ listen: true });
  const requirements = [
    { type: 'kyc_approved', details: null },
    { type: 'jurisdiction', details: { filter_type: 'reject', filters: [{ country_iso_2: 'KP' }] } },
  ];
  await makeOffer(node.ctx, saleFile({ options: [{ slug: 'standard', requirements }] as never }));
  tools = await installPackages('openapi-tools');
  folder = await mkdtemp(join(tmpdir(), 'causeway-generated-'));
  await symlink(join(tools, 'node_modules'), join(folder, 'node_modules'));
  await writeFile(join(folder, 'openapi.json'), await readFile(join(ROOT, 'openapi.json')));
  await writeFile(join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(TSCONFIG));
  for (const [name, { command, journey }] of Object.entries(GENERATORS)) {
    const [program = '', ...args] = command;
    await mkdir(join(folder, name), { recursive: true });
    await run(program, ...args);
    await writeFile(join(folder, name, 'journey.ts'), journey.trimStart().replace(/\n\n/, `\n${PREAMBLE}\n`));
  }
}, 10 * 60_000);
afterAll(async () => {
  await node?.close();
  await rm(folder, { recursive: true, force: true });
});

test('Redocly finds nothing to complain about', async () => {
  const { stdout, stderr } = await run('redocly', 'lint', 'openapi.json', '--format=json');
  expect(JSON.parse(stdout).problems, stderr).toEqual([]);
});

test('the generated clients compile in strict mode', async () => {
  await run('tsc', '-p', 'tsconfig.json').catch(({ stdout }) => expect(stdout).toBe(''));
});

test.each(Object.keys(GENERATORS))('a journey with the client of %s', async (name) => {
  const outfile = join(folder, `${name}.mjs`);
  await build({
    entryPoints: [join(folder, name, 'journey.ts')],
    ...{ bundle: true, platform: 'node', format: 'esm', outfile, logLevel: 'error' },
  });
  const env = { PATH: process.env.PATH, BASE: node.ctx.baseUrl, TOKEN: await node.tokenFor() };
  const { stdout } = await promisify(execFile)(process.execPath, [outfile], { env, timeout: 30_000 });
  expect(JSON.parse(stdout)).toEqual(['offer_details', ['kyc_approved', 1], 404, 'not_found']);
});
