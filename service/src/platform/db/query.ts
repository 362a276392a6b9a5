import { createHash } from 'node:crypto';
import pg from 'pg';
import { serialize } from 'pg-protocol';

/** A statement to run. The type leaves out the other options of `pg`, because `newQuery` ignores them. */
export type Statement = Pick<pg.QueryConfig, 'text' | 'values'> & { name?: string | undefined };

/** Runs hand-written statements. `pg.Pool` implements this type. */
export type Queryable = {
  query<Row extends pg.QueryResultRow>(statement: Statement): Promise<{ rows: Row[] }>;
};

/** Returns the name under which a statement is prepared. Statements with the same text have the same name. */
export function nameOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}

/** How `pg` reads the rows of a statement. */
type RowReader = { fields: pg.FieldDef[]; _parsers: unknown; _prebuiltEmptyResultObject: unknown };
type Connection = pg.Connection & {
  parsedStatements: Partial<Record<string, string>>;
  _send(messages: Buffer): void;
};

/**
 * The members of `pg.Query` that we use. The type declaration of `pg.Query` leaves most of them out. `T` is the type of
 * the result.
 */
type BaseQuery<T> = {
  name: string;
  text: string;
  values: unknown[];
  callback?: Callback<T>;
  _result: RowReader & pg.QueryResult;
  _accumulateRows: boolean;
  _canceledDueToError: Error | false;
  submit(connection: Connection): Error | null;
  handleDataRow(message: unknown): void;
  handleCommandComplete(message: unknown, connection: Connection): void;
  handleReadyForQuery(): void;
};
type Callback<T> = (error: Error | null | undefined, result?: T) => void;

const BaseQuery = pg.Query as unknown as new <T>(text: string, values: unknown[] | undefined) => BaseQuery<T>;
const { prepareValue } = (pg as unknown as { utils: { prepareValue(value: unknown): unknown } }).utils;
const EXECUTE = serialize.execute();
const SYNC = serialize.sync();

/** The row readers of each connection, by statement name. */
const rowReaders = new WeakMap<Connection, Map<string, RowReader>>();

/**
 * From now on, this connection asks the server only once for the columns of each named statement. One answer is enough,
 * because the columns of a prepared statement never change: if a migration would change them, the server refuses to run
 * the statement. Do not call this function for connections to a pooler: a pooler may prepare the statement again on
 * another server connection.
 */
export function describeOnce(client: pg.ClientBase): void {
  rowReaders.set(connectionOf(client), new Map());
}

/**
 * Returns whether statements can be sent together on this connection. They can, unless the connection leads to a
 * pooler.
 */
export function canSendTogether(client: pg.ClientBase): boolean {
  return rowReaders.has(connectionOf(client));
}

function connectionOf(client: pg.ClientBase): Connection {
  return (client as unknown as { connection: Connection }).connection;
}

/** Returns whether the connection has prepared the statement and knows the columns of its rows. */
function isKnown(connection: Connection, { name = '', text }: Statement): boolean {
  return rowReaders.get(connection)?.has(name) === true && connection.parsedStatements[name] === text;
}

/**
 * A query that runs a named statement. `pg` sends a separate message to ask for the columns of every query. If the
 * columns are already known, this class leaves that message out and sends the other messages in one write.
 */
class NamedQuery extends BaseQuery<pg.QueryResult> {
  constructor({ name = '', text, values }: Statement) {
    super(text, values);
    this.name = name;
  }

  override submit(connection: Connection): Error | null {
    return isKnown(connection, this) ? send(connection, [this]) : super.submit(connection);
  }

  /** Returns the message that passes the values. The connection must know the statement; see `isKnown`. */
  bind(connection: Connection): Buffer {
    const { _result: result, name: statement, values } = this;
    const reader = rowReaders.get(connection)?.get(statement);
    if (reader !== undefined) {
      result.fields = reader.fields;
      result._parsers = reader._parsers;
      result._prebuiltEmptyResultObject = reader._prebuiltEmptyResultObject;
    }
    this._accumulateRows = true;
    return serialize.bind({ statement, values, valueMapper: prepareValue });
  }

  override handleCommandComplete(message: unknown, connection: Connection): void {
    super.handleCommandComplete(message, connection);
    const readers = rowReaders.get(connection);
    if (readers === undefined || readers.has(this.name)) return;
    const { fields, _parsers, _prebuiltEmptyResultObject } = this._result;
    readers.set(this.name, { fields, _parsers, _prebuiltEmptyResultObject });
  }
}

/**
 * Runs several statements in order. They are sent together and answered together. If one fails, the server skips the
 * later ones. The server enforces a timeout for each statement, and `pg` enforces one for the whole batch.
 *
 * Must be a class: if every batch had closures of its own, V8 would move finished batches, with all that they refer to,
 * to the old generation, and keep them until the next full garbage collection.
 */
class Batch extends BaseQuery<pg.QueryResult[]> {
  readonly #queries: readonly NamedQuery[];
  #finished = 0;

  constructor(queries: readonly NamedQuery[]) {
    super('', undefined);
    this.#queries = queries;
  }

  override submit(connection: Connection): Error | null {
    return send(connection, this.#queries);
  }

  override handleDataRow(message: unknown): void {
    this.#queries[this.#finished]?.handleDataRow(message);
  }

  override handleCommandComplete(message: unknown, connection: Connection): void {
    this.#queries[this.#finished]?.handleCommandComplete(message, connection);
    this.#finished++;
  }

  override handleReadyForQuery(): void {
    const unreadable = this.#queries.find(({ _canceledDueToError: error }) => error !== false);
    const results = this.#queries.map(({ _result }) => _result);
    this.callback?.(unreadable?._canceledDueToError || null, results);
  }
}

function send(connection: Connection, queries: readonly NamedQuery[]): Error | null {
  try {
    const messages: Buffer[] = [];
    for (const query of queries) messages.push(query.bind(connection), EXECUTE);
    messages.push(SYNC);
    connection._send(Buffer.concat(messages));
    return null;
  } catch (error) {
    return error as Error;
  }
}

/**
 * Creates a query for `submit`. If the statement were passed to `pg` as an object, `pg` would copy it with all property
 * descriptors. That copy costs more than everything else needed to start a query.
 */
export function newQuery(statement: Statement): BaseQuery<pg.QueryResult> {
  const { name, text, values } = statement;
  return name === undefined ? new BaseQuery(text, values) : new NamedQuery(statement);
}

/**
 * Runs statements in order and returns their results. Sends the statements together if the connection knows all of
 * them. Otherwise sends them one by one. If one fails, the later ones do not run.
 */
export async function runInOrder(
  client: pg.ClientBase,
  statements: readonly Statement[],
): Promise<pg.QueryResult[]> {
  const connection = connectionOf(client);
  if (statements.length > 1 && statements.every((statement) => isKnown(connection, statement)))
    return run(client, new Batch(statements.map((statement) => new NamedQuery(statement))));
  const results: pg.QueryResult[] = [];
  for (const statement of statements) results.push(await run(client, newQuery(statement)));
  return results;
}

function run<T>(client: pg.ClientBase, query: BaseQuery<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    submit(client, query, (error, result) => (error ? reject(error) : resolve(result as T)));
  });
}

/**
 * Runs the query and passes its error or result to the callback. Calls the callback with an error if there is no result
 * after `query_timeout`. Close the connection in that case; see `breaksConnection`.
 *
 * Does not let `pg` itself apply this time limit. For every query, `pg` assigns a new function to a property, and V8
 * allocates such functions in the old generation. They would keep the query and its rows in memory until the next full
 * garbage collection.
 */
export function submit<T>(client: pg.ClientBase, query: BaseQuery<T>, callback: Callback<T>): void {
  const { connectionParameters } = client as unknown as { connectionParameters: { query_timeout: number } };
  const { query_timeout: timeoutMs } = connectionParameters;
  let isSettled = false;
  const settle: Callback<T> = (error, result) => {
    // A result that arrives after the time limit is ignored.
    if (isSettled) return;
    isSettled = true;
    clearTimeout(timer);
    callback(error, result);
  };
  // One timer per query. A timer that is refreshed for the next query can fire early: Node may have taken it from its
  // list already when a timer of the same duration fires and starts that query.
  const timer = setTimeout(() => settle(new Error('Query read timeout')), timeoutMs).unref();
  query.callback = settle;
  connectionParameters.query_timeout = 0;
  client.query(query as unknown as pg.Submittable);
  connectionParameters.query_timeout = timeoutMs;
}

/**
 * Returns whether the connection must be closed after the error. If a migration has invalidated a plan, the plan stays
 * invalid on this connection. If a query has timed out, the query still occupies this connection.
 */
export function breaksConnection(error: unknown): boolean {
  return error instanceof Error && /cached plan must not change|Query read timeout/.test(error.message);
}
