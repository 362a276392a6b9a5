import { fileURLToPath } from 'node:url';
import { createServer, type Plugin } from 'vite';
import { createApp } from './app.ts';
import type { DemoSettings } from './settings.ts';

const PORT = 5173;
const APP_PATHS = /^\/(callback|config\.json|offers\.json|causeway\/.*|sandbox\/.*)$/;

/** Serves the app's own routes from Vite's development server. */
function appRoutes(settings: DemoSettings): Plugin {
  const app = createApp(settings, `http://localhost:${PORT}`, {
    respond: async () => new Response(null, { status: 404 }),
    prepare: async () => undefined,
  });
  return {
    name: 'harbour-app-routes',
    configureServer: (server) => {
      server.middlewares.use((request, response, next) => {
        if (APP_PATHS.test(request.url?.split('?')[0] ?? '/')) app(request, response);
        else next();
      });
    },
  };
}

async function readSandbox(url: string): Promise<DemoSettings> {
  const reply = await fetch(`${url}/sandbox`, { signal: AbortSignal.timeout(5_000) }).catch(() => null);
  if (!reply?.ok)
    throw new Error(`No sandbox is running at ${url}; start one with: CAUSEWAY_DEMO=off npm start`);
  const { base_url, partner } = (await reply.json()) as {
    base_url: string;
    partner: { client_id: string; client_secret: string };
  };
  return {
    baseUrl: base_url,
    clientId: partner.client_id,
    clientSecret: partner.client_secret,
    // The client secret does not change while the sandbox runs. Using it as the session secret keeps users signed in
    // when this server restarts.
    sessionSecrets: [partner.client_secret],
    isSandbox: true,
  };
}

const settings = await readSandbox(process.env.CAUSEWAY_URL ?? 'http://127.0.0.1:8080');
const server = await createServer({
  configFile: fileURLToPath(new URL('../vite.config.ts', import.meta.url)),
  server: { port: PORT, strictPort: true },
  plugins: [appRoutes(settings)],
});
await server.listen();
server.printUrls();
