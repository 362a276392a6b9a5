import type { CompiledQuery, PostgresPool, PostgresPoolClient } from 'kysely';
import type pg from 'pg';
import type { FairQueue } from '../../kernel/fair-queue.ts';
import { COMMIT } from './commit-calls.ts';
import { breaksConnection, canSendTogether, nameOf, runInOrder, type Statement } from './query.ts';
import { BEGIN, beginningOf } from './tagged-transactions.ts';
import { TOGETHER, TOGETHER_WITH_COMMIT } from './together.ts';

// The maximum number of named statements. The text of some queries varies, for example with their filters. Without a
// limit, the plans of these queries would fill the database server's memory.
const MAX_NAMED_STATEMENTS = 1_000;
// Statements with a longer text get no name. They are bulk statements, whose text depends on the number of rows, so
// they are rarely repeated.
const MAX_NAMED_LENGTH = 8_000;

/**
 * The names of the statements, by text. Once there are `MAX_NAMED_STATEMENTS` names, a new generation starts without
 * names. When a connection of an older generation is released, it is closed, so that its plans are freed.
 */
type Statements = { names: Map<string, string>; generation: number };

/**
 * Wraps the pool for Kysely. Each distinct query gets a name, so that every connection prepares the query only once.
 * Long bulk statements get no name. A connection that an error has made unusable is closed instead of returned to the
 * pool. Each lane has its own queue for connections.
 */
export function nameStatements(pool: pg.Pool, queue: FairQueue): (lane: string) => PostgresPool {
  const statements: Statements = { names: new Map(), generation: 0 };
  // Kysely recognizes a connection by object identity, so each client keeps one wrapper.
  const wrapped = new WeakMap<pg.PoolClient, NamingClient>();
  const connect = async (lane: string) => {
    const leave = await queue.take(lane);
    try {
      const client = await pool.connect();
      const known = wrapped.get(client) ?? wrapClient(client, statements);
      wrapped.set(client, known);
      known.leave = leave;
      return known;
    } catch (error) {
      leave();
      throw error;
    }
  };
  return (lane) => ({ connect: () => connect(lane), end: () => pool.end() });
}

type NamingClient = PostgresPoolClient & { leave(): void };

const COMMIT_STATEMENT: Statement = { name: 'commit', text: COMMIT, values: [] };

/** The result of a statement that was not sent. */
const NO_ROWS = { command: '', rowCount: null, rows: [] };

function wrapClient(client: pg.PoolClient, statements: Statements): NamingClient {
  let isBroken = false;
  const { generation } = statements;
  /** The statements that begin the transaction, until they are sent together with its first statement. */
  let beginning: readonly Statement[] | null = null;
  /** Why the transaction could not begin, or why its first statement failed. */
  let failure: unknown = null;
  /** Whether the transaction has ended but its owner has not released the connection yet. */
  let hasEnded = false;
  /** Whether the transaction was committed together with its last statements. */
  let isCommitted = false;
  /** Settles when everything that was enqueued has run. */
  let latest: Promise<unknown> = Promise.resolve();
  // Runs calls one after the other. The statements of one call may be sent one by one, and no other call, such as a
  // rollback, may come between them.
  const enqueue = <T>(call: () => Promise<T>): Promise<T> => {
    const done = latest.then(call);
    latest = done.catch(() => undefined);
    return done;
  };
  const send = async (list: readonly Statement[]) => {
    try {
      return await runInOrder(client, list);
    } catch (error) {
      isBroken ||= breaksConnection(error);
      // Points the stack trace to the code that made the query, not to the socket.
      if (error instanceof Error) Error.captureStackTrace(error);
      throw error;
    }
  };
  const begin = async (before: readonly Statement[], list: readonly Statement[]) => {
    try {
      return (await send([...before, ...list])).slice(before.length);
    } catch (error) {
      failure = error;
      throw error;
    }
  };
  /** Runs the statements of one call. Begins the transaction first if it has not begun. */
  const run = (list: readonly Statement[]) => {
    // A statement that the transaction's callback did not wait for must not run after the transaction has ended.
    if (hasEnded)
      return Promise.reject(new Error('the transaction that this statement belongs to has ended'));
    const before = beginning;
    beginning = null;
    return enqueue(() => {
      if (before !== null) return begin(before, list);
      // If the transaction could not begin, its other statements must not run outside a transaction.
      return failure === null ? send(list) : Promise.reject(failure);
    });
  };
  /**
   * Runs `calls` (SQL `call` statements; see `COMMIT`), then ends the transaction. Sends nothing if the transaction is
   * empty or already committed. Also sends no rollback on a broken connection, because closing the connection rolls the
   * transaction back.
   */
  const end = async (text: 'commit' | 'rollback', calls: readonly string[]) => {
    const before = beginning;
    beginning = null;
    hasEnded = true;
    if (before !== null && calls.length === 0) return NO_ROWS;
    return enqueue(async () => {
      const cause = failure;
      failure = null;
      if (isCommitted) return NO_ROWS;
      if (isBroken && text === 'rollback') return NO_ROWS;
      // If the transaction could not begin, the calls would take effect outside a transaction.
      if (cause !== null && calls.length > 0) throw cause;
      // If a call fails, PostgreSQL skips the rest of the text, including the commit, and the transaction is
      // rolled back.
      return (await send([...(before ?? []), { text: [...calls, text].join('; ') }])).at(-1);
    });
  };
  const runAndCommit = async (list: readonly Statement[]) => {
    const running = run([...list, COMMIT_STATEMENT]);
    hasEnded = true;
    const results = await running;
    isCommitted = true;
    return results.slice(0, -1);
  };
  const name = (text: string, values: readonly unknown[]): Statement => ({
    name: nameStatement(statements, text),
    text,
    values: values as unknown[],
  });
  async function query(text: string, values: readonly unknown[]) {
    if (text === BEGIN) {
      beginning = beginningOf(values as string[], canSendTogether(client));
      return NO_ROWS;
    }
    if (text === TOGETHER || text === TOGETHER_WITH_COMMIT) {
      const list = (values as CompiledQuery[]).map(({ sql, parameters }) => name(sql, parameters));
      const results = await (text === TOGETHER ? run(list) : runAndCommit(list));
      return { command: '', rowCount: null, rows: results.map(({ rows }) => rows) };
    }
    if (text === COMMIT || text === 'rollback') return end(text, values as string[]);
    const [result] = await run([name(text, values)]);
    return result;
  }
  const wrapper: NamingClient = {
    // The other overload is for cursors, which we do not use.
    query: query as unknown as PostgresPoolClient['query'],
    leave: () => undefined,
    release: () => {
      const { leave } = wrapper;
      hasEnded = false;
      isCommitted = false;
      client.release(isBroken || generation !== statements.generation);
      leave();
    },
  };
  return wrapper;
}

function nameStatement(statements: Statements, text: string): string | undefined {
  const known = statements.names.get(text);
  if (known) return known;
  if (text.length > MAX_NAMED_LENGTH || !/^\s*(select|insert|update|delete|merge|with)\b/i.test(text))
    return undefined;
  if (statements.names.size >= MAX_NAMED_STATEMENTS) {
    statements.names = new Map();
    statements.generation++;
  }
  const name = nameOf(text);
  statements.names.set(text, name);
  return name;
}
