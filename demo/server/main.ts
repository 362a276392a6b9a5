import type { RequestListener } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { createApp } from './app.ts';
import { buildPage } from './build.ts';
import { listenOnFirst } from './listen.ts';
import { createPages, type Pages } from './pages.ts';
import {
  type DemoListen,
  type DemoListening,
  type DemoSettings,
  type DemoStart,
  readSettings,
} from './settings.ts';

type Gate = { listener: RequestListener; open(settings: DemoSettings, port: number): void };

/** Creates a gate that makes requests wait until `open` is called with the settings. */
function createGate(): Gate {
  const pages = createPages(buildPage);
  let resolveApp: (app: RequestListener) => void = () => undefined;
  const ready = new Promise<RequestListener>((resolve) => {
    resolveApp = resolve;
  });
  return {
    listener: (request, response) => void ready.then((app) => app(request, response)),
    open: (settings, port) => {
      resolveApp(createApp(settings, `http://localhost:${port}`, pages));
      void buildAfterStart(settings.baseUrl, pages);
    },
  };
}

const HEALTH_CHECKS = 120;
const HEALTH_CHECK_INTERVAL_MS = 250;

/**
 * Waits until the service is healthy or `HEALTH_CHECKS` checks have failed, and then builds the page. An earlier build
 * would slow down the service's start.
 */
async function buildAfterStart(baseUrl: string, pages: Pages): Promise<void> {
  for (let check = 0; check < HEALTH_CHECKS; check++) {
    const reply = await fetch(`${baseUrl}/health`, { signal: AbortSignal.timeout(1_000) }).catch(() => null);
    if (reply?.ok) break;
    await sleep(HEALTH_CHECK_INTERVAL_MS);
  }
  await pages
    .prepare()
    .catch((error: unknown) => console.error('Harbour Invest: could not build the page:', error));
}

function runAsChild(): void {
  const gate = createGate();
  let close = async () => {};
  let port = 0;
  const exit = async () => {
    await close();
    process.exit(0);
  };
  // Ignores Ctrl-C, which reaches the whole process group. The parent stops this process with SIGTERM instead.
  process.on('SIGINT', () => undefined);
  process.on('SIGTERM', exit);
  // The IPC channel closes when the parent exits, even if it is killed with SIGKILL.
  process.on('disconnect', exit);
  process.on('message', async (message: DemoListen | DemoStart) => {
    if ('settings' in message) return gate.open(message.settings, port);
    const listening = await listenOnFirst(message.listen.host, message.listen.ports, gate.listener);
    ({ close, port } = listening);
    process.send?.({ listening: { port } } satisfies DemoListening);
  });
}

async function runStandalone(): Promise<void> {
  const gate = createGate();
  const { settings, host, port: configuredPort } = readSettings(process.env);
  const { port, close } = await listenOnFirst(host, [configuredPort], gate.listener);
  gate.open(settings, port);
  console.log(`Harbour Invest is listening on http://localhost:${port}`);
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.on(signal, () => void close().then(() => process.exit(0)));
}

if (process.send === undefined) {
  runStandalone().catch((error: Error) => {
    console.error(error.message);
    process.exitCode = 1;
  });
} else runAsChild();
