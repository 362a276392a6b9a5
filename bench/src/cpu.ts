import { readdirSync, readFileSync } from 'node:fs';

const TICK_MS = 10;

type Stat = { pid: number; parent: number; ownMs: number; endedMs: number };

/**
 * The CPU milliseconds used by a process (`ownMs`) and by all its descendants (`descendantsMs`). A benchmark target's
 * descendants are its database processes.
 */
export type CpuTime = { ownMs: number; descendantsMs: number };

/**
 * Returns the CPU time of a process and all its descendants, including descendants that have ended. Returns null if the
 * process does not exist, or if the system has no `/proc`.
 */
export function readCpuMs(pid: number): number | null {
  const time = readCpuTime(pid);
  return time === null ? null : time.ownMs + time.descendantsMs;
}

/** Like `readCpuMs`, but counts the process and its descendants separately. */
export function readCpuTime(pid: number): CpuTime | null {
  const own = readStat(pid);
  if (own === null) return null;
  const all = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => readStat(Number(name)))
    .filter((stat) => stat !== null);
  const descend = (parent: number): number =>
    all
      .filter((stat) => stat.parent === parent)
      .reduce((sum, stat) => sum + stat.ownMs + stat.endedMs + descend(stat.pid), 0);
  return { ownMs: own.ownMs, descendantsMs: own.endedMs + descend(pid) };
}

/** Returns the CPU milliseconds used by all cores together since the machine started. */
export function readMachineCpuMs(): number {
  const [user = 0, nice = 0, system = 0, , , interrupts = 0, softInterrupts = 0] = readFileSync(
    '/proc/stat',
    'utf8',
  )
    .split('\n', 1)
    .join()
    .split(/ +/)
    .slice(1)
    .map(Number);
  return (user + nice + system + interrupts + softInterrupts) * TICK_MS;
}

/** Returns the resident memory of a process in MB. */
export function readResidentMb(pid: number): number {
  const found = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return Number(found?.[1]) / 1024;
}

function readStat(pid: number): Stat | null {
  try {
    // The process name is in parentheses and may contain spaces, so fields are counted from the closing
    // parenthesis.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ')
      .map(Number);
    const [user = 0, system = 0, endedUser = 0, endedSystem = 0] = fields.slice(11, 15);
    return {
      pid,
      parent: fields[1] ?? 0,
      ownMs: (user + system) * TICK_MS,
      endedMs: (endedUser + endedSystem) * TICK_MS,
    };
  } catch {
    return null;
  }
}
