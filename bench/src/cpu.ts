import { readdirSync, readFileSync } from 'node:fs';

const TICK_MS = 10;

/**
 * Returns the CPU time of a process and its children, including children that have ended. Returns null if the
 * system has no `/proc`.
 */
export function readCpuMs(pid: number): number | null {
  const own = readStat(pid);
  if (own === null) return null;
  const children = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => readStat(Number(name)))
    .filter((stat) => stat?.parent === pid);
  return children.reduce((sum, stat) => sum + (stat?.ownMs ?? 0), own.ownMs + own.endedMs);
}

function readStat(pid: number): { parent: number; ownMs: number; endedMs: number } | null {
  try {
    // The process name is in parentheses and may contain spaces, so fields are counted from the closing
    // parenthesis.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ')
      .map(Number);
    const [user = 0, system = 0, endedUser = 0, endedSystem = 0] = fields.slice(11, 15);
    return {
      parent: fields[1] ?? 0,
      ownMs: (user + system) * TICK_MS,
      endedMs: (endedUser + endedSystem) * TICK_MS,
    };
  } catch {
    return null;
  }
}
