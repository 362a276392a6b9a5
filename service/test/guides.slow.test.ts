import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseOfferFile } from '../src/domain/offer-files/file.ts';
import { freePort } from '../src/platform/http/listening.ts';
import { ROOT, readBlocks, readGuide, runGuide } from './support/guide.ts';
import { type Service, startService } from './support/service.ts';

/**
 * The guides run in this order on one sandbox, because the operators' guide refunds what the partners' guide
 * invested.
 */
const SANDBOX_GUIDES = [
  'README.md',
  'docs/partners.md',
  'docs/operators.md',
  'docs/offers.md',
  'docs/languages.md',
  'docs/redirects.md',
];
/** A guide that starts the sandbox itself. */
const TESTING_GUIDE = 'docs/testing.md';
const GUIDES = [...SANDBOX_GUIDES, TESTING_GUIDE];

describe('the commands in the guides', () => {
  let service: Service;
  let dataDir: string;
  let workDir: string;

  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'causeway-guides-'));
    await mkdir(join(ROOT, 'artifacts'), { recursive: true });
    workDir = await mkdtemp(join(ROOT, 'artifacts/guides-'));
    service = await startService({ CAUSEWAY_DATA: dataDir });
  });
  afterAll(async () => {
    await service?.discard();
    for (const directory of [dataDir, workDir]) await rm(directory, { recursive: true, force: true });
  });

  const newDirectory = async (guide: string) => {
    const directory = join(workDir, guide.replaceAll(/\W/g, '-'));
    await mkdir(directory);
    return directory;
  };

  test.each(SANDBOX_GUIDES)(
    '%s runs against a sandbox',
    async (guide) => {
      const directory = await newDirectory(guide);
      const metrics = /Metrics\s+(http\S+)/.exec(service.output())?.[1] ?? '';
      const env = { CAUSEWAY_DATA: dataDir, METRICS_URL: metrics };
      expect(await runGuide(guide, { directory, url: service.url, env })).toEqual([]);
    },
    300_000,
  );

  test(`${TESTING_GUIDE} starts, uses and stops a sandbox`, async () => {
    const directory = await newDirectory(TESTING_GUIDE);
    const port = await freePort();
    const run = {
      directory,
      url: `http://127.0.0.1:${port}`,
      env: { PORT: String(port), TMPDIR: dataDir, CAUSEWAY_REPO: ROOT },
    };
    expect(await runGuide(TESTING_GUIDE, run)).toEqual([]);
  }, 300_000);

  test('the TypeScript blocks compile', async () => {
    const tsconfig = {
      extends: '../../sdk/tsconfig.json',
      compilerOptions: { incremental: false, tsBuildInfoFile: null, types: ['node'] },
      ...{ include: ['*/guide.ts'], exclude: [] },
    };
    await writeFile(join(workDir, 'tsconfig.json'), JSON.stringify(tsconfig));
    const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
    const errors = await promisify(execFile)(process.execPath, [tsc, '-p', workDir]).then(
      () => '',
      ({ stdout }) => String(stdout),
    );
    expect(errors).toBe('');
  });
});

describe('a guide', () => {
  test.each(GUIDES)('%s has only blocks and comments that the test understands', async (guide) => {
    const text = await readFile(join(ROOT, guide), 'utf8');
    const blocks = readBlocks(text);
    const skipped = blocks.flatMap(({ noRun }) => noRun ?? []);
    expect(skipped.filter((reason) => reason.length < 20)).toEqual([]);
    expect(text.match(/<!--/g)?.length ?? 0).toBe(blocks.flatMap(({ comments }) => comments).length);
    expect(text.match(/^```\w+/gm)?.filter((fence) => !/^```(sh|ts|js|yaml|python)$/.test(fence))).toEqual(
      [],
    );
    // All JavaScript blocks are webhook receivers, which another test runs.
    expect(blocks.filter(({ language, noRun }) => language === 'js' && noRun === undefined)).toEqual([]);
    expect(text.match(/^ {4}(curl|npx|npm|node|causeway) .*/gm)).toBeNull();
  });

  test.each([
    ['a failing command', '```sh\ntrue\n```\n```sh\nfalse\ntrue\n```\n', 'guide.md:4: exit 1'],
    ['an HTTP error', '```sh\nX=$(curl -s http://127.0.0.1:1/ | cat)\n```\n', 'guide.md:1: exit 7'],
    ['broken syntax', '```sh\nif then\n```\n', 'syntax error'],
    ['missing output', '<!-- expect: pears -->\n```sh\necho apples\n```\n', 'lacks "pears"'],
    ['an unexpected success', '<!-- fails: apples -->\n```sh\necho apples\n```\n', 'the block succeeded'],
    ['another error', '<!-- fails: pears -->\n```sh\nls /no-such-file\n```\n', 'lacks "pears"'],
    ['a failing program', "```ts\nthrow new Error('pears');\n```\n", 'pears'],
    ['an unknown comment', '<!-- expct: pears -->\n```sh\necho\n```\n', 'expct'],
  ])('fails on %s', async (_what, markdown, problem) => {
    await mkdir(join(ROOT, 'artifacts'), { recursive: true });
    const directory = await mkdtemp(join(ROOT, 'artifacts/guide-'));
    try {
      await writeFile(join(directory, 'guide.md'), markdown);
      const path = relative(ROOT, join(directory, 'guide.md'));
      const problems = await runGuide(path, { directory, url: '', env: {} }).catch(String);
      expect(String(problems)).toContain(problem);
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  });

  test('docs/offers.md has a complete file for each offer type', async () => {
    const files = (await readGuide('docs/offers.md')).filter(
      ({ code }) => code.startsWith('# ') && code.includes('\nslug:'),
    );
    const variables = new Proxy({} as Record<string, string>, {
      getOwnPropertyDescriptor: () => ({ configurable: true, enumerable: true }),
      get: (_, name) => (name === 'partner' ? 'sandbox-partner' : `0x${'12'.repeat(20)}`),
    });
    const types = files.map(
      ({ code, line }) => parseOfferFile(code, { name: `offers.md:${line}`, variables }).type,
    );
    expect(types.sort()).toEqual(['fund::swap', 'platform::token_sale', 'tokenized::swap']);
  });
});

describe('documentation', () => {
  test('README.md has the commands that start and test everything', async () => {
    const commands = (await readGuide('README.md')).map(({ code }) => code);
    expect(commands).toContain('npm ci && npm start\n');
    expect(commands).toContain('npm ci && npm test\n');
  });

  test('every path named in ARCHITECTURE.md exists', async () => {
    const text = await readFile(join(ROOT, 'ARCHITECTURE.md'), 'utf8');
    const named = [...text.matchAll(/`((?:[\w.-]+\/)+[\w.-]*|[\w-]+\.(?:ts|md|json|mjs))`/g)].map(
      ([, path = '']) => path,
    );
    const src = await readdir(join(ROOT, 'service/src'), { recursive: true });
    const fileNames = new Set(src.map((path) => basename(path)));
    const storeys = ['edges', 'domain', 'platform', 'kernel'].map((storey) => `service/src/${storey}`);
    const isThere = (path: string) =>
      ['', 'service/src', ...storeys].some((folder) => existsSync(join(ROOT, folder, path))) ||
      fileNames.has(path);
    expect(named.length).toBeGreaterThan(60);
    expect(named.filter((path) => !isThere(path))).toEqual([]);
  });

  test('every relative link leads to a file', async () => {
    const docs = (await readdir(join(ROOT, 'docs'), { recursive: true })).map((name) => `docs/${name}`);
    const pages = [
      ...['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'CHANGELOG.md'],
      ...['sdk/README.md', 'demo/README.md', 'contracts/README.md'],
      ...docs.filter((name) => name.endsWith('.md')),
    ];
    const broken = await Promise.all(
      pages.map(async (page) => {
        const text = await readFile(join(ROOT, page), 'utf8');
        const targets = [...text.matchAll(/\]\((?!https?:|#)([^)#\s]+)/g)].map(([, target = '']) => target);
        return targets
          .filter((target) => !existsSync(join(ROOT, dirname(page), target)))
          .map((target) => `${page}: ${target}`);
      }),
    );
    expect(broken.flat()).toEqual([]);
  });
});
