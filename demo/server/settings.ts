/** What an app needs to be a partner's; the secrets never reach a browser. */
export type DemoSettings = {
  /** Where Causeway is. */
  baseUrl: string;
  clientId: string;
  clientSecret: string;
  /** What the session cookie is sealed with, newest first. */
  sessionSecrets: string[];
  /** Whether the service is a sandbox, with test money, mails to read and controls. */
  isSandbox: boolean;
};

/** The first message of a parent process: where to listen, the first of these that is free. */
export type DemoListen = { listen: { host: string; ports: number[] } };
/** The answer to it. */
export type DemoListening = { listening: { port: number } };
/** The second message, once the service knows the address. */
export type DemoStart = { settings: DemoSettings };

type Environment = Record<string, string | undefined>;

/** How the app is started by hand; the same variables that a partner's app would have. */
export function readSettings(env: Environment): { settings: DemoSettings; host: string; port: number } {
  const required = (name: string) => {
    const value = env[name];
    if (value === undefined || value === '') throw new Error(`${name} is missing; see demo/README.md`);
    return value;
  };
  const port = Number(env.PORT ?? 3000);
  if (!Number.isInteger(port) || port < 0 || port > 65535) throw new Error('PORT must be 0 to 65535');
  return {
    settings: {
      baseUrl: required('CAUSEWAY_URL').replace(/\/+$/, ''),
      clientId: required('CAUSEWAY_CLIENT_ID'),
      clientSecret: required('CAUSEWAY_CLIENT_SECRET'),
      sessionSecrets: required('SESSION_SECRET').split(','),
      isSandbox: env.CAUSEWAY_SANDBOX === 'true',
    },
    host: env.HOST ?? 'localhost',
    port,
  };
}
