import { freePort } from '../../src/platform/http/listening.ts';
import { runCauseway, type Service, startService } from '../support/service.ts';
import { waitFor } from './cluster.ts';

/** Three nodes of the service. */
export type Nodes = {
  ports: number[];
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Runs a command with the settings of the nodes. Throws if the command fails. */
  command(...args: string[]): Promise<string>;
  /**
   * Waits until `operator reconcile --report` finds no difference. On a busy machine, reading the chain may time out at
   * first.
   */
  report(): Promise<unknown>;
  /** Returns true if a node reports that settlement is blocked for this reason, otherwise null. */
  findBlocked(reason: string): Promise<true | null>;
  /** Returns whether all nodes are still running. No failover may end a node. */
  areRunning(): boolean;
};

export async function createNodes(
  settings: Record<string, string>,
  databaseUrls: readonly string[],
): Promise<Nodes> {
  const plans = await Promise.all(
    databaseUrls.map(async (DATABASE_URL) => ({
      ...{ DATABASE_URL, PORT: String(await freePort()), METRICS_PORT: String(await freePort()) },
    })),
  );
  let running: Service[] = [];
  const command = async (...args: string[]) => {
    const { code, text } = await runCauseway(args, settings);
    if (code !== 0) throw new Error(`causeway ${args.join(' ')}: ${text}`);
    return text;
  };
  return {
    ports: plans.map(({ PORT }) => Number(PORT)),
    start: async () => {
      running = await Promise.all(plans.map((plan) => startService({ ...settings, ...plan })));
    },
    stop: async () => {
      await Promise.all(running.map((node) => node.stop().catch(() => undefined)));
    },
    command,
    report: () => waitFor('a report without differences', () => command('operator', 'reconcile', '--report')),
    findBlocked: async (reason) => {
      const pattern = new RegExp(`causeway_settlement_waiting\\{[^}]*reason="${reason}"[^}]*\\} [1-9]`);
      for (const { METRICS_PORT } of plans) {
        const text = await (await fetch(`http://127.0.0.1:${METRICS_PORT}/metrics`)).text();
        if (pattern.test(text)) return true;
      }
      return null;
    },
    areRunning: () => running.every(({ child }) => child.exitCode === null),
  };
}
