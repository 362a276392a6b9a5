import { WebSocket } from 'undici';

export type Memory = {
  /** The memory held after a full garbage collection, in MiB: JavaScript objects and buffers. */
  held: number;
  /** The resident memory in MiB. It includes pages that the allocators keep for later. */
  resident: number;
};

const MIB = 1024 * 1024;

/** Connects to a process that was started with `--inspect`. */
export async function openMemoryProbe(
  output: string,
): Promise<{ measure(): Promise<Memory>; close(): void }> {
  const url = /Debugger listening on (ws:\S+)/.exec(output)?.[1];
  if (url === undefined) throw new Error('the process was not started with --inspect');
  const socket = new WebSocket(url);
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve);
    socket.addEventListener('error', reject);
  });
  const waiting = new Map<number, (result: { result?: { value?: string } }) => void>();
  socket.addEventListener('message', ({ data }) => {
    const { id, result } = JSON.parse(String(data));
    waiting.get(id)?.(result);
    waiting.delete(id);
  });
  let count = 0;
  const call = (method: string, params = {}) =>
    new Promise<{ result?: { value?: string } }>((resolve) => {
      waiting.set(++count, resolve);
      socket.send(JSON.stringify({ id: count, method, params }));
    });
  return {
    measure: async () => {
      await call('HeapProfiler.collectGarbage');
      const { result } = await call('Runtime.evaluate', {
        expression: 'JSON.stringify(process.memoryUsage())',
      });
      const { heapUsed, external, rss } = JSON.parse(result?.value ?? '') as NodeJS.MemoryUsage;
      return { held: toMiB(heapUsed + external), resident: toMiB(rss) };
    },
    close: () => socket.close(),
  };
}

function toMiB(bytes: number): number {
  return Math.round((bytes / MIB) * 10) / 10;
}
