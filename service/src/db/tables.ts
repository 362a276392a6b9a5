/**
 * The tables as queries see them, one interface each, named as in the migrations. Column types as `column-types.ts`
 * reads them: timestamptz `string`, int8 `bigint`, numeric `string`.
 */
export interface Database {
  schema_migrations: SchemaMigrations;
}

export interface SchemaMigrations {
  name: string;
  sha256: string;
  applied_at: string;
}
