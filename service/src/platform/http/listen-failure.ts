import { ConfigError } from '../../kernel/config/config.ts';

const REASONS: Record<string, string> = {
  EADDRINUSE: 'is already in use; stop the process that is using it or choose another port',
  EACCES: 'needs more privileges; choose a port above 1023',
  EADDRNOTAVAIL: 'is not an address of this machine',
  ENOTFOUND: 'cannot be resolved',
};

/** Runs `listen`. If the address cannot be used, throws `ConfigError` with a one-line explanation. */
export async function listenOrExplain<T>(
  settings: string,
  host: string,
  port: number,
  listen: () => Promise<T>,
): Promise<T> {
  try {
    return await listen();
  } catch (error) {
    const reason = REASONS[String((error as { code?: unknown }).code)];
    if (reason === undefined) throw error;
    throw new ConfigError([`${settings}: ${host} port ${port} ${reason}`]);
  }
}
