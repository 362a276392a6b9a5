import pg from 'pg';
import { serialize } from 'pg-protocol';

/** A hand-written statement. It takes no other `pg` options, because `newQuery` would ignore them. */
export type Statement = Pick<pg.QueryConfig, 'name' | 'text' | 'values'>;

/** How `pg` reads the rows of a statement. */
type RowReader = { fields: pg.FieldDef[]; _parsers: unknown; _prebuiltEmptyResultObject: unknown };
type Connection = pg.Connection & {
  parsedStatements: Partial<Record<string, string>>;
  _send(messages: Buffer): void;
};

/** The members of `pg.Query` that we use. Its type declaration leaves most of them out. */
type BaseQuery = {
  name: string;
  text: string;
  values: unknown[];
  _result: RowReader;
  _accumulateRows: boolean;
  submit(connection: Connection): Error | null;
  handleCommandComplete(message: unknown, connection: Connection): void;
};

const BaseQuery = pg.Query as unknown as new (text: string, values: unknown[] | undefined) => BaseQuery;
const { prepareValue } = (pg as unknown as { utils: { prepareValue(value: unknown): unknown } }).utils;
const EXECUTE_AND_SYNC = Buffer.concat([serialize.execute(), serialize.sync()]);

/** By connection and name of the statement. */
const rowReaders = new WeakMap<Connection, Map<string, RowReader>>();

/**
 * Makes each named statement of this connection ask the server only once for its columns. The columns of a prepared
 * statement never change: after a migration that would change them, the server refuses to run the statement. Do not
 * call this function for a connection to a pooler, which may prepare the statement again on another connection to the
 * server.
 */
export function describeOnce(client: pg.ClientBase): void {
  rowReaders.set((client as unknown as { connection: Connection }).connection, new Map());
}

/**
 * A query that sends all of its messages in one write, once the columns of its statement are known. `pg` always sends
 * four separate messages, one of which asks for the columns.
 */
class NamedQuery extends BaseQuery {
  override submit(connection: Connection): Error | null {
    const reader = rowReaders.get(connection)?.get(this.name);
    if (reader === undefined || connection.parsedStatements[this.name] !== this.text)
      return super.submit(connection);
    Object.assign(this._result, reader);
    this._accumulateRows = true;
    try {
      const bind = serialize.bind({ statement: this.name, values: this.values, valueMapper: prepareValue });
      connection._send(Buffer.concat([bind, EXECUTE_AND_SYNC]));
      return null;
    } catch (error) {
      return error as Error;
    }
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
 * Makes a query from its parts. Given an object, `pg` would copy it with all property descriptors, which costs more
 * than everything else that it does to start a query.
 */
export function newQuery({ name, text, values }: Statement): pg.Submittable & pg.QueryConfig {
  if (name === undefined) return Object.assign(new pg.Query(text, values), { text });
  return Object.assign(new NamedQuery(text, values), { name, text }) as unknown as pg.Query & pg.QueryConfig;
}
