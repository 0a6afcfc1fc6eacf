import type { Migration } from 'kysely/migration';
import { createSchema } from './initial-schema.ts';
import type { Engine } from './schema.ts';

/** Changes of the schema, by name, in the order of the names. A released change is never edited: a new one follows it. */
export function migrations(engine: Engine): Record<string, Migration> {
  return {
    '0001_initial': { up: (db) => createSchema(db, engine) },
  };
}
