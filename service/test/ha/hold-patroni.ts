import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Python loads this module when it starts. While the file `hold` exists, Patroni waits between reading who the leader
 * is and renewing its lock. A machine that is frozen at that moment takes the lock back when it resumes.
 */
const SITECUSTOMIZE = `
import os, time
from patroni.dcs.etcd3 import Etcd3

update_leader = Etcd3._update_leader

def hold_and_update_leader(self, *args):
    while os.path.exists(os.environ['PATRONI_HOLD']):
        with open(os.environ['PATRONI_HOLD'] + 'ing', 'w'):
            time.sleep(0.05)
    return update_leader(self, *args)

Etcd3._update_leader = hold_and_update_leader
`;

export type Hold = {
  /** Environment variables for Patroni. */
  environment: string[];
  request(): void;
  /** Returns true if Patroni is waiting, otherwise null. */
  isHolding(): true | null;
  /** Lets Patroni continue. */
  release(): void;
};

/** Prepares to stop Patroni just before it renews its lock. PostgreSQL's user must be able to write to `home`. */
export function prepareHold(folder: string, home: string): Hold {
  const modules = join(folder, 'python');
  mkdirSync(modules, { recursive: true });
  writeFileSync(join(modules, 'sitecustomize.py'), SITECUSTOMIZE);
  const file = join(home, 'hold');
  return {
    environment: [`PYTHONPATH=${modules}`, `PATRONI_HOLD=${file}`],
    request: () => writeFileSync(file, ''),
    isHolding: () => (existsSync(`${file}ing`) ? true : null),
    release: () => {
      rmSync(file);
      rmSync(`${file}ing`, { force: true });
    },
  };
}
