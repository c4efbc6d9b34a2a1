/**
 * The store of every test world: SQLite, or PostgreSQL with BATON_TEST_STORE=postgres. Worlds then share the database that the run started
 * (`test/package/global-setup.ts`): projects of one database do not see each other, so a new one is as good as a new database.
 * Tests about SQLite's file itself, its locks, pages and disk, are skipped then: on PostgreSQL that file is a replica.
 */
export const isPostgres: boolean = process.env['BATON_TEST_STORE'] === 'postgres';

/** Of the database that the worlds share; empty with SQLite. */
export const STORE_URL: string = isPostgres ? (process.env['BATON_TEST_STORE_URL'] ?? '') : '';

/** What makes a daemon, started by a test or by a client, use the chosen store. */
export const STORE: Readonly<Record<string, string>> = isPostgres ? { BATON_STORE: STORE_URL } : {};
