import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

export interface RunningProcess {
  pid: number;
  parent: number;
  command: string;
}

/** Lists all processes. On Linux, reads /proc, because a bare machine may not have `ps`. */
export function listProcesses(): RunningProcess[] {
  if (process.platform !== 'linux') return listByPs();
  return readdirSync('/proc').flatMap((entry) => {
    try {
      const status = readFileSync(`/proc/${entry}/stat`, 'utf8');
      const parent = Number(status.slice(status.lastIndexOf(')') + 2).split(' ')[1]);
      const command = readFileSync(`/proc/${entry}/cmdline`, 'utf8').replaceAll('\0', ' ');
      return [{ pid: Number(entry), parent, command }];
    } catch {
      return [];
    }
  });
}

function listByPs(): RunningProcess[] {
  return execFileSync('ps', ['-A', '-ww', '-o', 'pid=,ppid=,command='], { encoding: 'utf8' })
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .map(([pid, parent, ...command]) => ({
      pid: Number(pid),
      parent: Number(parent),
      command: command.join(' '),
    }));
}

/** Returns whether the process is running. Returns false for zombies. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    if (process.platform !== 'linux') return true;
    const status = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return status.slice(status.lastIndexOf(')') + 2)[0] !== 'Z';
  } catch {
    return false;
  }
}
