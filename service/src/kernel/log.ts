import { hostname } from 'node:os';
import { type DestinationStream, type Logger, pino } from 'pino';
import pretty from 'pino-pretty';
import { realTime } from './clock.ts';
import { VERSION } from './version.ts';

/**
 * A logger that redacts secrets and personal data. The exception is `request`, which writes the lines of requests in
 * batches without searching them for secrets: that would cost more than most requests.
 */
export type Log = Logger & {
  request(members: Record<string, unknown>): void;
  flushRequests(): void;
};

export type LogOptions = { level: string; pretty: boolean; stream?: DestinationStream };

const FLUSH_INTERVAL_MS = 200;
const MAX_BATCH_LENGTH = 64 * 1024;

export function createLog({ level, pretty: isPretty, stream }: LogOptions): Log {
  const destination =
    stream ?? (isPretty ? prettyStream() : pino.destination({ dest: 1, sync: false, minLength: 0 }));
  const base = { instance: `${hostname()}-${process.pid}`, version: VERSION };
  const logger = pino(
    {
      level,
      base,
      formatters: { log: (record) => redact(record) as Record<string, unknown> },
      serializers: { err: (error: unknown) => redact(serializeError(error)) },
      hooks: {
        logMethod(args, method) {
          method.apply(
            this,
            args.map((arg) => (typeof arg === 'string' ? redactText(arg) : arg)) as typeof args,
          );
        },
      },
    },
    destination,
  );
  return Object.assign(logger, batchRequests(destination, logger.isLevelEnabled('info'), base));
}

/** Writes the last request lines when the process exits. */
export function flushOnExit({ flushRequests }: Log): void {
  // Must run before the listener with which pino writes the rest of its buffer.
  process.prependOnceListener('exit', flushRequests);
}

function batchRequests(destination: DestinationStream, enabled: boolean, base: object) {
  let lines = '';
  let timer: NodeJS.Timeout | undefined;
  const flushRequests = () => {
    clearTimeout(timer);
    timer = undefined;
    const batch = lines;
    lines = '';
    if (batch !== '') destination.write(batch);
  };
  const request: Log['request'] = (members) => {
    if (!enabled) return;
    lines += `${JSON.stringify({ level: 30, time: realTime(), ...members, msg: 'request', ...base })}\n`;
    if (lines.length >= MAX_BATCH_LENGTH) flushRequests();
    else timer ??= setTimeout(flushRequests, FLUSH_INTERVAL_MS).unref();
  };
  return { request, flushRequests };
}

function prettyStream(): DestinationStream {
  return pretty({
    sync: true,
    singleLine: true,
    translateTime: 'SYS:HH:MM:ss',
    ignore: 'pid,hostname,instance,version,request_id,client_id,user_id',
    messageFormat: (record, key) =>
      record.route === undefined
        ? String(record[key])
        : `${record.method} ${record.route} ${record.status} ${record.ms} ms`,
    customPrettifiers: {},
  });
}

const SECRET_KEY =
  /^(.*[_-]?(password|passphrase|secret|token|authorization|cookie|signature|private[_-]?key|api[_-]?key|code[_-]?verifier|assertion|otp|mnemonic)|code|e-?mail|username|login_hint|first_name|middle_name|last_name|full_legal_name|date_of_birth|tax_id|street|postal_code|pii)$/i;

const SECRET_SHAPES: readonly [RegExp, string][] = [
  [/\b(Bearer|Basic|DPoP)\s+[A-Za-z0-9._~+/=-]+/gi, '$1 [redacted]'],
  [/\beyJ[\w-]+\.[\w-]+\.[\w-]*/g, '[redacted jwt]'],
  [/\bcws_[\w-]+/g, '[redacted secret]'],
  [/\b0x[0-9a-fA-F]{128,}\b/g, '[redacted signature]'],
  [/(?<![\w-])[A-Za-z0-9_-]{43}(?![\w-])/g, '[redacted token]'],
  // The lookbehind lets a match begin only at the start of a word. Without the lookbehind, matching a long word would
  // take quadratic time.
  [/(?<![^\s@"'<>(),:;=/])[^\s@"'<>(),:;=/]+@[^\s@"'<>(),:;=/]+\.[A-Za-z]{2,}/g, '[redacted email]'],
  [/(postgres(?:ql)?|https?|redis|smtps?):\/\/[^\s/@:]*:[^\s/@]*@/gi, '$1://[redacted]@'],
];

export function redactText(text: string): string {
  let result = text;
  for (const [shape, replacement] of SECRET_SHAPES) result = result.replace(shape, replacement);
  return result;
}

/** Returns a copy without secrets and personal data. Recognizes them by member names and by patterns in text. */
export function redact(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return redactText(value);
  if (typeof value === 'bigint') return value.toString();
  if (typeof value !== 'object' || value === null) return value;
  if (depth > 8) return '[truncated]';
  if (value instanceof Error) return redact(serializeError(value), depth + 1);
  if (Buffer.isBuffer(value) || value instanceof Uint8Array) return '[bytes]';
  if (Array.isArray(value)) return value.slice(0, 100).map((item) => redact(item, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [
      key,
      SECRET_KEY.test(key) && item !== null && item !== undefined ? '[redacted]' : redact(item, depth + 1),
    ]),
  );
}

function serializeError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const { name, message, stack, cause } = error;
  // Logs only these fields of a database error. Other fields, such as `detail`, quote row values.
  const { code, constraint, table } = error as { code?: unknown; constraint?: unknown; table?: unknown };
  return {
    name,
    message,
    stack,
    error_code: code,
    constraint,
    table,
    ...(cause === undefined ? {} : { cause: serializeError(cause) }),
  };
}
