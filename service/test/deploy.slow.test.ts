import { execFile, execFileSync, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseEnv, promisify } from 'node:util';
import { afterAll, describe, expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { loadConfig } from '../src/kernel/config/config.ts';
import { environmentFile } from '../src/kernel/config/environment-file.ts';
import { SETTINGS, type Setting } from '../src/kernel/config/settings.ts';
import { createMetrics } from '../src/kernel/metrics.ts';
import { freePort } from '../src/platform/http/listening.ts';
import { installProxies } from './rolling/proxies.ts';
import { LOCALHOST } from './support/certificates.ts';
import { readSourceTree } from './support/source-tree.ts';

const ROOT = join(import.meta.dirname, '../..');
const DEPLOY = join(ROOT, 'deploy');
const folder = mkdtempSync(join(tmpdir(), 'causeway-deploy-'));
afterAll(() => rmSync(folder, { recursive: true }));

const read = (path: string) => readFileSync(join(DEPLOY, path), 'utf8');
const isSetting = (name: string) => Object.hasOwn(SETTINGS, name);

describe('env.example', () => {
  const values = parseEnv(read('env.example')) as Record<string, string>;

  test('is generated, and names every setting that production requires', () => {
    expect(read('env.example')).toBe(environmentFile());
    const required = Object.entries<Setting>(SETTINGS).filter(([, { required }]) => required === true);
    for (const [name] of required) expect(values[name], name).toContain('CHANGE_ME');
  });

  test('no process starts with one of its values', () => {
    const placeholders = Object.keys(values).filter((name) => name !== 'CAUSEWAY_PROFILE');
    for (const name of placeholders)
      expect(() => loadConfig(values)).toThrow(`${name}: still contains CHANGE_ME`);
  });

  test('shells, Node.js and systemd read the same values', () => {
    const lines = read('env.example')
      .split('\n')
      .filter((line) => /^\w/.test(line));
    expect(Object.fromEntries(lines.map((line) => line.split(/=(.*)/s, 2)))).toEqual(values);
    const script = 'set -a; . "$1"; node -p "JSON.stringify(process.env)"';
    const sourced = execFileSync('bash', ['-c', script, 'bash', join(DEPLOY, 'env.example')], {
      env: { PATH: process.env.PATH },
    });
    expect(JSON.parse(String(sourced))).toMatchObject(values);
  });
});

describe('the systemd unit', () => {
  const unit = read('systemd/causeway.service');
  const start = /^ExecStart=(.*)$/m.exec(unit)?.[1] ?? '';

  test('runs node itself on a file that exists, and stops restarting when the settings are wrong', () => {
    const [program, script = '', command] = start.split(' ');
    expect([program, command]).toEqual(['/usr/bin/node', 'serve']);
    expect(existsSync(script.replace('/opt/causeway', ROOT))).toBe(true);
    expect(unit).toContain('RestartPreventExitStatus=2');
  });

  test('is accepted by systemd, which finds little exposure', ({ skip }) => {
    if (spawnSync('systemd-analyze', ['--version']).status !== 0) return skip('systemd-analyze is missing');
    const file = join(folder, 'causeway.service');
    writeFileSync(file, unit.replaceAll('/usr/bin/node', process.execPath).replaceAll('/opt/causeway', ROOT));
    const verified = spawnSync('systemd-analyze', ['verify', '--man=no', file], { encoding: 'utf8' });
    expect([
      verified.status,
      verified.stderr.split('\n').filter((line) => line.includes('causeway.service')),
    ]).toEqual([0, []]);
    const rated = spawnSync('systemd-analyze', ['security', '--offline=yes', '--threshold=20', file], {
      encoding: 'utf8',
    });
    expect(rated.status, rated.stdout).toBe(0);
  });
});

test('the container image runs Node 24 as an unprivileged user, and its steps are those that CI runs', () => {
  const file = read('container/Containerfile').replaceAll(/\\\n\s*/g, '');
  const instructions = file.split('\n').filter((line) => /^[A-Z]/.test(line));
  const of = (name: string) =>
    instructions.filter((line) => line.startsWith(`${name} `)).map((line) => line.slice(name.length + 1));
  for (const image of of('FROM'))
    expect(image).toMatch(/^docker\.io\/library\/node:24-bookworm-slim( AS build)?$/);
  expect(of('USER')).toEqual(['node']);
  expect(of('ADD')).toEqual([]);
  expect(JSON.parse(of('ENTRYPOINT')[0] ?? '')).toEqual(['node', 'service/bin/causeway.mjs']);
  expect(of('RUN')).toEqual([expect.stringContaining('node service/bin/release.mjs /opt/causeway')]);
  expect(of('COPY').at(-1)).toBe('--from=build /opt/causeway /opt/causeway');
  const settings = of('ENV').flatMap((line) => [...line.matchAll(/(\w+)=/g)].map(([, name = '']) => name));
  expect(settings.filter((name) => name !== 'NODE_ENV' && !isSetting(name))).toEqual([]);
});

test('the compose file builds the image, waits for the database and keeps both off the network', () => {
  const { services } = parse(read('compose.yml'));
  const { causeway, database } = services;
  expect(existsSync(join(DEPLOY, causeway.build.context, causeway.build.dockerfile))).toBe(true);
  expect(Object.keys(causeway.environment).filter((name) => !isSetting(name))).toEqual([]);
  expect(causeway.depends_on.database.condition).toBe('service_healthy');
  expect(database.healthcheck.test).toBeDefined();
  expect(database.ports).toBeUndefined();
  for (const port of causeway.ports) expect(port).toMatch(/^127\.0\.0\.1:/);
});

describe('the Kubernetes manifests', () => {
  const documents = parseAllDocuments(read('kubernetes/causeway.yaml')).map((document) => {
    expect(document.errors).toEqual([]);
    return document.toJS();
  });
  const find = (kind: string) => documents.find((each) => each.kind === kind);
  const { spec } = find('Deployment');
  const [container] = spec.template.spec.containers;

  test('select the pods of the deployment', () => {
    const { labels } = spec.template.metadata;
    const selectors = [
      ...[spec.selector.matchLabels, find('Service').spec.selector],
      ...[
        find('PodDisruptionBudget').spec.selector.matchLabels,
        find('NetworkPolicy').spec.podSelector.matchLabels,
      ],
    ];
    for (const selector of selectors) expect(labels).toEqual(selector);
    const kustomization = parse(read('kubernetes/kustomization.yaml'));
    expect(kustomization.secretGenerator[0].name).toBe(container.envFrom[0].secretRef.name);
    expect(kustomization.images[0].name).toBe(container.image);
    for (const file of kustomization.resources)
      expect(existsSync(join(DEPLOY, 'kubernetes', file))).toBe(true);
  });

  test('ask the process for liveness, the database for readiness, and leave time to drain', () => {
    expect(container.livenessProbe.httpGet.path).toBe('/health');
    expect(container.readinessProbe.httpGet.path).toBe('/health/ready');
    const [, seconds] = container.lifecycle.preStop.exec.command;
    expect(spec.template.spec.terminationGracePeriodSeconds).toBeGreaterThan(Number(seconds) + 10);
    const ports = container.ports.map(({ name }: { name: string }) => name);
    for (const probe of ['startupProbe', 'livenessProbe', 'readinessProbe'])
      expect(ports).toContain(container[probe].httpGet.port);
    expect(ports).toContain(find('Service').spec.ports[0].targetPort);
    expect(
      container.env.map(({ name }: { name: string }) => name).filter((name: string) => !isSetting(name)),
    ).toEqual([]);
    expect(spec.strategy.rollingUpdate.maxUnavailable).toBe(0);
  });
});

describe('the proxies', () => {
  const reason = installProxies();
  const paths = { crt: join(folder, 'tls.crt'), key: join(folder, 'tls.key'), pem: join(folder, 'tls.pem') };
  writeFileSync(paths.crt, LOCALHOST.cert);
  writeFileSync(paths.key, LOCALHOST.key);
  writeFileSync(paths.pem, `${LOCALHOST.cert}\n${LOCALHOST.key}\n`);
  const place = async (text: string) =>
    text
      .replaceAll('/etc/causeway/', `${folder}/`)
      .replace(/(listen |bind :)80\b/, `$1${await freePort()}`)
      .replace(/(listen |bind :)443\b/, `$1${await freePort()}`);

  test('nginx accepts its configuration', async ({ skip }) => {
    if (reason !== null) return skip(reason);
    const file = join(folder, 'nginx.conf');
    writeFileSync(file, `pid ${folder}/nginx.pid;\n${await place(read('nginx.conf'))}`);
    const { status, stderr } = spawnSync('/usr/sbin/nginx', ['-t', '-e', 'stderr', '-c', file], {
      encoding: 'utf8',
    });
    expect([status, stderr.match(/\[(warn|emerg|error)\].*/g)]).toEqual([0, null]);
  });

  test('HAProxy accepts its configuration', async ({ skip }) => {
    if (reason !== null) return skip(reason);
    const file = join(folder, 'haproxy.cfg');
    writeFileSync(file, await place(read('haproxy.cfg')));
    const { status, stdout, stderr } = spawnSync('/usr/sbin/haproxy', ['-c', '-f', file], {
      encoding: 'utf8',
    });
    expect([status, (stdout + stderr).match(/\[(WARNING|ALERT)\].*/g)]).toEqual([0, null]);
  });
});

test('PgBouncer forwards what the service sends when it connects', () => {
  const settings = Object.fromEntries(
    [...read('pgbouncer.ini').matchAll(/^(\w+) = (.*)$/gm)].map(([, name, value]) => [name, value]),
  );
  expect(settings.pool_mode).toBe('transaction');
  expect(Number(settings.max_prepared_statements)).toBeGreaterThan(0);
  expect(settings.ignore_startup_parameters).toBe('statement_timeout,idle_in_transaction_session_timeout');
});

test('Patroni confirms writes on a standby and fences a primary that was frozen', () => {
  const { bootstrap, watchdog, etcd3 } = parse(read('patroni/patroni.yml'));
  expect(bootstrap.dcs).toMatchObject({ synchronous_mode: true, synchronous_mode_strict: true });
  expect(watchdog.mode).toBe('required');
  expect(etcd3.hosts.split(',')).toHaveLength(3);
  expect(watchdog.safety_margin).toBeLessThan(bootstrap.dcs.ttl - bootstrap.dcs.loop_wait);
});

describe('the dashboards', () => {
  const files = readdirSync(join(DEPLOY, 'grafana')).filter((name) => name.endsWith('.json'));
  type Panel = { title: string; targets: { expr: string }[] };
  const dashboards = files.map(
    (name) => JSON.parse(read(`grafana/${name}`)) as { uid: string; panels: Panel[] },
  );
  /** What postgres_exporter provides. */
  const EXPORTER =
    /^pg_(stat_database_(xact_commit|xact_rollback|numbackends|blks_hit|blks_read|deadlocks)|database_size_bytes|replication_lag_seconds)$/;

  test('cover every area, and each has its own id', () => {
    expect(files.sort()).toEqual([
      ...['nodes.json', 'overview.json', 'postgresql.json', 'providers-and-webhooks.json'],
      ...['queues.json', 'rpc.json', 'settlement.json', 'sign-in.json'],
    ]);
    expect(new Set(dashboards.map(({ uid }) => uid)).size).toBe(files.length);
  });

  test('every metric of a panel is one that the service registers, and every own metric is shown', async () => {
    const source = readSourceTree().filter(
      ({ path }) => path.startsWith('service/src/') && !/\.test\.ts$/.test(path),
    );
    const own = new Set(
      source.flatMap(({ text }) => [...text.matchAll(/'(causeway_\w+)'/g)].map(([, name]) => name)),
    );
    const defaults = new Set(
      createMetrics()
        .registry.getMetricsAsArray()
        .map(({ name }) => name),
    );
    const panels = dashboards.flatMap((each) => each.panels);
    const used = new Set(
      panels.flatMap(({ targets }) =>
        targets.flatMap(({ expr }) => expr.match(/\b(causeway|pg)_\w+/g) ?? []),
      ),
    );
    const base = (name: string) => name.replace(/_(bucket|count|sum)$/, '');
    const unknown = [...used].filter(
      (name) =>
        ![name, base(name)].some((each) => own.has(each) || defaults.has(each)) && !EXPORTER.test(name),
    );
    expect(unknown).toEqual([]);
    const shown = new Set([...used].map(base));
    const UNSHOWN = ['causeway_device', 'causeway_session_check', 'causeway_sanctions_list_stale'];
    expect(
      [...own].filter((name = '') => !shown.has(name) && !used.has(name) && !UNSHOWN.includes(name)),
    ).toEqual([]);
  });

  test('are generated', async () => {
    const copy = join(folder, 'grafana');
    mkdirSync(copy);
    writeFileSync(join(copy, 'generate.mjs'), read('grafana/generate.mjs'));
    await promisify(execFile)(process.execPath, [join(copy, 'generate.mjs')]);
    for (const name of files) expect(readFileSync(join(copy, name), 'utf8')).toBe(read(`grafana/${name}`));
  });
});
