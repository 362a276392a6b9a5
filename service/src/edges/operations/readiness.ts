import type { Log } from '../../kernel/log.ts';
import type { PartState, Readiness } from '../../platform/context/ports.ts';

/** Checks one dependency. Throws if it is unavailable. */
export type Check = () => Promise<void>;

const CACHE_TTL_MS = 1_000;
const CHECK_TIMEOUT_MS = 2_000;
/**
 * How long the disk counts as full after a refused statement, whatever the check of the disk says: other data may have a
 * disk of its own.
 */
const FULL_DISK_TTL_MS = 10_000;

/**
 * Creates this node's `Readiness`. Only the `required` checks decide whether the node is ready. The `reported` checks
 * cover dependencies that all nodes share, such as a chain. If an outage of a chain made every node not ready, requests
 * that do not need the chain would fail too.
 */
export function createReadiness(
  required: ReadonlyMap<string, Check>,
  reported: ReadonlyMap<string, Check>,
  log: Log,
): Readiness {
  let isDraining = false;
  let fullDiskUntil = 0;
  let cached: { at: number; states: Promise<[string, PartState][]> } | undefined;
  const readStates = (): Promise<[string, PartState][]> => {
    if (cached === undefined || performance.now() - cached.at >= CACHE_TTL_MS)
      cached = { at: performance.now(), states: runChecks([...required, ...reported], log) };
    return cached.states;
  };
  return {
    read: async () => {
      const parts = Object.fromEntries(await readStates());
      if (performance.now() < fullDiskUntil) parts.disk = 'unavailable';
      const isReady = !isDraining && [...required.keys()].every((name) => parts[name] === 'ok');
      return { isReady, parts };
    },
    drain: () => {
      isDraining = true;
    },
    isDraining: () => isDraining,
    reportFullDisk: () => {
      fullDiskUntil = performance.now() + FULL_DISK_TTL_MS;
    },
  };
}

function runChecks(checks: readonly [string, Check][], log: Log): Promise<[string, PartState][]> {
  return Promise.all(
    checks.map(async ([part, check]): Promise<[string, PartState]> => {
      const err = await runCheck(check);
      if (err === null) return [part, 'ok'];
      log.warn({ err, part }, 'readiness check failed');
      return [part, 'unavailable'];
    }),
  );
}

async function runCheck(check: Check): Promise<unknown> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new Error(`no response within ${CHECK_TIMEOUT_MS} ms`)),
      CHECK_TIMEOUT_MS,
    );
  });
  try {
    await Promise.race([check(), timeout]);
    return null;
  } catch (error) {
    return error;
  } finally {
    clearTimeout(timer);
  }
}
