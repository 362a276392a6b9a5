import { randomBytes } from 'node:crypto';
import { realClock } from '../clock.ts';
import { type Config, ConfigError } from '../config.ts';
import type { Context } from '../context.ts';
import { findEmbedded } from '../db/embedded.ts';
import { openPool } from '../db/pool.ts';
import { ApiError } from '../errors.ts';
import { createSealing } from '../sealing.ts';

/** What a command of an operator works with: the database beside the running nodes, no server. */
export type Operator = Pick<Context, 'db' | 'clock' | 'random' | 'sealing'>;

export async function runCommand<T>(config: Config, work: (ctx: Operator) => Promise<T>): Promise<T> {
  const url = config.databaseUrl ?? (await findEmbedded(config.dataDir));
  if (url === undefined)
    throw new ConfigError([
      `DATABASE_URL: is not set, and no service runs on ${config.dataDir}; start one with causeway serve, or name its folder with CAUSEWAY_DATA`,
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

/** A refusal of the rules, in one line for each argument that it is about. */
function toUsageError({ message, details }: ApiError): ConfigError {
  const lines = Object.entries(details).flatMap(([field, says]) =>
    [says].flat().map((one) => `${field}: ${one}`),
  );
  return new ConfigError(lines.length > 0 ? lines : [message]);
}
