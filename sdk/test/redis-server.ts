import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { freePort } from '../../service/src/platform/http/listening.ts';
import { extractDebianPackage } from '../../service/test/support/packages.ts';

export type RedisServer = { port: number; stop(): Promise<void> };

/** Starts a real Redis without persistence. Returns the reason if that is impossible on this machine. */
export async function startRedisServer(): Promise<RedisServer | { problem: string }> {
  const folders = ['redis-tools', 'libjemalloc2', 'liblzf1'].map(extractDebianPackage);
  const [redis = '', ...libraries] = folders.filter((folder) => typeof folder === 'string');
  const problem = folders.find((folder) => typeof folder !== 'string');
  if (problem !== undefined) return problem;
  const port = await freePort();
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
  // On Debian, `redis-server` is a link to this file. The program acts as a server only if it is started
  // under that name.
  const child = spawn(join(redis, 'usr/bin/redis-check-rdb'), args, {
    argv0: 'redis-server',
    stdio: 'ignore',
    env: { LD_LIBRARY_PATH: libraries.flatMap(libraryFolders).join(':') },
  });
  await waitUntilListening(child, port);
  return {
    port,
    stop: async () => {
      child.kill();
      if (child.exitCode === null) await once(child, 'exit');
    },
  };
}

function libraryFolders(folder: string): string[] {
  const lib = join(folder, 'usr/lib');
  return readdirSync(lib).map((name) => join(lib, name));
}

async function waitUntilListening(child: ChildProcess, port: number): Promise<void> {
  while (child.exitCode === null) {
    const socket = connect(port, '127.0.0.1');
    const isOpen = await new Promise<boolean>((resolve) => {
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    });
    socket.destroy();
    if (isOpen) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`redis-server exited with ${child.exitCode}`);
}
