import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { publint } from 'publint';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { installPackages } from '../../service/test/support/packages.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const run = promisify(execFile);
const tsc = join(root, 'node_modules/typescript/bin/tsc');

/**
 * A folder inside the repository, so that react and viem resolve. The package is unpacked into this folder's
 * `node_modules`.
 */
let workDir: string;
let unpacked: string;
let tarball: Buffer;

beforeAll(async () => {
  await mkdir(join(root, 'artifacts'), { recursive: true });
  workDir = await mkdtemp(join(root, 'artifacts/sdk-package-'));
  await run(process.execPath, [join(root, 'sdk/build.mjs'), join(workDir, 'dist')]);
  await run('npm', ['pack', '--pack-destination', workDir], { cwd: join(workDir, 'dist') });
  const name = (await readdir(workDir)).find((file) => file.endsWith('.tgz')) ?? '';
  tarball = await readFile(join(workDir, name));
  unpacked = join(workDir, 'node_modules/@causeway/sdk');
  await mkdir(unpacked, { recursive: true });
  await run('tar', ['xzf', join(workDir, name), '--strip-components=1', '-C', unpacked]);
}, 180_000);
afterAll(() => rm(workDir, { recursive: true, force: true }));

async function write(name: string, text: string): Promise<string> {
  const file = join(workDir, name);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text);
  return file;
}

/** The parts of `@arethetypeswrong/core` that this test uses. */
type TypeChecker = {
  createPackageFromTarballData(tarball: Buffer): object;
  checkPackage(
    contents: object,
    options: { excludeEntrypoints: RegExp[] },
  ): Promise<
    | { types: false }
    | {
        types: object;
        problems: object[];
        entrypoints: Record<string, { resolutions: Record<string, object> }>;
      }
  >;
};

/** Installs the checker outside the repository, because it brings a second TypeScript. */
async function loadTypeChecker(): Promise<TypeChecker> {
  const folder = await installPackages('types-checker');
  const entry = createRequire(join(folder, 'index.js')).resolve('@arethetypeswrong/core');
  return await import(pathToFileURL(entry).href);
}

describe('the package', () => {
  test('passes publint', async () => {
    const { messages } = await publint({ pkgDir: join(workDir, 'dist'), strict: true });
    expect(messages).toEqual([]);
  });

  test('has correct types for Node (ES modules and CommonJS), for bundlers and for node10', async () => {
    const { checkPackage, createPackageFromTarballData } = await loadTypeChecker();
    const result = await checkPackage(createPackageFromTarballData(tarball), {
      excludeEntrypoints: [/\.css$/],
    });
    if (result.types === false) throw new Error('the package has no types');
    expect(result.problems).toEqual([]);
    const resolutions = Object.values(result.entrypoints).flatMap(({ resolutions }) =>
      Object.keys(resolutions),
    );
    expect(new Set(resolutions)).toEqual(new Set(['node10', 'node16-cjs', 'node16-esm', 'bundler']));
    const { exports } = JSON.parse(await readFile(join(root, 'sdk/package.json'), 'utf8'));
    const entries = Object.keys(exports).filter((name) => !name.endsWith('.css'));
    expect(Object.keys(result.entrypoints)).toEqual(expect.arrayContaining(entries));
  }, 180_000);

  test('contains no tests, no sources and no import of a workspace package', async () => {
    const files = await readdir(unpacked, { recursive: true });
    expect(files.filter((name) => /\.test\.|tsbuildinfo|(?<!\.d)\.tsx?$/.test(name))).toEqual([]);
    for (const name of ['README.md', 'LICENSE', 'styles.css']) expect(files).toContain(name);
    const declared = JSON.parse(await readFile(join(unpacked, 'package.json'), 'utf8'));
    expect([declared.private, declared.dependencies, declared.scripts]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    for (const name of files.filter((file) => /\.(js|d\.ts)$/.test(file))) {
      const text = await readFile(join(unpacked, name), 'utf8');
      expect(text, name).not.toMatch(/(from|import\(|require\() ?['"]\.[^'"]*\.tsx?['"]/);
      // An example in a comment may import the package itself; the code must not import a workspace package.
      expect(text, name).not.toMatch(/^(?! \*).*(from|import\(|require\() ?['"]@causeway\//m);
    }
    for (const format of ['esm', 'cjs'])
      expect(files).toEqual(
        expect.arrayContaining([
          `${format}/encodings/tokenized-order.js`,
          `${format}/encodings/tokenized-order.d.ts`,
        ]),
      );
  });

  test('keeps `use client` at the top of client modules', async () => {
    const sources = (await readdir(join(root, 'sdk/src'), { recursive: true })).filter((name) =>
      /(?<!\.test)\.tsx?$/.test(name),
    );
    let found = 0;
    for (const name of sources) {
      if (!/^['"]use client['"]/.test(await readFile(join(root, 'sdk/src', name), 'utf8'))) continue;
      found++;
      for (const folder of ['esm', 'cjs']) {
        const compiled = await readFile(join(unpacked, folder, name.replace(/\.tsx?$/, '.js')), 'utf8');
        expect(compiled, name).toMatch(/^['"]use client['"]/);
      }
    }
    expect(found).toBeGreaterThan(0);
  });
});

const CONSUMER = `
import { createCauseway, CausewayError, formatAmount, type Offer } from '@causeway/sdk';
import { createHandler, createSignIn, toNode } from '@causeway/sdk/server';
import { FlowError, buyTokenSale } from '@causeway/sdk/flows';
import { createTestWallet } from '@causeway/sdk/testing';

const causeway = createCauseway({ baseUrl: 'http://localhost:1', accessToken: 'x', retries: 0 });
export const slugOf = (offer: Offer): string => offer.slug;
const handler = createHandler(
  createSignIn({
    baseUrl: 'http://localhost:1', clientId: 'c', clientSecret: 's',
    redirectUri: 'http://localhost:3000/callback', cookieSecret: 'x'.repeat(32),
  }),
);
toNode(handler);
// @ts-expect-error amounts are not floats
export const wrong = () => formatAmount(1.5, 6);
async function main() {
  const error: unknown = await causeway.offers.get('x').catch((error: unknown) => error);
  const reply = await handler(new Request('http://localhost:3000/causeway/session'));
  const results = [error instanceof CausewayError, reply.status, formatAmount('1500000', 6)];
  console.log(JSON.stringify([...results, typeof buyTokenSale, typeof createTestWallet, typeof FlowError]));
}
main();
`;
const CONSUMER_OUTPUT = [true, 403, '1.5', 'function', 'function', 'function'];

async function compile(folder: string, file: string, options: object, type: 'module' | 'commonjs') {
  await write(`${folder}/package.json`, JSON.stringify({ type }));
  await write(
    `${folder}/tsconfig.json`,
    JSON.stringify({
      compilerOptions: { strict: true, target: 'ES2022', skipLibCheck: false, outDir: 'out', ...options },
      files: [file],
    }),
  );
  await run(process.execPath, [tsc, '-p', join(workDir, folder)]).catch(({ stdout }) => {
    throw new Error(stdout);
  });
}

describe('a consumer', () => {
  test.each(['module', 'commonjs'] as const)('compiles and runs in Node as %s', async (type) => {
    await write(`${type}/main.ts`, CONSUMER);
    const lib = { lib: ['ES2022'], types: ['node'], module: 'nodenext', moduleResolution: 'nodenext' };
    // viem's declarations need the DOM types, so library checks are off.
    await compile(type, 'main.ts', { ...lib, skipLibCheck: true }, type);
    const { stdout } = await run(process.execPath, [join(workDir, type, 'out/main.js')]);
    expect(JSON.parse(stdout)).toEqual(CONSUMER_OUTPUT);
  });

  test('compiles with the settings of a Next app', async () => {
    await write(
      'next/route.ts',
      `import { createHandler, createSignIn, userClient } from '@causeway/sdk/server';
       const signIn = createSignIn({
         baseUrl: 'b', clientId: 'c', clientSecret: 's', redirectUri: 'https://app.example/callback', cookieSecret: ['x'],
       });
       const handler = createHandler(signIn);
       export const GET: (request: Request) => Promise<Response> = handler;
       export const POST = GET;
       export const load = (headers: Headers) => userClient(signIn, { headers }, { baseUrl: 'b' });`,
    );
    await write(
      'next/page.tsx',
      `import { browserToken, createCauseway } from '@causeway/sdk';
       import { CausewayProvider, OffersGrid } from '@causeway/sdk/react';
       import './route';
       const client = createCauseway({ baseUrl: 'b', accessToken: browserToken() });
       export const Page = () => <CausewayProvider client={client}><OffersGrid /></CausewayProvider>;`,
    );
    const next = { lib: ['dom', 'dom.iterable', 'esnext'], jsx: 'preserve', types: ['node', 'react'] };
    const resolution = { module: 'esnext', moduleResolution: 'bundler', isolatedModules: true, noEmit: true };
    await compile('next', 'page.tsx', { ...next, ...resolution, skipLibCheck: true }, 'module');
  });

  test('of the main entry needs neither Node nor viem nor react', async () => {
    await write(
      'bare/main.ts',
      `import { createCauseway } from '@causeway/sdk'; console.log(createCauseway);`,
    );
    const bare = { lib: ['ES2022', 'DOM', 'DOM.Iterable', 'DOM.AsyncIterable'], types: [], noEmit: true };
    await compile('bare', 'main.ts', { ...bare, module: 'esnext', moduleResolution: 'bundler' }, 'module');
    const text = await bundle(`export * from '@causeway/sdk';`, []);
    expect(text).not.toMatch(/from ?["'](?!\.)/);
  });
});

/**
 * The oldest versions that `peerDependencies` accepts, plus `react-dom` and the types for React 18. The oldest wagmi
 * is tested in `checkouts.slow.test.ts`.
 */
const OLDEST = ['react', 'react-dom', '@types/react', 'viem', '@tanstack/react-query', 'next'];
const ALL_ENTRIES = `
import * as main from '@causeway/sdk';
import * as flows from '@causeway/sdk/flows';
import * as next from '@causeway/sdk/next';
import * as react from '@causeway/sdk/react';
import * as server from '@causeway/sdk/server';
import * as tanstack from '@causeway/sdk/tanstack';
import * as testing from '@causeway/sdk/testing';
export const entries = [main, flows, next, react, server, tanstack, testing];
`;
/** Renders every kind of checkout on the server, and prints the versions in use. */
const RENDERED = `
import { createElement as h, version } from 'react';
import { renderToString } from 'react-dom/server';
import { QueryClient } from '@tanstack/react-query';
import viem from 'viem/package.json' with { type: 'json' };
import { createCauseway } from '@causeway/sdk';
import { CausewayProvider, Checkout, OfferHeader, OffersGrid, preload } from '@causeway/sdk/react';
import { queryClientCache } from '@causeway/sdk/tanstack';
import { createMockService } from '@causeway/sdk/testing';

const mock = createMockService();
const client = createCauseway({ baseUrl: 'http://service.test', accessToken: 't', fetch: mock.fetch });
const initial = await preload(client, (queries) => [queries.offers()]);
const pages = [h(OffersGrid), ...mock.state.offers.map((offer) => [h(OfferHeader, { offer }), h(Checkout, { offer })])];
const html = [undefined, queryClientCache(new QueryClient())].flatMap((cache) =>
  pages.map((children) => renderToString(h(CausewayProvider, { client, initial, cache }, ...[children].flat()))),
);
console.log(JSON.stringify({ react: version, viem: viem.version, pages: html.map((one) => /cw-/.test(one)) }));
`;

/** Runs outside an app, and calls every part of Next that the SDK uses. */
const NEXT_APP = `
import next from 'next/package.json' with { type: 'json' };
import { createCausewayNext } from '@causeway/sdk/next';

const { handlers, getUser, proxy } = createCausewayNext(() => ({
  baseUrl: 'http://localhost:1', clientId: 'c', clientSecret: 's',
  redirectUri: 'http://localhost:3000/callback', cookieSecret: 'x'.repeat(32),
}));
const passed = await proxy(new Request('http://localhost:3000/'));
const session = await handlers.GET(
  new Request('http://localhost:3000/causeway/session', { headers: { 'sec-fetch-site': 'same-origin' } }),
);
const outside = await getUser().catch(({ message }) => message);
const { redirect } = await import('next/navigation.js');
console.log(JSON.stringify([
  next.version, passed.headers.get('x-middleware-next'), await session.json(), outside, typeof redirect,
]));
`;

describe('the peers', () => {
  /** A folder in which the SDK finds the oldest peer dependencies instead of the repository's. */
  let oldest: string;
  beforeAll(async () => {
    const packages = join(await installPackages('sdk-peers'), 'node_modules');
    oldest = join(workDir, 'oldest');
    const modules = join(oldest, 'node_modules');
    await cp(unpacked, join(modules, '@causeway/sdk'), { recursive: true });
    for (const folder of ['@types', '@tanstack']) await mkdir(join(modules, folder), { recursive: true });
    for (const name of OLDEST) await symlink(join(packages, name), join(modules, name));
  }, 180_000);

  test.each(['oldest', 'newest'])('render with the %s versions', async (which) => {
    const file = await write(which === 'oldest' ? 'oldest/render.mjs' : 'render.mjs', RENDERED);
    const { stdout, stderr } = await run(process.execPath, ['--no-warnings', file]);
    const { react, viem, pages } = JSON.parse(stdout);
    const isOldest = react.startsWith('18.0.0') && viem === '2.23.0';
    expect([isOldest, react.startsWith('19.')]).toEqual([which === 'oldest', which === 'newest']);
    expect([pages, stderr]).toEqual([Array(8).fill(true), '']);
  });

  test('include the oldest Next, with every part that the SDK uses', async () => {
    const file = await write('oldest/next.mjs', NEXT_APP);
    const { stdout } = await run(process.execPath, ['--no-warnings', file]);
    const outside = expect.stringMatching(/requestAsyncStorage/);
    expect(JSON.parse(stdout)).toEqual(['14.0.0', '1', { signed_in: false }, outside, 'function']);
  });

  test('have types that fit in the oldest versions', async () => {
    await write('oldest/main.ts', ALL_ENTRIES);
    const lib = { lib: ['ES2023', 'DOM', 'DOM.Iterable', 'DOM.AsyncIterable'], types: ['node', 'react'] };
    const resolution = { module: 'esnext', moduleResolution: 'bundler', noEmit: true };
    const output = await compile('oldest', 'main.ts', { ...lib, ...resolution }, 'module').then(
      () => '',
      ({ message }: Error) => message,
    );
    // Ignores errors in the peers' own declarations, which may not compile with a newer compiler.
    const errors = output.split('\n').filter((line) => /^\S.*error TS/.test(line));
    expect(errors.filter((line) => /@causeway\/sdk|main\.ts/.test(line))).toEqual([]);
  });

  test('are declared with the versions that the tests use', async () => {
    const { peerDependencies } = JSON.parse(await readFile(join(unpacked, 'package.json'), 'utf8'));
    const lowest = (range: string) => /\d+(\.\d+)*/.exec(range)?.[0];
    for (const name of OLDEST.filter((one) => one !== 'react-dom' && !one.startsWith('@types/'))) {
      const { version } = JSON.parse(
        await readFile(join(oldest, 'node_modules', name, 'package.json'), 'utf8'),
      );
      expect(`${lowest(peerDependencies[name])}.0.0`, name).toContain(version);
    }
  });
});

/**
 * Bundles `code` and returns what a page loads initially. Modules that are imported later, such as the flows, are
 * included only if `kinds` contains `dynamic-import`.
 */
async function bundle(code: string, external: string[], kinds = ['import-statement']): Promise<string> {
  const { outputFiles, metafile } = await build({
    stdin: { contents: code, resolveDir: workDir },
    ...{ bundle: true, splitting: true, minify: true, format: 'esm', target: 'es2022', external },
    ...{ platform: 'browser', write: false, outdir: '/', metafile: true, absWorkingDir: '/' },
  });
  const loaded = new Set(['stdin.js']);
  for (const name of loaded)
    for (const { path, kind } of metafile.outputs[name]?.imports ?? [])
      if (kinds.includes(kind) && path in metafile.outputs) loaded.add(path);
  return outputFiles.flatMap(({ path, text }) => (loaded.has(path.slice(1)) ? text : [])).join('\n');
}

/** Reads the bundle size budgets from the README, in bytes. */
async function readBudgets(): Promise<[string, number][]> {
  const readme = await readFile(join(root, 'sdk/README.md'), 'utf8');
  const rows = [...readme.matchAll(/^\| (.+?) \| ([\d.]+) KB \|$/gm)];
  return rows.map(([, name = '', size]) => [name, Number(size) * 1024]);
}

describe('the bundle', () => {
  test('of one function does not include the client', async () => {
    const text = await bundle(`export { parseAmount } from '@causeway/sdk';`, []);
    expect(text).not.toMatch(/idempotency|Bearer|\/v1\//);
    expect(await bundle(`export { createCauseway } from '@causeway/sdk';`, [])).toMatch(/Bearer/);
  });

  test('is within the budgets of the README', async () => {
    const peers = ['viem', 'viem/*', 'react', 'react/*', 'react-dom', 'wagmi', 'wagmi/*'];
    const imports = [
      `export { parseAmount } from '@causeway/sdk';`,
      `export * from '@causeway/sdk';`,
      `export * from '@causeway/sdk/flows';`,
      `export * from '@causeway/sdk/react';`,
      `export * from '@causeway/sdk/wagmi';`,
      `export * from '@causeway/sdk/react';`,
    ];
    const everything = ['import-statement', 'dynamic-import'];
    const documented = await readBudgets();
    expect(documented.length).toBe(imports.length);
    for (const [index, [name, budget]] of documented.entries()) {
      const kinds = index === imports.length - 1 ? everything : undefined;
      const size = gzipSync(await bundle(imports[index] ?? '', peers, kinds)).length;
      console.log(`${name}: ${(size / 1024).toFixed(1)} KB of ${budget / 1024} KB`);
      expect(size, name).toBeLessThanOrEqual(budget);
      // A budget far above the actual size would not catch anything.
      expect(size, name).toBeGreaterThan(budget / 4);
    }
  });
});
