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

type Opened = { listener: RequestListener; open(settings: DemoSettings, port: number): void };

/** Requests that come before the settings wait for them. */
function createGate(): Opened {
  const pages = createPages(buildPage);
  let opened: (listener: RequestListener) => void = () => undefined;
  const ready = new Promise<RequestListener>((done) => {
    opened = done;
  });
  return {
    listener: (request, response) => void ready.then((answer) => answer(request, response)),
    open: (settings, port) => {
      opened(createApp(settings, `http://localhost:${port}`, pages));
      void buildInPeace(settings.baseUrl, pages);
    },
  };
}

/** The service's own start comes first: the page is built when it answers. */
async function buildInPeace(baseUrl: string, pages: Pages): Promise<void> {
  for (let tries = 0; tries < 120; tries++) {
    const reply = await fetch(`${baseUrl}/health`, { signal: AbortSignal.timeout(1_000) }).catch(() => null);
    if (reply?.ok) break;
    await sleep(250);
  }
  await pages.prepare().catch((error: unknown) => console.error('The demo page could not be built:', error));
}

function runAsChild(): void {
  const gate = createGate();
  let close = async () => {};
  let port = 0;
  const exit = async () => {
    await close();
    process.exit(0);
  };
  // Ctrl-C reaches the whole process group; the parent says when it is our turn.
  process.on('SIGINT', () => undefined);
  process.on('SIGTERM', exit);
  // The channel closes with the parent however it ends, kill -9 included.
  process.on('disconnect', exit);
  process.on('message', async (message: DemoListen | DemoStart) => {
    if ('settings' in message) return gate.open(message.settings, port);
    const listening = await listenOnFirst(message.listen.host, message.listen.ports, gate.listener);
    ({ close, port } = listening);
    process.send?.({ listening: { port } } satisfies DemoListening);
  });
}

async function runAlone(): Promise<void> {
  const gate = createGate();
  const { settings, host, port: wanted } = readSettings(process.env);
  const { port, close } = await listenOnFirst(host, [wanted], gate.listener);
  gate.open(settings, port);
  console.log(`Harbour Invest listens on http://localhost:${port}`);
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.on(signal, () => void close().then(() => process.exit(0)));
}

if (process.send === undefined) {
  runAlone().catch((error: Error) => {
    console.error(error.message);
    process.exitCode = 1;
  });
} else runAsChild();
