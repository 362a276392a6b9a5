/** The settings of a partner app. The secrets never reach a browser. */
export type DemoSettings = {
  /** The URL of the Causeway service. */
  baseUrl: string;
  clientId: string;
  clientSecret: string;
  /** The secrets that encrypt the session cookie, newest first. */
  sessionSecrets: string[];
  /** Whether the service is a sandbox, with test money, readable mail and controls. */
  isSandbox: boolean;
};

/** The first message from the parent process: the host, and the ports to try in order. */
export type DemoListen = { listen: { host: string; ports: number[] } };
/** The reply to `DemoListen`. */
export type DemoListening = { listening: { port: number } };
/** The second message, sent once the service knows the demo's URL. */
export type DemoStart = { settings: DemoSettings };

type Environment = Record<string, string | undefined>;

/** Reads the settings for a standalone start from the environment. Throws if a setting is missing or invalid. */
export function readSettings(env: Environment): { settings: DemoSettings; host: string; port: number } {
  const required = (name: string) => {
    const value = env[name];
    if (value === undefined || value === '') throw new Error(`${name} is not set; see demo/README.md`);
    return value;
  };
  const port = Number(env.PORT ?? 3000);
  if (!Number.isInteger(port) || port < 0 || port > 65535)
    throw new Error(`PORT must be an integer from 0 to 65535, not "${env.PORT}"`);
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
