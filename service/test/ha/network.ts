import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** A machine: a network namespace that is connected to the other machines by a bridge. */
export type Machine = {
  address: string;
  /** Returns the command that runs `command` on this machine. */
  on(...command: string[]): [string, ...string[]];
  /** Pulls the cable. Open connections hang, as they do on a real network. */
  disconnect(): void;
  reconnect(): void;
  /** Sends a signal to every process on this machine, or to those whose title contains `title`. */
  signal(signal: NodeJS.Signals, title?: string): number;
};

export type Network = {
  machines: Machine[];
  /** The address at which the machines reach this process. */
  address: string;
  /** The addresses of all machines, for pg_hba.conf. */
  subnet: string;
  close(): void;
};

/** Throws if this system does not allow network namespaces, because without them no partition can be tested. */
export function createNetwork(count: number): Network {
  const name = `cw${process.pid}`;
  const prefix = `10.231.${process.pid % 256}`;
  const bridge = `${name}b`;
  const machines: Machine[] = [];
  const close = () => {
    for (let number = 1; number <= count; number++) {
      signalAll(`${name}n${number}`, 'SIGKILL');
      spawnSync('ip', ['netns', 'del', `${name}n${number}`]);
    }
    spawnSync('ip', ['link', 'del', bridge]);
  };
  try {
    ip('link', 'add', bridge, 'type', 'bridge');
    ip('address', 'add', `${prefix}.1/24`, 'dev', bridge);
    ip('link', 'set', bridge, 'up');
    for (let number = 1; number <= count; number++)
      machines.push(addMachine(`${name}n${number}`, bridge, `${prefix}.${10 + number}`));
  } catch (error) {
    close();
    throw new Error('a network partition needs network namespaces, which this system refuses', {
      cause: error,
    });
  }
  return { machines, address: `${prefix}.1`, subnet: `${prefix}.0/24`, close };
}

function addMachine(namespace: string, bridge: string, address: string): Machine {
  const cable = `${namespace}v`;
  ip('netns', 'add', namespace);
  ip('link', 'add', cable, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', namespace);
  ip('link', 'set', cable, 'master', bridge, 'up');
  ip('-n', namespace, 'address', 'add', `${address}/24`, 'dev', 'eth0');
  for (const device of ['lo', 'eth0']) ip('-n', namespace, 'link', 'set', device, 'up');
  return {
    address,
    on: (...command) => ['ip', 'netns', 'exec', namespace, ...command],
    disconnect: () => ip('link', 'set', cable, 'down'),
    reconnect: () => ip('link', 'set', cable, 'up'),
    signal: (signal, title = '') => signalAll(namespace, signal, title),
  };
}

/** Returns the number of processes that received the signal. */
function signalAll(namespace: string, signal: NodeJS.Signals, title = ''): number {
  const { stdout } = spawnSync('ip', ['netns', 'pids', namespace], { encoding: 'utf8' });
  const pids = (stdout ?? '').split('\n').filter((pid) => pid !== '' && titleOf(pid).includes(title));
  for (const pid of pids)
    try {
      process.kill(Number(pid), signal);
    } catch {
      // The process has exited in the meantime.
    }
  return pids.length;
}

function titleOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}

function ip(...args: string[]): void {
  const { status, stderr, error } = spawnSync('ip', args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`ip ${args.join(' ')}: ${error?.message ?? stderr.trim()}`);
}
