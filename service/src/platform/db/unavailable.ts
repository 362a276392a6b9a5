/**
 * SQLSTATE codes after which the same request may succeed later:
 * - 08: connection exceptions.
 * - 53: insufficient disk, memory or connections.
 * - 57P01 to 57P05: the server ended or refused the session, for example at shutdown.
 * - 57014: cancellation.
 * - 3D000: missing database.
 * - 25006: read-only standby after a failover.
 * - 40001: serialization failure.
 * - 40P01: deadlock.
 */
const RETRYABLE_STATE = /^(08...|53...|57P0[1-5]|57014|3D000|25006|40001|40P01)$/;

const CONNECTION_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ETIMEDOUT',
  'EPIPE',
  'ENOTFOUND',
  'EAI_AGAIN',
]);

/** The messages of driver errors that have no code. */
const DRIVER_MESSAGES =
  /^(timeout exceeded when trying to connect|Connection terminated|Query read timeout|Client has encountered a connection error)/;

/**
 * Returns whether the error is temporary (the database is unreachable or overloaded, or transactions conflicted) rather
 * than caused by a bad query.
 */
export function isDatabaseUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code } = error as { code?: unknown };
  if (typeof code === 'string') return RETRYABLE_STATE.test(code) || CONNECTION_CODES.has(code);
  return DRIVER_MESSAGES.test(error.message);
}
