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
