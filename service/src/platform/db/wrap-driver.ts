import type { Dialect, Driver } from 'kysely';

/**
 * Returns the dialect with some of its driver's methods replaced. `change` receives the driver and returns the
 * replacements.
 */
export function wrapDriver(dialect: Dialect, change: (driver: Driver) => Partial<Driver>): Dialect {
  return {
    createAdapter: () => dialect.createAdapter(),
    createIntrospector: (db) => dialect.createIntrospector(db),
    createQueryCompiler: () => dialect.createQueryCompiler(),
    createDriver: () => {
      const driver = dialect.createDriver();
      return {
        init: () => driver.init(),
        acquireConnection: () => driver.acquireConnection(),
        releaseConnection: (connection) => driver.releaseConnection(connection),
        beginTransaction: (connection, settings) => driver.beginTransaction(connection, settings),
        commitTransaction: (connection) => driver.commitTransaction(connection),
        rollbackTransaction: (connection) => driver.rollbackTransaction(connection),
        destroy: () => driver.destroy(),
        ...change(driver),
      };
    },
  };
}

/**
 * Returns a dialect that creates its driver, adapter and query compiler only once, so that a new `Kysely` per request
 * is cheap. Every `Kysely` calls the driver's `init`, so `init` must be harmless to repeat. Do not use Kysely's `log`
 * option with this dialect: every `Kysely` would wrap the connections again.
 */
export function createOnce(dialect: Dialect): Dialect {
  const driver = dialect.createDriver();
  const adapter = dialect.createAdapter();
  const compiler = dialect.createQueryCompiler();
  return {
    createAdapter: () => adapter,
    createIntrospector: (db) => dialect.createIntrospector(db),
    createQueryCompiler: () => compiler,
    createDriver: () => driver,
  };
}
