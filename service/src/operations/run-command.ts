import { randomBytes } from 'node:crypto';
import { realClock } from '../clock.ts';
import { type Config, ConfigError } from '../config.ts';
import { findEmbedded } from '../db/embedded.ts';
import { openPool } from '../db/pool.ts';
import { ApiError } from '../errors.ts';
import type { Kernel } from '../kernel.ts';
import { createSealing } from '../sealing.ts';
import { UsageError } from './command.ts';

/** The context of a command: it works on the database beside the running nodes. */
export type CommandContext = Pick<Kernel, 'db' | 'clock' | 'random' | 'sealing'>;

/** Runs `work` on the configured database, or on the embedded one of a running service. */
export async function runCommand<T>(config: Config, work: (ctx: CommandContext) => Promise<T>): Promise<T> {
  const url = config.databaseUrl ?? (await findEmbedded(config.dataDir));
  if (url === undefined)
    throw new ConfigError([
      `DATABASE_URL: is not set, and no service is running on ${config.dataDir}; start one with causeway serve, or point CAUSEWAY_DATA to its data directory`,
    ]);
  const { db, close } = openPool(url, { max: 2, applicationName: 'causeway-command' });
  try {
    return await work({
      db,
      clock: realClock(),
      random: randomBytes,
      sealing: createSealing(config.secrets, randomBytes),
    });
  } catch (error) {
    throw error instanceof ApiError ? toUsageError(error) : error;
  } finally {
    await close();
  }
}

/** Lists the messages per field if there are any. */
function toUsageError({ message, details }: ApiError): UsageError {
  const lines = Object.entries(details).flatMap(([field, messages]) =>
    Array.isArray(messages) ? messages.map((each) => `${field}: ${each}`) : [],
  );
  return new UsageError(lines.length > 0 ? lines.join('\n') : message);
}
